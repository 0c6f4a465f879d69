"""Thick panels close as their hinges say: a single fold, Bennett's linkage, a Miura."""

from collections.abc import Sequence

import numpy as np
import pytest

from sim.arrays import Floats
from sim.origami.mechanics.thick import (
    clearance,
    closing_heights,
    face_heights,
    panel_solids,
    panel_spans,
    thick_folding,
)
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_path import RigidSheet
from sim.origami.pattern.tessellations import miura, strip
from sim.origami.pattern.units import vertex

t = 0.002
PAIR = strip([0.02, 0.02], 0.02)


def at(fold: float, height: float, cut: float) -> float:
    """Clearance of two panels of thickness t, their hinge at a height; degrees."""
    solids = panel_solids(PAIR, np.full((2, 2), [-t / 2, t / 2]), cut)
    heights = np.array([height])
    return clearance(solids, thick_folding(PAIR, np.radians([fold]), heights))


@pytest.mark.parametrize(("height", "cut"), [(0, 1e-3), (0, 5e-4), (-5e-4, 1e-3)])
def test_a_hinge_below_the_inner_faces_stops_where_their_edges_meet(
    height: float, cut: float
) -> None:
    """The edge of a face, t/2 - h above the axis and cut back by g, meets the plane of
    symmetry at 180 degrees less 2 atan((t/2 - h) / g)."""
    stop = 180 - 2 * np.degrees(np.arctan2(t / 2 - height, cut))
    assert at(stop, height, cut) == pytest.approx(0.0, abs=1e-9)
    assert at(stop - 1, height, cut) > 1e-6
    assert at(stop + 1, height, cut) < -1e-6


def test_a_hinge_on_the_inner_faces_lets_them_touch_at_180_degrees() -> None:
    assert face_heights(PAIR, [np.array([np.pi])], t) == pytest.approx([t / 2])
    assert face_heights(PAIR, [np.array([-np.pi])], t) == pytest.approx([-t / 2])
    for fold in range(10, 181, 10):
        assert abs(at(fold, t / 2, 0.0)) < 1e-12
    assert at(10, 0.0, 0.0) < -1e-5


def rigid_folds(pattern: CreasePattern, signs: Sequence[float]) -> list[Floats]:
    asked = 0.9 * np.pi * np.asarray(signs, dtype=np.float64)
    path = RigidSheet(pattern, asked, np.ones(len(asked))).path()
    assert not path[-1].open_vertices
    return [state.folds for state in path]


SECTORS = np.radians([60.0, 80.0, 120.0, 100.0])


@pytest.mark.parametrize("odd", [1, 2])
def test_four_thick_panels_around_a_vertex_are_a_linkage_of_bennett(odd: int) -> None:
    """Links between neighbouring hinges are as the sines of their sectors."""
    pattern = vertex(np.degrees(SECTORS).tolist(), radius=0.03)
    ends = pattern.edges[pattern.creases].tolist()
    around = [ends.index([0, k + 1]) for k in range(4)]
    signs = np.ones(4)
    signs[around[odd - 1]] = -1.0
    folds = rigid_folds(pattern, signs)
    free = closing_heights(pattern, folds[::6])
    assert free.shape == (4, 2)
    shifted = free - free.mean(axis=0)
    heights = np.linalg.svd(shifted)[0][:, 0]
    links = np.roll(heights[around], -1) - heights[around]
    ratio = np.abs(links / np.sin(SECTORS))
    assert ratio == pytest.approx(np.full(4, ratio[0]), rel=1e-6)
    size = np.abs(links).max()
    for state in folds:  # also where they were not asked to close
        assert thick_folding(pattern, state, heights).opening < 1e-6 * size
    wrong = heights.copy()
    wrong[around[0]] += 0.1 * size
    assert thick_folding(pattern, folds[-1], wrong).opening > 0.05 * size


def test_a_thick_miura_closes_with_shifted_hinges_and_not_with_hinges_on_faces() -> (
    None
):
    sheet = miura(3, 3, width=0.02, height=0.02, angle=60.0)
    signs = np.asarray(sheet.assignment)[sheet.creases]
    folds = rigid_folds(sheet, signs)
    heights = face_heights(sheet, folds[::6], t)
    assert np.ptp(heights) > 0.5 * t
    for state in folds:
        assert thick_folding(sheet, state, heights).opening < 1e-9
    assert thick_folding(sheet, folds[-1], 0.5 * t * signs).opening > 0.5 * t
    spans = panel_spans(sheet, heights, t)
    at_creases = heights[[0, -1]]
    assert spans.min() <= at_creases.min()
    assert spans.max() >= at_creases.max()
