"""Run a study: python -m pipeline.study NAME [--retry-failed] [--cores N].

Plans every run that conf/study/NAME.yaml asks for, runs those that are not there, and
makes the study's table and plots. A run that does not converge is a row of the table.
"""

import argparse
import sys

from analysis.designs import Design
from pipeline.arguments import OneLineParser, profile_directory
from pipeline.errors import FAILED, command
from pipeline.hydra_command import Composer
from pipeline.owners import sweep_dead
from pipeline.plan_file import write_plan
from pipeline.runs import RESULTS, Job, Ledger
from pipeline.studies.file import Study, read_study
from pipeline.studies.members import batches, members, write_members
from pipeline.studies.search_plan import planned_search
from pipeline.workflow import PROFILE, TABLE, fan_out, followed, only_one, step


def is_settled(job: Job, ledger: Ledger, *, retry_failed: bool) -> bool:
    """Whether nothing is left to run: it has finished, or failed by itself."""
    state = ledger.state(job.key)
    return state == "finished" or (state == "failed" and not retry_failed)


def planned_runs(study: Study) -> list[Job]:
    """The runs of a study, listed as its members; or the search that will find them."""
    with Composer() as composer:
        if study.design is Design.ADAPTIVE:
            return [planned_search(study, composer)]
        found = members(study, composer)
    write_members(study, found)
    return [member.job for member in found]


def run_study(study: Study, options: argparse.Namespace) -> int:
    """Plan, run what is missing, tabulate, track."""
    with only_one():
        sweep_dead(RESULTS)
        jobs = planned_runs(study)
        retry = options.retry_failed
        ledger = Ledger()
        wanted = [j for j in jobs if not is_settled(j, ledger, retry_failed=retry)]
        what = "search" if study.design is Design.ADAPTIVE else "runs"
        print(f"study {study.name}: {len(jobs)} {what}, {len(wanted)} to do")
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
    parser.add_argument("--profile", type=profile_directory, default=PROFILE)
    options = parser.parse_args(argv)
    return run_study(read_study(options.name), options)


if __name__ == "__main__":
    sys.exit(main())
