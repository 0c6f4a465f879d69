"""Patterns that repeat, single units, sequences, and rigid closure."""

import numpy as np
import pytest

from sim.origami.fold_and_load_phases import parse_sequence
from sim.origami.pattern.generators import (
    kresling,
    miura,
    vertex,
    waterbomb,
    yoshimura,
)
from sim.origami.pattern.pattern import CreasePattern, polygon_area
from sim.origami.pattern.rigid_folding import closure_errors, vertex_fans
from tests.sim.origami.sheets import weak_orderings

SHEETS = {
    "miura": miura(4, 5, width=0.02, height=0.03, angle=60.0),
    "yoshimura": yoshimura(4, 5, width=0.02, height=0.02),
    "waterbomb": waterbomb(3, 4, side=0.02),
}
AREAS = {  # m^2
    "miura": 20 * 0.02 * 0.03 * np.sin(np.pi / 3),
    "yoshimura": 20 * 0.02 * 0.02,
    "waterbomb": 12 * 0.02**2,
}


def inner_vertices(pattern: CreasePattern) -> dict[int, list[int]]:
    """Creases at each vertex that no free edge touches."""
    around: dict[int, list[int]] = {}
    outer = set()
    creases = set(pattern.creases.tolist())
    for edge, ends in enumerate(pattern.edges.tolist()):
        for v in ends:
            around.setdefault(v, []).append(edge)
            if edge not in creases:
                outer.add(v)
    return {v: edges for v, edges in around.items() if v not in outer}


@pytest.mark.parametrize("name", SHEETS)
def test_mountains_and_valleys_differ_by_two_at_every_inner_vertex(name):
    """Maekawa's theorem, which flat folding requires."""
    pattern = SHEETS[name]
    inner = inner_vertices(pattern)
    assert len(inner) > 3
    for edges in inner.values():
        assert abs(sum(pattern.assignment[e] for e in edges)) == 2


@pytest.mark.parametrize("name", SHEETS)
def test_panels_of_a_tessellation_tile_without_overlap(name):
    pattern = SHEETS[name]
    areas = [polygon_area(pattern.vertices[list(p)])[2] for p in pattern.panels]
    assert min(areas) > 0
    assert sum(areas) == pytest.approx(AREAS[name], rel=1e-12)
    free = len(pattern.edges) - len(pattern.creases)
    inside = len(pattern.creases)
    assert 2 * inside + free == sum(len(p) for p in pattern.panels)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: miura(0, 3, width=1, height=1, angle=60), "0 x 3 is empty"),
        (lambda: miura(2, 3, width=1, height=1, angle=90), "angle must lie"),
        (lambda: yoshimura(2, 3, width=-1, height=1), "width must be positive"),
        (lambda: waterbomb(2, 3, side=0), "side must be positive"),
        (lambda: vertex([90, 90, 90], radius=1.0), "angles that sum to 360 degrees"),
        (lambda: vertex([200, 80, 80], radius=1.0), "must be below 180"),
        (lambda: vertex([120, 120, 120], radius=0.0), "radius must be positive"),
        (lambda: kresling(2, radius=1, height=1, twist=1), "3 sides or more, not 2"),
        (lambda: parse_sequence("1-3-3"), "sequence 1-3-3 lacks stage 2"),
        (lambda: parse_sequence("0-1"), "has a stage below 1"),
        (lambda: parse_sequence("1-x"), "is not stages joined by hyphens"),
        (lambda: parse_sequence(""), "is not stages joined by hyphens"),
    ],
)
def test_impossible_patterns_and_sequences_with_a_gap_are_refused(build, said):
    with pytest.raises(ValueError, match=said):
        build()


@pytest.mark.parametrize(("creases", "count"), [(1, 1), (2, 3), (3, 13), (4, 75)])
def test_there_are_as_many_folding_sequences_as_weak_orderings(creases, count):
    """Fig. 10e: 75 for four creases; the ordered Bell numbers."""
    found = list(weak_orderings(creases))
    assert len(found) == len(set(found)) == count


def test_a_sequence_is_read_crease_by_crease():
    assert parse_sequence("1-2-2-3") == (1, 2, 2, 3)


@pytest.mark.parametrize("name", ["miura", "waterbomb"])
def test_vertices_of_flat_folded_patterns_close_and_no_others_are_asked(name):
    pattern = SHEETS[name]
    errors = closure_errors(pattern)
    assert set(errors) == set(inner_vertices(pattern))
    assert max(errors.values()) < 1e-14
    folds = np.array(pattern.assignment)
    folds[pattern.creases[len(pattern.creases) // 2]] *= 0.5
    bent = closure_errors(CreasePattern(pattern.vertices, pattern.panels, folds))
    assert sum(error > 0.1 for error in bent.values()) in (1, 2)


def test_sectors_follow_the_creases_around_a_vertex():
    edges, sectors = vertex_fans(vertex([60, 80, 120, 100], radius=0.03))[0]
    first = edges.index(1)
    assert np.degrees(np.roll(sectors, -first)) == pytest.approx([60, 80, 120, 100])


def test_a_kresling_cell_is_a_prism_that_is_turned():
    cell = kresling(5, radius=0.02, height=0.03, twist=30.0)
    assert len(cell.panels) == 11
    x, y, z = cell.vertices[5]
    assert (np.hypot(x, y), z) == pytest.approx((0.02, 0.03))
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(30.0)
    assert len(cell.creases) == 15  # mountains, valleys, and the rim of the lid
