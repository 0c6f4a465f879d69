"""What is printed: a piece for each body, link, free ball and clamp, and the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.printed.mesh import Mesh, along, ball, bar, joined
from pipeline.printed.part import ball_numbers, clamped_ends, open_bars, rod_pairs
from pipeline.printed.rods import Rod, bare_rod, clamp
from pipeline.printed.sizes import Sizes
from sim.arrays import Floats, Ints
from sim.contact.distance import edge_edge_distance
from sim.morph.choice import Choice


class Clamps(Choice):
    """How clamps are printed."""

    JOINED = "joined"
    SEPARATE = "separate"


@dataclass(frozen=True, eq=False)
class Piece:
    """Something to print.

    Attributes
    ----------
    count : how many of it
    nodes : balls it has or joins, by the first node of each
    length_mm : of a link, ball centre to ball centre; nan for others
    assembled : in the frame of the nodes, every copy in its place
    to_print : lying on the bed, z from 0 up
    """

    name: str
    count: int
    nodes: tuple[int, ...]
    length_mm: float
    assembled: Mesh
    to_print: Mesh

    @property
    def extent(self) -> Floats:
        """(3,) mm that it takes on the bed and above."""
        extent: Floats = np.ptp(self.to_print.vertices, axis=0)
        return extent


class Placed(NamedTuple):
    """A rod between two nodes, and the piece it belongs to."""

    nodes: tuple[int, int]
    rod: Rod
    piece: str


@dataclass(frozen=True, eq=False)
class Assembly:
    """Nodes of a structure with its balls and rods, in mm.

    Attributes
    ----------
    balls : (n,) the first node at the place of each
    owner : name of the piece that each ball belongs to, by first node
    """

    nodes: Floats
    balls: Ints
    owner: dict[int, str]
    rods: tuple[Placed, ...]


def assembly(
    nodes: Floats, bodies: Sequence[Sequence[int]], links: Ints, sizes: Sizes
) -> Assembly:
    """Which balls and rods there are; a rod that does not fit is refused.

    Parameters
    ----------
    nodes : (n, 3) mm, where all constraints hold
    links : (p, 2) nodes with a link or edge between them
    """
    balls = ball_numbers(nodes)
    pairs = rod_pairs(nodes, bodies, links)
    clamped = clamped_ends(nodes, bodies, pairs)
    large = [tuple(body) for body in bodies if len(body) > 2]
    owner: dict[int, str] = {}
    for k, body in enumerate(large):
        for node in body:
            owner.setdefault(int(balls[node]), f"body-{k}")
    for b in balls.tolist():
        owner.setdefault(int(b), "ball")
    rods = []
    for (i, j), ends in zip(pairs.tolist(), clamped.tolist(), strict=True):
        if balls[i] == balls[j]:
            continue
        own = (k for k, body in enumerate(large) if {i, j} <= set(body))
        number = next(own, None)
        name = f"link-{i}-{j}" if number is None else f"body-{number}"
        rod = Rod(float(np.linalg.norm(nodes[j] - nodes[i])), (ends[0], ends[1]))
        if not rod.fits(sizes):
            raise ValueError(
                f"the rod {i}-{j} is {rod.length:.2f} mm long, too short for its balls "
                f"and seats, which take {2.0 * sizes.seat_mm:.2f} mm: enlarge scale_mm "
                "or make the balls smaller"
            )
        rods.append(Placed((i, j), rod, name))
    return Assembly(nodes, balls, owner, tuple(rods))


def pieces(made: Assembly, sizes: Sizes, clamps: Clamps, sides: int) -> list[Piece]:
    """Every piece of the mechanism, balls first."""
    found = []
    free = [b for b in np.unique(made.balls).tolist() if made.owner[b] == "ball"]
    if free:
        mesh = ball(sizes.ball_radius_mm, sides)
        there = joined(mesh.moved(np.eye(3), made.nodes[b]) for b in free)
        found.append(Piece("ball", len(free), tuple(free), np.nan, there, on_bed(mesh)))
    for name in dict.fromkeys(placed.piece for placed in made.rods):
        rods = [placed for placed in made.rods if placed.piece == name]
        if name.startswith("body"):
            found.append(_body(name, made, rods, sizes, sides))
        else:
            found.append(_link(rods[0], made, sizes, clamps, sides))
    links = [placed for placed in made.rods if placed.piece.startswith("link")]
    if clamps is Clamps.SEPARATE and links:
        mesh, count = clamp(sizes, sides), 2 * len(links)
        ends = (nodes for p in links for nodes in (p.nodes, p.nodes[::-1]))
        there = joined(mesh.moved(*along(*made.nodes[list(pair)])) for pair in ends)
        found.append(Piece("clamp", count, (), np.nan, there, on_bed(mesh)))
    return found


def _body(
    name: str, made: Assembly, rods: Sequence[Placed], sizes: Sizes, sides: int
) -> Piece:
    """Balls and rods in one piece, laid flat."""
    own = [b for b in np.unique(made.balls).tolist() if made.owner[b] == name]
    one = ball(sizes.ball_radius_mm, sides)
    shells = [one.moved(np.eye(3), made.nodes[b]) for b in own]
    for placed in rods:
        start, end = made.nodes[list(placed.nodes)]
        shells.append(placed.rod.mesh(start, end, sizes, sides))
    mesh = joined(shells)
    return Piece(name, 1, tuple(own), np.nan, mesh, on_bed(flat(mesh)))


def _link(
    placed: Placed, made: Assembly, sizes: Sizes, clamps: Clamps, sides: int
) -> Piece:
    start, end = made.nodes[list(placed.nodes)]
    rod = placed.rod
    if clamps is Clamps.JOINED:
        mesh = rod.mesh(np.zeros(3), np.array([rod.length, 0.0, 0.0]), sizes, sides)
        there = rod.mesh(start, end, sizes, sides)
    else:
        plain = bare_rod(rod, sizes, sides)
        mesh = plain.moved(*along(np.zeros(3), np.array([rod.length, 0.0, 0.0])))
        there = plain.moved(*along(start, end))
    return Piece(placed.piece, 1, placed.nodes, rod.length, there, on_bed(mesh))


def target_piece(
    target: tuple[Floats, Ints], balls: Floats, sizes: Sizes, sides: int
) -> Piece | None:
    """The open target around balls (n, 3) in place; None if nothing of it is left."""
    bars = bars_of_target(target, balls, sizes)
    if not bars:
        return None
    mesh = joined(bar(a, b, sizes.target_radius_mm, sides) for a, b in bars)
    return Piece("target", 1, (), np.nan, mesh, on_bed(mesh))


def bars_of_target(
    target: tuple[Floats, Ints], balls: Floats, sizes: Sizes
) -> list[tuple[Floats, Floats]]:
    """Ends of the open target's bars, but for crumbs."""
    clearance = sizes.ball_radius_mm + sizes.target_clearance_mm
    least = 0.1 * sizes.target_radius_mm
    bars = open_bars(target, balls, clearance)
    return [(a, b) for a, b in bars if np.linalg.norm(b - a) > least]


def fragments(bars: Sequence[tuple[Floats, Floats]], radius: float) -> int:
    """How many pieces round bars are that hold together where they overlap."""
    n = len(bars)
    touch = [
        (i, j)
        for i, j in combinations(range(n), 2)
        if edge_edge_distance(np.array([*bars[i], *bars[j]])) < 2.0 * radius
    ]
    i, j = np.array(touch, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


def flat(mesh: Mesh) -> Mesh:
    """Turned so that it is lowest in z and longest in x."""
    centred = mesh.vertices - mesh.vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes[2] *= np.sign(np.linalg.det(axes))
    return mesh.moved(axes, np.zeros(3))


def on_bed(mesh: Mesh) -> Mesh:
    """Moved to begin at x = y = z = 0."""
    return mesh.moved(np.eye(3), -mesh.vertices.min(axis=0))
