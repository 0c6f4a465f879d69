"""Do rigid panels close around each vertex: morphtrack closure FILE.fold

Checks eq. (1.1) of [ZF19] with the fold angles, or the full folds of the letters, that
a FOLD file gives. What closes may still pass through itself: a simulation tells.
"""

from pipeline.formats.fold_file import fold_file
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, InputError, command
from sim.origami.pattern.fold_format import Unassigned
from sim.origami.pattern.rigid import closure_errors

CLOSED = 1e-6  # norm of R_1 R_2 ... R_n - I
OF = (
    "(rotations by the fold angles given; whether mountains and valleys fold flat is "
    "not judged: morphtrack layers does)"
)


def arguments() -> OneLineParser:
    parser = OneLineParser("closure", __doc__)
    parser.add_argument("file", help="the FOLD file")
    parser.add_argument(
        "--tolerance", type=float, default=CLOSED, help="error of a closed vertex"
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print the vertices that stay open; exit status 1 where there are any."""
    given = arguments().parse_args(argv)
    if not given.tolerance > 0:
        raise InputError(f"tolerance must be positive, not {given.tolerance}")
    pattern = fold_file(given.file, unassigned=Unassigned.FLAT.value)
    errors = closure_errors(pattern)
    still_open = {v: e for v, e in errors.items() if not e <= given.tolerance}
    for v, error in sorted(still_open.items()):
        print(f"vertex {v} stays open by {error:.1e}")
    print(f"{len(errors) - len(still_open)} of {len(errors)} inner vertices close {OF}")
    return FAILED if still_open else DONE
