"""Predict the records of a measured set: morphtrack predict.

SET is a file of conf/measured without .yaml. Fits what it names to the records that it
names, then predicts every record from its inputs alone and writes prediction.csv
(record, quantity, at, value, u by source, interval), prediction.json (key, SHA-256)
and posterior.json (what the fit told) into DIR; without --out they stay in their runs.
Nothing that was measured of a record that is not fitted is read.
"""

import argparse
import shutil

from pipeline.config.measured_file import read_set
from pipeline.config.project import project_folder
from pipeline.results.posterior_file import POSTERIOR
from pipeline.results.prediction_file import RECORD, TABLE
from pipeline.store.files import point_to, read_json
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser, set_parser
from pipeline.terminal.errors import by_reason, command
from pipeline.workflow.measured_set import fitted_by_hand, predicted_by_hand

LEFT = ("left_out.csv", "parameters.csv")


def arguments() -> OneLineParser:
    return set_parser("predict", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Predict once and say what was made."""
    with project_folder(arguments().parse_args(argv)) as given:
        return _predict(given)


def _predict(given: argparse.Namespace) -> int:
    of = read_set(given.set)
    run = predicted_by_hand(of, given.records)
    if given.records is None:
        point_to(RESULTS / "predict" / of.name, run)
    if given.out is not None:
        fit = fitted_by_hand(of)
        given.out.mkdir(parents=True, exist_ok=True)
        for name in (TABLE, RECORD):
            shutil.copyfile(run / name, given.out / name)
        for name in (POSTERIOR, *LEFT):
            if (fit / name).is_file():
                shutil.copyfile(fit / name, given.out / name)
    said = read_json(run / RECORD)
    for names, reason in by_reason(said["refused"]):
        print(f"{names} cannot be predicted: {reason}")
    print(f"{len(said['records'])} records of {of.name} predicted (run {said['key']})")
    print(f"prediction  {(given.out or run) / TABLE}  SHA-256 {said['sha256'][:16]}")
    return 0
