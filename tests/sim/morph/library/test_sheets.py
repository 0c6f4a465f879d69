"""The sheet of triangles of Fig. 3."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.library.sheets import triangle_sheet
from sim.morph.structure.structure import Structure


def sides(sheet: Structure) -> Floats:
    """(t, 3) lengths of the sides of each triangle, ascending."""
    corners = sheet.r0.reshape(-1, 3, 3)
    lengths = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    return np.sort(lengths, axis=1)


@pytest.mark.parametrize(
    ("rows", "columns", "nodes", "links"), [(2, 2, 48, 67), (3, 3, 90, 128)]
)
def test_sheet_has_its_nodes_links_and_mobility(
    rows: int, columns: int, nodes: int, links: int
) -> None:
    sheet = triangle_sheet(rows, columns)
    system = system_of(sheet)
    assert (system.n, system.m) == (nodes, links)
    dropped = linearise(system, state(sheet)).factorise().dropped
    assert len(dropped) == 0
    assert 3 * nodes - links == {48: 77, 90: 142}[nodes]


def test_regular_sheet_has_equal_sides_and_links() -> None:
    sheet = triangle_sheet(2, 3, side=1.5, link=0.7)
    assert_allclose(sides(sheet), 1.5, rtol=1e-13)
    ends = np.array([body for body in sheet.bodies if len(body) == 2])
    spans = np.linalg.norm(sheet.r0[ends[:, 0]] - sheet.r0[ends[:, 1]], axis=1)
    assert_allclose(spans, 0.7, rtol=1e-12)


def test_varied_triangles_can_be_told_apart_by_their_sides() -> None:
    found = sides(triangle_sheet(2, 2, variation=0.1, seed=1))
    assert found.min() == pytest.approx(0.9)
    assert found.max() == pytest.approx(1.1)
    assert np.diff(found, axis=1).min() > 0.025
    apart = np.abs(found[:, None] - found).max(axis=2) + np.eye(len(found))
    assert apart.min() > 0.025


def test_the_same_seed_makes_the_same_sheet() -> None:
    first = triangle_sheet(2, 2, variation=0.1, seed=3)
    assert_allclose(first.r0, triangle_sheet(2, 2, variation=0.1, seed=3).r0, rtol=0)
    other = triangle_sheet(2, 2, variation=0.1, seed=4)
    assert np.abs(first.r0 - other.r0).max() > 1e-3


def test_rim_and_tips_are_what_their_names_say() -> None:
    sheet = triangle_sheet(3, 3)
    linked = {node for body in sheet.bodies if len(body) == 2 for node in body}
    tips = triangle_sheet(3, 3, leading="tips").leading
    assert set(tips.tolist()) == set(range(90)) - linked
    assert len(triangle_sheet(3, 3, leading="rim").leading) == 3 * len(tips) == 42


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": 0}, "0 rows"),
        ({"side": -1.0}, "must be positive"),
        ({"variation": 0.5}, "between 0 and 0.3"),
        ({"leading": "left"}, "leading is 'left': choose one of all, rim, tips"),
    ],
)
def test_impossible_sheets_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        triangle_sheet(**{"rows": 2, "columns": 2, **options})  # type: ignore[arg-type]
