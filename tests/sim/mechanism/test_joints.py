"""Links and joints that move between two limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.mechanism.constraints import ConstraintKind, dist, fix
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.obstacles import BARRIER_PARAMETERS, Obstacles
from sim.mechanism.projection_morph import Stop
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.targets.target_interface import Goals
from tests.sim.contact.taylor import remainder_order
from tests.sim.mechanism.solid_structures import limited, ranges, solids

PAIR = np.array([[0.0, 0, 0], [1.2, 0, 0]])
TELESCOPE = ranges((ConstraintKind.DIST, (0, 1), 1.0, 2.25))
NONE = np.inf


def test_potential_of_the_bounds_has_exact_slopes(rng):
    r = rng.normal(size=(6, 3))
    kinds = {
        ConstraintKind.DIST: (0, 1),
        ConstraintKind.DOT: (0, 1, 2, 3),
        ConstraintKind.TRIPLE: (0, 1, 2, 3, 4, 5),
    }
    d, u, v = r[1] - r[0], r[3] - r[2], r[5] - r[4]
    values = {
        ConstraintKind.DIST: d @ d,
        ConstraintKind.DOT: d @ u,
        ConstraintKind.TRIPLE: d @ np.cross(u, v),
    }
    near = ranges(
        *((kind, nodes, values[kind] - 0.2, values[kind] + 2.0)
          for kind, nodes in kinds.items()),
        *((kind, nodes, values[kind] - 2.0, values[kind] + 0.3)
          for kind, nodes in kinds.items()),
    )  # fmt: skip
    obstacles = Obstacles.of(limited(r, [], bounds=near))
    step = 0.01 * rng.normal(size=r.shape)
    push = obstacles.contacts(r, 0.7).push()
    assert (np.abs(push).max(axis=1) > 1e-2).all()
    order = remainder_order(
        lambda z: obstacles.energy(z, 0.7), float((push * step).sum()), r, step
    )
    assert order == pytest.approx(2.0, abs=0.1)


def test_all_pushes_together_are_the_push(rng):
    r = rng.normal(size=(5, 3))
    square = float(np.square(r[1] - r[0]).sum())
    dot = float((r[2] - r[0]) @ (r[3] - r[1]))
    felt = ranges(
        (ConstraintKind.DIST, (0, 1), 0.99 * square, NONE),
        (ConstraintKind.DOT, (0, 2, 1, 3), -NONE, dot + 0.01),
    )
    apart = float(np.linalg.norm(r[4] - r[2]))
    bodies = solids(balls=[(2, 0.49 * apart), (4, 0.49 * apart)])
    obstacles = Obstacles.of(limited(r, [], bodies, felt))
    push = obstacles.contacts(r, 0.3).push()
    each = obstacles.contacts(r, 0.3).pushes().toarray()
    assert (np.abs(each).max(axis=1) > 0.0).sum() == 3
    assert_allclose(each.sum(axis=0), push.ravel(), rtol=1e-12)


@pytest.mark.parametrize(
    ("wanted", "length", "held"),
    [(2.5, 1.5, "upper"), (0.4, 1.0, "lower"), (1.3, 1.3, "")],
)
def test_a_telescope_stops_at_its_ends(wanted, length, held):
    middle = np.array([0.6, 0.1, 0])
    half = np.array([0.5 * wanted, 0, 0])
    made = limited(PAIR, [], bounds=TELESCOPE)
    goals = Goals(np.array([middle - half, middle + half]))
    steps = list(morph_newton(made, goals, NewtonOptions()))
    obstacles, r = Obstacles.of(made), steps[-1].r
    assert steps[-1].stop is Stop.GRADIENT
    assert all(obstacles.energy(step.state, 1.0) < np.inf for step in steps)
    kappa = BARRIER_PARAMETERS[-1] * characteristic_length(PAIR) ** 2
    touched = obstacles.touching(steps[-1].state, kappa)
    touched = [touch for touch in touched if touch.force > 1e-4]
    assert np.linalg.norm(r[1] - r[0]) == pytest.approx(length, abs=1e-6)
    assert_allclose(r.mean(axis=0), middle, atol=1e-7)
    assert [t.name for t in touched] == [f"length(0, 1) at its {held} limit"] * bool(
        held
    )
    pull = 0.5 * abs(wanted - length)  # of a node; d(l^2)/dr = 2 l
    assert sum(t.force for t in touched) == pytest.approx(0.5 * pull / length, abs=1e-6)


def test_a_hinge_stays_on_its_side():
    """A triple product that may not change its sign: a lid does not open inwards."""
    r = np.array([[0.0, -1, 0], [0, 1, 0], [1.0, 0, 0], [-0.8, 0, 0.6]])
    held = [row for node in range(3) for row in fix(r, node)]
    rows = [*held, dist(r, 0, 3), dist(r, 1, 3)]
    lid = (ConstraintKind.TRIPLE, (0, 2, 0, 1, 0, 3), 0.0, NONE)
    goals = Goals(np.array([*r[:3], [0.5, 0, -0.9]]))
    *_, bare = morph_newton(limited(r, rows), goals, NewtonOptions())
    assert bare.r[3, 2] < -0.5
    *_, last = morph_newton(
        limited(r, rows, bounds=ranges(lid)), goals, NewtonOptions()
    )
    assert last.stop is Stop.GRADIENT
    assert_allclose(last.r[3, 2], 0.0, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("goal", [-1.0, 0.1, 1.0])
def test_links_that_start_at_their_bound_end_as_those_that_start_beside_it(unit, goal):
    """Two links at a right angle that may not open any further."""
    corner = ranges((ConstraintKind.DOT, (0, 1, 0, 2), 0.0, NONE))
    goals = unit * np.array([[0.0, 0, 0], [1, 0, 0], [goal, 0.5, 0]])
    ends = []
    for angle in (90.0, 80.0):
        turned = [np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle)), 0.0]
        if angle == 90.0:
            turned[0] = 0.0
        r = unit * np.array([[0.0, 0, 0], [1, 0, 0], turned])
        made = limited(r, [dist(r, 0, 1), dist(r, 0, 2)], bounds=corner)
        steps = list(morph_newton(made, Goals(goals), NewtonOptions()))
        assert steps[-1].stop is Stop.GRADIENT
        assert_allclose(steps[0].r, r)
        ends.append(steps[-1].r / unit)
    assert_allclose(ends[0], ends[1], atol=1e-6)
    u, v = ends[0][1:] - ends[0][0]
    assert u @ v >= 0.0
    assert (u @ v < 1e-4) == (goal < 0.0)


@pytest.mark.parametrize(
    ("nodes", "least", "most", "said"),
    [
        ((0, 1), 4.0, 1.0, r"length\(0, 1\) is empty \(2 to 1\): give least < most"),
        ((0, 1), 1.0, 1.0, r"is empty \(1 to 1\)"),
        ((0, 7), 1.0, 2.0, "node 7, which does not exist"),
        ((1, 1), 1.0, 2.0, "joins a node to itself"),
        ((0, 1, 0, 1), -NONE, NONE, "no bound: give least or most"),
        ((0, 1, 0, 1), np.nan, 1.0, "no bound: give least or most"),
    ],
)
def test_impossible_ranges_are_refused(nodes, least, most, said):
    kind = ConstraintKind.DIST if len(nodes) == 2 else ConstraintKind.DOT
    with pytest.raises(ValueError, match=said):
        limited(PAIR, [], bounds=ranges((kind, nodes, least, most)))


def test_a_start_outside_its_range_is_refused():
    made = limited(PAIR, [], bounds=ranges((ConstraintKind.DIST, (0, 1), 0.25, 1.0)))
    said = r"length\(0, 1\) is 1.2 at the start, outside its range of 0.5 to 1: widen"
    with pytest.raises(ValueError, match=said):
        next(morph_newton(made, Goals(PAIR), NewtonOptions()))
