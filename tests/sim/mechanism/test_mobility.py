"""Mobility of every element, joint and mechanism with a known count.

Near dependence: two links in a line, whose forces hang on the residual.
"""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism import joints
from sim.mechanism.constraint_forces import reactions
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import Constraint, ConstraintKind, dist, fix
from sim.mechanism.mobility import (
    Mobility,
    mobility,
    modes,
    near_dependence,
    nearby_mobility,
    rescaled,
    undetermined,
    warning,
)
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.mechanisms import (
    TRIANGLE,
    A,
    of_bodies,
    of_joints,
    of_loops,
    of_sheets,
    structure,
)
from tests.sim.mechanism.reference import DATA

MECHANISMS: dict[str, Structure] = {
    **of_bodies(),
    **of_joints(),
    **of_loops(),
    **of_sheets(),
}
with (DATA / "mobility.csv").open() as file:
    KNOWN = {row["case"]: row for row in csv.DictReader(file)}


def counts(found: Mobility) -> dict[str, int]:
    return {
        "n": found.nodes,
        "k": found.multipliers,
        "m": found.rows,
        "naive_f": found.naive,
        "rank": found.rank,
        "redundant": len(found.redundant),
        "mobility": found.mobility,
    }


def test_every_known_mechanism_is_here():
    assert set(MECHANISMS) == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_mobility_is_the_known_one(name):
    expected = {key: int(v) for key, v in KNOWN[name].items() if key != "case"}
    assert counts(mobility(MECHANISMS[name])) == expected


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["pentapod grounded", "JOINT j cylindrical"])
def test_mobility_is_the_same_in_every_unit(name, unit):
    made, other = MECHANISMS[name], rescaled(MECHANISMS[name], unit)
    assert counts(mobility(other)) == counts(mobility(made))
    assert counts(mobility(other, state(other))) == counts(mobility(made))
    assert nearby_mobility(other) == nearby_mobility(made)
    assert len(modes(other)) == mobility(made).mobility


def test_flat_parallelogram_moves_in_more_ways_than_one_close_to_it():
    r = np.array([[0.0, 0, 0], [2, 0, 0], [3, 0, 0], [1, 0, 0]])
    bars = [dist(r, a, b) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))]
    flat = structure(r, bars)
    assert mobility(flat).mobility == 9
    assert nearby_mobility(flat) == 8


def test_regular_mechanism_has_the_same_mobility_close_by():
    assert nearby_mobility(MECHANISMS["octa lattice 3x3x2"]) == 75


def test_a_linkage_far_from_the_origin_has_a_configuration_close_by():
    """Coordinates of 2e6 are known to 2e-10, some 1e-11 of L."""
    r = np.add([[0, 0, 0], [0, 10, 0], [30, 20, 0], [40, 0, 0]], [1e6, 2e6, 0])
    held = [*fix(r, 0), *fix(r, 3), fix(r, 1)[2], fix(r, 2)[2]]
    bars = structure(r, [*held, *(dist(r, k, k + 1) for k in range(3))])
    assert (mobility(bars).mobility, nearby_mobility(bars)) == (1, 1)


def test_additional_node_limits_the_distance_of_two_others():
    r = np.array([[0.0, 0, 0], [1.2, 0.3, 0.1]])
    place, rows = joints.limited(r, 0, 1, least=0.5, most=2.0, extra=2)
    made = structure(np.vstack([r, place]), rows)
    assert linearise(system_of(made), state(made)).residual < 1e-14
    upper, lower = (np.sqrt(row.constant) for row in rows)
    assert_allclose([upper + lower, upper - lower], [2.0, 0.5])


def test_bodies_on_a_line_are_refused():
    r = np.vstack([TRIANGLE[:2], [[2.0, 0.0, 0.0]]])
    with pytest.raises(ValueError, match="nodes 0, 1 and 2 are on one line"):
        joints.body(r, A)


