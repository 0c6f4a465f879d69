"""Links that go: against truss counts, loops and the mobility of what is left."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sim.convergence import NotConvergedError
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.mobility import mobility
from sim.morph.morphing.design import DesignOptions, links_of
from sim.morph.morphing.removal import (
    Manner,
    RemovalOptions,
    RemovalStep,
    _bridges,
    remove_links,
    without,
)
from sim.morph.morphing.search import DesignStop
from sim.morph.structure.constraints import dist, fix
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.surfaces import Circle, Sphere
from tests.sim.morph.mechanisms import structure
from tests.sim.morph.solid_structures import solids

FAR = Goals(
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [3, 3, 0]])
)
SHEET = triangle_sheet(2, 2, leading="tips")
TARGETS = (Circle(5.8), Sphere(5.5))


def truss() -> Structure:
    """Five nodes with all ten links, one too many, and a sixth node on three."""
    r = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1.2, 1.3], [2, 2, 0.1]]
    )
    pairs = (*combinations(range(5), 2), (1, 5), (2, 5), (4, 5))
    return replace(structure(r, [dist(r, *pair) for pair in pairs]), bodies=pairs)


def all_steps(
    made: Structure, targets: tuple[Circle | Sphere | Goals, ...], count: int
) -> list[RemovalStep]:
    options = RemovalOptions(count, design=DesignOptions(limit=0.2, max_steps=1000))
    return list(remove_links(made, targets, options))


def parts(ends: np.ndarray, n: int) -> int:  # type: ignore[type-arg]
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return int(connected_components(graph, directed=False)[0])


def test_a_redundant_link_is_cut_and_no_freedom_comes() -> None:
    """Those of node 5 carry most; they are in no self-stress and stay."""
    before, after, *_ = all_steps(truss(), (FAR,), 1)
    assert before.mobility.tolist() == after.mobility.tolist() == [6]
    assert after.gone is not None
    assert after.gone.manner is Manner.CUT
    assert max(after.gone.nodes) < 5
    assert after.F <= before.F * (1.0 + 1e-9)
    assert len(mobility(after.structure).redundant) == 0


@pytest.mark.parametrize(("manner", "more"), [(Manner.CUT, 1), (Manner.JOINED, -2)])
def test_a_link_in_no_self_stress_changes_the_mobility(
    manner: Manner, more: int
) -> None:
    first = int(links_of(SHEET).constraint[0])
    _, made = without(SHEET, first, manner)
    assert mobility(made).mobility == mobility(SHEET).mobility + more
    assert len(links_of(made).group) == len(links_of(SHEET).group) - 1


def test_a_sheet_without_a_fifth_of_its_links_is_no_freer_and_fits_better() -> None:
    steps = all_steps(SHEET, TARGETS, 4)
    assert len(links_of(steps[4].structure).group) == 15
    assert [step.gone is None for step in steps[:6]] == [True, *[False] * 4, True]
    manners = [step.gone.manner.value for step in steps[1:5] if step.gone]
    assert manners == ["joined", "cut", "cut", "joined"]
    for step in steps:
        assert (step.mobility <= steps[0].mobility).all()
        assert max(end.residual for end in step.ends) <= 1e-10
        nodes = step.structure.constraints.nodes[:, :2]
        for i in range(len(nodes)):
            assert parts(np.delete(nodes, i, axis=0), len(SHEET.r0)) == 1
        for joined in (made.gone for made in steps[: step.s + 1] if made.gone):
            if joined.manner is Manner.JOINED:
                a, b = joined.nodes
                for end in step.ends:
                    assert_allclose(end.r[a], end.r[b], atol=1e-9)
    assert steps[-1].stop in (DesignStop.GRADIENT, DesignStop.REACHED)
    assert steps[0].E[0] > 0.05
    assert (np.maximum(steps[0].E, 1e-8) >= steps[-1].E).all()


def test_bridges_are_constraints_whose_loss_parts_a_structure() -> None:
    """A triangle, a link from it to the ground, and one that ends free."""
    r = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 2, 0], [3, 0, 0]])
    pairs = [(0, 1), (1, 2), (0, 2), (1, 3), (2, 4), (1, 5)]
    links = [dist(r, *pair) for pair in pairs]
    assert _bridges(structure(r, links)).tolist() == [False] * 3 + [True] * 3
    held = structure(r, links + fix(r, 3) + fix(r, 4))
    assert _bridges(held)[:6].tolist() == [False] * 5 + [True]


def test_links_that_cannot_go_end_the_search_with_their_reason() -> None:
    """A triangle: a cut frees it, and a joined side leaves two unequal ones."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.4, 0.6, 0]])
    pairs = ((0, 1), (1, 2), (0, 2))
    made = replace(structure(r, [dist(r, *pair) for pair in pairs]), bodies=pairs)
    with pytest.raises(NotConvergedError, match="no link can go after 0: each would"):
        all_steps(made, (Goals(2.0 * r),), 1)


def test_structures_whose_links_cannot_go_are_refused() -> None:
    with pytest.raises(ValueError, match="19 of 19 links cannot go: leave one"):
        all_steps(SHEET, TARGETS, 19)
    balls = replace(SHEET, solids=solids(balls=[(0, 0.1)]))
    with pytest.raises(ValueError, match="without volumes and ranges"):
        all_steps(balls, TARGETS, 1)
    more = replace(truss(), constraints=truss().constraints.followed_by(
        truss().constraints.only(np.arange(13) == 12)))  # fmt: skip
    with pytest.raises(ValueError, match="2 rows are redundant: let as many links go"):
        all_steps(more, (FAR,), 1)
    for field in ("count", "trials"):
        with pytest.raises(ValueError, match=f"{field} must be"):
            RemovalOptions(**{"count": 1, field: 0})
