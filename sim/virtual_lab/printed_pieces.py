"""What is printed: a piece for each body, link, free sphere and clamp, and the target.

`pieces` makes them, and `laid_out` puts them side by side on the beds of a printer.
`overlapping_pieces` names those that would be at one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sim.contact.distance import edge_edge_distance
from sim.core.arrays import Floats, Ints, connected
from sim.core.options import Choice
from sim.virtual_lab.assembled_part import (
    open_bars,
    rod_pairs,
    sphere_numbers,
)
from sim.virtual_lab.lab_settings import Sizes
from sim.virtual_lab.solids_of_revolution import (
    PrintedRod,
    Solid,
    bar,
    bare_rod,
    clamp,
    sphere,
)

FINEST_MM = 0.01  # of a size in a message; rods closer to a centre go through it


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
    nodes : spheres it has or joins, by the first node of each
    length_mm : of a link, sphere centre to sphere centre; nan for others
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
    """Nodes of a structure with its spheres and rods, in mm.

    Attributes
    ----------
    spheres : (n,) the first node at the place of each
    owner : name of the piece that each sphere belongs to, by first node
    """

    nodes: Floats
    spheres: Ints
    owner: dict[int, str]
    rods: tuple[PlacedRod, ...]


def assembly(
    nodes: Floats, bodies: Sequence[Sequence[int]], links: Ints, sizes: Sizes
) -> Assembly:
    """Which spheres and rods there are; a rod that does not fit is refused.

    A rod through a sphere of its own body is left out: two others end there.

    Parameters
    ----------
    nodes : (n, 3) mm, where all constraints hold
    links : (p, 2) nodes with a link or edge between them
    """
    spheres = sphere_numbers(nodes)
    pairs = rod_pairs(nodes, bodies, links)
    large = [tuple(body) for body in bodies if len(body) > 2]
    owner: dict[int, str] = {}
    for k, body in enumerate(large):
        for node in body:
            owner.setdefault(int(spheres[node]), f"body-{k}")
    for b in spheres.tolist():
        owner.setdefault(int(b), "ball")
    rods = []
    for i, j in pairs.tolist():
        if spheres[i] == spheres[j]:
            continue
        those = (k for k, body in enumerate(large) if {i, j} <= set(body))
        number = next(those, None)
        name = f"link-{i}-{j}" if number is None else f"body-{number}"
        inner = {k for k, own in owner.items() if own == name} - {*spheres[[i, j]]}
        if any(distance_to_segment(nodes[[k, i, j]]) < FINEST_MM for k in inner):
            continue
        ends = owner[int(spheres[i])] != name, owner[int(spheres[j])] != name
        rod = PrintedRod(float(np.linalg.norm(nodes[j] - nodes[i])), ends)
        if not rod.fits(sizes):
            raise ValueError(
                f"the rod {i}-{j} is {rod.length:.2f} mm long, but its spheres and "
                f"seats need {2.0 * sizes.seat_mm:.2f} mm: enlarge scale_mm, or use "
                "smaller spheres"
            )
        rods.append(PlacedRod((i, j), rod, name))
    return Assembly(nodes, spheres, owner, tuple(rods))


def distance_to_segment(x: Floats) -> float:
    """From x[0] to the segment from x[1] to x[2], (3, 3)."""
    point, u = x[0] - x[1], x[2] - x[1]
    return float(np.linalg.norm(point - np.clip(point @ u / (u @ u), 0.0, 1.0) * u))


def pieces(made: Assembly, sizes: Sizes, clamps: Clamps, sides: int) -> list[Piece]:
    """Every piece of the mechanism, spheres first."""
    found = []
    free = [b for b in np.unique(made.spheres).tolist() if made.owner[b] == "ball"]
    if free:
        one = sphere(sizes.ball_radius_mm, sides)
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
    """Spheres and rods in one piece, laid flat."""
    own = [b for b in np.unique(made.spheres).tolist() if made.owner[b] == name]
    one = sphere(sizes.ball_radius_mm, sides)
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
    target: tuple[Floats, Ints], spheres: Floats, sizes: Sizes
) -> Piece | None:
    """The open target around spheres (n, 3) in place; None if nothing of it is left."""
    bars = bars_of_target(target, spheres, sizes)
    if not bars:
        return None
    solids = tuple(bar(a, b, sizes.target_radius_mm) for a, b in bars)
    return Piece("target", 1, (), np.nan, solids, solids)


def bars_of_target(
    target: tuple[Floats, Ints], spheres: Floats, sizes: Sizes
) -> list[tuple[Floats, Floats]]:
    """Ends of the open target's bars, but for crumbs."""
    clearance = sizes.ball_radius_mm + sizes.target_clearance_mm
    least = 0.1 * sizes.target_radius_mm
    bars = open_bars(target, spheres, clearance)
    return [(a, b) for a, b in bars if np.linalg.norm(b - a) > least]


def fragments(bars: Sequence[tuple[Floats, Floats]], radius: float) -> int:
    """How many pieces round bars are that hold together where they overlap."""
    n = len(bars)
    touch = [
        (i, j)
        for i, j in combinations(range(n), 2)
        if edge_edge_distance(np.array([*bars[i], *bars[j]])) < 2.0 * radius
    ]
    return connected(np.array(touch, dtype=np.int64).reshape(-1, 2), n)[0]


class Box(NamedTuple):
    """What a piece takes on the bed, mm, and how many of it there are."""

    name: str
    copies: int
    width: float
    depth: float


class Place(NamedTuple):
    """Where one copy of a piece lies: its corner, mm, on which bed."""

    name: str
    bed: int
    x: float
    y: float


def laid_out(
    boxes: Sequence[Box], bed: Sequence[float], clearance: float
) -> list[Place]:
    """Rows of pieces, the deepest first; a full bed is followed by another.

    Parameters
    ----------
    bed : its width and depth, mm
    clearance : between two pieces, mm
    """
    for name, _, width, depth in boxes:
        if width > bed[0] or depth > bed[1]:
            raise ValueError(
                f"{name} needs {width:.0f} x {depth:.0f} mm, but the bed has "
                f"{bed[0]:g} x {bed[1]:g} mm: enlarge bed_mm or lower scale_mm"
                + (", or leave it out with target: false" * (name == "target"))
            )
    copies = [box for box in boxes for _ in range(box.copies)]
    places, number, x, y, row = [], 0, 0.0, 0.0, 0.0
    for name, _, width, depth in sorted(copies, key=lambda box: -box.depth):
        if x + width > bed[0]:
            x, y, row = 0.0, y + row + clearance, 0.0
        if y + depth > bed[1]:
            number, x, y, row = number + 1, 0.0, 0.0, 0.0
        places.append(Place(name, number, x, y))
        x, row = x + width + clearance, max(row, depth)
    return places
