"""Run a study: python -m pipeline.study NAME [--retry-failed] [--cores N].

Plans every run that conf/study/NAME.yaml asks for, runs those that are not there, and
makes the study's table and plots. A run that does not converge is a row of the table.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.designs import Point
from pipeline.arguments import OneLineParser
from pipeline.errors import FAILED, InputError, command
from pipeline.files import read_json, write_json
from pipeline.hydra_command import Composer
from pipeline.owners import sweep_dead
from pipeline.plan_file import Batch, write_plan
from pipeline.runs import RESULTS, Job, Ledger
from pipeline.simulate import planned, sound_case
from pipeline.study_file import Study, read_study
from pipeline.workflow import PROFILE, fan_out, followed, only_one, step

TABLE = "pipeline.study_table"
MOST_REFUSED = 20  # points refused one after the other, before the study is
RUNS_A_BATCH = 50  # at least, so that the start of a process is shared by many runs


@dataclass(frozen=True)
class Member:
    """One run of a study: the values it takes, and its job."""

    point: Point
    job: Job


def overrides(study: Study, point: Point) -> dict[str, Any]:
    """All values that a run of the study sets, by dotted name."""
    return {**study.fixed, **point}


def members(study: Study) -> list[Member]:
    """The runs of a study, each key once, in the order of its points."""
    tags = {"study": study.name, "case": study.case}
    found: dict[str, Member] = {}
    points = study.points()
    with Composer() as composer:
        configs = composer.variants(
            "simulate",
            [f"case={study.case}"],
            [overrides(study, point) for point in points],
        )
        refused: list[InputError] = []
        sound = False
        for point, config in zip(points, configs, strict=True):
            sound = sound or _is_sound(config, refused)
            if len(refused) == min(MOST_REFUSED, len(points)) and not sound:
                raise refused[0]  # what is wrong with all of them is refused here
            job = planned(study.case, config, tags)
            found.setdefault(job.key, Member(point, job))
    if len(found) < len(points):
        same = len(points) - len(found)
        print(
            f"note: {same} of {len(points)} points are runs that others are, run once"
        )
    return list(found.values())


def _is_sound(config: Mapping[str, Any], refused: list[InputError]) -> bool:
    """Whether the case can be built; why not is added to `refused`."""
    try:
        sound_case(config)
    except InputError as error:
        refused.append(error)
        return False
    return True


def is_settled(job: Job, ledger: Ledger, *, retry_failed: bool) -> bool:
    """Whether nothing is left to run: it has finished, or failed by itself."""
    state = ledger.state(job.key)
    return state == "finished" or (state == "failed" and not retry_failed)


def batches(jobs: list[Job], most: int) -> list[Batch]:
    """Deal jobs to processes: few, and with enough runs each to be worth a start."""
    number = max(1, min(most, -(-len(jobs) // RUNS_A_BATCH)))
    number = min(max(number, 2), len(jobs))
    dealt: Iterator[list[Job]] = (jobs[i::number] for i in range(number))
    return [Batch(tuple(sorted(hand, key=lambda job: job.key))) for hand in dealt]


def study_directory(name: str, results: Path = RESULTS) -> Path:
    """Where the table and the plots of a study are."""
    return results / "study" / name


def write_members(study: Study, found: list[Member]) -> None:
    """Leave the list of wanted runs for table, status and tracking."""
    rows = [{"key": m.job.key, "point": m.point} for m in found]
    value = {"study": study.name, "case": study.case, "response": study.response}
    path = study_directory(study.name) / "members.json"
    write_json(path, {**value, "members": rows}, compact=True)


def read_members(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The list of wanted runs of a study that was planned before."""
    path = study_directory(name, results) / "members.json"
    if not path.is_file():
        raise InputError(
            f"the study {name} was not planned yet: make study NAME={name}"
        )
    value: dict[str, Any] = read_json(path)
    return value


def run_study(study: Study, options: argparse.Namespace) -> int:
    """Plan, run what is missing, tabulate, track."""
    with only_one():
        sweep_dead(RESULTS)
        found = members(study)
        write_members(study, found)
        retry = options.retry_failed
        ledger = Ledger()
        jobs = [m.job for m in found]
        wanted = [j for j in jobs if not is_settled(j, ledger, retry_failed=retry)]
        print(f"study {study.name}: {len(found)} runs, {len(wanted)} to do")
        if wanted:
            dealt = batches(wanted, study.batches)
            plan = write_plan(dealt, {"study": study.name}, f"study-{study.name}")
            with followed() as tracker:
                fan_out(plan, options.profile, options.cores)
                after = [step(TABLE, [study.name])]
            after.append(tracker.returncode and step("pipeline.track"))
        else:
            after = [step(TABLE, [study.name]), step("pipeline.track")]
    ledger = Ledger()
    undone = [j for j in jobs if not is_settled(j, ledger, retry_failed=False)]
    if undone:
        print(f"error: {len(undone)} runs are missing: run it again", file=sys.stderr)
    return FAILED if undone or any(after) else 0


@command
def main(argv: list[str] | None = None) -> int:
    """Run the study that the command line names."""
    parser = OneLineParser(
        prog="python -m pipeline.study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", help="a file in conf/study, without .yaml")
    parser.add_argument(
        "--retry-failed", action="store_true", help="run again what failed by itself"
    )
    parser.add_argument("--cores", type=int, help="processes side by side")
    parser.add_argument("--profile", type=Path, default=PROFILE)
    options = parser.parse_args(argv)
    return run_study(read_study(options.name), options)


if __name__ == "__main__":
    sys.exit(main())
