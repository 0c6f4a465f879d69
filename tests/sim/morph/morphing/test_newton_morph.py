"""Constrained Newton steps against closed forms and independent solutions."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.convergence import NotConvergedError
from sim.morph.equations.constraint_forces import MorphConfiguration, constraint_forces
from sim.morph.equations.descent import (
    largest_rotation,
    newton_direction,
    second_order_correction,
)
from sim.morph.equations.hessian import hessian_pattern_of
from sim.morph.equations.inertia_correction import StepDamping
from sim.morph.equations.projection import admissible
from sim.morph.equations.retraction import retract
from sim.morph.equations.system import linearise, system_of
from sim.morph.library.pentapod import pentapod
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.mobility import mobility
from sim.morph.mobility.units import rescaled
from sim.morph.morphing.morph import Stop
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.structure.measures import characteristic_length
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target
from sim.morph.targets.surfaces import Cylinder
from tests.sim.morph.reference import load, structure_of

EQUILIBRIA = [
    "body_procrustes",
    "chain_planar_tension",
    "cylindrical_grounded",
    "fourbar_grounded",
    "hinge_grounded",
    "link_free",
    "link_grounded",
    "pentapod_grounded_R1.4",
    "rotsq4_theta0.5_to_0.2",
    "spherical_grounded",
    "squares4_stretched_redundant",
    "trisheet_2x2_cyl_s1.08",
    "trisheet_3x3_cyl_s1.08",
]


@pytest.mark.parametrize("name", EQUILIBRIA)
def test_equilibrium_is_the_known_one(name: str) -> None:
    known = load(name)
    structure = structure_of(known)
    assert structure.goals is not None
    steps = list(morph_newton(structure, Goals(structure.goals), NewtonOptions()))
    last, expected, tolerance = steps[-1], known["expected"], known["tolerance"]
    L = characteristic_length(structure.r0)
    assert last.stop is Stop.GRADIENT
    assert_allclose(last.E, expected["E"], rtol=0, atol=tolerance["E_abs"])
    assert_allclose(last.S, expected["S"], rtol=0, atol=tolerance["S_abs"])
    assert np.abs(last.r - expected["x"]).max() <= tolerance["x_abs_over_L"] * L
    assert_allclose(last.lam, expected["lam"], rtol=0, atol=1e-6)
    assert all(step.residual <= 1e-10 for step in steps)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_multipliers_count_alike_in_every_unit(
    unit: float, rng: np.random.Generator
) -> None:
    made = pentapod()
    goals = made.r0[made.leading] + rng.normal(size=(5, 3))
    one = list(morph_newton(made, Goals(goals), NewtonOptions()))[-1]
    small = rescaled(made, 1.0 / unit)
    last = list(morph_newton(small, Goals(unit * goals), NewtonOptions()))[-1]
    assert_array_equal(last.r, unit * one.r)
    assert_array_equal(last.lam, one.lam)
    pull = admissible(system_of(small), last.state, last.g - last.r)
    L = characteristic_length(small.r0)
    assert np.sqrt(np.square(pull).sum() / len(last.r)) <= 1e-9 * L
    with pytest.raises(NotConvergedError) as caught:
        list(morph_newton(small, Goals(unit * goals), NewtonOptions(max_steps=1)))
    best = np.asarray(caught.value.best)
    assert linearise(system_of(small), best).residual <= 1e-10
    assert 0.1 * L < characteristic_length(best[: len(last.r)]) < 10.0 * L


@pytest.mark.parametrize("name", EQUILIBRIA)
def test_counts_at_the_beginning_are_the_known_ones(name: str) -> None:
    expected = load(name)["expected"]
    structure = structure_of(load(name))
    found = mobility(structure)
    assert found.mobility == expected["mobility"]
    assert (found.rank, found.rows) == (expected["rank"], expected["m"])
    assert (found.multipliers, len(found.redundant)) == (
        expected["k"],
        expected["redundant"],
    )
    assert characteristic_length(structure.r0) == pytest.approx(
        expected["L"], rel=1e-12
    )


@pytest.mark.parametrize("scale", [1.08, 1.15])
def test_links_in_tension_end_at_a_vanishing_gradient(scale: float) -> None:
    known = load("trisheet_3x3_cyl_s1.08")
    structure = structure_of(known)
    assert structure.goals is not None
    target = Goals(structure.goals * scale / 1.08)
    last = list(morph_newton(structure, target, NewtonOptions()))[-1]
    system = system_of(structure)
    free = admissible(system, last.r, last.g - last.r)
    L = characteristic_length(structure.r0)
    assert np.sqrt(np.square(free).sum() / system.n) < 1e-9 * L
    assert linearise(system, last.r).residual < 1e-10


def test_error_never_grows_from_step_to_step() -> None:
    sheet = triangle_sheet(3, 3, variation=0.1)
    target = Cylinder(3.0, (0.05, 0.03, -3.0), (1.0, 0.05, 0.0))
    errors = [step.E for step in morph_newton(sheet, target, NewtonOptions())]
    assert np.all(np.diff(errors) <= 1e-12)
    assert errors[-1] < 1e-9


def test_steps_hardly_grow_with_the_sheet() -> None:
    steps = []
    for size in (2, 4, 8):
        sheet = triangle_sheet(size, size, side=0.606, link=0.35)
        R = 0.35 * float(np.ptp(sheet.r0[:, 1]))
        target = Cylinder(R, (0.05, 0.03, -R), (1.0, 0.05, 0.0))
        steps.append(list(morph_newton(sheet, target, NewtonOptions()))[-1].s)
    assert max(steps) <= 12


@pytest.mark.parametrize(
    ("target", "most"),
    [
        (lambda w: Cylinder(0.6 * w, (0.0, 0.0, -0.6 * w), (1.0, 0.7, 0.0)), 6),
        (lambda w: Ellipsoid((0.4 * w,) * 3, (0.1, 0.05, -0.42 * w)), 10),
        (lambda w: Ellipsoid((0.5 * w, 0.4 * w, 0.3 * w), (0.0, 0.0, -0.35 * w)), 10),
    ],
)
def test_large_sheets_take_long_steps(
    target: Callable[[float], Target], most: int
) -> None:
    """With links turned by half a radian at most 8, 14 and 13."""
    sheet = triangle_sheet(6, 7, side=0.606, link=0.35)
    onto = target(float(np.ptp(sheet.r0[:, 1])))
    steps = list(morph_newton(sheet, onto, NewtonOptions()))
    assert steps[-1].s <= most
    assert steps[-1].E < 1e-9


def test_bending_a_step_brings_it_close_to_the_constraints(
    rng: np.random.Generator,
) -> None:
    sheet = triangle_sheet(3, 3, variation=0.1)
    system, L = system_of(sheet), characteristic_length(sheet.r0)
    goals = sheet.r0 + 0.3 * L * rng.normal(size=3) * [1.0, 0.0, 1.0]
    goals[:, 2] += 0.2 * sheet.r0[:, 0] ** 2
    held = constraint_forces(
        MorphConfiguration(sheet.r0, goals, linearise(system, sheet.r0))
    )
    W = np.tile(np.eye(3), (system.n, 1, 1))
    point = MorphConfiguration(sheet.r0, goals, held.linear)
    way, _ = newton_direction(
        hessian_pattern_of(system.topology), point, W, held, L, StepDamping()
    )
    size = 0.3 / largest_rotation(system, way.dz)
    straight = linearise(system, sheet.r0 + size * way.dz)
    bent = linearise(
        system, second_order_correction(held, way, sheet.r0 + size * way.dz)
    )
    assert straight.residual == pytest.approx(0.3**2, rel=1e-6)
    assert bent.residual < 0.15 * straight.residual


def test_one_factor_is_enough_for_a_short_way_back(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.morph.equations.retraction.RENEWALS", 0)
    sheet = triangle_sheet(3, 3, variation=0.1)
    base = linearise(system_of(sheet), sheet.r0)
    beside = sheet.r0 + 1e-2 * rng.normal(size=sheet.r0.shape)
    back = retract(base, base.factorise(), beside, 1e-13, 1e-12)
    assert back is not None
    assert linearise(base.system, back[0]).residual <= 1e-12
    far = sheet.r0 + rng.normal(size=sheet.r0.shape)
    assert retract(base, base.factorise(), far, 1e-13, 1e-12) is None


def test_an_enclosure_within_reach_is_reached() -> None:
    sheet = triangle_sheet(2, 2, variation=0.1, seed=1)
    target = Ellipsoid((3.3, 2.8, 2.4), (0.05, 0.03, -1.9))
    last = list(morph_newton(sheet, target, NewtonOptions()))[-1]
    assert last.E < 1e-9
    assert np.abs(target.closest(last.r) - last.r).max() < 1e-8


def test_flat_sheet_leaves_the_saddle_that_its_symmetry_holds_it_on() -> None:
    sheet = triangle_sheet(2, 2, side=0.577, link=0.4)
    squeezed = Goals(sheet.r0 * 0.9)
    steps = list(morph_newton(sheet, squeezed, NewtonOptions(tolerance=1e-8)))
    flat = [step.E for step in steps if np.ptp(step.r[:, 2]) < 1e-3]
    assert np.ptp(steps[0].r[:, 2]) == 0.0
    assert np.ptp(steps[-1].r[:, 2]) > 0.05
    assert 0.99 * min(flat) > steps[-1].E
    assert steps[-1].stop is Stop.GRADIENT


def test_too_few_steps_are_an_error_that_carries_the_best_state() -> None:
    sheet = triangle_sheet(2, 2)
    target = Cylinder(2.0, (0.05, 0.03, -2.0), (1.0, 0.05, 0.0))
    with pytest.raises(NotConvergedError, match="after 2 steps: raise") as caught:
        list(morph_newton(sheet, target, NewtonOptions(max_steps=2)))
    best = caught.value.best
    assert isinstance(best, np.ndarray)
    assert linearise(system_of(sheet), best).residual <= 1e-10


@pytest.mark.parametrize("field", ["tolerance", "residual", "max_steps"])
def test_options_refuse_what_is_not_positive(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be"):
        replace(NewtonOptions(), **{field: -1})  # type: ignore[arg-type]
