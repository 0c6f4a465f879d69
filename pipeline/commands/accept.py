"""Keep results over a change of code: morphtrack accept --why TEXT [--who NAME].

For a change that should change no number. Makes a sample again, one run of each kind
and one in twenty, and compares it to the bit with what is there. Where all are alike
the others are kept, each with a note in results/accepted and in its run.json, which the
report shows. Where one is not, nothing is kept, and the exit status is 1. Figures are
drawn anew by the next morphtrack make.
"""

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime

from pipeline.store.accepted import CodeAcceptance
from pipeline.store.plan_file import TABLE, read_documents
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, RunFailedError, command
from pipeline.workflow.acceptance import (
    Kept,
    accept_all,
    keepable,
    sample_of,
    turned,
)
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.run import perform_name
from pipeline.workflow.why import Reasoned, Why
from pipeline.workflow.workflow import only_one


def arguments() -> OneLineParser:
    parser = OneLineParser("accept", __doc__)
    parser.add_argument("--why", required=True, help="why nothing should have changed")
    parser.add_argument("--who", default="", help="else the name of your account")
    return parser


def _accept(told: Mapping[str, Reasoned], kept: list[Kept], who: str, why: str) -> None:
    sample = sample_of(kept)
    print(f"{len(kept)} runs differ by their code alone; {len(sample)} are made again")
    other = list(turned(sample, print))
    if other:
        raise RunFailedError(
            f"{other[0]} came out other than it was: nothing is kept; make figures "
            "makes what the change decides"
        )
    at = datetime.now(UTC).isoformat(timespec="seconds")
    names = tuple(one.name for one in sample)
    accept_all(kept, CodeAcceptance(who, why, at, names))
    keys = {one.job.key for one in kept}
    for name, one in told.items():
        if one.runs and all(run.job.key in keys for run in one.runs):
            perform_name(name)  # its receipt: the run is there
    print(f"{len(kept)} runs are kept, with a note each in results/accepted")


@command
def main(argv: list[str] | None = None) -> int:
    """Keep what the command line vouches for."""
    given = arguments().parse_args(argv)
    if not given.why.strip():
        raise InputError("--why is empty: say why no number should have changed")
    with only_one():
        plan = plan_without_compiling()
        told = Why(read_documents(plan)).all()
        wanted = [one for name, one in told.items() if not name.startswith(f"{TABLE}/")]
        kept = keepable(wanted)
        if not kept:
            raise InputError(
                "no run differs by its code alone: morphtrack plan says what would be "
                "made, and why"
            )
        _accept(told, kept, given.who or getpass.getuser(), given.why)
    return 0
