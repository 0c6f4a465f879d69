"""A plate of tied layers, each of which grows by a strain of its own, and so curls.

Every layer is two panels of half its thickness where Gauss's rule has its points, so
that stretching them is all the bending a layer resists. Fibres across hold the panels
together: each is straight and keeps its length, and stays at right angles to the chord
between its neighbours (Kirchhoff's hypothesis). These chords leave four sets of
fibres, even and odd along x and y, to shift across as wholes; chords to three fibres
next to the middle one tie them, so that heights are right to the order of a cell's
square, and strains and curvatures hang on nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sim.arrays import Floats, Ints
from sim.limits import is_count, refuse_unless_positive
from sim.morph.statics.elastic import Elastic
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.panels import Panels
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    dot,
    par,
)
from sim.morph.structure.structure import Structure


@dataclass(frozen=True)
class Layer:
    """What a layer is made of: E, nu, and thickness."""

    modulus: float
    poisson: float
    thickness: float

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "modulus", "thickness")


@dataclass(frozen=True, eq=False)
class LayeredPlate:
    """A plate of layers, flat and at rest before they grow.

    Attributes
    ----------
    structure : its fibres, held against motions of the whole
    panels : (p,) of all layers, from the lowest up
    layer : (p,) of each panel
    fibres : (n, 2) lowest and highest node of each
    chords : two of (q, 2) fibres that are neighbours along x, and along y
    """

    structure: Structure
    panels: Panels
    layer: Ints
    fibres: Ints
    chords: tuple[Ints, Ints]

    def grown(self, strains: Sequence[float]) -> LoadedStructure:
        """With the strain of each layer."""
        of_panels = np.asarray(strains, dtype=np.float64)[self.layer]
        nothing = np.zeros_like(self.structure.r0)
        elastic = replace(Elastic.none(), panels=self.panels).grown(panels=of_panels)
        return LoadedStructure(self.structure, elastic, nothing, nothing[:, 0])

    def curvatures(self, r: Floats) -> Floats:
        """(2,) along x and y: mean turn of neighbouring fibres over their distance.

        Positive where the upper side is outside.
        """
        low, high = (r[self.fibres[:, i]] for i in (0, 1))
        along = (high - low) / np.linalg.norm(high - low, axis=1)[:, None]
        middle, found = 0.5 * (low + high), []
        for chord in self.chords:
            d = middle[chord[:, 1]] - middle[chord[:, 0]]
            apart = np.linalg.norm(d, axis=1)
            turn = along[chord[:, 1]] - along[chord[:, 0]]
            half = 0.5 * np.einsum("qi,qi->q", turn, d) / apart
            found.append(float(np.mean(2.0 * np.arcsin(half) / apart)))
        return np.array(found)


def layered_plate(
    cells: Sequence[int], size: Sequence[float], layers: Sequence[Layer]
) -> LayeredPlate:
    """A rectangle in the plane z = 0 at the middle of its layers.

    Parameters
    ----------
    cells : along x and y, of two triangles each, even
    size : along x and y
    layers : from the lowest up, at least one
    """
    if len(cells) != 2 or not all(is_count(c, least=4) and c % 2 == 0 for c in cells):
        raise ValueError(f"cells are {list(cells)}: give two even numbers from 4 up")
    if len(size) != 2 or not min(size) > 0.0:
        raise ValueError(f"size is {list(size)}: give two positive lengths")
    if not layers:
        raise ValueError("layers is empty: give a layer or more")
    nx, ny = cells
    b, a = np.divmod(np.arange((nx + 1) * (ny + 1)), nx + 1)
    flat, n = np.column_stack([a * (size[0] / nx), b * (size[1] / ny)]), len(a)
    flat -= flat[_middle(nx, ny)]
    heights = _heights(layers)
    r = np.vstack([np.column_stack([flat, np.full(n, z)]) for z in heights])
    steps = ((a, nx, 1), (b, ny, nx + 1))
    rows = [row for low in range(n) for row in _fibre(r, low, len(heights), n, steps)]
    rows += _held(r, _middle(nx, ny), len(heights), n, nx + 1)
    first = np.flatnonzero((a < nx) & (b < ny))
    panels = [
        Panels.between(
            r, _triangles(first, nx) + k * n, made.modulus, made.poisson,
            0.5 * made.thickness,
        )
        for k, made in enumerate(made for made in layers for _ in range(2))
    ]  # fmt: skip
    fibres = np.column_stack([np.arange(n), np.arange(n) + (len(heights) - 1) * n])
    chords = [
        np.column_stack([one, one + to])
        for one, to in ((np.flatnonzero(at < last), to) for at, last, to in steps)
    ]
    bodies = tuple(map(tuple, fibres.tolist()))
    structure = Structure(r, ConstraintTable.of(rows), np.arange(len(r)), bodies)
    layer = np.repeat(np.arange(len(layers)), 2 * 2 * len(first))
    return LayeredPlate(
        structure, Panels.joined(panels), layer, fibres, (chords[0], chords[1])
    )


def _middle(nx: int, ny: int) -> int:
    return ny // 2 * (nx + 1) + nx // 2


def _triangles(first: Ints, nx: int) -> Ints:
    """(t, 3) two of each cell, by its first node."""
    over = first + nx + 1
    halves = [[first, first + 1, over], [first + 1, over + 1, over]]
    return np.concatenate([np.column_stack(half) for half in halves])


def _heights(layers: Sequence[Layer]) -> Floats:
    """(2 x layers,) the points of Gauss's rule across each layer."""
    edges = np.cumsum([0.0, *(layer.thickness for layer in layers)])
    edges -= 0.5 * edges[-1]
    halves = [(0.5 * (a + b), 0.5 * (b - a)) for a, b in pairwise(edges.tolist())]
    return np.array([m + s * h / np.sqrt(3.0) for m, h in halves for s in (-1, 1)])


def _fibre(
    r: Floats, low: int, count: int, n: int, steps: Sequence[tuple[Ints, int, int]]
) -> list[Constraint]:
    """Straight, of one length, at right angles to the chords beside it."""
    high = low + (count - 1) * n
    inner = range(low + n, high, n)
    rows = [dist(r, low, high), *(dist(r, low, node) for node in inner)]
    rows += [par(low, node, low, high) for node in inner]
    for at, last, step in steps:
        if 0 < at[low] < last:
            rows.append(dot(r, low, high, low - step, low + step, constant=0.0))
    return rows


def _held(r: Floats, middle: int, count: int, n: int, across: int) -> list[Constraint]:
    """One fibre held upright, one node against turning about it; even tied to odd."""
    high = middle + (count - 1) * n
    ties = [(middle, middle + 1), (middle, middle + across)]
    ties.append((middle + 1, middle + 1 + across))
    tied = [
        dot(r, here, here + (count - 1) * n, here, there, constant=0.0)
        for here, there in ties
    ]
    held = [(middle, 0), (middle, 1), (middle, 2), (high, 0), (high, 1)]
    held.append((middle + 1, 1))
    return tied + [Constraint(ConstraintKind.FIX, at, float(r[at])) for at in held]
