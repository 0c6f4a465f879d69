"""In which order panels lie when folded flat: morphtrack layers FILE.fold

Says how many orders there are, or which vertex, crease or panel forbids them all; a
pattern may be FOLD, CP or SVG, each crease assigned. --out writes the first order as a
FOLD file with faceOrders.
"""

from itertools import islice
from pathlib import Path

from pipeline.formats.fold_file import fold_file
from pipeline.store.files import write_json
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, InputError, command
from sim.origami.pattern.flat_folded import NotFlatFoldableError
from sim.origami.pattern.fold_format import flat_folded_document
from sim.origami.pattern.layers import layer_orders

MOST = 1000  # orders that are counted


def arguments() -> OneLineParser:
    parser = OneLineParser("layers", __doc__)
    parser.add_argument("file", help="the crease pattern")
    parser.add_argument("--out", type=Path, help="the FOLD file to write")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print how many orders there are; exit status 1 where there is none."""
    given = arguments().parse_args(argv)
    pattern = fold_file(given.file)
    try:
        found = list(islice(layer_orders(pattern), MOST))
    except NotFlatFoldableError as error:
        print(error)
        return FAILED
    except ValueError as error:
        raise InputError(f"{given.file}: {error}") from None
    many = f"{MOST} orders or more" if len(found) == MOST else f"{len(found)} orders"
    print(f"{many if len(found) > 1 else '1 order'} of {len(pattern.panels)} panels")
    if given.out is not None:
        first = found[0]
        document = flat_folded_document(
            pattern, first.folding.places, first.face_orders()
        )
        write_json(given.out, document)
        print(f"wrote {given.out}")
    return DONE
