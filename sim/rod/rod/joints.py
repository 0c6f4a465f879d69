"""Nodes at which several rods are joined rigidly.

Such a node turns as one body. Each rod that begins there bends over its first half
edge, with a stiffness k of about 2 EI / l, between the middle of that edge and the
node. As the node's own angle costs nothing, it is the one of least energy (a star of
springs as a mesh), which leaves

    U = 1/2 sum over pairs of k_i k_j / (k_1 + k_2 + ...) (phi_ij - rest_ij)^2

with the angle phi_ij from edge i on to edge j: a bend of each pair of edges. E and kbar
of an actuated limb change k_i, and what its half edge adds to the angle at rest:

    rest_ij = kink + turn_i kbar_i / kbar_i0 + turn_j kbar_j / kbar_j0.

[Hu20] has a bend for two of the three pairs, and does not say which length they have.
A pair that folds back is measured from the reversed first edge, as tan(phi / 2) is
infinite at 180 degrees.

The moment in a rod is largest at its joints. Half an edge there and whole ones between
are the trapezoidal rule for its energy, by which an arc of 9 edges is 2 % too soft. So
the half edge counts 5 / 12 of its edge, k = 12 EI / 5 l, and the bend beside it a
twelfth more: Gregory's rule, of fourth order.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints


class Joints(NamedTuple):
    """The bends at rigid nodes: the last p bends of a rod.

    Attributes
    ----------
    fold : (p,) -1 where a bend is measured from its reversed first edge, else 1
    half : (p, m) N m, k of the two edges of the bend, then of the others at its node;
        0 where there are no more
    limb : (p, m) of these edges
    turn : (p, 2) what the two half edges add to the turning 2 tan(phi / 2) at rest
    """

    fold: Floats
    half: Floats
    limb: Ints
    turn: Floats


END, BESIDE = 5.0 / 12.0, 1.0 / 12.0  # of the edge at a joint
NONE = Joints(np.empty(0), np.empty((0, 2)), np.empty((0, 2), int), np.empty((0, 2)))


def pairs_at(nodes: Floats, edges: Ints, at: Sequence[int]) -> tuple[Ints, Floats]:
    """(p, 3) a bend of each pair of edges at the nodes `at`, and whether it folds."""
    bends: list[tuple[int, int, int]] = []
    for node in at:
        other = [int(a + b) - node for a, b in edges.tolist() if node in (a, b)]
        if len(other) < 2:
            raise ValueError(
                f"joints: node {node} has {len(other)} edges: choose one of two or more"
            )
        bends += [(i, node, k) for i, k in combinations(other, 2)]
    table = np.array(bends, dtype=np.int64).reshape(-1, 3)
    e = nodes[table[:, 1]] - nodes[table[:, 0]]
    f = nodes[table[:, 2]] - nodes[table[:, 1]]
    return table, np.where(np.sum(e * f, axis=1) < 0.0, -1.0, 1.0)


class Chains(NamedTuple):
    """What the half edges at a joint are parts of: the rods between joints.

    curvature : (b,) 1/m, natural
    length, limb : (m,) of the edges, m
    bending : (m,) EI of the edges, N m^2
    """

    edges: Ints
    bends: Ints
    curvature: Floats
    length: Floats
    limb: Ints
    bending: Floats


def joined(chains: Chains, pairs: Ints, fold: Floats, tan: Floats) -> Joints:
    """Stiffness and share of the half edges at each pair, which at rest has `tan`."""
    edge_of = {frozenset(e): k for k, e in enumerate(chains.edges.tolist())}
    natural = _curvature_towards(chains)
    around: dict[int, list[int]] = {}
    for i, j in chains.edges.tolist():
        around.setdefault(i, []).append(j)
        around.setdefault(j, []).append(i)
    most = max((len(around[j]) for j in pairs[:, 1].tolist()), default=2)
    half, limb = np.zeros((len(pairs), most)), np.full((len(pairs), most), -1)
    turn = np.zeros((len(pairs), 2))
    slope = 1.0 + tan**2  # of 2 tan(phi / 2) in phi
    for p, (i, j, k) in enumerate(pairs.tolist()):
        others = [i, k, *(n for n in around[j] if n not in (i, k))]
        row = [edge_of[frozenset((j, n))] for n in others]
        end = np.array([END if (n, j) in natural else 0.5 for n in others])
        stiffness = chains.bending[row] / (end * chains.length[row])
        half[p, : len(row)] = stiffness / slope[p] ** 2
        limb[p, : len(row)] = chains.limb[row]
        share = [natural.get((i, j), 0.0), -natural.get((k, j), 0.0)]
        turn[p] = slope[p] * 0.5 * chains.length[row[:2]] * share
    return Joints(fold, half, limb, turn)


def longer_beside(
    nodes: Floats, bends: Ints, voronoi: Floats, at: Sequence[int]
) -> Floats:
    """(b,) the lengths that bends stand for, with joints at the nodes `at`, m."""
    longer = voronoi.copy()
    for end in (0, 2):
        edge = np.linalg.norm(nodes[bends[:, end]] - nodes[bends[:, 1]], axis=1)
        longer += np.where(np.isin(bends[:, end], at), BESIDE * edge, 0.0)
    return longer


def _curvature_towards(chains: Chains) -> dict[tuple[int, int], float]:
    """Natural curvature of the rod along its edge from one node to the next."""
    found: dict[tuple[int, int], float] = {}
    for (i, j, k), value in zip(
        chains.bends.tolist(), chains.curvature.tolist(), strict=True
    ):
        for before, after, sign in ((j, k, 1.0), (j, i, -1.0)):
            found.setdefault((before, after), sign * value)
    return found


def unactuated(joints: Joints) -> Floats:
    """(p,) N m, stiffness of the bends where no limb is actuated."""
    k = joints.half
    return np.asarray(k[:, 0] * k[:, 1] / k.sum(axis=1))
