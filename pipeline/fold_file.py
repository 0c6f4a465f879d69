"""A finished origami run as a FOLD file: python -m pipeline.fold_file RUN OUT.fold

One frame an increment, with faces_vertices, edges_vertices and edges_foldAngle, for
viewers of origami. The crease pattern itself is pattern.fold in the run's folder.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from pipeline.errors import InputError, command
from pipeline.files import write_json
from pipeline.origami_run import read_origami
from sim.origami.fold_format import folded_document


def write_fold_file(run: Path, out: Path, every: int = 1) -> int:
    """Write every n-th increment and the last of a run; return how many frames."""
    if every < 1:
        raise InputError(f"every must be 1 or more, not {every}")
    origami = read_origami(run.name, run)
    chosen = np.unique([*range(0, len(origami.x), every), len(origami.x) - 1])
    with np.load(run / "steps.npz", allow_pickle=False) as arrays:
        rest = arrays["rest"]
    document = folded_document(rest, origami.triangles.tolist(), origami.x[chosen])
    write_json(out, document, compact=True)
    return len(chosen)


@command
def main(argv: list[str] | None = None) -> int:
    """Write one FOLD file."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.fold_file", description=__doc__
    )
    parser.add_argument("run", type=Path, help="folder of a finished origami run")
    parser.add_argument("out", type=Path, help="the FOLD file to write")
    parser.add_argument(
        "--every", type=int, default=1, help="write every n-th increment and the last"
    )
    given = parser.parse_args(argv)
    frames = write_fold_file(given.run, given.out, given.every)
    print(f"wrote {given.out}: {frames} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
