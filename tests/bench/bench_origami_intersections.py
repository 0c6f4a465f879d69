"""Do finished origami runs pass through themselves? Judged by ipctk, not by us.

    python tests/bench/bench_origami_intersections.py RUN_DIRECTORY ...

Needs only numpy and ipctk, so that any environment that has both will do. For every
recorded increment it asks ipctk which edges of the mesh pierce which triangles, panels
and creases alike; pairs that stem from a common vertex of the crease pattern are left
out. `has_intersections` of the whole mesh, with nothing left out but shared nodes, is
printed beside it.
"""

import sys
from pathlib import Path

import ipctk
import numpy as np
from numpy.typing import NDArray


def joined(tags: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether two sets of nodes share a node or a vertex of the pattern."""
    mine = set(tags[a].ravel()) - {-1}
    return bool(set(a) & set(b) or mine & set(tags[b].ravel()))


def pairs_to_test(
    bars: NDArray[np.int64], triangles: NDArray[np.int64], tags: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(k, 5) ends and corners of every edge and triangle that are not joined."""
    rows = [
        [*bar, *triangle]
        for bar in bars
        for triangle in triangles
        if not joined(tags, bar, triangle)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def pierced(x: NDArray[np.float64], pairs: NDArray[np.int64]) -> int:
    """How many edges pass through triangles; boxes sort out most pairs."""
    y = x[pairs]
    low, high = y[:, :2].min(axis=1), y[:, :2].max(axis=1)
    meet = (low <= y[:, 2:].max(axis=1)) & (high >= y[:, 2:].min(axis=1))
    near = np.flatnonzero(meet.all(axis=1))
    return sum(ipctk.is_edge_intersecting_triangle(*y[k]) for k in near)


def judge(directory: Path) -> tuple[int, int, int]:
    """Increments, those with pierced triangles, and those ipctk calls intersecting."""
    run = np.load(directory / "steps.npz")
    x, triangles = run["x"], run["triangles"]
    pairs = pairs_to_test(run["bars"], triangles, run["tags"])
    mesh = ipctk.CollisionMesh(run["rest"], ipctk.edges(triangles), triangles)
    bad = sum(pierced(state, pairs) > 0 for state in x)
    whole = sum(ipctk.has_intersections(mesh, state) for state in x)
    return len(x), bad, whole


def main(directories: list[str]) -> int:
    """Print one line a run; status 1 if any passes through itself."""
    failed = False
    for name in directories:
        increments, bad, whole = judge(Path(name))
        failed = failed or bad > 0
        print(f"{name}: {increments} states, {bad} pierced, {whole} in the whole mesh")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
