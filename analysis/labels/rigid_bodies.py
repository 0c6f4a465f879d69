"""Nodes without a label: positions from rigid bodies, and bodies in another place.

A node whose sphere was not seen is placed by its rigid body (`complete_rigidly`). A
body may be in another place than simulated although its nodes have no label
(`moved_bodies`): a body on the wrong joint keeps no length to the nodes of its joint,
so its spheres get no label. But they keep the lengths among each other and, for a body
with only two own nodes, those to the sphere of the joint. The expected number of chance
matches follows from how often any distance is that near to a given one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.alignment import fit_rigid_motion, rigid_modes
from analysis.labels.assign_labels import Labels
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import NOT_ASSIGNED
from analysis.labels.thresholds import BODY
from sim.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class ScannedNodes:
    """Positions of nodes in the scan.

    Parameters
    ----------
    known : (n,) nodes that have a position
    completed : (n,) of these, nodes placed by their body rather than seen
    positions_mm : (n, 3), nan for unknown nodes
    covariance_mm2 : (3n, 3n), zero for unknown nodes
    """

    known: Bools
    completed: Bools
    positions_mm: Floats
    covariance_mm2: Floats


def seen_nodes(
    sphere: Ints,
    centres_mm: Floats,
    covariance_mm2: Floats,
) -> ScannedNodes:
    """Positions of the labelled nodes.

    Parameters
    ----------
    sphere : (n,) sphere of each node, or NOT_ASSIGNED
    centres_mm : (m, 3)
    covariance_mm2 : (3m, 3m) of all centres together
    """
    n = len(sphere)
    known = sphere != NOT_ASSIGNED
    positions = np.full((n, 3), np.nan)
    positions[known] = centres_mm[sphere[known]]
    covariance = np.zeros((3 * n, 3 * n))
    here, there = axes_of(np.flatnonzero(known)), axes_of(sphere[known])
    covariance[np.ix_(here, here)] = covariance_mm2[np.ix_(there, there)]
    none = np.zeros(n, dtype=np.bool_)
    return ScannedNodes(known, none, positions, covariance)


def axes_of(points: Ints) -> Ints:
    """Rows (3 q,) of points (q,) in a covariance of all points together."""
    return np.asarray((3 * points[:, None] + np.arange(3)).ravel())


def complete_rigidly(
    nodes: ScannedNodes, mechanism: Mechanism, length_sd_mm: float
) -> ScannedNodes:
    """Place missing nodes that have three or more seen mates in one body.

    The body is laid on its seen nodes; errors of those pass to the completed node
    through the six rigid modes, and its own printing error is added.
    """
    n = len(nodes.known)
    positions = nodes.positions_mm.copy()
    completed = nodes.completed.copy()
    A = np.eye(3 * n)
    own = np.zeros(3 * n)
    for body in mechanism.bodies:
        mates = np.array([j for j in body if nodes.known[j]])
        if len(mates) < 3 or _collinear(mechanism.nodes_mm[mates]):
            continue
        for j in body:
            if nodes.known[j] or completed[j]:
                continue
            x = mechanism.nodes_mm[[*mates, j]]
            moved = fit_rigid_motion(x[:-1], positions[mates])(x)
            modes = rigid_modes(moved)
            gain = modes[-3:] @ np.linalg.pinv(modes[:-3])
            columns = axes_of(mates)
            A[3 * j : 3 * j + 3] = 0.0
            A[3 * j : 3 * j + 3, columns] = gain
            own[3 * j : 3 * j + 3] = length_sd_mm**2
            positions[j], completed[j] = moved[-1], True
    covariance = A @ nodes.covariance_mm2 @ A.T + np.diag(own)
    return ScannedNodes(nodes.known | completed, completed, positions, covariance)


def _collinear(x: Floats) -> bool:
    extent = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    return bool(extent[1] < BODY.slender * extent[0])


def moved_bodies(
    mechanism: Mechanism,
    labels: Labels,
    centres_mm: Floats,
    places_mm: Floats,
    length_u_mm: float,
    in_place_mm: float,
) -> list[list[int]]:
    """Free nodes of a body that have their lengths among loose spheres, away from home.

    Parameters
    ----------
    centres_mm : (m, 3)
    places_mm : (n, 3) where the simulation has the nodes, in the scan's frame
    length_u_mm : standard uncertainty of a scanned rigid length
    in_place_mm : a loose sphere nearer to a free node's place may be that node
    """
    free = labels.unconfirmed
    loose: Ints = np.setdiff1d(np.arange(len(centres_mm)), labels.confirmed)
    away = np.linalg.norm(centres_mm[loose, None] - places_mm[free], axis=2)
    loose = loose[(away > in_place_mm).all(axis=1)]
    if len(free) < 2 or len(loose) < 2:
        return []
    apart = np.linalg.norm(centres_mm[:, None] - centres_mm, axis=2)
    width = BODY.width * length_u_mm
    found = []
    for body in mechanism.bodies:
        for own in _parts([j for j in body if j in free]):
            match = _match(mechanism, (own, body), loose, apart, width)
            if match is None:
                continue
            lengths, tries = match
            near = 2 * width / float(apart.max())  # share of distances so near
            if tries * near**lengths < BODY.rare:
                found.append(own)
                break
    return found


def _parts(own: list[int]) -> list[list[int]]:
    """A body's free nodes, and all but one of them: that one may have stayed."""
    return [own, *([j for j in own if j != k] for k in own)]


def _match(
    mechanism: Mechanism,
    part: tuple[list[int], Sequence[int]],
    loose: Ints,
    apart: Floats,
    width: float,
) -> tuple[int, float] | None:
    """How many lengths of a part spheres keep, and of how many that were tried.

    Parameters
    ----------
    part : nodes, and the body they are of
    """
    own, body = part
    lengths, tries = len(own) * (len(own) - 1) // 2, float(len(loose)) ** len(own)
    hung = [j for j in body if j not in own]
    for spheres in _tuples(apart, loose, _distances(mechanism.nodes_mm, own), width):
        if len(own) > 2 or not hung:
            return lengths, tries
        to_joint = _distances(mechanism.nodes_mm, [hung[0], *own])[0, 1:]
        off = np.abs(apart[:, list(spheres)] - to_joint)
        near: Bools = np.asarray((off <= width).all(axis=1))
        near[list(spheres)] = False  # the joints on which the spheres may hang
        if near.any():
            return lengths + 2, tries * len(apart)
    return None


def _distances(nodes: Floats, some: Sequence[int]) -> Floats:
    x = nodes[list(some)]
    return np.asarray(np.linalg.norm(x[:, None] - x, axis=2))


def _tuples(
    apart: Floats, loose: Ints, lengths: Floats, width: float
) -> Iterator[tuple[int, ...]]:
    """Different loose spheres that keep all `lengths` (f, f); none for f < 2."""
    f = len(lengths)
    if f < 2:
        return
    open_ones: list[tuple[int, ...]] = [(int(s),) for s in loose]
    while open_ones:
        some = open_ones.pop()
        if len(some) == f:
            yield some
            continue
        expected = lengths[len(some), : len(some)]
        near = np.abs(apart[loose][:, np.array(some)] - expected)
        for s in loose[(near <= width).all(axis=1)]:
            if s not in some:
                open_ones.append((*some, int(s)))


def describe_moved(bodies: Sequence[Sequence[int]]) -> str:
    """Which bodies are elsewhere, in words, by their nodes."""
    names = ["-".join(map(str, nodes)) for nodes in bodies]
    return (
        f"nodes {', '.join(names)} keep their distances but have moved: is a body on "
        "the wrong joint?"
    )
