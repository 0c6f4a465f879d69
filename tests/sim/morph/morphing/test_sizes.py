"""Sizes of shapes as bounds of a design: differences, and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.convergence import NotConvergedError
from sim.morph.library.sheets import triangle_sheet
from sim.morph.morphing.design import (
    DesignOptions,
    MorphObjective,
    design,
    links_of,
)
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.search import DesignStop
from sim.morph.morphing.sizes import ShapeSize, SizeTerms
from sim.morph.structure.constraints import dist
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.surfaces import Circle, Sphere
from tests.sim.morph.mechanisms import structure
from tests.sim.morph.slopes import slope_errors

EXACT = DesignOptions(morph=NewtonOptions(tolerance=1e-11, residual=1e-12))
SHEET = triangle_sheet(2, 2, leading="tips")
TARGETS = (Circle(5.5), Sphere(4.0, (0.1, 0.05, -3.0)))
ALL = (
    ShapeSize(0, most=4.0),
    ShapeSize(1, weight=0.2),
    ShapeSize(1, along="z", most=1.0),
    ShapeSize(0, along="x", weight=0.1),
)


@pytest.mark.parametrize("along", [None, "x", "z"])
def test_a_size_is_never_below_what_it_stands_for_and_follows_its_slope(
    rng: np.random.Generator, along: str | None
) -> None:
    r, way = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    one = ShapeSize(0, along=along, most=1.0)
    size, slope = one.of(r, 1.5)
    most = one.exact(r) * 30 ** (1 / 64) if along is None else (
        one.exact(r) + 2 * 1.5 * np.log(30) / 64
    )  # fmt: skip
    assert one.exact(r) <= size <= most
    h = 1e-6
    ahead, behind = (one.of(r + by * way, 1.5)[0] for by in (h, -h))
    assert (ahead - behind) / (2 * h) == pytest.approx((slope * way).sum(), rel=1e-6)


@pytest.mark.parametrize(
    "unit",
    [1e-3, *(pytest.param(unit, marks=pytest.mark.slow) for unit in (1.0, 1e3))],
)
def test_a_slope_with_sizes_is_that_of_differences(
    rng: np.random.Generator, unit: float
) -> None:
    """Radius and extents of two shapes; the error falls with h^2."""
    every = replace(SHEET, leading=np.arange(len(SHEET.r0)))
    made = scaled(every, unit)
    targets = [Goals(unit * (SHEET.r0 * [1.3, 0.8, 1.0] + shift))
               for shift in ([0, 0, 0.0], [0.1, 0, 0.5])]  # fmt: skip
    own = tuple(
        replace(one, most=None if one.most is None else unit * one.most) for one in ALL
    )
    sizes = SizeTerms(own, np.array([0.1, 0.0, 0.2, 0.0]), 2.0)
    links = links_of(made)
    sought = MorphObjective(made, targets, links, EXACT, sizes)
    change, way = 0.03 * rng.normal(size=19), rng.normal(size=19)
    found = sought.at(change)
    steps = [4e-3, 2e-3, 1e-3]
    errors = slope_errors(
        lambda x: sought.at(x, found.ends).F, change, way, found.slope, steps
    )
    assert errors[-1] < 1e-2 * abs(found.slope @ way)
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2, abs=0.3)


def scaled(given: Structure, unit: float) -> Structure:
    table = given.constraints
    squares = table.constant * unit**2
    return replace(
        given, r0=unit * given.r0, constraints=replace(table, constant=squares)
    )


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_one_link_is_as_long_as_its_bound_lets_it(unit: float) -> None:
    """Goals 1.2 apart, a radius of 0.55: l = 1.1 less what the smooth size is above."""
    r = unit * np.array([[0.0, 0, 0], [1.0, 0, 0]])
    link = replace(structure(r, [dist(r, 0, 1)]), bodies=((0, 1),))
    goals = Goals(r * 1.2)
    for most, wanted in ((0.55, 2 * 0.55 / 2 ** (1 / 64)), (0.7, 1.2)):
        options = DesignOptions(
            limit=0.4, tolerance=1e-7, sizes=(ShapeSize(0, most=unit * most),)
        )
        *_, last = design(link, [goals], links_of(link), options)
        assert 1.0 + last.change[0] == pytest.approx(wanted, abs=3e-4)


def test_a_weight_trades_error_for_size_as_the_closed_form() -> None:
    """E^2 = (l - 1.2)^2 / (4 L^2), size (l / 2) 2^(1/64): least of E^2 + w size^2."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    link = replace(structure(r, [dist(r, 0, 1)]), bodies=((0, 1),))
    w, goals = 0.3, Goals(r * 1.2)
    options = DesignOptions(limit=0.5, tolerance=1e-8, sizes=(ShapeSize(0, weight=w),))
    *_, last = design(link, [goals], links_of(link), options)
    k = 2 ** (2 / 64)
    assert 1.0 + last.change[0] == pytest.approx(1.2 / (1.0 + w * k), abs=1e-6)


