"""Nodes whose spheres were not seen, put where their rigid bodies hold them."""

from dataclasses import dataclass

import numpy as np

from analysis.alignment import fit_rigid_motion, rigid_modes
from analysis.labels.evidence import NOT_ASSIGNED
from analysis.labels.mechanism import Mechanism
from analysis.labels.thresholds import BODY
from sim.arrays import Bools, Floats, Ints


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
    rows: Ints = (3 * points[:, None] + np.arange(3)).ravel()
    return rows


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
