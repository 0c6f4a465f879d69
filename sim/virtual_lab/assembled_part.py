"""The assembled part: spheres at the nodes, rods with clamps, and the open target.

`printed_part` makes it; `assembled` moves the spheres by printing errors, and `posed`
places it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from scipy.spatial.transform import Rotation

from sim.core.arrays import Bools, Floats, Ints
from sim.virtual_lab.lab_settings import Sizes, VirtualLab
from sim.virtual_lab.solids_of_revolution import PrintedRod, Solid, bar

SAME_MM = 1e-6  # nodes closer than that share one sphere


@dataclass(frozen=True, eq=False)
class Part:
    """Solids in mm: equal spheres, and what is between them.

    Attributes
    ----------
    spheres : (n, 3) centres
    starts, ends, radii : (m, 3), (m, 3), (m,) round bars that hold all else
    solids : all else, to be swept
    """

    spheres: Floats
    radius: float
    starts: Floats
    ends: Floats
    radii: Floats
    solids: tuple[Solid, ...] = ()

    @property
    def centre(self) -> Floats:
        """(3,) middle of the spheres' bounding box."""
        return np.asarray(0.5 * (self.spheres.min(axis=0) + self.spheres.max(axis=0)))

    @property
    def reach(self) -> float:
        """Radius of a sphere about the centre that holds all solids."""
        ends = np.concatenate([self.spheres, self.starts, self.ends])
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


def clamped_ends(nodes: Floats, bodies: Iterable[Sequence[int]], rods: Ints) -> Bools:
    """(p, 2) whether an end of a rod is clamped to its sphere, else they are one piece.

    A body of three nodes or more is printed in one piece with its spheres; a sphere of
    several bodies belongs to the first.
    """
    large = [tuple(body) for body in bodies if len(body) > 2]
    sphere = sphere_numbers(nodes)
    owner: dict[int, int] = {}
    for k, body in enumerate(large):
        for node in body:
            owner.setdefault(int(sphere[node]), k)
    clamped = np.ones((len(rods), 2), dtype=np.bool_)
    for r, pair in enumerate(rods.tolist()):
        own = next((k for k, b in enumerate(large) if set(pair) <= set(b)), None)
        for end, node in enumerate(pair):
            clamped[r, end] = own is None or owner[int(sphere[node])] != own
    return clamped


def sphere_numbers(nodes: Floats) -> Ints:
    """(n,) which sphere each node has: coinciding nodes share the first one's."""
    number = np.arange(len(nodes))
    for i, place in enumerate(nodes):
        near = np.linalg.norm(nodes[:i] - place, axis=1) < SAME_MM
        if near.any():
            number[i] = number[np.argmax(near)]
    return number


def printed_part(
    spheres: Floats,
    rods: Ints,
    target: tuple[Floats, Ints],
    sizes: Sizes,
    clamped: Bools | None = None,
) -> Part:
    """The solids that a scanner meets.

    Parameters
    ----------
    spheres : (n, 3) centres, mm; coinciding nodes share a sphere
    rods : (p, 2) pairs of spheres; those too short to be there are left out
    target : (q, 3) vertices, mm, and (e, 2) edges of the open target
    clamped : (p, 2) see `clamped_ends`; all ends unless given
    """
    if clamped is None:
        clamped = np.ones((len(rods), 2), dtype=np.bool_)
    once = np.flatnonzero(sphere_numbers(spheres) == np.arange(len(spheres)))
    bars, solids = [], []
    for (i, j), ends in zip(rods.tolist(), clamped.tolist(), strict=True):
        a, b = spheres[i], spheres[j]
        rod = PrintedRod(float(np.linalg.norm(b - a)), (ends[0], ends[1]))
        if not rod.fits(sizes):
            continue
        u, out = (b - a) / rod.length, rod.outside(sizes)
        bars += [(a, b, sizes.rod_radius_mm)]
        bars += [(a, a + out * u, sizes.clamp_radius_mm)]
        bars += [(b, b - out * u, sizes.clamp_radius_mm)]
        solids.append(rod.solid(a, b, sizes))
    clearance = sizes.ball_radius_mm + sizes.target_clearance_mm
    for a, b in open_bars(target, spheres[once], clearance):
        bars.append((a, b, sizes.target_radius_mm))
        solids.append(bar(a, b, sizes.target_radius_mm))
    return Part(
        spheres[once],
        sizes.ball_radius_mm,
        np.array([start for start, _, _ in bars]).reshape(-1, 3),
        np.array([end for _, end, _ in bars]).reshape(-1, 3),
        np.array([radius for _, _, radius in bars]),
        tuple(solids),
    )


def open_bars(
    target: tuple[Floats, Ints], spheres: Floats, clearance: float
) -> list[tuple[Floats, Floats]]:
    """The target's edges without what lies closer to a sphere than `clearance`."""
    vertices, edges = target
    return [
        (a + low * (b - a), a + high * (b - a))
        for a, b in vertices[edges].reshape(-1, 2, 3)
        for low, high in _free_intervals(a, b, spheres, clearance)
    ]


def _free_intervals(
    a: Floats, b: Floats, spheres: Floats, clearance: float
) -> list[tuple[float, float]]:
    """Parts of a + t (b - a), t from 0 to 1, outside all spheres of radius `clearance`.

    |a + t u - c|^2 = clearance^2 is a quadratic in t for each centre c.
    """
    u, w = b - a, a - spheres
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


def assembled(
    nodes: Floats, rigid: Ints, lab: VirtualLab, rng: np.random.Generator
) -> Floats:
    """Where the spheres of a printed and assembled part are, (n, 3) mm.

    The printer errs in its scale, about the part's own middle, and in the place of each
    sphere; joint play moves the nodes, the bodies being rigid to first order.

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
    return np.asarray(pose.apply(points - centre) + shift)
