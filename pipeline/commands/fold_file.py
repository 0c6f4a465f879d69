"""A finished origami run as a FOLD file: morphtrack fold_file RUN --out FILE.fold

One frame an increment, with faces_vertices, edges_vertices and edges_foldAngle, for
viewers of origami; how each crease ended as morphtrack:creases. The crease pattern
itself is pattern.fold in the run's folder.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.results.origami_run import read_origami
from pipeline.store.files import write_json
from pipeline.store.named_runs import RUN_HELP, simulated_run
from pipeline.store.runs import run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command
from sim.origami.pattern.fold_format import CREATOR, folded_document


def write_fold_file(run: Path, out: Path, every: int = 1) -> int:
    """Write every n-th increment and the last of a run; return how many frames."""
    if every < 1:
        raise InputError(f"every must be 1 or more, not {every}")
    origami = read_origami(run.name, run)
    chosen = np.unique([*range(0, len(origami.x), every), len(origami.x) - 1])
    with np.load(run / "steps.npz", allow_pickle=False) as arrays:
        rest = arrays["rest"]
    document = folded_document(rest, origami.triangles.tolist(), origami.x[chosen])
    write_json(out, document | _outcome(run), compact=True)
    return len(chosen)


def _outcome(run: Path) -> dict[str, object]:
    """How each crease of the pattern ended, under names of our own, as FOLD asks."""
    path = run / "folds.csv"
    if not path.is_file():
        return {}
    creases = pd.read_csv(path, keep_default_na=False).to_dict("records")
    said = run_record(run) if (run / "run.json").is_file() else {}
    result = dict(said.get("result") or {})
    names = ("fold", "fold_why", "wrong_way")
    told = {f"{CREATOR}:{name}": result[name] for name in names if name in result}
    return {f"{CREATOR}:creases": creases, **told}


def arguments() -> OneLineParser:
    parser = OneLineParser("fold_file", __doc__)
    parser.add_argument("run", type=simulated_run, help=f"of origami: {RUN_HELP}")
    parser.add_argument("--out", type=Path, help="the FOLD file to write")
    parser.add_argument("place", type=Path, nargs="?", metavar="FILE", help="the same")
    parser.add_argument(
        "--every", type=int, default=1, help="write every n-th increment and the last"
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write one FOLD file."""
    given = arguments().parse_intermixed_args(argv)
    if (given.out is None) == (given.place is None):
        raise InputError("name one file to write: --out FILE.fold")
    out = given.out or given.place
    print(f"wrote {out}: {write_fold_file(given.run, out, given.every)} frames")
    return 0
