"""Which of two materials parts are of: differences, and hidden patterns found again."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.morphing.search import SearchOptions
from sim.morph.statics import patterns
from sim.morph.statics.elastic import Elastic
from sim.morph.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.morph.statics.growth import GrowingStructure, Growth, GrowthLaw
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.panels import Panels
from sim.morph.statics.patterns import (
    PatternObjective,
    PatternOptions,
    PatternStage,
    find_pattern,
)
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    fix,
)
from sim.morph.structure.solids import Solids
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from tests.sim.morph.slopes import slope_errors
from tests.sim.morph.solid_structures import solids
from tests.sim.morph.statics.test_panels import mesh, timoshenko

EXACT = PatternOptions(rest=EquilibriumOptions(tolerance=1e-11, residual=1e-12))


def law(*strain: float) -> GrowthLaw:
    """Of fields 0, 1, 2."""
    return GrowthLaw.of([(v, e, 0.0) for v, e in enumerate((0.0, *strain))], turn=True)


def truss(cells: int, unit: float = 1.0) -> GrowingStructure:
    """A strip in its plane, clamped at its left end; chords of one of two materials."""
    x = np.arange(cells + 1.0)
    r = unit * np.vstack([np.column_stack([x, 0 * x + y, 0 * x]) for y in (0.0, 0.5)])
    low, up = np.arange(cells), np.arange(cells) + cells + 1
    chords = np.vstack([np.column_stack([i, i + 1]) for i in (low, up)])
    others = np.vstack([np.column_stack([i, up + 1]) for i in (low, low + 1)])
    rows = [*fix(r, 0), *fix(r, cells + 1)]
    rows += [
        Constraint(ConstraintKind.FIX, (j, 2), 0.0)
        for j in range(len(r))
        if j not in (0, cells + 1)
    ]
    made = Structure(r, ConstraintTable.of(rows), np.arange(len(r)))
    elastic = Elastic.between(r, np.vstack([chords, others]), 3.0)
    growths = tuple(
        Growth(law(0.0, 0.0), np.array([i]), other=law(0.04, 0.06))
        for i in range(2 * cells)
    )
    return GrowingStructure(made, elastic, 0.0 * r, np.zeros(len(r)), growths=growths)


def shape(
    body: GrowingStructure,
    share: Floats,
    value: float,
    options: PatternOptions = EXACT,
) -> Goals:
    """Of a hidden pattern."""
    strains = [
        growth.law.at(value)[0] * (1.0 - x)
        + x * (growth.other or growth.law).at(value)[0]
        for growth, x in zip(body.growths, share, strict=True)
    ]
    return Goals(at_rest(body.grown(np.array(strains)), options.rest).r())


def everything(obstacles: Solids | None = None) -> GrowingStructure:
    """Springs, a hinge and panels, beside a rigid link and supports."""
    r = np.array(
        [[0.0, 0, 0], [0, 1, 0], [-1, 0.4, 0.3], [1, 0.6, 0.1], [1.8, 0.2, 0.4],
         [1.7, 1.1, 0.2]]
    )  # fmt: skip
    rows = [*fix(r, 0), *fix(r, 1), *fix(r, 2), dist(r, 3, 4)]
    made = Structure(r, ConstraintTable.of(rows), np.arange(3, 6))
    if obstacles is not None:
        made = replace(made, solids=obstacles)
    links = np.array([[0, 3], [1, 3], [1, 4], [2, 4], [4, 5], [3, 5], [1, 5], [0, 4]])
    elastic = Elastic.between(r, links, 2.0, np.array([[2, 0, 1, 3]]), 0.5)
    sheet = np.array([[0, 1, 3], [3, 4, 5]])
    elastic = replace(elastic, panels=Panels.between(r, sheet, 3.0, 0.3, 0.2))
    link = np.flatnonzero(made.constraints.kind == ConstraintKind.DIST)
    growths = (
        Growth(law(0.1, 0.2), np.array([0, 2]), other=law(-0.05, 0.3)),
        Growth(law(0.02, 0.0), panels=np.array([0]), other=law(0.2, -0.1)),
        Growth(law(0.1, 0.1), np.array([4])),
        Growth(law(0.3, -0.2), hinges=np.array([0]), other=law(-0.4, 0.5)),
        Growth(law(0.0, 0.1), np.array([6]), panels=np.array([1]), other=law(0.1, 0.0)),
        Growth(law(0.1, -0.1), rigid=link, other=law(-0.2, 0.1)),
    )
    load = np.zeros_like(r)
    load[5] = [0.1, -0.1, 0.05]
    return GrowingStructure(made, elastic, load, np.zeros(6), growths=growths)


@pytest.mark.parametrize("sharpness", [1.0, 8.0])
@pytest.mark.parametrize("touching", [False, True])
def test_a_share_is_worth_what_differences_say(
    rng: np.random.Generator, sharpness: float, *, touching: bool
) -> None:
    """The error of (F(h) - F(-h)) / 2h falls with h^2, in contact too."""
    body = everything(solids(balls=[(2, 0.9), (3, 0.9)]) if touching else None)
    r = body.structure.r0[3:]
    targets = [Goals(r + 0.3 * rng.normal(size=r.shape)) for _ in range(2)]
    options = replace(EXACT, sharpness=sharpness)
    sought = PatternObjective(body, [1.0, 2.0], targets, options, 0.7, 0.3)
    share, way = rng.uniform(0.3, 0.7, 5), rng.normal(size=5)
    found = sought.at(share)
    sizes = [4e-2, 2e-2, 1e-2]
    errors = slope_errors(
        lambda x: sought.at(x, found.ends).F, share, way, found.slope, sizes
    )
    assert found.F > 1e-3
    assert errors[-1] < 2e-3 * abs(found.slope @ way)
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize(
    ("cells", "hidden", "seed", "unit"),
    [
        (5, 0, None, 1.0),
        (5, 1, 3, 1e-3),
        pytest.param(8, 2, 4, 1.0, marks=pytest.mark.slow),
        pytest.param(8, 3, None, 1e3, marks=pytest.mark.slow),
    ],
)
def test_a_hidden_pattern_is_found_again_from_its_shapes(
    cells: int, hidden: int, seed: int | None, unit: float
) -> None:
    body = truss(cells, unit)
    wanted = np.random.default_rng(hidden).integers(0, 2, 2 * cells).astype(float)
    targets = [shape(body, wanted, value) for value in (1.0, 2.0)]
    steps = list(find_pattern(body, [1.0, 2.0], targets, PatternOptions(seed=seed)))
    assert steps[0].F > 1e-5
    assert_allclose(steps[-1].share, wanted)
    assert steps[-1].F < 1e-14
    assert {step.stage for step in steps} >= {
        PatternStage.RELAXED,
        PatternStage.ROUNDED,
    }


def test_rounding_costs_what_it_says_where_no_pattern_fits() -> None:
    """One free rod: half of a strain is asked for, and all or nothing can be had."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    rows = [*fix(r, 0), *(Constraint(ConstraintKind.FIX, (1, a), 0.0) for a in (1, 2))]
    made = Structure(r, ConstraintTable.of(rows), np.arange(2))
    growth = Growth(law(0.0), np.array([0]), other=law(0.1))
    body = GrowingStructure(
        made, Elastic.between(r, np.array([[0, 1]]), 1.0), 0 * r, np.zeros(2),
        growths=(growth,),
    )  # fmt: skip
    goals = Goals(np.array([[0.0, 0, 0], [1.06, 0, 0]]))
    steps = list(find_pattern(body, [1.0], [goals], PatternOptions(seed=1)))
    plain = [s for s in steps if s.stage is PatternStage.RELAXED and s.weight == 0.0]
    assert plain[-1].F < 1e-8
    assert plain[-1].share[0] == pytest.approx(0.6, abs=1e-2)
    assert steps[-1].share == [1.0]
    L2 = 0.25
    assert pytest.approx(0.04**2 / 2 / L2, rel=1e-6) == steps[-1].F


