"""Motions with a known answer, and what a motion keeps."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from pipeline.io.structure_file import structure_file
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
)
from sim.mechanism.dynamics import time_step
from sim.mechanism.dynamics.moving_mechanism import (
    Driver,
    DriverKind,
    MotionLaw,
    MovingMechanism,
)
from sim.mechanism.dynamics.quadratic_constraints import QuadraticRows
from sim.mechanism.dynamics.rigid_masses import RigidMass
from sim.mechanism.dynamics.time_loop import (
    MotionOptions,
    MotionState,
    motion,
    start_state,
)
from sim.mechanism.dynamics.time_step import Coordinates, Dampers, StepEquations
from sim.mechanism.joints import prismatic, rigid
from sim.mechanism.ranges import Ranges
from sim.mechanism.statics import potential_energy
from sim.mechanism.statics.elastic_parts import Elastic
from sim.mechanism.structure import Structure
from sim.mechanism.structure_builder import Draft
from tests.sim.mechanism.dynamics.moving import change, largest, moved, moving
from tests.sim.mechanism.solid_structures import solids

G = 9.81
NOWHERE = np.zeros(3)


def pendulum(links: int) -> Structure:
    """Links in a row along x from a held node, in the plane z = 0."""
    draft = Draft([[float(i), 0.0, 0.0] for i in range(links + 1)]).held(0)
    for i in range(links):
        draft.link(i, i + 1).held(i + 1, "z")
    return draft.structure()


def double_pendulum(_: float, y: Floats) -> list[float]:
    """Two rods of mass and length 1; angles from below, minimal coordinates."""
    a, b, p, q = y
    mass = np.array(
        [[4.0 / 3.0, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1.0 / 3.0]]
    )
    turn = 0.5 * np.sin(a - b)
    force = [
        -turn * q * q - 1.5 * G * np.sin(a),
        turn * p * p - 0.5 * G * np.sin(b),
    ]
    return [p, q, *np.linalg.solve(mass, force)]


@pytest.mark.parametrize(("h", "count"), [(0.003, 34), (0.1, 1), (0.5, 1), (0.02, 5)])
def test_a_motion_ends_when_its_duration_is_over(h, count):
    steps = moved(moving(pendulum(1), [RigidMass((0, 1), 1.0)]), h, 0.1)
    assert steps[-1].time == pytest.approx(0.1, rel=1e-12)
    assert len(steps) == count + 1


def test_a_double_pendulum_of_rods_is_that_of_minimal_coordinates():
    rods = [RigidMass((0, 1), 1.0), RigidMass((1, 2), 1.0)]
    start = [0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0]
    exact = solve_ivp(
        double_pendulum, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-12
    )
    a, b = exact.y[:2, -1]
    end = np.array([np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b), 0.0])
    errors = []
    for h in (0.02, 0.01, 0.005):
        steps = moved(moving(pendulum(2), rods), h, 1.0)
        errors.append(float(np.linalg.norm(steps[-1].r[2] - end)))
        assert largest(steps, "balance") < 1e-11
        assert largest(steps, "worst") < 1e-13
        assert largest(steps, "hidden") < 1e-12
    assert errors[-1] < 5e-3
    assert [a / b for a, b in pairwise(errors)] == pytest.approx([4.0, 4.0], abs=0.3)


def test_a_free_top_follows_the_elliptic_functions_of_jacobi():
    r = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64)
    r -= r.mean(axis=0)
    table = ConstraintTable.of(rigid(r, (0, 1, 2, 3)))
    J, turn = np.array([1.0, 2.0, 2.5]), np.array([0.6, 0.0, 2.0])
    mass = RigidMass((0, 1, 2, 3), 1.0, NOWHERE, np.diag(J))
    drift = np.array([0.3, -0.2, 0.1])
    free = moving(Structure(r, table, np.arange(4)), [mass], NOWHERE)
    given = {j: drift + np.cross(turn, r[j]) for j in range(4)}
    twice = 2.0 * float(J @ turn**2) / 2.0
    square, T = float((J * turn) @ (J * turn)), 3.0
    rate = np.sqrt((J[2] - J[1]) * (square - twice * J[0]) / J.prod())
    m = (
        (J[1] - J[0])
        * (twice * J[2] - square)
        / ((J[2] - J[1]) * (square - twice * J[0]))
    )
    _, cn, dn, _ = ellipj(rate * T, m)
    errors = []
    for h in (0.02, 0.01):
        steps = moved(free, h, T, given)
        last = steps[-1]
        frame = np.linalg.lstsq(r, last.r - last.r.mean(axis=0), rcond=None)[0].T
        own = (last.v - last.v.mean(axis=0)) @ frame
        axes = [np.cross(e, r).ravel() for e in np.eye(3)]
        found = np.linalg.lstsq(np.array(axes).T, own.ravel(), rcond=None)[0]
        errors.append(abs(found[0] - turn[0] * cn) + abs(found[2] - turn[2] * dn))
        assert largest(steps, "balance") < 1e-13
        assert change(steps, "momentum") < 1e-12
        assert change(steps, "angular") < 1e-12
        assert last.r.mean(axis=0) == pytest.approx(drift * T, abs=1e-12)
    assert errors[1] < 2e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)


def test_a_driven_slider_crank_needs_the_moment_of_its_equations():
    """Crank 1, rod l, slider s on the x axis; work of all inertia by virtual power."""
    made = structure_file("conf/structure/slider_crank.yaml")
    masses = [RigidMass((0, 1), 1.0), RigidMass((1, 2), 2.0), RigidMass((2,), 0.5)]
    rate, begin = 6.0, np.arctan2(0.8, 0.6)
    length = float(np.linalg.norm(made.r0[2] - made.r0[1]))
    driver = Driver(DriverKind.ANGLE, (3, 0, 1), MotionLaw(rate))

    def energy(t: float) -> float:
        """Kinetic and potential energy, of the closed positions."""

        def places(t: float) -> Floats:
            pin = np.array([np.cos(begin + rate * t), np.sin(begin + rate * t)])
            slide = pin[0] + np.sqrt(length**2 - pin[1] ** 2)
            return np.array([pin, [slide, 0.0]])

        d = 1e-5
        (u, w), r = (places(t + d) - places(t - d)) / (2.0 * d), places(t)
        kinetic = u @ u / 6.0 + (u @ u + u @ w + w @ w) / 3.0 + 0.25 * w @ w
        return float(kinetic + G * (0.5 * r[0, 1] + 1.0 * r[0, 1]))

    steps = moved(moving(made, masses, drivers=[driver]), 0.005, 1.0)
    assert largest(steps, "balance") < 1e-11
    assert steps[-1].r[1, :2] == pytest.approx(
        [np.cos(begin + rate), np.sin(begin + rate)], abs=1e-13
    )
    for step in steps[50::50]:
        middle, d = step.time - 0.0025, 1e-3
        power = (energy(middle + d) - energy(middle - d)) / (2.0 * d)
        assert step.effort[0] * rate == pytest.approx(power, abs=0.05)
    driven = steps[-1].driven
    assert driven == pytest.approx(energy(1.0) - energy(0.0), abs=5e-3)


def test_a_bricard_with_a_row_too_many_keeps_its_energy_for_a_whole_cycle():
    steps = moved(bricard(), 0.02, 4.5)
    state, energy = steps[-1].state, [step.kinetic + step.potential for step in steps]
    assert np.count_nonzero(~state.independent) == 1
    assert max(energy) - min(energy) < 1e-11
    assert largest(steps, "worst") < 1e-12
    assert np.isnan(steps[-1].reaction).all()  # any of them may carry another share
    moving_on = [step.kinetic for step in steps]
    still = [i for i in range(1, len(steps) - 1) if moving_on[i] < 0.01]
    assert len(still) > 2
    away = [float(np.abs(step.r - steps[0].r).max()) for step in steps]
    assert max(away) > 2.0
    assert min(away[150:]) < 0.1


def test_a_slider_on_a_spinning_guide_keeps_energy_and_momenta():
    """A prismatic joint has triple products, the only rows that are cubic."""
    r = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1],
         [0.2, 0, 0], [0.7, 0, 0], [0.3, 0.5, 0.4], [0.4, -0.3, 0.6]],
        dtype=np.float64,
    )  # fmt: skip
    rows = [*rigid(r, (0, 1, 2, 3)), *rigid(r, (4, 5, 6, 7))]
    rows += prismatic(r, (0, 1, 2), (4, 5, 6))
    sides = (0, 1, 2, 3), (4, 5, 6, 7)
    joined = Structure(r, ConstraintTable.of(rows), np.arange(8), sides)
    bodies = [RigidMass((0, 1, 2, 3), 1.0), RigidMass((4, 5, 6, 7), 2.0)]
    spring = Elastic.between(r, np.array([[0, 4]]), 3.0)
    mechanism = moving(joined, bodies, NOWHERE, spring)
    given = {j: np.cross([0.3, 1.0, 0.7], r[j]) for j in range(8)}
    steps = moved(mechanism, 0.05, 3.0, given)
    assert abs(steps[-1].r[4] - steps[-1].r[0]) @ np.ones(3) > 0.3
    assert largest(steps, "balance") < 1e-11
    assert largest(steps, "worst") < 1e-12
    assert change(steps, "momentum") < 1e-11
    assert change(steps, "angular") < 1e-11


def test_an_iteration_of_a_spring_needs_its_deformation_twice(monkeypatch):
    """At the middle and at the end; that at the start stays from iteration to next."""
    r = np.array([[0.0, 0, 0], [1.2, 0, 0]])
    held = Draft(r).held(0).structure()
    spring = Elastic.between(r, np.array([[0, 1]]), 40.0)
    mechanism, asked = moving(held, [RigidMass((1,), 1.0)], NOWHERE, spring), []
    deform = potential_energy.deform

    def counted(*at):
        asked.append(at)
        return deform(*at)

    start = start_state(mechanism, MotionOptions(0.01), {1: np.array([0.0, 1, 0])})
    monkeypatch.setattr(potential_energy, "deform", counted)
    steps = list(motion(mechanism, MotionOptions(0.01), start, 0.1))
    made = sum(step.iterations + 2 for step in steps[1:])
    assert 0 < len(asked) <= 2 * made + 2 * len(steps)


@pytest.mark.parametrize("most", [0, 10**6])
def test_a_banded_matrix_solves_a_step_as_a_sparse_one_does(monkeypatch, most):
    """And twice for a linear spring: both times by one factorisation."""
    r, made = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.1, 0, 0]]), []
    body = Draft(r).held(0).link(0, 1).structure()
    spring = Elastic.between(r, np.array([[1, 2]]), 40.0)
    points = [RigidMass((1,), 1.0), RigidMass((2,), 2.0)]
    damper = Dampers(Coordinates.of(lengths=[[1, 2]]), np.array([0.3]))
    mechanism = moving(body, points, elastic=spring, dampers=damper)
    given = {2: np.array([0.0, 1.0, 0.5])}
    expected = moved(mechanism, 0.01, 0.5, given)
    monkeypatch.setattr(time_step, "BAND", most)
    solver = StepEquations._solver
    monkeypatch.setattr(
        StepEquations, "_solver", lambda *at: made.append(at) or solver(*at)
    )
    steps = moved(mechanism, 0.01, 0.5, given)
    assert_allclose(steps[-1].r, expected[-1].r, rtol=1e-13, atol=1e-13)
    assert largest(steps, "balance") < 1e-12
    assert len(made) < sum(step.iterations for step in steps) <= 3 * len(steps)


def test_springs_and_hinges_swing_without_loss_and_dampers_take_what_is_lost():
    r = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [0.5, -0.5, 0.7]])
    elastic = Elastic.between(
        r, np.array([[0, 2], [1, 2], [0, 3], [1, 3]]), 40.0, np.array([[2, 0, 1, 3]]), 2
    )
    joined = Draft(r).link(0, 1).structure()
    points = [RigidMass((j,), 0.5 + 0.1 * j) for j in range(4)]
    given = {2: np.array([0.0, 0.3, 2.0]), 3: np.array([0.5, 0.0, 1.0])}
    steps = moved(moving(joined, points, NOWHERE, elastic), 0.02, 2.0, given)
    assert max(s.potential for s in steps) > 0.2
    assert largest(steps, "balance") < 1e-12
    assert change(steps, "angular") < 1e-12
    damper = Dampers(
        Coordinates.of(lengths=[[2, 3]], hinges=[[2, 0, 1, 3]]), np.array([0.3, 0.2])
    )
    damped = moving(joined, points, NOWHERE, elastic, dampers=damper)
    lost = moved(damped, 0.02, 2.0, given)
    assert largest(lost, "balance") < 1e-12
    gone = [step.damped for step in lost]
    assert gone == sorted(gone)
    assert gone[-1] > 0.2
    assert change(lost, "angular") < 1e-12


def test_a_slide_between_limits_turns_round_at_both_with_its_speed():
    slide = Draft([[0.0, 0, 0], [1.0, 0, 0]]).held(0).held(1, "yz").structure()
    length = ConstraintTable.of([Constraint(ConstraintKind.DIST, (0, 1), 0.0)])
    bounds = Ranges(length, np.array([0.25]), np.array([4.0]))
    mechanism = moving(
        replace(slide, ranges=bounds), [RigidMass((1,), 1.0)], NOWHERE,
        contact_energy=1.0,
    )  # fmt: skip
    steps = moved(mechanism, 0.01, 3.0, {1: np.array([2.0, 0, 0])})
    x, v = [step.r[1, 0] for step in steps], [step.v[1, 0] for step in steps]
    assert largest(steps, "balance") < 1e-12
    assert 0.5 < min(x) < max(x) < 2.0
    assert sum(a * b < 0.0 for a, b in pairwise(v)) == 4
    free = [abs(a) for a, place in zip(v, x, strict=True) if 1.2 < place < 1.65]
    assert len(free) > 40
    assert free == pytest.approx([free[0]] * len(free), abs=1e-12)


@pytest.mark.parametrize("rate", [1.0, -2.0, 5.0])
def test_a_driver_beyond_the_reach_of_its_linkage_says_where_it_ends(rate):
    """The crank of a four-bar that is no Grashof turns until its other links align."""
    r = [[0, 0, 0], [1.2, 0, 0], [1.8, 0.8, 0], [2.0, 0, 0]]
    draft = Draft([[float(x) for x in place] for place in r]).held(0).held(3)
    bar = draft.link(0, 1).link(1, 2).link(2, 3).held(1, "z").held(2, "z").structure()
    rods = [RigidMass(pair, 1.0) for pair in ((0, 1), (1, 2), (2, 3))]
    turned = Driver(DriverKind.ANGLE, (3, 0, 1), MotionLaw(rate))
    long = float(np.sum([np.hypot(0.6, 0.8), np.hypot(0.2, 0.8)]))
    end = np.arccos((1.44 + 4.0 - long**2) / 4.8)
    with pytest.raises(NotConvergedError) as told:
        moved(moving(bar, rods, drivers=[turned]), 0.01, 3.0)
    assert str(told.value) == (
        f"at time {end / abs(rate):.4g} the driver angle(3, 0, 1) asks for more than "
        f"the linkage reaches, {np.degrees(np.sign(rate) * end):.4g} degrees: let it "
        "stop or turn back before"
    )


@pytest.mark.parametrize("h", [0.005, 0.01, 0.02])
def test_a_crank_without_mass_stops_its_slider_at_the_dead_centre_and_says_so(h):
    knee, far = [0.5, 0.75**0.5, 0.0], 0.5 + 3.25**0.5
    draft = Draft([[0.0, 0, 0], knee, [far, 0, 0]]).held(0).held(1, "z").held(2, "yz")
    crank = draft.link(0, 1).link(1, 2).structure()  # of 1, and its rod of 2
    slider, outward = RigidMass((2,), 1.0), {2: np.array([1.0, 0, 0])}
    with pytest.raises(NotConvergedError, match="node 1 has no mass and moves") as told:
        moved(moving(crank, [slider], NOWHERE), h, 2.0, outward)
    assert "give it a mass" in str(told.value)
    assert told.value.best.z[6] == pytest.approx(3.0, abs=1e-4)  # 1 + 2, in line
    pin = RigidMass((1,), 0.1)
    steps = moved(moving(crank, [slider, pin], NOWHERE), 0.02, 2.0, outward)
    assert largest(steps, "balance") < 1e-10
    assert max(step.r[2, 0] for step in steps) == pytest.approx(3.0, abs=1e-2)
    assert steps[-1].r[2, 0] < 2.5


@pytest.mark.parametrize("radius", [1e-3, 1e-5])
def test_thin_rods_that_meet_part_as_rigid_ones_do(radius):
    """In steps many times as long as the rods are thick."""
    r = np.array([[-1.0, 0, 0.2], [1, 0.1, 0.2], [0, -1, -0.2], [0.1, 1, -0.2]])
    rows = ConstraintTable.of([dist(r, 0, 1), dist(r, 2, 3)])
    rods = solids(capsules=[(0, 1, radius), (2, 3, radius)])
    made = Structure(r, rows, np.arange(4), ((0, 1), (2, 3)), solids=rods)
    masses = [RigidMass((0, 1), 1.0), RigidMass((2, 3), 1.0)]
    down = np.array([0.0, 0.0, -1.0])
    start = {0: down, 1: down, 2: NOWHERE, 3: NOWHERE}
    mechanism = moving(made, masses, NOWHERE, contact_energy=1.0)
    *_, before, last = moved(mechanism, 0.01, 0.6, start)
    one, other = r[1] - r[0], r[3] - r[2]
    along = np.linalg.solve(np.stack([one, -other], axis=1)[:2], (r[2] - r[0])[:2])
    s, t = along - 0.5  # where they cross, of their lengths, from their middles
    impulse = 2.0 / (2.0 + 12.0 * s**2 + 12.0 * t**2)
    ends = np.array([-0.5, 0.5])
    gained = impulse * (1.0 + 12.0 * s * ends), -impulse * (1.0 + 12.0 * t * ends)
    speed = (last.r - before.r)[:, 2] / 0.01
    assert_allclose(speed, [*(gained[0] - 1.0), *gained[1]], atol=1e-3)


DOWN = np.array([0.0, 0.0, -9.81])


def coil(count: int) -> MovingMechanism:
    """Tetrahedra in a coil, each with a corner of the one before, the first held."""
    r, bodies = [[0.5, 0.0, 0.0]], []
    for k in range(count):
        for along, out, up in ((0.05, 0.03, 0.0), (0.05, -0.03, 0.01), (0.1, 0, 0)):
            turn = (0.1 * k + along) / 0.5
            ring = (0.5 + out) * np.array([np.cos(turn), np.sin(turn)])
            r.append([*ring, up + 0.03 * turn])
        bodies.append((3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 3))
    draft, at = Draft(r).held(0), np.array(r)
    for body in bodies:
        for pair in combinations(body, 2):
            draft.link(*pair)
    inertia = 1e-4 * np.eye(3)
    masses = [RigidMass(b, 0.1, at[list(b)].mean(axis=0), inertia) for b in bodies]
    return moving(draft.structure(), masses, DOWN)


def bricard() -> MovingMechanism:
    """One row too many."""
    made = structure_file("conf/structure/bricard.yaml")
    return moving(made, [RigidMass(body, 1.0) for body in made.bodies[1:]], DOWN)


def slide() -> MovingMechanism:
    """A prismatic joint, with multipliers and frames among its unknowns."""
    made = structure_file("conf/structure/joint/prismatic.yaml")
    masses = [RigidMass((node,), 1.0) for node in range(len(made.r0))]
    return moving(made, masses, DOWN)


@pytest.mark.parametrize("made", [lambda: coil(4), bricard, slide])
def test_independent_rows_are_as_many_as_the_rank_of_the_dense_matrix(made):
    mechanism = made()
    steps = moved(mechanism, 0.005, 0.02)
    assert largest(steps, "balance") < 1e-11
    end = steps[-1].state
    G = mechanism.rows.dense(end.z, mechanism.numbers(0.02)[0])
    rank = np.linalg.matrix_rank(G, tol=1e-8)
    assert np.count_nonzero(end.independent) == rank
    assert np.linalg.matrix_rank(G[end.independent], tol=1e-8) == rank


def test_a_node_without_mass_is_refused():
    draft = Draft([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]).held(0).link(0, 1).link(1, 2)
    with pytest.raises(ValueError, match="node 2 can move without moving any mass"):
        moving(draft.structure(), [RigidMass((0, 1), 1.0)], DOWN)


def test_a_coil_of_a_hundred_bodies_falls_without_a_dense_matrix(monkeypatch):
    """603 rows of 903 unknowns."""

    def refused(*_: object) -> Floats:
        raise AssertionError("a dense matrix")

    monkeypatch.setattr(QuadraticRows, "dense", refused)
    steps = moved(coil(100), 0.002, 0.006)
    assert steps[-1].kinetic > 0.0
    assert largest(steps, "balance") < 1e-11
    assert largest(steps, "hidden") < 1e-9
    assert [step.substeps for step in steps[1:]] == [1, 1, 1]


def far_chain(away: float) -> MovingMechanism:
    """Eight links of 0.1 m in a row, far from the origin."""
    draft = Draft([[away + 0.1 * i, 0.0, 0.0] for i in range(9)]).held(0)
    for i in range(8):
        draft.link(i, i + 1)
    rods = [RigidMass((i, i + 1), 1.0) for i in range(8)]
    return moving(draft.structure(), rods, DOWN)


def test_links_too_short_for_where_they_are_are_told_what_to_raise():
    """Their squares are differences of squares of coordinates."""
    with pytest.raises(ValueError, match=r"or raise residual \(1e-10\) to [1-9]e-10"):
        begun(far_chain(100.0), 1e-10)
    options, state = begun(far_chain(100.0), 1e-9)
    steps = list(motion(far_chain(100.0), options, state, 0.02))
    assert largest(steps, "balance") < 1e-8
    with pytest.raises(
        ValueError, match=r"1e\+03 from the origin: .* to their centre$"
    ):
        begun(far_chain(1000.0), 1e-10)


def begun(made: MovingMechanism, residual: float) -> tuple[MotionOptions, MotionState]:
    options = MotionOptions(0.01, residual)
    return options, start_state(made, options, {})
