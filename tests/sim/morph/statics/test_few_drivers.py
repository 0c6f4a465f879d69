"""Joints that are locked so that few drivers are left, beside closed forms."""

from itertools import combinations

import numpy as np
import pytest

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.statics import few_drivers
from sim.morph.statics.few_drivers import LockedJoints, with_few_drivers
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    fix,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals

ARM = np.array([[0.0, -1, 0], [0, 0, 0], [1.0, 0.4, 0], [1.9, -0.2, 0], [2.6, 0.5, 0]])


def arm(r: Floats = ARM, unit: float = 1.0) -> Structure:
    """Three links in the plane on a ground of two nodes; its tip leads."""
    r = unit * r
    rows = [*fix(r, 0), *fix(r, 1)]
    rows += [Constraint(ConstraintKind.FIX, (j, 2), 0.0) for j in (2, 3, 4)]
    links = ((1, 2), (2, 3), (3, 4))
    rows += [dist(r, *link) for link in links]
    return Structure(r, ConstraintTable.of(rows), np.array([4]), links)


def found(
    goal: tuple[float, float], most: int, made: Structure, unit: float = 1.0
) -> list[LockedJoints]:
    target = Goals(unit * np.array([[*goal, 0.0]]))
    return list(with_few_drivers(made, [target], most, 1.0, NewtonOptions()))


def by_one(joint: int, goal: tuple[float, float]) -> float:
    """How far the tip stays away where the arm turns about one joint alone."""
    centre, tip = ARM[joint, :2], ARM[4, :2]
    radius = np.linalg.norm(tip - centre)
    return float(abs(np.linalg.norm(np.array(goal) - centre) - radius))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("goal", [(1.0, 2.0), (2.4, 1.0), (1.6, 1.1), (2.5, 0.2)])
def test_one_driver_is_that_whose_circle_passes_next_to_the_goal(
    goal: tuple[float, float], unit: float
) -> None:
    """Of three joints; the tip's distance is that from a circle about each."""
    L = np.sqrt(np.square(ARM - ARM.mean(axis=0)).sum() / 5)
    three, two, one = found(goal, 1, arm(unit=unit), unit)
    away = [by_one(joint, goal) for joint in (1, 2, 3)]
    assert [step.motions for step in (three, two, one)] == [3, 2, 1]
    assert one.E[0] * L * np.sqrt(5) == pytest.approx(min(away), abs=1e-7)
    free = {1, 2, 3} - {int(name.split(", ")[1]) for name in one.locked}
    assert free == {1 + int(np.argmin(away))}
    assert three.F <= two.F + 1e-15 <= one.F + 2e-15
    assert one.best


def test_greedy_locks_are_never_better_than_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goal = (1.0, 2.0)
    best = found(goal, 1, arm())
    monkeypatch.setattr(few_drivers, "MOST_SETS", 0)
    greedy = found(goal, 1, arm())
    assert not greedy[-1].best
    for one, other in zip(best, greedy, strict=True):
        assert one.F <= other.F + 1e-15
        assert set(greedy[1].locked) <= set(greedy[2].locked)
    assert len(list(combinations(greedy[-1].locked, 2))) == 1


def test_without_drivers_the_shape_is_the_one_drawn() -> None:
    last = found((1.0, 2.0), 0, arm())[-1]
    assert last.motions == 0
    assert np.abs(last.ends[0].r - ARM).max() < 1e-9


def test_joints_that_are_straight_cannot_be_locked_and_are_said() -> None:
    straight = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]])
    with pytest.raises(NotConvergedError, match="draw straight joints bent"):
        found((1.0, 2.0), 2, arm(straight))


def test_drivers_are_counted() -> None:
    with pytest.raises(ValueError, match="drivers is -1: give a whole number"):
        found((1.0, 2.0), -1, arm())