def test_a_single_change_whose_rest_is_not_found_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two links the first should grow, the second cannot be tried grown."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    rows = [*fix(r, 0)]
    rows += [
        Constraint(ConstraintKind.FIX, (j, a), 0.0) for j in (1, 2) for a in (1, 2)
    ]
    made = Structure(r, ConstraintTable.of(rows), np.arange(3))
    links = Elastic.between(r, np.array([[0, 1], [1, 2]]), 1.0)
    growths = tuple(Growth(law(0.0), np.array([i]), other=law(0.1)) for i in (0, 1))
    body = GrowingStructure(made, links, 0 * r, np.zeros(3), growths=growths)
    found = patterns.at_rest

    def at_rest(grown: LoadedStructure, *others: Any) -> Equilibrium:
        if np.array_equal(grown.elastic.rest_length, [1.1, 1.1]):
            raise NotConvergedError("no rest", best=r)
        return found(grown, *others)

    monkeypatch.setattr(patterns, "at_rest", at_rest)
    goals = Goals(np.array([[0.0, 0, 0], [1.09, 0, 0], [2.1, 0, 0]]))
    *_, last = find_pattern(body, [1.0], [goals], PatternOptions())
    assert last.share.tolist() == [1.0, 0.0]


def test_a_bilayer_bends_up_and_down_as_its_hidden_pattern_does() -> None:
    """Panels, upper or lower grown in each of two parts; curvatures by Timoshenko."""
    rows, parts, H, strain = 4, 2, 0.1, 2e-3
    long = 6.0 * H
    flat, triangles = mesh(6 * rows, rows, (long, H))
    r = np.column_stack([flat, np.zeros(len(flat))])
    middle = flat[triangles].mean(axis=1)
    part = (middle[:, 0] / long * parts).astype(int)
    upper = middle[:, 1] > 0.5 * H
    held = np.flatnonzero(flat[:, 0] == 0.0)
    rows_ = [Constraint(ConstraintKind.FIX, (j, 2), 0.0) for j in range(len(r))]
    rows_ += [Constraint(ConstraintKind.FIX, (int(j), 0), 0.0) for j in held]
    rows_ += [Constraint(ConstraintKind.FIX, (int(held[0]), 1), 0.0)]
    made = Structure(r, ConstraintTable.of(rows_), np.arange(len(r)))
    elastic = replace(
        Elastic.none(), panels=Panels.between(r, triangles, 1.0, 0.3, 1.0)
    )
    growths = tuple(
        Growth(law(0.0), panels=np.flatnonzero((part == p) & (upper == above)),
               other=law(strain))
        for p in range(parts)
        for above in (False, True)
    )  # fmt: skip
    body = GrowingStructure(made, elastic, 0 * r, np.zeros(len(r)), growths=growths)
    wanted = np.array([1.0, 0, 0, 1])  # up, then down
    options = PatternOptions(rest=EquilibriumOptions(tolerance=1e-8))
    target = shape(body, wanted, 1.0, options)
    *_, last = find_pattern(body, [1.0], [target], options)
    assert_allclose(last.share, wanted)
    end = last.ends[0].r()
    exact = timoshenko(1.0, 1.0, H) * strain
    for p, (a, b) in enumerate(pairwise(np.linspace(0.0, long, parts + 1))):
        inside = (
            (flat[:, 1] == 0.0)
            & (flat[:, 0] > a + 0.75 * H) & (flat[:, 0] < b - 0.75 * H)
        )  # fmt: skip
        bent = 2.0 * np.polyfit(end[inside, 0], end[inside, 1], 2)[0]
        sign = wanted[2 * p] - wanted[2 * p + 1]
        assert bent == pytest.approx(sign * exact, rel=0.07)  # four rows: 5 %


def test_a_body_that_nothing_holds_has_no_shape() -> None:
    body = truss(2)
    loose = replace(body.structure, constraints=ConstraintTable.of([]))
    free = replace(body, structure=loose)
    goals = [Goals(body.structure.r0)]
    with pytest.raises(ValueError, match="motions cost the structure no energy"):
        next(find_pattern(free, [1.0], goals, PatternOptions()))


def test_options_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sharpness must be 1 or more, not 0\.5"):
        PatternOptions(sharpness=0.5)
    with pytest.raises(ValueError, match="tolerance must be"):
        SearchOptions(tolerance=0.0)
