"""Mobility of every element, joint and mechanism with a known count."""

import csv
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.morph.equations.system import linearise, state, system_of
from sim.morph.library.pentapod import pentapod
from sim.morph.mobility.mobility import Mobility, mobility, modes, nearby_mobility
from sim.morph.mobility.units import rescaled
from sim.morph.structure import joints
from sim.morph.structure.constraints import Constraint, ConstraintKind, dist, fix
from sim.morph.structure.structure import Structure
from tests.sim.morph.mechanisms import (
    TRIANGLE,
    A,
    B,
    of_bodies,
    of_joints,
    of_loops,
    of_sheets,
    structure,
    two_bodies,
)
from tests.sim.morph.reference import DATA

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


def test_every_known_mechanism_is_here() -> None:
    assert set(MECHANISMS) == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_mobility_is_the_known_one(name: str) -> None:
    expected = {key: int(v) for key, v in KNOWN[name].items() if key != "case"}
    assert counts(mobility(MECHANISMS[name])) == expected


@pytest.mark.parametrize(
    "name", ["node", "pentapod 6+1", "JOINT g prismatic", "body (3 nodes)"]
)
def test_modes_are_as_many_as_the_mobility_and_keep_the_constraints(name: str) -> None:
    made = MECHANISMS[name]
    found = modes(made)
    assert len(found) == mobility(made).mobility
    assert np.linalg.matrix_rank(found.reshape(len(found), -1)) == len(found)
    system = system_of(made)
    linear = linearise(system, state(made), eliminate=True)
    for mode in found:
        dz = np.zeros((system.n + system.k, 3))
        dz[: system.n] = mode
        assert np.abs(linear.times(dz)).max(initial=0.0) < 1e-12


def test_first_mode_of_the_pentapod_is_its_change_of_shape() -> None:
    first = modes(pentapod())[0]
    outer = first[8:13]
    apart = outer - outer.mean(axis=0)
    directions = pentapod().r0[8:13] / 1.2
    spread = np.einsum("ij,ij->i", apart, directions)
    assert_allclose(spread, spread[0], atol=1e-10)
    assert abs(spread[0]) > 0.05


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["pentapod grounded", "JOINT j cylindrical"])
def test_mobility_is_the_same_in_every_unit(name: str, unit: float) -> None:
    made, other = MECHANISMS[name], rescaled(MECHANISMS[name], unit)
    assert counts(mobility(other)) == counts(mobility(made))
    assert counts(mobility(other, state(other))) == counts(mobility(made))
    assert nearby_mobility(other) == nearby_mobility(made)
    assert len(modes(other)) == mobility(made).mobility


def test_fixed_bodies_move_as_one_without_a_row_too_many() -> None:
    other = np.array([[0.0, 0, 0], [0.6, 0.1, 0.0], [0.3, -0.5, 0.6]])
    r, rows = two_bodies(other)
    found = mobility(structure(r, rows + joints.fixed(r, A, B)))
    assert (found.mobility, len(found.redundant)) == (6, 0)


def test_flat_parallelogram_moves_in_more_ways_than_one_close_to_it() -> None:
    r = np.array([[0.0, 0, 0], [2, 0, 0], [3, 0, 0], [1, 0, 0]])
    bars = [dist(r, a, b) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))]
    flat = structure(r, bars)
    assert mobility(flat).mobility == 9
    assert nearby_mobility(flat) == 8


def test_regular_mechanism_has_the_same_mobility_close_by() -> None:
    assert nearby_mobility(MECHANISMS["octa lattice 3x3x2"]) == 75


def test_additional_node_limits_the_distance_of_two_others() -> None:
    r = np.array([[0.0, 0, 0], [1.2, 0.3, 0.1]])
    place, rows = joints.limited(r, 0, 1, least=0.5, most=2.0, extra=2)
    made = structure(np.vstack([r, place]), rows)
    assert linearise(system_of(made), state(made)).residual < 1e-14
    upper, lower = (np.sqrt(row.constant) for row in rows)
    assert_allclose([upper + lower, upper - lower], [2.0, 0.5])
    with pytest.raises(ValueError, match="choose limits on either side"):
        joints.limited(r, 0, 1, least=1.5, most=2.0, extra=2)


def test_bodies_on_a_line_are_refused() -> None:
    r = np.vstack([TRIANGLE[:2], [[2.0, 0.0, 0.0]]])
    with pytest.raises(ValueError, match="nodes 0, 1 and 2 are on one line"):
        joints.body(r, A)


@pytest.mark.parametrize("bent", [1e-3, 1e-6, 1e-9])
def test_bars_hardly_bent_lose_no_rank(bent: float) -> None:
    r = np.array([[0.0, 0, 0], [1, bent, 0], [2, 0, 0]])
    rows = [*fix(r, 0), *fix(r, 2), dist(r, 0, 1), dist(r, 1, 2)]
    bars = structure(r, rows)
    assert (mobility(bars).mobility, len(modes(bars))) == (1, 1)


def test_bars_in_line_lose_one() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    rows = [*fix(r, 0), *fix(r, 2), dist(r, 0, 1), dist(r, 1, 2)]
    bars = structure(r, rows)
    assert (mobility(bars).mobility, len(modes(bars))) == (2, 2)


def test_tetrahedron_hardly_off_its_plane_is_rigid() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 1e-6]])
    rows = [dist(r, a, b) for a, b in combinations(range(4), 2)]
    body = structure(r, rows)
    assert (mobility(body).mobility, len(modes(body))) == (6, 6)


@pytest.mark.parametrize(
    ("nodes", "height"),
    [(2000, 0.002), pytest.param(30_000, 0.75**0.5, marks=pytest.mark.long)],
)
def test_slender_strip_in_its_plane_is_rigid(nodes: int, height: float) -> None:
    r = np.zeros((nodes, 3))
    r[:, 0], r[1::2, 1] = 0.5 * np.arange(nodes), height
    rows = [dist(r, i, i + 1) for i in range(nodes - 1)]
    rows += [dist(r, i, i + 2) for i in range(nodes - 2)]
    rows += [Constraint(ConstraintKind.FIX, (i, 2), 0.0) for i in range(nodes)]
    strip = structure(r, rows)
    assert (mobility(strip).mobility, len(mobility(strip).redundant)) == (3, 0)
    closed = structure(r, [*rows, dist(r, 0, nodes - 1)])
    assert (mobility(closed).mobility, len(mobility(closed).redundant)) == (3, 1)
