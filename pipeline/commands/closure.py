"""Do rigid panels close around each vertex and hole: morphtrack closure FILE.fold

Checks eq. (1.1) of [ZF19] with the fold angles, or the full folds of the letters, that
a FOLD file gives, and around holes and slits of a flat sheet their places as well.
What closes may still pass through itself: a simulation tells.
"""

from pipeline.formats.fold_file import fold_file
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, InputError, command
from sim.origami.pattern.fold_format import Unassigned
from sim.origami.pattern.holes import hole_errors
from sim.origami.pattern.rigid import closure_errors

CLOSED = 1e-6  # norm of R_1 R_2 ... R_n - I
OF = (
    "(rotations by the fold angles given; whether mountains and valleys fold flat is "
    "not judged)"
)


def arguments() -> OneLineParser:
    parser = OneLineParser("closure", __doc__)
    parser.add_argument("file", help="the FOLD file")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=CLOSED,
        help="error of a closed vertex or hole",
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
    around = hole_errors(pattern)
    gaps = [(v, error) for v, error in around if not error <= given.tolerance]
    for v, error in sorted(still_open.items()):
        print(f"vertex {v} stays open by {error:.1e}")
    for v, error in gaps:
        print(f"the hole or slit at vertex {v} stays open by {error:.1e}")
    closed = f"{len(errors) - len(still_open)} of {len(errors)} inner vertices"
    if around:
        closed += f" and {len(around) - len(gaps)} of {len(around)} holes or slits"
    print(f"{closed} close {OF}")
    return FAILED if still_open or gaps else DONE