@pytest.mark.slow
def test_a_sheet_keeps_to_a_radius() -> None:
    """The bound costs error, and is met; without it the shape is larger."""
    links, free = links_of(SHEET, ["xy"]), DesignOptions(tolerance=1e-3, max_steps=20)
    shapes = (Circle(5.5),)
    *_, wide = design(SHEET, shapes, links, replace(free, max_steps=100))
    one = ShapeSize(0, most=5.4)
    *_, kept = design(SHEET, shapes, links, replace(free, sizes=(one,)))
    assert one.exact(wide.ends[0].r) > 5.45
    assert one.exact(kept.ends[0].r) <= 5.4 * (1.0 + 1e-4)
    assert kept.F > wide.F
    assert np.abs(kept.change).max() <= 0.2
    assert_allclose([end.residual for end in kept.ends], 0.0, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_stowed_shape_keeps_its_height_and_a_deployed_one_pays(unit: float) -> None:
    """Two links, of which a straight line asks 1.2, and a fold no more than 1 high."""
    r = unit * np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0.1, 0]])
    chain = structure(r, [dist(r, 0, 1), dist(r, 1, 2)])
    made = replace(chain, bodies=((0, 1), (1, 2)))
    deployed = Goals(unit * np.array([[0.0, 0, 0], [1.2, 0, 0], [2.4, 0, 0]]))
    stowed = Goals(unit * np.array([[0.0, 0, 0], [0.1, 1.2, 0], [0.2, 0, 0]]))
    targets, links = (deployed, stowed), links_of(made)
    options = DesignOptions(limit=0.4, tolerance=1e-6)
    high = ShapeSize(1, along="y", most=1.0 * unit)
    *_, free = design(made, targets, links, options)
    *_, kept = design(made, targets, links, replace(options, sizes=(high,)))
    assert free.F < 1e-5
    assert high.exact(free.ends[1].r) > 1.19 * unit
    assert 0.9 * unit < high.exact(kept.ends[1].r) <= unit * (1.0 + 1e-4)
    assert kept.E[0] > 0.02
    size, _ = high.of(kept.ends[1].r, characteristic_length(r))
    assert size == pytest.approx(unit, rel=2e-4)


def test_a_search_that_does_not_end_within_its_bounds_is_said() -> None:
    """A bound that is met from the start changes nothing of how a search ends."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0.1, 0]])
    chain = structure(r, [dist(r, 0, 1), dist(r, 1, 2)])
    made = replace(chain, bodies=((0, 1), (1, 2)))
    goals = Goals(np.array([[0.0, 0, 0], [1.25, 0, 0], [2.3, 0, 0]]))
    wide = DesignOptions(limit=0.4, max_steps=1, sizes=(ShapeSize(0, most=100.0),))
    with pytest.raises(NotConvergedError, match="after 1 steps: raise max_steps"):
        list(design(made, [goals], links_of(made), wide))
    *_, last = design(
        made, [goals], links_of(made), replace(wide, max_steps=100, reached=1e-6)
    )
    assert last.stop is DesignStop.REACHED


def test_a_bound_that_cannot_be_met_is_said() -> None:
    r = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    link = replace(structure(r, [dist(r, 0, 1)]), bodies=((0, 1),))
    options = DesignOptions(limit=0.1, sizes=(ShapeSize(0, most=0.3),))
    with pytest.raises(NotConvergedError, match="stays 52 % above its bound: no"):
        *_, _ = design(link, [Goals(r)], links_of(link), options)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"shape": -1, "most": 1.0}, "shape is -1"),
        ({"shape": 0, "along": "w", "most": 1.0}, "along is 'w'"),
        ({"shape": 0, "most": 0.0}, "most must be a positive length"),
        ({"shape": 0}, "give `most`, or a positive weight"),
        ({"shape": 0, "weight": -1.0, "most": 1.0}, "has the weight -1.0"),
    ],
)
def test_sizes_that_are_none_are_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ShapeSize(**values)  # type: ignore[arg-type]
