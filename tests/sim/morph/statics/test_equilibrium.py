"""Elastic structures at rest, against closed forms and a direct stiffness solve."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.library.sheets import triangle_sheet
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.reactions import reactions
from sim.morph.statics import equilibrium
from sim.morph.statics.elastic import Elastic, angles_of, deform, elastic_entries
from sim.morph.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.morph.statics.hinged import (
    hinged_sheet,
    hinges_between,
    rigid_links,
    soft_links,
)
from sim.morph.statics.loaded import LoadedStructure, two_bars
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    fix,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.surfaces import Plane
from tests.sim.morph.test_targets import SLOPED

EXACT = EquilibriumOptions(tolerance=1e-11, residual=1e-12)


def structure(r: Floats, rows: list[Constraint]) -> Structure:
    return Structure(r, ConstraintTable.of(rows), np.arange(len(r)))


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


def test_elastic_energy_gives_force_and_stiffness(rng: np.random.Generator) -> None:
    r = rng.normal(size=(5, 3))
    hinges = np.array([[0, 1, 2, 3], [4, 2, 1, 0]])
    made = Elastic.between(r, np.array([[0, 3], [1, 4], [3, 4]]), 3.0, hinges, 2.0)
    made = replace(made, rest_length=0.7 * made.rest_length, rest_angle=np.ones(2))
    before, v = angles_of(hinges, r), rng.normal(size=r.shape)
    start = deform(made, r, before)
    K = np.zeros((15, 15))
    rows, cols = elastic_entries(made.links, made.hinges, made.panels.nodes)
    np.add.at(K, (rows, cols), start.curvature)
    K += np.tril(K, -1).T
    steps = np.array([1e-2, 5e-3, 2.5e-3, 1.25e-3])
    there = [deform(made, r + h * v, before) for h in steps]
    energy = [
        abs(x.energy - start.energy - h * np.vdot(start.gradient, v))
        for x, h in zip(there, steps, strict=True)
    ]
    force = [
        np.linalg.norm(x.gradient.ravel() - start.gradient.ravel() - h * K @ v.ravel())
        for x, h in zip(there, steps, strict=True)
    ]
    for remainder in (energy, force):
        slope = np.polyfit(np.log(steps), np.log(remainder), 1)[0]
        assert abs(slope - 2.0) < 0.1


def test_weight_hangs_on_an_elastic_link() -> None:
    r = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, -0.8]])  # starts aslant, swings down
    elastic = Elastic.between(r, np.array([[0, 1]]), 50.0)
    body = loaded(structure(r, fix(r, 0)), elastic, {1: [0.0, 0.0, -2.0]})
    found = at_rest(body, EXACT)
    assert_allclose(found.r()[1], [0.0, 0.0, -1.0 - 2.0 / 50.0], atol=1e-9)
    assert_allclose(found.deformed.tension, [2.0], rtol=1e-9)
    assert_allclose(found.support[0], [0.0, 0.0, 2.0], atol=1e-9)
    assert (found.negative, found.neutral) == (0, 0)


def test_two_bars_carry_a_load_and_snap_above_the_largest() -> None:
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


def test_hinge_turns_under_a_load_that_keeps_its_direction() -> None:
    arm, stiffness, load = 1.5, 0.8, 0.6
    r = np.array([[-1.0, 0.3, 0], [0.0, -1.0, 0], [0.0, 1.0, 0], [arm, 0.2, 0]])
    sides = np.array([[1, 2], [1, 3], [2, 3]])
    table = ConstraintTable.links(r, sides)
    held = ConstraintTable.of([row for node in (0, 1, 2) for row in fix(r, node)])
    rows = ConstraintTable(
        np.append(table.kind[1:], held.kind),
        np.append(table.nodes[1:], held.nodes, axis=0),
        np.append(table.constant[1:], held.constant),
    )
    none = np.empty((0, 2), np.int64)
    elastic = Elastic.between(r, none, 1.0, np.array([[0, 1, 2, 3]]), stiffness)
    body = loaded(Structure(r, rows, np.arange(4)), elastic, {3: [0.0, 0.0, load]})
    found = at_rest(body, EXACT)
    turn = brentq(lambda t: stiffness * t - load * arm * np.cos(t), 0.0, 1.5)
    assert_allclose(found.r()[3], [arm * np.cos(turn), 0.2, arm * np.sin(turn)])
    assert_allclose(np.abs(found.deformed.moment), [stiffness * turn], rtol=1e-9)
    assert_balanced(found, body)


def cantilever(count: int, load: float) -> LoadedStructure:
    """Plates of length 1/count in a row, the first clamped; EI = 1, length 1.

    Between two plates is a hinge of stiffness EI / h, at the clamp one of twice as
    much: there it stands for half a plate.
    """
    h = 1.0 / count
    x = np.repeat(h * np.arange(-1, count + 1), 2)
    r = np.column_stack([x, np.tile([0.0, 0.2], count + 2), np.zeros(len(x))])
    rows, hinges = [c for node in range(4) for c in fix(r, node)], []
    for i in range(1, count + 1):
        a, b, c, d = 2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3
        hinges.append((a - 2, a, b, c))
        ends = [(a, c), (b, d), (c, d), (a, d)]
        for p, q in ends:
            length = r[q] - r[p]
            rows.append(Constraint(ConstraintKind.DIST, (p, q), float(length @ length)))
        rows.append(Constraint(ConstraintKind.TRIPLE, (a, c, a, b, a, d), 0.0))
    none = np.empty((0, 2), np.int64)
    elastic = Elastic.between(r, none, 1.0, np.array(hinges), 1.0 / h)
    elastic.hinge_stiffness[0] *= 2.0
    half = [0.0, 0.0, 0.5 * load]
    last = 2 * count + 2
    return loaded(structure(r, rows), elastic, {last: half, last + 1: half})


def test_chain_of_hinges_converges_to_the_beam() -> None:
    load = 1e-3
    counts, errors = np.array([4, 8, 16, 32]), []
    for count in counts:
        body = cantilever(int(count), load)
        found = at_rest(body, EquilibriumOptions(tolerance=1e-10, residual=1e-12))
        errors.append(abs(found.r()[-1, 2] / (load / 3.0) - 1.0))
        assert_balanced(found, body)
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(order - 2.0) < 0.1
    assert errors[-1] < 1e-3


def test_small_loads_agree_with_the_direct_stiffness_method(
    rng: np.random.Generator,
) -> None:
    r = rng.normal(size=(6, 3))
    links = np.array([(a, b) for a in range(6) for b in range(a) if b < 3 or a < 5])
    stiffness = rng.uniform(1.0, 3.0, len(links))
    elastic = replace(Elastic.between(r, links, 1.0), link_stiffness=stiffness)
    load = 1e-6 * rng.normal(size=(3, 3))
    made = structure(r, [row for node in range(3) for row in fix(r, node)])
    body = loaded(made, elastic, {3 + i: list(load[i]) for i in range(3)})
    found = at_rest(body, EquilibriumOptions(tolerance=1e-9))
    K = np.zeros((18, 18))
    for (a, b), k in zip(links, stiffness, strict=True):
        e = (r[b] - r[a]) / np.linalg.norm(r[b] - r[a])
        slope = np.zeros((6, 3))
        slope[a], slope[b] = -e, e
        K += k * np.outer(slope, slope)
    direct = np.linalg.solve(K[9:, 9:], load.ravel())
    moved = (found.r() - r)[3:].ravel()
    assert_allclose(moved, direct, atol=3e-5 * np.abs(direct).max())


def pulled_sheet() -> tuple[Structure, Floats]:
    sheet = triangle_sheet(1, 1, variation=0.1)
    goals = 1.1 * sheet.r0 + np.array([0.0, 0.0, 0.2]) * np.sin(sheet.r0[:, :1])
    return sheet, goals


def test_rigid_model_is_the_morph_and_its_reactions() -> None:
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


def test_compliance_adds_an_error_of_first_order() -> None:
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


def test_elastic_links_made_rigid_are_the_constraints_again() -> None:
    sheet, _ = pulled_sheet()
    back, left = rigid_links(*soft_links(sheet, 5.0))
    assert (back.constraints.nodes == sheet.constraints.nodes).all()
    assert_allclose(back.constraints.constant, sheet.constraints.constant, rtol=1e-15)
    assert len(left.links) == 0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 2)])
def test_sheet_of_hinges_bends_in_as_many_ways_as_its_rim_has_nodes_but_three(
    rows: int, columns: int
) -> None:
    sheet = hinged_sheet(rows, columns)
    lengths = np.sqrt(sheet.constraints.constant)
    assert_allclose(lengths, 1.0)
    sides, faces, n = len(lengths), len(sheet.bodies), len(sheet.r0)
    assert n - sides + faces == 1  # a disk
    assert len(hinges_between(sheet.bodies)) == 3 * faces - sides


def test_springs_to_a_plane_flatten_a_bent_sheet_against_its_hinges() -> None:
    sheet = hinged_sheet(2, 3)
    none = np.empty((0, 2), np.int64)
    hinges = hinges_between(sheet.bodies)
    elastic = Elastic.between(sheet.r0, none, 1.0, hinges, 0.1)
    bent = replace(elastic, rest_angle=elastic.rest_angle + 0.2)
    nodes = np.ones(len(sheet.r0))
    plane = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    found = at_rest(
        LoadedStructure(sheet, bent, np.zeros_like(sheet.r0), nodes, plane), EXACT
    )
    free = at_rest(
        LoadedStructure(sheet, bent, np.zeros_like(sheet.r0), 1e-3 * nodes, plane),
        EXACT,
    )
    assert np.abs(found.r()[:, 2]).max() < 0.8 * np.abs(free.r()[:, 2]).max()
    assert np.abs(found.pull.sum(axis=0)).max() < 1e-9
    assert np.abs(found.deformed.moment).max() > 1e-3
    assert found.neutral == 3  # the plane is blind to motions within it


def test_loads_that_nothing_holds_are_refused_with_their_way() -> None:
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]])
    elastic = Elastic.between(r, np.array([[0, 1], [2, 3]]), 1.0)
    body = loaded(structure(r, fix(r, 0)), elastic, {3: [0.0, 1.0, 0.0]})
    with pytest.raises(ValueError, match=r"nodes 2, 3 away along y.*add a support"):
        at_rest(body, EXACT)


def test_loads_that_drive_a_slider_away_end_with_its_way() -> None:
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.5, 0, 0]])
    rows = [*fix(r, 0), *fix(r, 1), Constraint(ConstraintKind.PAR, (0, 2, 0, 1))]
    body = loaded(structure(r, rows), Elastic.none(), {2: [1.0, 0.0, 0.0]})
    with pytest.raises(NotConvergedError, match=r"node 2 away along \(1, 0, 0\)"):
        at_rest(body, EXACT)


def test_loads_too_small_for_the_stiffness_end_at_once_and_say_so() -> None:
    body = two_bars(0.2, 1e6, 1e-3)
    with pytest.raises(NotConvergedError, match=r"rounding of the nodes.*raise"):
        at_rest(body, EquilibriumOptions(tolerance=1e-12, max_steps=20))


def chain(bars: int, stretch: float) -> LoadedStructure:
    """Bars in a line between supports, `stretch` times as long as there is room."""
    r = np.column_stack([np.linspace(0.0, 1.0, bars + 1), np.zeros((bars + 1, 2))])
    links = np.column_stack([np.arange(bars), np.arange(1, bars + 1)])
    elastic = Elastic.between(r, links, 3.0)
    elastic = replace(elastic, rest_length=stretch * elastic.rest_length)
    return loaded(structure(r, [*fix(r, 0), *fix(r, bars)]), elastic, {})


@pytest.mark.parametrize("bars", [2, 5, 13])
def test_bars_that_buckle_until_nothing_presses_them_are_at_rest(bars: int) -> None:
    """All that is left is rounding, of which no share may be asked for."""
    body = chain(bars, 1.5)
    found = at_rest(body, EquilibriumOptions())
    assert_allclose(found.deformed.length, body.elastic.rest_length, rtol=1e-13)
    assert (found.energy, found.unbalanced) < (1e-28, 1e-14)
    assert found.negative == 0
    assert found.neutral >= 1


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0, 359.0, 720.0])
def test_a_hinge_turns_to_its_rest_angle(degrees: float) -> None:
    r = np.array([[0.5, -1, 0], [0.0, 0, 0], [1.0, 0, 0], [0.5, 1, 0]])
    links = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]])
    elastic = Elastic.between(r, links, 100.0, np.array([[0, 1, 2, 3]]), 1.0)
    elastic = replace(elastic, rest_angle=np.radians([degrees]))
    held = [*fix(r, 0), *fix(r, 1), *fix(r, 2)]
    found = at_rest(loaded(structure(r, held), elastic, {}), EquilibriumOptions())
    assert_allclose(np.degrees(found.deformed.angle), [degrees], atol=1e-10)
    assert found.energy < 1e-20


def test_loads_are_heeded_however_stiff_what_bears_them() -> None:
    """They are no rounding, even where displacements are."""
    sheet = hinged_sheet(1, 2)
    made, links = soft_links(sheet, 1e12)
    hinges = hinges_between(sheet.bodies)
    elastic = replace(
        links, hinges=hinges, hinge_stiffness=np.full(len(hinges), 0.05),
        rest_angle=np.full(len(hinges), np.pi),
    )  # fmt: skip
    held = ConstraintTable.of(
        [row for node in (0, 1, 3) for row in fix(sheet.r0, node)]
    )
    held = made.constraints.followed_by(held)
    body = loaded(replace(made, constraints=held), elastic, {5: [0.0, 0.0, -1e-3]})
    with pytest.raises(NotConvergedError, match="unbalanced"):
        at_rest(body, EquilibriumOptions(max_steps=20))


def test_a_spring_without_a_length_of_its_own_holds_from_every_side() -> None:
    r = np.array([[0.0, 0, 0], [0.0, 0, 0], [1.0, 0, 0]])
    elastic = Elastic.between(r, np.array([[0, 1], [1, 2]]), 2.0)
    elastic = replace(elastic, rest_length=np.zeros(2))
    held = [*fix(r, 0), *fix(r, 2)]
    for load in ([0.0, 0.0, -0.4], [0.3, 0.2, 0.1]):
        found = at_rest(loaded(structure(r, held), elastic, {1: load}), EXACT)
        assert_allclose(found.r()[1], [0.5 + load[0] / 4, load[1] / 4, load[2] / 4])


def test_a_pressed_link_without_a_direction_is_refused() -> None:
    r = np.array([[0.0, 0, 0], [0.0, 0, 0], [1.0, 0, 0]])
    elastic = Elastic.between(r, np.array([[0, 1], [1, 2]]), 1.0)
    elastic = replace(elastic, rest_length=np.array([0.5, 1.0]))
    with pytest.raises(ValueError, match=r"elastic link 0 joins nodes at one place"):
        loaded(structure(r, [*fix(r, 0), *fix(r, 2)]), elastic, {})


def test_a_saddle_is_never_taken_for_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equilibrium, "MOST_SADDLES", 0)
    with pytest.raises(NotConvergedError, match=r"12 motions still lower the energy"):
        at_rest(chain(7, 1.2), EquilibriumOptions())


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
def test_slider_on_a_slanted_line_rests_where_its_spring_holds_it(unit: float) -> None:
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
def test_nodes_that_slide_on_a_target_are_at_rest(
    name: str, rng: np.random.Generator
) -> None:
    """Motions along it cost nothing, and none lowers the energy."""
    r = 1.5 * rng.normal(size=(6, 3))
    structure = Structure(r, ConstraintTable.of([]), np.arange(6))
    none = Elastic.none()
    body = LoadedStructure(structure, none, 0.0 * r, np.ones(6), SLOPED[name])
    found = at_rest(body, EquilibriumOptions())
    assert found.energy < 1e-18
    assert (found.negative, found.neutral) == (0, 6 if name == "circle" else 12)
