"""Eqs. (11) and (12) against dense singular values, and the morph they make."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constraint_projection import (
    admissible,
    retract,
    satisfy_constraints,
    shortest_correction,
    with_multipliers,
)
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
    state,
    system_of,
)
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
)
from sim.mechanism.mobility import mobility
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import (
    Followers,
    Multipliers,
    ProjectionOptions,
    Stop,
    Watch,
    goals,
    morph,
)
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Circle, Cylinder, FourierCylinder
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.reference import dense_jacobian, load, structure_of

TRAJECTORIES = [
    "trajectory_tri_cyl",
    "trajectory_squares_circle",
    "trajectory_pentapod",
]
REDUNDANT = ["squares4_stretched_redundant", "rotsq4_theta0.5_to_0.2"]


def packed(system: ConstraintSystem, z: Floats) -> Floats:
    """Coordinates and multipliers in one row, eqs. (2) and (3)."""
    return np.concatenate([z[: system.n].ravel(), z[system.n :, 0]])


def dense_admissible(J: Floats, n: int, dr: Floats) -> Floats:
    _, sizes, modes = np.linalg.svd(J)
    rank = np.count_nonzero(sizes > 1e-10 * sizes[0])
    U, Psi = modes[rank:, : 3 * n].T, modes[rank:, 3 * n :].T
    weights = np.linalg.pinv(U) @ dr.ravel()
    return np.concatenate([U @ weights, Psi @ weights])


def disturbed(
    structure: Structure, rng: np.random.Generator
) -> tuple[ConstraintSystem, Floats]:
    """A configuration on the constraints, away from the first."""
    system, z = system_of(structure), state(structure)
    dz = admissible(system, z, 0.1 * rng.normal(size=structure.r0.shape))
    return system, satisfy_constraints(system, z + dz, tolerance=1e-13)


@pytest.mark.parametrize("name", TRAJECTORIES + REDUNDANT)
def test_sparse_projection_equals_that_of_the_null_space(name, rng):
    system, z = disturbed(structure_of(load(name)), rng)
    dr = rng.normal(size=(system.n, 3))
    expected = dense_admissible(dense_jacobian(system, z), system.n, dr)
    dz = with_multipliers(system, z, admissible(system, z, dr))
    assert_allclose(packed(system, dz), expected, atol=1e-12)


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_correction_is_the_shortest(name, rng):
    system, z = disturbed(structure_of(load(name)), rng)
    z[: system.n] += 1e-2 * rng.normal(size=(system.n, 3))
    linear = linearise(system, z)
    expected = -np.linalg.pinv(dense_jacobian(system, z)) @ linear.c
    assert_allclose(packed(system, shortest_correction(linear)), expected, atol=1e-12)


FROZEN, TANGENT = Multipliers.FROZEN, Multipliers.TANGENT


def irregular() -> FourierCylinder:
    known = load("trajectory_pentapod")
    return FourierCylinder(1.4, known["a"], known["b"], (0.05, 0.03, 0.0))


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("trajectory_tri_cyl", Cylinder(2.0, (0.05, 0.03, -2.0), (1.0, 0.05, 0.0))),
        ("trajectory_squares_circle", Circle(1.9, (0.05, 0.03, 0.0))),
        ("trajectory_pentapod", irregular()),
    ],
)
def test_trajectory_is_the_known_one(name, target):
    known, tolerance = load(name), load(name)["tolerance"]
    structure = structure_of(known)
    options = ProjectionOptions(tolerance=1e-300, residual=1e-13)
    steps = list(zip(morph(structure, target, options), known["steps"], strict=False))
    assert len(steps) == 13
    found = [(step.E, step.S) for step, _ in steps]
    expected = [(record["E"], record["S"]) for _, record in steps]
    assert_allclose(found, expected, rtol=0, atol=tolerance["E_abs"])
    L, last = characteristic_length(structure.r0), steps[-1][0]
    assert pytest.approx(known["L"], rel=1e-12) == L
    assert mobility(structure).mobility == known["mobility"]
    assert np.abs(last.r - known["x_final"]).max() < 1e-9 * L
    assert_allclose(last.lam, known["lam_final"], rtol=0, atol=1e-9)


def test_trajectory_with_multipliers_along_the_tangent_is_the_known_one():
    known = load("trajectory_pentapod")
    options = ProjectionOptions(1e-300, 12, 1e-13, multipliers=TANGENT)
    steps = islice(morph(structure_of(known), irregular(), options), 13)
    expected = [(record["E"], record["S"]) for record in known["steps_tangent_lam"]]
    found = [(step.E, step.S) for step in steps]
    assert_allclose(found, expected, rtol=0, atol=known["tolerance"]["E_abs"])


def test_followers_that_hold_add_nothing_to_the_error():
    sheet = triangle_sheet(1, 2, leading="tips")
    circle = Circle(3.0)
    hold = goals(sheet, circle, sheet.r0 + 0.1, Followers.HOLD)
    home = goals(sheet, circle, sheet.r0 + 0.1, Followers.HOME)
    others = np.setdiff1d(np.arange(len(sheet.r0)), sheet.leading)
    assert_allclose(hold[others], sheet.r0[others] + 0.1)
    assert_allclose(home[others], sheet.r0[others])
    assert_allclose(hold[sheet.leading], home[sheet.leading])


@pytest.mark.parametrize("watch", list(Watch))
def test_morph_stops_when_what_is_watched_hardly_changes(watch):
    sheet = triangle_sheet(1, 2, variation=0.1)
    target = Cylinder(2.5, (0.05, 0.03, -2.5), (1.0, 0.05, 0.0))
    steps = list(morph(sheet, target, ProjectionOptions(watch=watch)))
    values = [step.E if watch is Watch.E else step.S for step in steps]
    assert abs(values[-1] - values[-2]) < 1e-6 <= abs(values[-2] - values[-3])
    assert steps[-1].stop is Stop.CHANGE
    assert all(step.stop is None for step in steps[:-1])
    assert all(step.residual <= 1e-10 for step in steps)


def test_full_steps_cycle_where_links_are_in_tension():
    structure = structure_of(load("trisheet_3x3_cyl_s1.08"))
    assert structure.goals is not None
    with pytest.raises(NotConvergedError, match="after 60 steps: raise max_steps"):
        list(morph(structure, Goals(structure.goals), ProjectionOptions(max_steps=60)))


@pytest.mark.parametrize("options", [ProjectionOptions(), NewtonOptions()])
def test_contradicting_constraints_are_refused_by_name(options):
    sheet = triangle_sheet(1, 1)
    another = Constraint(ConstraintKind.DIST, (0, 1), 1.69)  # 0-1 has the length 1
    rows = sheet.constraints.followed_by(ConstraintTable.of([another]))
    twice = replace(sheet, constraints=rows)
    method = morph if isinstance(options, ProjectionOptions) else morph_newton
    with pytest.raises(ValueError, match="inconsistent constraints") as caught:
        next(iter(method(twice, Circle(2.0), options)))  # type: ignore[arg-type]
    assert str(caught.value).count("dist(0, 1)") == 1
    assert "dist(0, 1); dist(1, 2)" not in str(caught.value)


def test_lengths_that_differ_a_little_from_the_nodes_are_closed_first():
    sheet = triangle_sheet(1, 1)
    longer = ConstraintTable(
        sheet.constraints.kind,
        sheet.constraints.nodes,
        sheet.constraints.constant * np.linspace(0.95, 1.1, len(sheet.constraints)),
    )
    made = replace(sheet, constraints=longer)
    first = next(morph(made, Circle(2.0), ProjectionOptions()))
    assert first.residual <= 1e-10
    assert np.abs(first.r - sheet.r0).max() < 0.3


@pytest.fixture
def mixed_with_one_factor(monkeypatch):
    monkeypatch.setattr("sim.mechanism.constraint_projection.RENEWALS", 0)
    monkeypatch.setattr("sim.mechanism.constraint_projection.MIXED", 0)


def residuals(base: LinearConstraints, z: Floats, wanted: float) -> list[float]:
    """Of each iteration from z on: the first that is less than the one before."""
    normal, seen = base.factorise(), [np.inf]
    while seen[-1] > wanted:
        found = retract(base, normal, z, float(np.nextafter(seen[-1], 0.0)), 0.0)
        assert found is not None
        seen.append(found[1].residual)
    return seen[1:]


@pytest.mark.usefixtures("mixed_with_one_factor")
@pytest.mark.parametrize("length", [1.3, 1.7])
def test_of_one_link_the_iterations_are_those_of_the_secant(length):
    """The first is by the slope 2 l at its own length l, 1.5."""
    own = 1.5
    r = np.array([[0.0, 0.0, 0.0], [own, 0.0, 0.0]])
    link = Structure(r, ConstraintTable.of([dist(r, 0, 1)]), np.arange(2))
    z = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    seen = residuals(linearise(system_of(link), r), z, 1e-12)
    d, slope, c = length, 2.0 * own, length**2 - own**2
    for residual in seen:
        assert_allclose(residual, abs(c) / own**2, rtol=1e-4, atol=1e-14)
        before, d = d, d - c / slope
        c, c_before = d**2 - own**2, c
        slope = (c - c_before) / (d - before)
    assert len(seen) == 6


@pytest.mark.usefixtures("mixed_with_one_factor")
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e150, 1e200])
def test_from_what_is_no_place_there_is_no_way_back(value):
    sheet = triangle_sheet(2, 2)
    base = linearise(system_of(sheet), sheet.r0)
    z = sheet.r0.copy()
    z[0, 0] = value
    with np.errstate(all="ignore"):
        assert retract(base, base.factorise(), z, 1e-12, 1e-12) is None
