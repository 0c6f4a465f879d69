"""Compare a measured set with its prediction: morphtrack measured.

SET is a file of conf/measured without .yaml; DIR holds records of the same form as the
shipped ones, called as these or listed in DIR/records.csv. Of every record the
prediction that is committed is taken, or one is made from its inputs before what was
measured is read. Writes measured.csv, verdict.csv and verdict.json; the exit status
says nothing of the verdicts.
"""

import argparse
import shutil
from typing import Any

from pipeline.config.measured_file import MeasuredSet, read_set
from pipeline.config.project import project_folder
from pipeline.store.files import point_to, read_json
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser, set_parser
from pipeline.terminal.errors import by_reason, command
from pipeline.workflow.measured_set import code_of_prediction, measured_by_hand

WRITTEN = ("measured.csv", "verdict.csv", "verdict.json")


def arguments() -> OneLineParser:
    return set_parser("measured", __doc__)


def told(row: dict[str, Any]) -> str:
    """A verdict on one line."""
    within = f"{row['records_within_aim']} of {row['records']} records within the aim"
    inside = f"{row['coverage']:.0%} inside 95 %"
    return (
        f"{row['quantity']} ({row['part']}): {row['verdict']}; {row['why']}; {within}; "
        f"{inside} ({row['coverage_low']:.0%} to {row['coverage_high']:.0%})"
    )


def _which(said: dict[str, Any], of: MeasuredSet) -> str:
    """Which prediction was compared, and whether code has changed since it was made."""
    by = said["prediction"]
    how = "committed" if by["committed"] else "made now"
    lines = [
        f"prediction  {of.name}, {how} (run {by['key']}, SHA-256 {by['sha256'][:16]})"
    ]
    others = {n: k for n, k in said["compared_with"].items() if k != by["key"]}
    if others:
        lines.append(
            f"            of other inputs are {', '.join(others)}: predicted "
            f"now (run {', '.join(sorted(set(others.values())))})"
        )
    made, now = by["code"], code_of_prediction(of)
    if made != now:
        lines.append(
            f"code        {made[:16] or 'not known'} made it, {now[:16]} is here now: "
            "a prediction stays as it was made"
        )
    return "\n".join(lines)


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the verdicts."""
    with project_folder(arguments().parse_args(argv)) as given:
        return _compare(given)


def _compare(given: argparse.Namespace) -> int:
    of = read_set(given.set)
    run = measured_by_hand(of, given.records)
    if given.records is None:
        point_to(RESULTS / "measured" / of.name, run)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        for name in WRITTEN:
            shutil.copyfile(run / name, given.out / name)
    said = read_json(run / "verdict.json")
    for names, reason in by_reason(said["refused"]):
        print(f"no rows of {names}: {reason}")
    for name, shipped in said["values_of"].items():
        if name != shipped:
            print(f"fitted      {name}: its values are those of {shipped}")
    for name, other in said["nearer"].items():
        print(f"another     {name}: it lies nearer to what is predicted of {other}")
    for row in said["verdicts"]:
        print(told(row))
    print(_which(said, of))
    print(f"tables      {given.out or run}")
    return 0
