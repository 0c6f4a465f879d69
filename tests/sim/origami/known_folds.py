"""Patterns of which theory says how their folding ends."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sim.origami.fold_and_load_phases import Fold
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.outcome import FoldReport, FoldVerdict, fold_report
from sim.origami.folding.sheet import Contact, Sheet
from sim.origami.model.mesh import concentrated_mesh
from sim.origami.pattern.generators import miura, strip, waterbomb, yoshimura
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.sheets import MATERIAL, held_at

SIDE = 0.02  # m
M, V = -1.0, 1.0


def star(sectors: Sequence[float], folds: Sequence[float]) -> CreasePattern:
    """Triangles around vertex 0: sectors in degrees, the fold before each of them."""
    at = np.radians(np.concatenate([[0.0], np.cumsum(sectors)[:-1]]))
    ring = SIDE * np.column_stack([np.cos(at), np.sin(at), 0 * at])
    n = len(sectors)
    panels = [(0, i + 1, (i + 1) % n + 1) for i in range(n)]
    flat = CreasePattern(np.vstack([np.zeros(3), ring]), panels)
    given = {(0, i + 1): fold for i, fold in enumerate(folds)}
    assigned = [given.get((a, b), 0.0) for a, b in flat.edges.tolist()]
    return CreasePattern(flat.vertices, panels, assigned)


def creased(flat: CreasePattern, folds: ArrayLike) -> CreasePattern:
    """A pattern with folds of its creases, shares of half a turn."""
    assigned = np.zeros(len(flat.edges))
    assigned[flat.creases] = folds
    return CreasePattern(flat.vertices, flat.panels, assigned)


def rolled(lengths: Sequence[float], folds: Sequence[float]) -> CreasePattern:
    """Rectangles in a row, lengths in sides."""
    return creased(strip([SIDE * length for length in lengths], SIDE), folds)


def crossed(flap: float, fold: float) -> CreasePattern:
    """A square with a flap on each side, as long as `flap` sides."""
    s, f = SIDE, flap * SIDE
    corners = [[0, 0, 0], [s, 0, 0], [s, s, 0], [0, s, 0]]
    outer = [[0, -f, 0], [s, -f, 0], [s + f, 0, 0], [s + f, s, 0],
             [s, s + f, 0], [0, s + f, 0], [-f, s, 0], [-f, 0, 0]]  # fmt: skip
    panels = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 1, 6, 7], [3, 2, 8, 9], [0, 3, 10, 11]]
    return creased(CreasePattern(np.array(corners + outer), panels), fold)


def square_twist(turn: float) -> CreasePattern:
    """A square whose pleats are turned by `turn` degrees: its sides mountains.

    Around the square each vertex multiplies tan(fold / 2) by the same factor, so that
    rigid panels do not close (Evans et al., R. Soc. Open Sci. 2:150067, 2015).
    """
    square = SIDE * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    points, panels = list(square), [[0, 1, 2, 3]]
    ends = {}
    for side in range(4):
        way = np.radians(-90 + turn + 90 * side)
        for vertex in (side, (side + 1) % 4):
            ends[side, vertex] = len(points)
            step = 1.5 * SIDE * np.array([np.cos(way), np.sin(way), 0.0])
            points.append(square[vertex] + step)
        following = (side + 1) % 4
        panels.append([following, side, ends[side, side], ends[side, following]])
    for vertex in range(4):
        before = (vertex - 1) % 4
        panels.append([vertex, ends[before, vertex], ends[vertex, vertex]])
    flat = CreasePattern(np.array(points), panels)
    folds = {(ends[k, k], k): V for k in range(4)}
    folds |= {(ends[k, (k + 1) % 4], (k + 1) % 4): M for k in range(4)}
    folds |= {(k, (k + 1) % 4): M for k in range(4)}
    assigned = {(min(pair), max(pair)): fold for pair, fold in folds.items()}
    table = [assigned.get((a, b), 0.0) for a, b in flat.edges.tolist()]
    return CreasePattern(flat.vertices, panels, table)


def flipped(pattern: CreasePattern, which: int) -> CreasePattern:
    """One crease that meets an inner vertex, on its other side."""
    folds = np.array(pattern.assignment)[pattern.creases]
    folds[which] *= -1
    return creased(pattern, folds)


def sheet_of(rows: int, columns: int, angle: float = 60.0) -> CreasePattern:
    return miura(rows, columns, width=SIDE, height=SIDE, angle=angle)


def folded(
    pattern: CreasePattern, fraction: float, *, increments: int = 20
) -> tuple[FoldReport, OrigamiStep]:
    """The end of a folding, its first panel held, and what is said of it."""
    mesh = concentrated_mesh(pattern, MATERIAL)
    held = Sheet(mesh, held_at(mesh), Contact(rules="full").filled(mesh))
    phase = Fold(fraction=fraction, increments=increments)
    *_, last = run(held, [phase])
    return fold_report(held, [phase], last), last


class Known(NamedTuple):
    """A pattern, the part of its folds, and how it must end."""

    pattern: Callable[[], CreasePattern]
    fraction: float
    ends: FoldVerdict


FOLDED, CONTACT, POPPED, OPEN = (
    FoldVerdict.FOLDED,
    FoldVerdict.CONTACT,
    FoldVerdict.POPPED,
    FoldVerdict.OPEN,
)
PATTERNS = {
    # flat-foldable, or rigidly foldable as far as is asked
    "one crease": Known(lambda: rolled([1, 1], [V]), 0.9, FOLDED),
    "pleat": Known(lambda: rolled([1, 1, 1], [V, M]), 0.8, FOLDED),
    "accordion": Known(lambda: rolled([1] * 5, [V, M, V, M]), 0.8, FOLDED),
    "open box": Known(lambda: crossed(0.8, V), 0.5, FOLDED),
    "odd crease of five": Known(lambda: star([72] * 5, [V, V, M, V, V]), 0.4, FOLDED),
    "miura 2 x 2": Known(lambda: sheet_of(2, 2), 0.9, FOLDED),
    "miura 4 x 4": Known(lambda: sheet_of(4, 4), 0.7, FOLDED),
    "miura 3 x 5, steep": Known(lambda: sheet_of(3, 5, 75.0), 0.8, FOLDED),
    "waterbomb 1": Known(lambda: waterbomb(1, 1, side=SIDE), 0.8, FOLDED),
    "waterbomb 2 x 2": Known(lambda: waterbomb(2, 2, side=SIDE), 0.6, FOLDED),
    "yoshimura 2 x 2": Known(
        lambda: yoshimura(2, 2, width=SIDE, height=SIDE), 0.5, FOLDED
    ),
    "kawasaki": Known(lambda: star([60, 90, 120, 90], [M, V, V, V]), 0.8, FOLDED),
    "no kawasaki": Known(lambda: star([50, 100, 120, 90], [M, V, V, V]), 0.3, FOLDED),
    "six creases": Known(lambda: star([60] * 6, [V, V, M] * 2), 0.5, FOLDED),
    # panels in the way
    "long flaps on a short base": Known(
        lambda: rolled([2, 1, 2], [V, V]), 1.0, CONTACT
    ),
    "three sides and a lid": Known(lambda: rolled([1] * 4, [V] * 3), 0.8, CONTACT),
    "tube of four": Known(lambda: rolled([1] * 5, [V] * 4), 0.65, CONTACT),
    "roll": Known(lambda: rolled([1] * 7, [V] * 6), 0.5, CONTACT),
    "flaps longer than half": Known(lambda: crossed(0.8, V), 0.95, CONTACT),
    "flaps that share corners": Known(lambda: crossed(0.4, V), 0.9, CONTACT),
    "miura folded flat": Known(lambda: sheet_of(4, 4), 1.0, CONTACT),
    "yoshimura 6 x 6": Known(
        lambda: yoshimura(6, 6, width=SIDE, height=0.0173), 0.8, CONTACT
    ),
    # mountains and valleys that no sheet can have
    "all valleys": Known(lambda: star([60, 90, 120, 90], [V] * 4), 0.6, POPPED),
    "odd crease elsewhere": Known(
        lambda: star([60, 90, 120, 90], [V, V, M, V]), 0.8, POPPED
    ),
    "two and two": Known(lambda: star([60, 90, 120, 90], [V, V, M, M]), 0.6, POPPED),
    "miura 2 x 2, one flipped": Known(lambda: flipped(sheet_of(2, 2), 0), 0.6, POPPED),
    "miura 4 x 4, one flipped": Known(lambda: flipped(sheet_of(4, 4), 5), 0.6, POPPED),
    "five valleys": Known(lambda: star([72] * 5, [V] * 5), 0.6, POPPED),
    "square twist": Known(lambda: square_twist(30.0), 1.0, POPPED),
    "six valleys": Known(lambda: star([60] * 6, [V] * 6), 0.6, OPEN),
    # vertices that do not fold
    "three creases": Known(lambda: star([120] * 3, [V] * 3), 0.6, OPEN),
    "three creases, uneven": Known(lambda: star([100, 120, 140], [V] * 3), 0.6, OPEN),
    "two lines": Known(lambda: star([90] * 4, [V] * 4), 0.6, OPEN),
    "three creases, mountains": Known(lambda: star([90, 130, 140], [M] * 3), 0.6, OPEN),
}
