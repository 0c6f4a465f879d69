"""Folds of rigid panels on the way from the flat sheet: vertices with known motions."""

import json

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.origami.pattern.fold_format import Unassigned, read_pattern
from sim.origami.pattern.generators import waterbomb, yoshimura
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_folding import RigidSheet, _creased, closure_errors
from tests.sim.origami.folds_by_theory import pop_up
from tests.sim.origami.known_folds import (
    M,
    V,
    creased,
    sheet_of,
    square_twist,
    star,
)


def rigid(pattern: CreasePattern, fraction: float = 1.0) -> RigidSheet:
    creases = pattern.creases
    asked = fraction * np.pi * np.asarray(pattern.assignment)[creases]
    return RigidSheet(pattern, asked, np.ones(len(creases)))


def by_ring(pattern: CreasePattern, folds: Floats) -> Floats:
    """Folds of a star in the order of its sectors."""
    ends = pattern.edges[pattern.creases]
    return folds[np.argsort(ends[:, 1])]


def test_half_angles_of_a_flat_foldable_vertex_keep_their_ratio():
    """tan(minor / 2) = sin 15 / sin 75 tan(major / 2) for sectors 60, 90, 120, 90."""
    pattern = star([60, 90, 120, 90], [M, V, V, V])
    ratio = np.sin(np.radians(15)) / np.sin(np.radians(75))
    for state in rigid(pattern, 0.9).path():
        half = np.abs(np.tan(0.5 * by_ring(pattern, state.folds)))
        small, large = np.sort(half).reshape(2, 2)
        assert not state.open_vertices
        assert small == pytest.approx(ratio * large, rel=1e-5)


@pytest.mark.parametrize(
    "pattern",
    [
        sheet_of(4, 4),
        yoshimura(4, 4, width=0.02, height=0.0173),
        waterbomb(2, 3, side=0.02),
    ],
)
def test_folds_on_the_way_close_on_the_sides_assigned(pattern):
    sheet = rigid(pattern)
    for state in sheet.path(parts=8):
        assert (state.folds * sheet.aim > 0).all()
        there = creased(pattern, state.folds / np.pi)
        assert max(closure_errors(there).values()) < 1e-7
    assert state.folds == pytest.approx(sheet.aim, abs=1e-3)


@pytest.mark.parametrize(
    ("pattern", "vertices"),
    [
        (star([60, 90, 120, 90], [V, V, M, V]), {0}),  # not beside the least sector
        (star([90] * 4, [V] * 4), {0}),
        (square_twist(30.0), {0, 1, 2, 3}),
    ],
)
def test_vertices_that_do_not_fold_as_assigned_are_named(pattern, vertices):
    path = rigid(pattern, 0.6).path()
    assert len(path) == 1
    assert set(path[-1].open_vertices) == vertices


def test_edges_that_only_divide_a_panel_are_no_creases():
    crease, sectors = np.array([-1, 4, -1, -1, 2, 7]), np.arange(1.0, 7.0)
    folds, between = _creased(crease, sectors)
    assert folds.tolist() == [4, 2, 7]
    assert between.tolist() == [2 + 3 + 4, 5, 6 + 1]


@pytest.mark.parametrize("fold", [1.5, -4.0, np.nan])
def test_folds_of_more_than_half_a_turn_are_refused(fold):
    flat = sheet_of(1, 2)
    a, b = flat.edges[flat.creases[0]]
    with pytest.raises(ValueError, match=f"of edge {a}-{b} must be within -180"):
        creased(flat, fold)


def folded_card(middle: float) -> CreasePattern:
    document = json.loads(pop_up(middle))
    return read_pattern(document, scale=1.0, unassigned=Unassigned.REFUSE)


def test_a_strip_across_a_folded_card_moves_as_a_four_bar():
    """Sides 25, 15 of the card, 30, 10 of the strip; laws of cosines and sines."""
    pattern, a, b, p, q = folded_card(-5.0), 25.0, 15.0, 30.0, 10.0
    height = pattern.vertices[pattern.edges[pattern.creases, 0], 1]
    for state in rigid(pattern, 0.6).path():
        assert not state.open_vertices
        card = state.folds[height == 0.0]
        upper, lower, middle = (state.folds[height == y][0] for y in (25, -15, -5))
        assert card == pytest.approx(card[0], abs=1e-7)
        d = np.sqrt(a**2 + b**2 + 2 * a * b * np.cos(card[0]))
        turn = np.arccos((d**2 - p**2 - q**2) / (2 * p * q))
        above = np.arcsin(b * np.sin(card[0]) / d) + np.arcsin(q * np.sin(turn) / d)
        assert [-middle, upper, lower] == pytest.approx(
            [turn, above, card[0] + turn - above], abs=1e-6
        )


@pytest.mark.parametrize("around_a_hole", [False, True])
def test_slopes_of_the_closure_are_those_of_differences(around_a_hole):
    sheet = rigid(folded_card(-5.0), 0.6) if around_a_hole else rigid(sheet_of(2, 3))
    folds = sheet.path()[-1].folds if around_a_hole else sheet.left_to(0.3).folds
    way = np.random.default_rng(3).standard_normal(len(folds))
    slope = sheet.closure(folds)[1] @ way
    sizes = (1e-2, 1e-3, 1e-6, -1e-6)
    moved = [sheet.closure(folds + h * way)[0].ravel() for h in sizes]
    off = [np.abs(moved[k] - sizes[k] * slope).max() for k in (0, 1)]
    assert np.abs(slope).max() > 0.1
    assert np.log10(off[0] / off[1]) == pytest.approx(2.0, abs=0.1)
    assert slope == pytest.approx((moved[2] - moved[3]) / 2e-6, abs=1e-7)
