"""Where the balls of a printed and assembled part are, and how it lies."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Floats, Ints
from sim.lab.part import SAME_MM
from sim.lab.scanner import VirtualLab


def body_pairs(bodies: Iterable[Sequence[int]]) -> Ints:
    """(p, 2) all pairs of nodes whose distance a body keeps."""
    pairs = {(min(p), max(p)) for body in bodies for p in combinations(body, 2)}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def assembled(
    nodes: Floats, rigid: Ints, lab: VirtualLab, rng: np.random.Generator
) -> Floats:
    """Where the balls of a printed and assembled part are, (n, 3) mm.

    The printer errs in its scale, about the part's own middle, and in the place of each
    ball; joint play moves the nodes as far as the bodies, rigid to first order, let it.

    Parameters
    ----------
    nodes : (n, 3) of the simulation, mm
    rigid : (p, 2) nodes whose distances are constant
    """
    middle = nodes.mean(axis=0)
    printed: Floats = middle + (nodes - middle) * (
        1.0 + lab.scale_sd * rng.standard_normal()
    )
    play = lab.joint_play_mm * rng.standard_normal(nodes.shape)
    printing = lab.printing_sd_mm * rng.standard_normal(nodes.shape)
    return printed + _without_stretch(nodes, rigid, play) + printing


def _without_stretch(nodes: Floats, rigid: Ints, d: Floats) -> Floats:
    """The displacements nearest to `d` that leave the distances `rigid` unchanged.

    With J the derivatives of those distances: d - J^+ J d.
    """
    i, j = rigid.T
    difference = nodes[i] - nodes[j]
    length = np.linalg.norm(difference, axis=1)
    keep = length > SAME_MM
    unit = difference[keep] / length[keep, None]
    J = np.zeros((len(unit), *nodes.shape))
    rows = np.arange(len(unit))
    J[rows, i[keep]] = unit
    J[rows, j[keep]] = -unit
    J = J.reshape(len(unit), -1)
    stretch, *_ = np.linalg.lstsq(J, J @ d.ravel(), rcond=1e-10)
    return d - stretch.reshape(d.shape)


def posed(points: Floats, pose: Rotation, shift: Floats, centre: Floats) -> Floats:
    """`points` (n, 3) turned about `centre` and moved there plus `shift`."""
    turned: Floats = pose.apply(points - centre) + shift
    return turned