def two_bars(height: float) -> Structure:
    r = np.array([[0.0, 0, 0], [1.0, height, 0], [2.0, 0, 0]])
    return structure(r, [*fix(r, 0), *fix(r, 2), dist(r, 0, 1), dist(r, 1, 2)])


@pytest.mark.parametrize("bent", [1e-3, 1e-6, 1e-9])
def test_bars_hardly_bent_lose_no_rank(bent):
    bars = two_bars(bent)
    assert (mobility(bars).mobility, len(modes(bars))) == (1, 1)


@pytest.mark.parametrize(
    ("nodes", "height"),
    [(2000, 0.002), pytest.param(30_000, 0.75**0.5, marks=pytest.mark.long)],
)
def test_slender_strip_in_its_plane_is_rigid(nodes, height):
    r = np.zeros((nodes, 3))
    r[:, 0], r[1::2, 1] = 0.5 * np.arange(nodes), height
    rows = [dist(r, i, i + 1) for i in range(nodes - 1)]
    rows += [dist(r, i, i + 2) for i in range(nodes - 2)]
    rows += [Constraint(ConstraintKind.FIX, (i, 2), 0.0) for i in range(nodes)]
    strip = structure(r, rows)
    assert (mobility(strip).mobility, len(mobility(strip).redundant)) == (3, 0)
    closed = structure(r, [*rows, dist(r, 0, nodes - 1)])
    assert (mobility(closed).mobility, len(mobility(closed).redundant)) == (3, 1)


def pulled_aside(made: Structure, residual: float) -> tuple[Floats, Floats]:
    """The end of a morph that pulls the middle node aside, and its forces."""
    goals = Goals(made.r0 + np.outer([0.0, 1.0, 0.0], [0.0, 0.5, 0.0]))
    *_, end = morph_newton(made, goals, NewtonOptions(residual=residual))
    return end.state, reactions(made, end.state, end.g).y


def test_forces_that_hang_on_the_residual_are_named():
    made = two_bars(0.0)
    z, y = pulled_aside(made, 1e-10)
    assert 1e-6 < z[1, 1] < 1e-4  # a rigid line, moved within the residual
    assert np.abs(y).max() > 1e4
    found = near_dependence(made, z, 1e-10)
    assert found is not None
    table = made.constraints
    names = [table.name_of_row(row) for row in np.flatnonzero(undetermined(found, y))]
    assert names == ["fix(0, x)", "fix(2, x)", "dist(0, 1)", "dist(1, 2)"]
    assert "dist(0, 1)" in warning(table, found)["warning"]
    across = table.first_row[[1, 4]]  # half of the pull each, whatever the tensions
    assert_allclose(y[across], 0.25, rtol=1e-3)


def on_three_parallel_links() -> tuple[Structure, Goals]:
    """A plate whose parallel links turn alike to first order, and not to second."""
    plate = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0.0, 0.8, 0]])
    r = np.vstack([plate - [[0, 1.0, 0], [0, 1.5, 0], [0, 0.7, 0]], plate])
    held = [row for i in range(3) for row in fix(r, i)]
    flat = [row for i in range(3, 6) for row in fix(r, i)[2:]]
    sides = [dist(r, i, j) for i, j in ((0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))]
    goals = r.copy()
    goals[3, 0] += 0.3
    return structure(r, [*held, *flat, *sides]), Goals(goals)


def test_a_refusal_names_the_rows_and_a_residual_that_helps():
    made, goals = on_three_parallel_links()
    with pytest.raises(NotConvergedError, match=r"dist\(.*infinitesimal") as refused:
        list(morph_newton(made, goals, NewtonOptions(residual=1e-12, max_steps=20)))
    told = float(str(refused.value).split("set residual to ")[1].split(",")[0])
    *_, end = morph_newton(made, goals, NewtonOptions(residual=told, max_steps=20))
    assert end.gradient <= 1e-9
