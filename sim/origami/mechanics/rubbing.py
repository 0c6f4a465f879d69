"""Coulomb's law between panels in a step of a moving sheet.

Newmark's rule gives a pair the mean of its pushes p at both ends of a step of h
seconds. Friction is an impulse beside it, in the cone of that of the push:

    2 M (dx - h v0) / h^2 = F + P / h,     P = sum T^T P_t
    |P_t| <= mu h (p0 + p1) / 2,   P_t = - mu h (p0 + p1) / 2 w_t / |w_t|

where w_t = T v1, the velocity at the end past each other of the closest points at the
start, is not zero. What sticks is therefore at rest, and what slides is slowed by no
more and no less than mu of the push; the law is met to a residual, not softened. An
iteration is Newton's, with the barrier as a spring across the contact, and `cones`
solves for all pairs at once (the projections of Alart and Curnier of the law as De
Saxce and Feng write it). Friction acts at the closest points of both midplanes, and so
turns a pair by its distance times the force.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.cones import cone_residual, contact_tangents, coulomb_in_space
from sim.contact.pressing import pressing_pairs
from sim.origami.folding.problem import FoldingProblem, NearbyPairs
from sim.origami.model.assembly import EquilibriumSystem
from sim.origami.model.skyline import factorise, solve

HARDER = 4.0  # of the inertia, by which a matrix is shifted that is not positive
SHIFTS = 12
SOFTEST = 1e-3  # of a contact's inertia: the least stiffness that it is given


class Rubbed(NamedTuple):
    """Pairs that push in a step as if it ended somewhere, c of them; u unknowns.

    Attributes
    ----------
    pair : (c,) numbers
    rows : (3 c, u) of the distance at the end and of the ways along both tangents of
        the start, by the unknowns
    push, friction : (c,) N, of both ends together; (c, 2) N, twice its mean in the step
    slope, columns : (c, 12) of the distance at the end by the nodes' coordinates, and
        the unknowns that these are
    stiffness : (c,) N/m, of the push at the end
    slid : (c, 2) m, half the step times the velocity along the tangents at its end
    force : (u,) N, of friction on the unknowns
    residual : of Coulomb's law, m
    """

    pair: Ints
    rows: Floats
    push: Floats
    friction: Floats
    slope: Floats
    columns: Ints
    stiffness: Floats
    slid: Floats
    force: Floats
    residual: float


def rubbed_at(
    problem: FoldingProblem, near: NearbyPairs, ends: tuple[Floats, Floats],
    turned: Floats, friction: Floats, mu: float, diagonal: Floats,
) -> Rubbed:  # fmt: skip
    """What friction does where a step goes from the one to the other of its ends.

    Parameters
    ----------
    ends : (n, 3) each, m
    turned : (n, 3) half the step times the velocity at its end, m
    friction : (k, 2) N, twice the mean, of each pair that is near
    diagonal : (u,) inertia of a step, N/m
    """
    model = problem.model
    found = pressing_pairs(near.pairs, problem.ke, *ends)
    columns = model.unknown[near.pairs.node[found.pair]].reshape(-1, 12)
    moves = np.flatnonzero((columns >= 0).any(axis=1))
    pair, columns, normal = found.pair[moves], columns[moves], found.normal[moves]
    start, end = found.weights[moves, 0], found.weights[moves, 1]
    slope = (end[:, :, None] * normal[:, 1, None, :]).reshape(-1, 12)
    along = np.einsum("ca,ctx->ctax", start, contact_tangents(normal[:, 0])).reshape(
        -1, 2, 12
    )
    rows = np.zeros((len(moves), 3, len(model.first)))
    c, i = np.nonzero(columns >= 0)
    rows[c, 0, columns[c, i]] = slope[c, i]
    rows[c, 1:, columns[c, i]] = along[c, :, i]
    nodes = near.pairs.node[pair]
    slid = np.einsum("cti,ci->ct", along, turned[nodes].reshape(-1, 12))
    own, push = friction[pair], found.push[moves].sum(axis=1)
    light = (rows**2 / diagonal).sum(axis=2)
    scale = np.column_stack([light[:, 0], light[:, 1:].max(axis=1)])
    # The push is that of its gap, so that only the tangents can be out of the law.
    w, p = np.pad(slid, ((0, 0), (1, 0))), np.column_stack([push, own])
    return Rubbed(
        pair, rows.reshape(-1, rows.shape[2]), push, own, slope, columns,
        found.stiffness[moves], slid, np.einsum("ctu,ct->u", rows[:, 1:], own),
        cone_residual(w, mu, scale, p),
    )  # fmt: skip


def rubbed_further(
    rubbed: Rubbed, system: EquilibriumSystem, r: Floats, mu: float, diagonal: Floats,
    allowed: float,
) -> tuple[Floats, Floats] | None:  # fmt: skip
    """One iteration: moves (u,) m, friction (c, 2) N; None where no matrix is positive.

    Parameters
    ----------
    r : (u,) what is unbalanced without friction, N
    allowed : m, residual of Coulomb's law
    """
    c, (start, first) = len(rubbed.pair), (system.start, system.first)
    values = _factorised(rubbed, system, diagonal)
    if values is None:
        return None
    base = r - rubbed.rows[::3].T @ rubbed.push
    solve(values, start, first, base)
    if not c:
        return base, rubbed.friction
    back = rubbed.rows.copy()
    for row in back:
        solve(values, start, first, row)
    W = rubbed.rows @ back.T
    W = 0.5 * (W + W.T)
    across = np.diagonal(W)[::3]
    stiffness = np.maximum(rubbed.stiffness, SOFTEST / across)
    W[np.arange(0, 3 * c, 3), np.arange(0, 3 * c, 3)] += 1.0 / stiffness
    b = (rubbed.rows @ base).reshape(-1, 3)
    b[:, 0] -= rubbed.push / stiffness
    b[:, 1:] += rubbed.slid
    guess = np.column_stack([rubbed.push, rubbed.friction])
    p, _ = coulomb_in_space(W, b, mu, guess, allowed)
    return base + p.ravel() @ back, p[:, 1:]


def _factorised(
    rubbed: Rubbed, system: EquilibriumSystem, diagonal: Floats
) -> Floats | None:
    """Newton's matrix, without the stiffness of pairs across themselves."""
    start, first = system.start, system.first
    bare = system.values.copy()
    i, j = rubbed.columns[:, :, None], rubbed.columns[:, None, :]
    kept = (j >= 0) & (j <= i) & (rubbed.stiffness > 0.0)[:, None, None]
    square = rubbed.slope[:, :, None] * rubbed.slope[:, None, :]
    square *= rubbed.stiffness[:, None, None]
    np.subtract.at(bare, (start[i] - first[i] + j)[kept], square[kept])
    for shift in range(SHIFTS):
        values = bare.copy()
        values[start[1:] - 1] += HARDER**shift * diagonal
        negative, _ = factorise(values, start, first)
        if not negative:
            return values
    return None
