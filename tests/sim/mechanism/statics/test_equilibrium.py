"""Elastic structures at rest, against closed forms and a direct stiffness solve."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constraint_forces import reactions
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    fix,
)
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.obstacles import Obstacles, Touch
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.statics import equilibrium
from sim.mechanism.statics.elastic_parts import (
    Elastic,
    hinged_sheet,
    hinges_between,
    rigid_links,
    soft_links,
)
from sim.mechanism.statics.equilibrium import (
    Equilibrium,
    EquilibriumOptions,
    approach,
    at_rest,
    inertia,
)
from sim.mechanism.statics.loaded_structure import LoadedStructure, two_bars
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.mechanisms import structure
from tests.sim.mechanism.solid_structures import ranges, solids
from tests.sim.mechanism.targets.test_analytic_surfaces import SLOPED

EXACT = EquilibriumOptions(tolerance=1e-11, residual=1e-12)


def loaded(
    made: Structure, elastic: Elastic, loads: dict[int, list[float]]
) -> LoadedStructure:
    force = np.zeros_like(made.r0)
    for node, load in loads.items():
        force[node] = load
    return LoadedStructure(made, elastic, force, np.zeros(len(force)))


def assert_balanced(found: Equilibrium, body: LoadedStructure) -> None:
    """Loads, supports and springs together make neither a force nor a moment."""
    outer = body.force + found.support + found.pull
    size = np.abs(outer).max()
    assert size > 0.0
    assert np.abs(outer.sum(axis=0)).max() < 1e-9 * size
    assert np.abs(np.cross(found.r(), outer).sum(axis=0)).max() < 1e-9 * size


def test_weight_hangs_on_an_elastic_link():
    r = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, -0.8]])  # starts aslant, swings down
    elastic = Elastic.between(r, np.array([[0, 1]]), 50.0)
    body = loaded(structure(r, fix(r, 0)), elastic, {1: [0.0, 0.0, -2.0]})
    found = at_rest(body, EXACT)
    assert_allclose(found.r()[1], [0.0, 0.0, -1.0 - 2.0 / 50.0], atol=1e-9)
    assert_allclose(found.deformed.tension, [2.0], rtol=1e-9)
    assert_allclose(found.support[0], [0.0, 0.0, 2.0], atol=1e-9)
    assert (found.negative, found.neutral) == (0, 0)


def test_two_bars_carry_a_load_and_snap_above_the_largest():
    height, stiffness = 0.2, 100.0

    def load(w: float) -> float:
        rest = np.hypot(1.0, height)
        return float(2.0 * stiffness * (rest / np.hypot(1.0, w) - 1.0) * w)

    # dP/dw = 0 where (1 + w^2)^(3/2) is the length at rest
    at_limit = np.sqrt(np.hypot(1.0, height) ** (2.0 / 3.0) - 1.0)
    limit = load(at_limit)
    for part in (0.5, 0.99):
        P = part * limit
        found = at_rest(two_bars(height, stiffness, P), EXACT)
        w = brentq(lambda w, P: load(w) - P, at_limit, height, args=(P,), xtol=1e-14)
        assert_allclose(found.r()[2], [0.0, 0.0, w], atol=1e-8)
        assert found.negative == 0
    body = two_bars(height, stiffness, 1.01 * limit)
    snapped = at_rest(body, EXACT)
    w = brentq(lambda w: load(w) - 1.01 * limit, -1.0, -height, xtol=1e-14)
    assert_allclose(snapped.r()[2, 2], w, atol=1e-9)
    assert_balanced(snapped, body)


def pulled_sheet() -> tuple[Structure, Floats]:
    sheet = triangle_sheet(1, 1, variation=0.1)
    goals = 1.1 * sheet.r0 + np.array([0.0, 0.0, 0.2]) * np.sin(sheet.r0[:, :1])
    return sheet, goals


def test_rigid_model_is_the_morph_and_its_reactions():
    sheet, goals = pulled_sheet()
    body = LoadedStructure(
        sheet, Elastic.none(), np.zeros_like(goals), np.ones(len(goals)), Goals(goals)
    )
    found = at_rest(body, EXACT)
    step: MorphStep
    *_, step = morph_newton(sheet, Goals(goals), NewtonOptions(tolerance=1e-11))
    forces = reactions(sheet, step.state, step.g)
    assert_allclose(found.r(), step.r, atol=1e-8)
    assert_allclose(found.tension, forces.tension, atol=1e-8)
    assert found.tension.max() > 0.1
    assert_balanced(found, body)


def test_compliance_adds_an_error_of_first_order():
    sheet, goals = pulled_sheet()
    nothing, springs = np.zeros_like(goals), np.ones(len(goals))
    rigid = at_rest(
        LoadedStructure(sheet, Elastic.none(), nothing, springs, Goals(goals)), EXACT
    )
    compliances = np.array([1e-2, 3e-3, 1e-3, 3e-4])
    away, force = [], []
    for alpha in compliances:
        rest, elastic = soft_links(sheet, 1.0 / alpha)
        body = LoadedStructure(rest, elastic, nothing, springs, Goals(goals))
        found = at_rest(body, EXACT)
        away.append(np.linalg.norm(found.r() - rigid.r()))
        force.append(np.linalg.norm(found.deformed.tension - rigid.tension))
    for error in (away, force):
        order = np.polyfit(np.log(compliances), np.log(error), 1)[0]
        assert abs(order - 1.0) < 0.1


def test_elastic_links_made_rigid_are_the_constraints_again():
    sheet, _ = pulled_sheet()
    back, left = rigid_links(*soft_links(sheet, 5.0))
    assert (back.constraints.nodes == sheet.constraints.nodes).all()
    assert_allclose(back.constraints.constant, sheet.constraints.constant, rtol=1e-15)
    assert len(left.links) == 0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 2)])
def test_sheet_of_hinges_bends_in_as_many_ways_as_its_rim_has_nodes_but_three(
    rows, columns
):
    sheet = hinged_sheet(rows, columns)
    lengths = np.sqrt(sheet.constraints.constant)
    assert_allclose(lengths, 1.0)
    sides, faces, n = len(lengths), len(sheet.bodies), len(sheet.r0)
    assert n - sides + faces == 1  # a disk
    assert len(hinges_between(sheet.bodies)) == 3 * faces - sides


def test_loads_that_nothing_holds_are_refused_with_their_way():
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]])
    elastic = Elastic.between(r, np.array([[0, 1], [2, 3]]), 1.0)
    body = loaded(structure(r, fix(r, 0)), elastic, {3: [0.0, 1.0, 0.0]})
    with pytest.raises(ValueError, match=r"on nodes 2, 3 along y.*add a support"):
        at_rest(body, EXACT)


def test_loads_that_drive_a_slider_away_end_with_its_way():
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.5, 0, 0]])
    rows = [*fix(r, 0), *fix(r, 1), Constraint(ConstraintKind.PAR, (0, 2, 0, 1))]
    body = loaded(structure(r, rows), Elastic.none(), {2: [1.0, 0.0, 0.0]})
    with pytest.raises(NotConvergedError, match=r"on node 2 along \(1, 0, 0\)"):
        at_rest(body, EXACT)


def test_loads_too_small_for_the_stiffness_end_at_once_and_say_so():
    body = two_bars(0.2, 1e6, 1e-3)
    with pytest.raises(NotConvergedError, match=r"rounding limits the residual.*raise"):
        at_rest(body, EquilibriumOptions(tolerance=1e-12, max_steps=20))


def chain(bars: int, stretch: float) -> LoadedStructure:
    """Bars in a line between supports, `stretch` times as long as there is room."""
    r = np.column_stack([np.linspace(0.0, 1.0, bars + 1), np.zeros((bars + 1, 2))])
    links = np.column_stack([np.arange(bars), np.arange(1, bars + 1)])
    elastic = Elastic.between(r, links, 3.0)
    elastic = replace(elastic, rest_length=stretch * elastic.rest_length)
    return loaded(structure(r, [*fix(r, 0), *fix(r, bars)]), elastic, {})


@pytest.mark.parametrize("bars", [2, 5, 13])
def test_bars_that_buckle_until_nothing_presses_them_are_at_rest(bars):
    """All that is left is rounding, of which no share may be asked for."""
    body = chain(bars, 1.5)
    found = at_rest(body, EquilibriumOptions())
    assert_allclose(found.deformed.length, body.elastic.rest_length, rtol=1e-13)
    assert (found.energy, found.unbalanced) < (1e-28, 1e-14)
    assert found.negative == 0
    assert found.neutral >= 1


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0, 359.0, 720.0])
def test_a_hinge_turns_to_its_rest_angle(degrees):
    r = np.array([[0.5, -1, 0], [0.0, 0, 0], [1.0, 0, 0], [0.5, 1, 0]])
    links = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]])
    elastic = Elastic.between(r, links, 100.0, np.array([[0, 1, 2, 3]]), 1.0)
    elastic = replace(elastic, rest_angle=np.radians([degrees]))
    held = [*fix(r, 0), *fix(r, 1), *fix(r, 2)]
    found = at_rest(loaded(structure(r, held), elastic, {}), EquilibriumOptions())
    assert_allclose(np.degrees(found.deformed.angle), [degrees], atol=1e-10)
    assert found.energy < 1e-20


def test_a_pressed_link_without_a_direction_is_refused():
    r = np.array([[0.0, 0, 0], [0.0, 0, 0], [1.0, 0, 0]])
    elastic = Elastic.between(r, np.array([[0, 1], [1, 2]]), 1.0)
    elastic = replace(elastic, rest_length=np.array([0.5, 1.0]))
    with pytest.raises(ValueError, match=r"elastic link 0 joins nodes that coincide"):
        loaded(structure(r, [*fix(r, 0), *fix(r, 2)]), elastic, {})


def test_a_saddle_is_never_taken_for_rest(monkeypatch):
    monkeypatch.setattr(equilibrium, "MOST_SADDLES", 0)
    with pytest.raises(NotConvergedError, match=r"12 motions still lower the energy"):
        at_rest(chain(7, 1.2), EquilibriumOptions())


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
def test_slider_on_a_slanted_line_rests_where_its_spring_holds_it(unit):
    r = unit * np.array([[0.0, 0, 0], [3.0, 4.0, 0], [0.6, 0.8, 0]])
    rows = [*fix(r, 0), *fix(r, 1), Constraint(ConstraintKind.PAR, (0, 2, 0, 1))]
    elastic = Elastic.between(r, np.array([[0, 2]]), 8.0 / unit)
    body = loaded(structure(r, rows), elastic, {2: [2.0, 0.0, 0.5]})
    found = at_rest(body, EXACT)
    along = 1.0 + 2.0 * 0.6 / 8.0  # the part of the load along the line
    where = unit * along * np.array([0.6, 0.8, 0.0])
    assert_allclose(found.r()[2], where, atol=1e-9 * unit)
    assert_allclose(found.deformed.tension, [1.2], rtol=1e-9)
    assert_balanced(found, body)


@pytest.mark.parametrize("name", SLOPED)
def test_nodes_that_slide_on_a_target_are_at_rest(name, rng):
    """Motions along it cost nothing, and none lowers the energy."""
    r = 1.5 * rng.normal(size=(6, 3))
    structure = Structure(r, ConstraintTable.of([]), np.arange(6))
    none = Elastic.none()
    body = LoadedStructure(structure, none, 0.0 * r, np.ones(6), SLOPED[name])
    found = at_rest(body, EquilibriumOptions())
    assert found.energy < 1e-18
    assert (found.negative, found.neutral) == (0, 6 if name == "circle" else 12)


IN_CONTACT = EquilibriumOptions(tolerance=1e-9)
STIFFNESS, LOAD, RADIUS = 2.0, 3.0, 0.2
GAP = 3e-5  # of contacts, from what kappa leaves


def touching(body: LoadedStructure, found: Equilibrium) -> list[Touch]:
    return Obstacles.of(body.structure).touching(found.z, found.kappa)


def hanging(at: float, load: float) -> LoadedStructure:
    """A ball that goes up and down on a spring between the origin and a ball below."""
    r = np.array([[0.0, 0, 0], [0.0, 0, -1.0], [0.0, 0, -at]])
    sideways = [Constraint(ConstraintKind.FIX, (1, axis), 0.0) for axis in (0, 1)]
    rows = ConstraintTable.of([*fix(r, 0), *fix(r, 2), *sideways])
    made = Structure(r, rows, np.arange(3))
    balls = solids(balls=[(1, RADIUS), (2, RADIUS)])
    force = np.zeros((3, 3))
    force[1, 2] = -load
    springs = Elastic.between(r, np.array([[0, 1]]), STIFFNESS)
    return LoadedStructure(replace(made, solids=balls), springs, force, np.zeros(3))


def test_a_stop_carries_what_the_spring_does_not():
    body = hanging(at=2.0, load=LOAD)
    found = at_rest(body, IN_CONTACT)
    way = 1.0 - 2.0 * RADIUS  # from rest down to contact
    assert_allclose(found.r()[1, 2], -1.0 - way, atol=GAP)
    (touch,) = touching(body, found)
    assert_allclose(touch.force, LOAD - STIFFNESS * way, rtol=1e-4)
    assert touch.room > 0.0
    assert_allclose(found.support[2, 2], touch.force, rtol=1e-9)  # pushed down
    assert found.unbalanced <= IN_CONTACT.tolerance
    assert inertia(body, found) == (0, 0)


@pytest.mark.parametrize("most", [1.6, 9.0])
def test_a_range_of_a_spring_carries_the_rest(most):
    body = hanging(at=8.0, load=LOAD)
    bounds = ranges((ConstraintKind.DIST, (0, 1), 0.25, most**2))
    body = replace(body, structure=replace(body.structure, ranges=bounds))
    found = at_rest(body, IN_CONTACT)
    free = 1.0 + LOAD / STIFFNESS
    assert_allclose(-found.r()[1, 2], min(free, most), atol=GAP)
    force = [2.0 * most * touch.force for touch in touching(body, found)]  # per length
    carried = max(LOAD - STIFFNESS * (most - 1.0), 0.0)
    assert_allclose(max(force), carried, rtol=1e-4, atol=1e-4)


def test_a_truss_that_snaps_is_stopped_on_its_way():
    """Down to 0.1 below the line of its supports, where a ball stands in the way."""
    body, low = two_bars(height=0.3, stiffness=50.0, load=0.7), -0.1
    stop: Floats = np.array([[0.0, 0.0, low - 2.0 * RADIUS]])
    made = body.structure
    r = np.vstack([made.r0, stop])
    rows = made.constraints.followed_by(ConstraintTable.of(fix(r, 3)))
    balls = solids(balls=[(2, RADIUS), (3, RADIUS)])
    structure = Structure(r, rows, np.arange(4), made.bodies, solids=balls)
    body = LoadedStructure(
        structure, body.elastic, np.vstack([body.force, np.zeros(3)]), np.zeros(4)
    )
    *way, found = approach(body, IN_CONTACT)
    assert_allclose(found.r()[2, 2], low, atol=GAP)
    long, rest = np.hypot(1.0, low), np.hypot(1.0, 0.3)
    up = -2.0 * 50.0 * (long - rest) * low / long  # of both bars on the apex
    (touch,) = touching(body, found)
    assert_allclose(touch.force, 0.7 - up, rtol=1e-4)
    obstacles = Obstacles.of(structure)
    for before, after in pairwise([*way, found]):
        assert obstacles.allows(before.r(), after.r())


def test_an_overlap_at_the_start_is_refused_by_name():
    with pytest.raises(ValueError, match="node 1 and the sphere of node 2 overlap"):
        at_rest(hanging(at=1.3, load=LOAD), IN_CONTACT)
