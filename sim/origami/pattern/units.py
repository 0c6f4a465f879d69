"""Single units: a vertex of four creases, a square twist, a Kresling cell."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats
from sim.limits import is_positive
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.tessellations import MOUNTAIN, VALLEY

SIGNS = {"M": MOUNTAIN, "V": VALLEY}


def _check(unit: str, **lengths: float) -> None:
    for name, value in lengths.items():
        if not is_positive(value):
            raise ValueError(f"{name} of the {unit} must be positive, not {value}")


def vertex(sectors: Sequence[float], *, radius: float) -> CreasePattern:
    """Triangles and quadrilaterals around vertex 0, between creases of equal length.

    Crease k leads to vertex k + 1, sector k lies after it; a sector of 90 degrees or
    more is a quadrilateral. Creases are not assigned.

    Parameters
    ----------
    sectors : degrees, 360 in all
    radius : length of the creases, m
    """
    _check("vertex", radius=radius)
    given = np.array(sectors, dtype=np.float64)
    if len(given) < 3 or not (given > 0).all() or abs(given.sum() - 360.0) > 1e-9:
        raise ValueError(
            f"sectors of the vertex are {list(sectors)}: give three or more positive "
            "ones, 360 degrees in all"
        )
    if given.max() >= 180.0:
        raise ValueError(f"a sector of {given.max():g} degrees is not below 180")
    angles = np.concatenate([[0.0], np.cumsum(given)[:-1]])
    places = [(0.0, 0.0), *(_on_circle(radius, a) for a in angles)]
    panels: list[list[int]] = []
    for k, sector in enumerate(given):
        panel = [0, k + 1, (k + 1) % len(given) + 1]
        if sector >= 90.0:
            middle = _on_circle(radius, angles[k] + 0.5 * sector)
            panel.insert(2, len(places))
            places.append(middle)
        panels.append(panel)
    return CreasePattern(_flat(places), panels)


def _on_circle(radius: float, degrees: float) -> tuple[float, float]:
    angle = np.radians(degrees)
    return float(radius * np.cos(angle)), float(radius * np.sin(angle))


def _flat(places: Sequence[tuple[float, float]]) -> Floats:
    return np.column_stack([np.array(places), np.zeros(len(places))])


def square_twist(
    signs: str = "MMMM", *, side: float, flap: float, angle: float
) -> CreasePattern:
    """A square that turns as four pleats around it close, of nine panels.

    Pleat k is a parallelogram on side k of the square; its creases are assigned as
    panels that fold flat ask it by the big-little-big lemma, which leaves the signs of
    the square's sides free. Rigid panels fold where these change exactly twice on the
    way around (Evans, Lang, Magleby and Howell, R. Soc. Open Sci. 2:150067, 2015: the
    multipliers of the four vertices have the product 1).

    Parameters
    ----------
    signs : M or V of each side of the square
    side, flap : of the square, of the creases that leave it, m
    angle : acute one between a side and the creases of its pleat, degrees
    """
    _check("square twist", side=side, flap=flap)
    if not 0.0 < angle < 90.0:
        raise ValueError(f"angle of the square twist is {angle}: give 0 to 90 degrees")
    if len(signs) != 4 or set(signs) - set(SIGNS):
        raise ValueError(f"signs of the square twist are {signs!r}: give four of M, V")
    corner = [_on_circle(side / np.sqrt(2.0), 45.0 + 90.0 * k) for k in range(4)]
    P = np.array(corner)
    out = []
    for k in range(4):
        along = (P[(k + 1) % 4] - P[k]) / side
        across = np.array([along[1], -along[0]])
        turn = np.radians(angle)
        out.append(flap * (np.cos(turn) * along + np.sin(turn) * across))
    begin = [P[k] + out[k] for k in range(4)]  # numbers 4 to 7: small sector at P_k
    end = [P[(k + 1) % 4] + out[k] for k in range(4)]  # 8 to 11
    far = [P[k] + out[k] + out[k - 1] for k in range(4)]  # 12 to 15
    panels = [[0, 1, 2, 3]]
    panels += [[k, 4 + k, 8 + k, (k + 1) % 4] for k in range(4)]
    panels += [[k, 8 + (k - 1) % 4, 12 + k, 4 + k] for k in range(4)]
    flat = CreasePattern(_flat([*map(tuple, [*P, *begin, *end, *far])]), panels)
    fold: dict[frozenset[int], float] = {}
    for k, sign in enumerate(SIGNS[letter] for letter in signs):
        after = (k + 1) % 4
        fold |= {frozenset((k, after)): sign, frozenset((k, 4 + k)): -sign,
                 frozenset((after, 8 + k)): sign}  # fmt: skip
    folds = [fold.get(frozenset(ends), 0.0) for ends in flat.edges.tolist()]
    return CreasePattern(flat.vertices, flat.panels, folds)


def kresling(
    sides: int, *, radius: float, height: float, twist: float
) -> CreasePattern:
    """A cell between two polygons, the upper turned; each side has two triangles.

    Vertices 0 to n - 1 are below, n to 2 n - 1 above; the last panel is the upper
    polygon. Mountains lead from vertex k to n + k, valleys on to n + k + 1; the cell is
    given as it stands, without stress.

    Parameters
    ----------
    radius, height : of the polygons' corners, between the polygons, m
    twist : of the upper polygon about the axis, degrees
    """
    _check("Kresling cell", radius=radius, height=height)
    if sides < 3:
        raise ValueError(f"a Kresling cell has 3 sides or more, not {sides}")
    step = 360.0 / sides
    below = [(*_on_circle(radius, k * step), 0.0) for k in range(sides)]
    above = [(*_on_circle(radius, k * step + twist), height) for k in range(sides)]
    panels: list[list[int]] = []
    for k in range(sides):
        after = (k + 1) % sides
        panels += [[k, after, sides + after], [k, sides + after, sides + k]]
    panels.append(list(range(sides, 2 * sides)))
    return CreasePattern(np.array(below + above), panels)
