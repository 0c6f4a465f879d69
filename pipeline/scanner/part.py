"""The printed part: balls at the nodes, rods, clamps, and the open target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from scipy.spatial.transform import Rotation

from pipeline.scanner.lab import VirtualScan
from sim.arrays import Floats, Ints

SAME_MM = 1e-6  # nodes closer than that share one ball


@dataclass(frozen=True, eq=False)
class Part:
    """Solids in mm: equal balls, and straight round bars."""

    balls: Floats  # (n, 3) centres
    radius: float
    starts: Floats  # (m, 3) of the bars
    ends: Floats  # (m, 3)
    radii: Floats  # (m,)

    @property
    def centre(self) -> Floats:
        """(3,) middle of the balls' bounding box."""
        middle: Floats = 0.5 * (self.balls.min(axis=0) + self.balls.max(axis=0))
        return middle

    @property
    def reach(self) -> float:
        """Radius of a sphere about the centre that holds all solids."""
        ends = np.concatenate([self.balls, self.starts, self.ends])
        far = np.linalg.norm(ends - self.centre, axis=1).max()
        return float(far + max(self.radius, self.radii.max(initial=0.0)))


def rod_pairs(nodes: Floats, bodies: Iterable[Sequence[int]], links: Ints) -> Ints:
    """Pairs of nodes that a rod joins: body edges, and links.

    A triangle has three rods, a tetrahedron six. A larger body has those of its
    shortest tree, and those that `links` (p, 2) names.
    """
    pairs = {(min(i, j), max(i, j)) for i, j in links.tolist()}
    for body in bodies:
        if len(body) <= 4:
            pairs |= {(min(pair), max(pair)) for pair in combinations(body, 2)}
            continue
        tree = minimum_spanning_tree(squareform(pdist(nodes[list(body)]))).tocoo()
        ends = zip(tree.row.tolist(), tree.col.tolist(), strict=True)
        found = [(body[i], body[j]) for i, j in ends]
        pairs |= {(min(pair), max(pair)) for pair in found}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def body_pairs(bodies: Iterable[Sequence[int]]) -> Ints:
    """(p, 2) all pairs of nodes whose distance a body keeps."""
    pairs = {(min(p), max(p)) for body in bodies for p in combinations(body, 2)}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def assembled(
    nodes: Floats, rigid: Ints, lab: VirtualScan, rng: np.random.Generator
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


def printed_part(
    balls: Floats, rods: Ints, target: tuple[Floats, Ints], lab: VirtualScan
) -> Part:
    """The solids that a scanner meets.

    Parameters
    ----------
    balls : (n, 3) centres, mm; coinciding nodes share a ball
    rods : (p, 2) pairs of balls
    target : (q, 3) vertices, mm, and (e, 2) edges of the open target
    """
    once = [i for i, ball in enumerate(balls) if _is_first(balls, i, ball)]
    a, b = balls[rods[:, 0]], balls[rods[:, 1]]
    apart = np.linalg.norm(b - a, axis=1) > 2.0 * lab.ball_radius_mm
    a, b = a[apart], b[apart]
    sleeves = [_sleeves(a, b, lab), _sleeves(b, a, lab)]
    bars = _open_bars(target, balls[once], lab.ball_radius_mm + lab.target_clearance_mm)
    solids = [
        (a, b, lab.rod_radius_mm),
        *((start, end, lab.clamp_radius_mm) for start, end in sleeves),
        (*bars, lab.target_radius_mm),
    ]
    return Part(
        balls[once],
        lab.ball_radius_mm,
        np.concatenate([start for start, _, _ in solids]),
        np.concatenate([end for _, end, _ in solids]),
        np.concatenate([np.full(len(s), radius) for s, _, radius in solids]),
    )


def _is_first(balls: Floats, i: int, ball: Floats) -> bool:
    return not (np.linalg.norm(balls[:i] - ball, axis=1) < SAME_MM).any()


def _sleeves(a: Floats, b: Floats, lab: VirtualScan) -> tuple[Floats, Floats]:
    """Clamps at the ends `a` of rods to `b`, from just inside the ball outwards."""
    length = np.linalg.norm(b - a, axis=1, keepdims=True)
    unit = (b - a) / length
    inside = np.sqrt(max(lab.ball_radius_mm**2 - lab.clamp_radius_mm**2, 0.0))
    outside = np.minimum(lab.ball_radius_mm + lab.clamp_length_mm, 0.5 * length)
    return a + inside * unit, a + outside * unit


def _open_bars(
    target: tuple[Floats, Ints], balls: Floats, clearance: float
) -> tuple[Floats, Floats]:
    """The target's edges without what lies closer to a ball than `clearance`."""
    vertices, edges = target
    starts, ends = [np.empty((0, 3))], [np.empty((0, 3))]
    for a, b in vertices[edges].reshape(-1, 2, 3):
        for low, high in _free_intervals(a, b, balls, clearance):
            starts.append((a + low * (b - a))[None])
            ends.append((a + high * (b - a))[None])
    return np.concatenate(starts), np.concatenate(ends)


def _free_intervals(
    a: Floats, b: Floats, balls: Floats, clearance: float
) -> list[tuple[float, float]]:
    """Parts of a + t (b - a), t from 0 to 1, outside all balls of radius `clearance`.

    |a + t u - c|^2 = clearance^2 is a quadratic in t for each centre c.
    """
    u, w = b - a, a - balls
    uu = float(u @ u)
    if uu == 0.0:
        return []
    middle = -(w @ u) / uu
    half2 = (clearance**2 - np.einsum("ij,ij->i", w, w)) / uu + middle**2
    met = half2 > 0.0
    half = np.sqrt(half2[met])
    blocked = sorted(
        zip((middle[met] - half).tolist(), (middle[met] + half).tolist(), strict=True)
    )
    free, reached = [], 0.0
    for low, high in [*blocked, (1.0, 1.0)]:
        if min(low, 1.0) > reached:
            free.append((reached, min(low, 1.0)))
        reached = max(reached, high)
    return free
