"""Which folds of rigid panels go together: the closure of vertices, to first order.

Around a vertex inside the sheet panels stay joined if small changes of its folds do not
turn them against each other,

    sum_c dphi_c u_c = 0,

u_c the direction of crease c away from the vertex: the derivative of eq. (1.1) of
[ZF19]. The folds that satisfy this at all vertices are the motions of a sheet with
rigid panels.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from sim.arrays import Floats
from sim.driven import Configuration
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.outcome import by_crease, reached_folds
from sim.origami.folding.sheet import hinge_angles
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.pattern import CreasePattern


def closure_matrix(pattern: CreasePattern, x: Floats) -> Floats:
    """(3 v, c) sums of creases around each inner vertex; x (n, 3) vertices first."""
    creases = pattern.creases
    shared = {*creases.tolist(), *pattern.joints.tolist()}
    rim = set(range(len(pattern.edges))) - shared
    outer = {int(v) for edge in rim for v in pattern.edges[edge]}
    used = {int(v) for edge in creases for v in pattern.edges[edge]}
    inner = sorted(used - outer)
    row = {v: 3 * i for i, v in enumerate(inner)}
    C = np.zeros((3 * len(inner), len(creases)))
    for column, edge in enumerate(creases):
        a, b = (int(v) for v in pattern.edges[edge])
        u = (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
        for v, way in ((a, u), (b, -u)):
            if v in row:
                C[row[v] : row[v] + 3, column] = way
    return C


def fold_motions(
    pattern: CreasePattern, x: Floats, tolerance: float
) -> tuple[Floats, float]:
    """(c, f) orthonormal changes of folds that keep panels rigid, and how well told.

    Parameters
    ----------
    tolerance : singular value, relative to the largest, below which a motion counts
        as one of rigid panels; panels that bend a little are not quite rigid

    Returns
    -------
    motions, and the largest singular value counted as zero over the smallest not so
    """
    C = closure_matrix(pattern, x)
    _, sizes, rows = np.linalg.svd(C)
    full = np.zeros(len(rows))
    full[: len(sizes)] = sizes
    free = full <= tolerance * max(float(full.max(initial=0.0)), 1e-300)
    ratio = 0.0
    if free.any() and not free.all():
        ratio = float(full[free].max() / full[~free].min())
    motions: Floats = rows[free].T
    return motions, ratio


def passive_moments(mesh: BarHingeMesh, x: Floats) -> Floats:
    """(c,) moment by which each crease resists its fold, N m, if it is flat at rest."""
    return by_crease(mesh, mesh.hinge_stiffness * (hinge_angles(mesh, x) - np.pi))


def folded(
    mesh: BarHingeMesh, steps: Iterable[OrigamiStep], tolerance: float
) -> Iterator[Configuration]:
    """The increments of a folding, whose creases may be driven.

    Parameters
    ----------
    tolerance : see `fold_motions`
    """
    for step in steps:
        A, _ = fold_motions(mesh.pattern, step.x, tolerance)
        work = -A.T @ passive_moments(mesh, step.x)
        folds = reached_folds(mesh, step.x)
        lever = np.ones(len(A))  # A and work are of the same angles
        yield Configuration(step.s, step.x, A, folds, work, lever)
