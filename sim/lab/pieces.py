"""What is printed: a piece for each body, link, free ball and clamp, and the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sim.arrays import Floats, Ints
from sim.choice import Choice
from sim.contact.distance import edge_edge_distance
from sim.lab.part import ball_numbers, clamped_ends, open_bars, rod_pairs
from sim.lab.rods import PrintedRod, bare_rod, clamp
from sim.lab.sizes import Sizes
from sim.lab.solids import Solid, ball, bar


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
    alone : one copy, in a frame of its own
    flat : whether it is printed as flat as it can lie, else as it is
    """

    name: str
    count: int
    nodes: tuple[int, ...]
    length_mm: float
    assembled: tuple[Solid, ...]
    alone: tuple[Solid, ...]
    flat: bool = False


class PlacedRod(NamedTuple):
    """A rod between two nodes, and the piece it belongs to."""

    nodes: tuple[int, int]
    rod: PrintedRod
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
    rods: tuple[PlacedRod, ...]


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
        rod = PrintedRod(float(np.linalg.norm(nodes[j] - nodes[i])), (ends[0], ends[1]))
        if not rod.fits(sizes):
            raise ValueError(
                f"the rod {i}-{j} is {rod.length:.2f} mm long, too short for its balls "
                f"and seats, which take {2.0 * sizes.seat_mm:.2f} mm: enlarge scale_mm "
                "or make the balls smaller"
            )
        rods.append(PlacedRod((i, j), rod, name))
    return Assembly(nodes, balls, owner, tuple(rods))


def pieces(made: Assembly, sizes: Sizes, clamps: Clamps, sides: int) -> list[Piece]:
    """Every piece of the mechanism, balls first."""
    found = []
    free = [b for b in np.unique(made.balls).tolist() if made.owner[b] == "ball"]
    if free:
        one = ball(sizes.ball_radius_mm, sides)
        there = tuple(one.at(made.nodes[b]) for b in free)
        found.append(Piece("ball", len(free), tuple(free), np.nan, there, (one,)))
    for name in dict.fromkeys(placed.piece for placed in made.rods):
        rods = [placed for placed in made.rods if placed.piece == name]
        if name.startswith("body"):
            found.append(_body(name, made, rods, sizes, sides))
        else:
            found.append(_link(rods[0], made, sizes, clamps))
    links = [placed for placed in made.rods if placed.piece.startswith("link")]
    if clamps is Clamps.SEPARATE and links:
        one, count = clamp(sizes), 2 * len(links)
        ends = (nodes for p in links for nodes in (p.nodes, p.nodes[::-1]))
        there = tuple(one.between(*made.nodes[list(pair)]) for pair in ends)
        found.append(Piece("clamp", count, (), np.nan, there, (one,)))
    return found


def _body(
    name: str, made: Assembly, rods: Sequence[PlacedRod], sizes: Sizes, sides: int
) -> Piece:
    """Balls and rods in one piece, laid flat."""
    own = [b for b in np.unique(made.balls).tolist() if made.owner[b] == name]
    one = ball(sizes.ball_radius_mm, sides)
    solids = [one.at(made.nodes[b]) for b in own]
    for placed in rods:
        start, end = made.nodes[list(placed.nodes)]
        solids.append(placed.rod.solid(start, end, sizes))
    return Piece(name, 1, tuple(own), np.nan, tuple(solids), tuple(solids), flat=True)


def _link(placed: PlacedRod, made: Assembly, sizes: Sizes, clamps: Clamps) -> Piece:
    start, end = made.nodes[list(placed.nodes)]
    rod = placed.rod
    along_x = np.array([[0.0, 0.0, 0.0], [rod.length, 0.0, 0.0]])
    one = bare_rod(rod, sizes)
    if clamps is Clamps.JOINED:
        one = rod.solid(start, end, sizes)
    there, alone = one.between(start, end), one.between(*along_x)
    return Piece(placed.piece, 1, placed.nodes, rod.length, (there,), (alone,))


def target_piece(
    target: tuple[Floats, Ints], balls: Floats, sizes: Sizes
) -> Piece | None:
    """The open target around balls (n, 3) in place; None if nothing of it is left."""
    bars = bars_of_target(target, balls, sizes)
    if not bars:
        return None
    solids = tuple(bar(a, b, sizes.target_radius_mm) for a, b in bars)
    return Piece("target", 1, (), np.nan, solids, solids)


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
