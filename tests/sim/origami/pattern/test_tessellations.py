"""Patterns that repeat, sequences, and rigid closure."""

import numpy as np
import pytest

from sim.origami.loading.sequences import parse_sequence
from sim.origami.pattern.pattern import CreasePattern, polygon_area
from sim.origami.pattern.rigid import closure_error, closure_errors
from sim.origami.pattern.tessellations import (
    miura,
    strip,
    waterbomb,
    yoshimura,
)
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
def test_mountains_and_valleys_differ_by_two_at_every_inner_vertex(name: str) -> None:
    """Maekawa's theorem, which flat folding requires."""
    pattern = SHEETS[name]
    inner = inner_vertices(pattern)
    assert len(inner) > 3
    for edges in inner.values():
        assert abs(sum(pattern.assignment[e] for e in edges)) == 2


@pytest.mark.parametrize("name", SHEETS)
def test_panels_of_a_tessellation_tile_without_overlap(name: str) -> None:
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
    ],
)
def test_impossible_tessellations_are_refused(build: type, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        build()


@pytest.mark.parametrize(("creases", "count"), [(1, 1), (2, 3), (3, 13), (4, 75)])
def test_there_are_as_many_folding_sequences_as_weak_orderings(
    creases: int, count: int
) -> None:
    """Fig. 10e: 75 for four creases; the ordered Bell numbers."""
    found = list(weak_orderings(creases))
    assert len(found) == len(set(found)) == count


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1-3-3", "sequence 1-3-3 lacks stage 2"),
        ("0-1", "has a stage below 1"),
        ("1-x", "is not stages joined by hyphens"),
        ("", "is not stages joined by hyphens"),
    ],
)
def test_sequences_with_a_gap_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_sequence(text)


def test_a_sequence_is_read_crease_by_crease() -> None:
    assert parse_sequence("1-2-2-3") == (1, 2, 2, 3)


def degree_four(fold: float, sector: float) -> tuple[np.ndarray, np.ndarray]:
    """Sectors and folds of a Miura vertex: tan(a/2) = +-cos(sector) tan(b/2)."""
    other = 2 * np.arctan(np.cos(sector) * np.tan(fold / 2))
    sectors = np.array([sector, np.pi - sector, np.pi - sector, sector])
    return sectors, np.array([-other, fold, other, fold])


@pytest.mark.parametrize("fold", [0.1, 1.0, 2.5])
def test_a_rigidly_folded_vertex_closes(fold: float) -> None:
    sectors, folds = degree_four(fold, 1.1)
    assert closure_error(sectors, folds) < 1e-14


def test_a_vertex_with_one_wrong_fold_does_not_close() -> None:
    sectors, folds = degree_four(1.0, 1.1)
    folds[0] *= -1.0
    assert closure_error(sectors, folds) > 0.1


@pytest.mark.parametrize("name", ["miura", "waterbomb"])
def test_vertices_of_flat_folded_patterns_close_and_no_others_are_asked(
    name: str,
) -> None:
    pattern = SHEETS[name]
    errors = closure_errors(pattern)
    assert set(errors) == set(inner_vertices(pattern))
    assert max(errors.values()) < 1e-14
    folds = np.array(pattern.assignment)
    folds[pattern.creases[len(pattern.creases) // 2]] *= 0.5
    bent = closure_errors(CreasePattern(pattern.vertices, pattern.panels, folds))
    assert sum(error > 0.1 for error in bent.values()) in (1, 2)


def test_a_strip_is_a_row_of_rectangles_with_a_crease_between_two() -> None:
    pattern = strip([0.02, 0.01, 0.03], 0.005)
    areas = [
        np.linalg.norm(polygon_area(pattern.vertices[list(p)])) for p in pattern.panels
    ]
    assert areas == pytest.approx([1e-4, 5e-5, 1.5e-4])
    middles = pattern.vertices[pattern.edges[pattern.creases]].mean(axis=1)
    assert middles[:, 0] == pytest.approx([0.02, 0.03])
    with pytest.raises(ValueError, match="length 1 must be positive"):
        strip([0.02, 0.0], 0.005)
