"""Share finished runs: morphtrack store push DIR, morphtrack store pull DIR.

DIR is a folder, or an address that fsspec knows, such as s3://bucket/paper. `push` puts
every finished run of the plan there and writes conf/results.json, what each run holds
by key: commit it. `pull` brings the runs that the plan wants, refuses what is other
than that list says, and makes some of them again (--sample 3) to compare: to the bit
on an equal processor, else to 1e-6. What is not there, make figures makes.
"""

import argparse

from pipeline.crate.comparison import likeness
from pipeline.crate.shelf import LISTING, Shelf, read_listing, write_listing
from pipeline.store.leases import sweep_dead
from pipeline.store.plan_file import read_documents
from pipeline.store.runs import RESULTS, finished
from pipeline.store.standing import planned_jobs_now
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, RunFailedError, command
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.sharing import drawn_by_lot, made_again, pull, pushed
from pipeline.workflow.workflow import only_one, point_names


def arguments() -> OneLineParser:
    parser = OneLineParser("store", __doc__)
    parser.add_argument("what", choices=("push", "pull"))
    parser.add_argument("place", metavar="DIR", help="a folder, or an address")
    parser.add_argument(
        "--sample", type=int, default=3, help="runs that a pull makes again"
    )
    return parser


def _push(shelf: Shelf) -> None:
    plan_without_compiling()
    jobs = planned_jobs_now()
    sizes = list(pushed(jobs, shelf))
    runs = {j.key: place for j in jobs if (place := finished(j.key)) is not None}
    if not runs:
        raise InputError(
            f"no run of the plan is finished, and {LISTING} would list none: run make "
            "figures, or morphtrack store pull DIR"
        )
    write_listing(runs)
    print(
        f"{shelf.address}: {len(sizes)} runs came to it, {sum(sizes) / 1e6:.1f} MB; "
        f"{LISTING} lists {len(runs)}: commit it"
    )
    wanted = {job.key for job in jobs}
    if len(runs) < len(wanted):
        print(
            f"note: {len(wanted) - len(runs)} of the {len(wanted)} runs of the plan "
            "are not finished here, and not listed: run make figures and push again"
        )


def _pull(shelf: Shelf, sample: int) -> None:
    listed = read_listing()
    if shelf.is_empty:
        raise InputError(
            f"{shelf.address} holds no runs: give the folder, or the address, that "
            "morphtrack store push was given"
        )
    plan = plan_without_compiling()
    came = pull(read_documents(plan), listed, shelf)
    point_names(plan)
    print(f"{len(came.jobs)} runs came from {shelf.address}, as {LISTING} lists them")
    differ = []
    for job in drawn_by_lot(came.jobs, sample):
        with made_again(job) as (again, then):
            how = likeness(again, then)
        print(f"made again: {job.step} {job.name}: {how}")
        differ += [f"{job.step} {job.name}"] if how.startswith("differs") else []
    if came.missing:
        print(f"{len(came.missing)} names are not there: make figures makes them")
    if differ:
        raise RunFailedError(f"{differ[0]} does not come out as it was shared")


@command
def main(argv: list[str] | None = None) -> int:
    """Push or pull, as the command line says."""
    given: argparse.Namespace = arguments().parse_args(argv)
    shelf = Shelf(given.place)
    with only_one():
        sweep_dead(RESULTS)  # such as one made again to compare
        if given.what == "push":
            _push(shelf)
        else:
            _pull(shelf, max(0, given.sample))
    return 0
