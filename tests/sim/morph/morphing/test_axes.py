"""Axes of joints made for targets: differences, and hidden axes found again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.library.draft import Draft
from sim.morph.morphing.axes import Axes
from sim.morph.morphing.design import DesignOptions, design, objective
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    coin,
    dist,
    fix,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from tests.sim.morph.slopes import slope_errors

EXACT = DesignOptions(morph=NewtonOptions(tolerance=1e-11, residual=1e-12))
BLADE = np.array([[1.0, 0.2, 0.1], [1.4, 0.9, -0.2], [0.8, 1.1, 0.5]])


def door(axis: Floats, unit: float = 1.0) -> Structure:
    """A blade of three nodes, which lead, on a fixed axis (2, 3)."""
    r = unit * np.vstack([axis, BLADE])
    rows = [*fix(r, 0), *fix(r, 1)]
    rows += [dist(r, a, b) for a, b in ((2, 3), (3, 4), (2, 4))]
    rows += [dist(r, a, b) for a, b in ((0, 2), (0, 3), (1, 2), (1, 3), (0, 4))]
    return Structure(r, ConstraintTable.of(rows), np.arange(2, 5))


def shapes(hidden: Structure, angles: tuple[float, ...]) -> list[Goals]:
    """Of the blade, drawn aside by turns about z."""
    found, lead = [], hidden.leading
    for a in angles:
        turn = np.eye(3)
        turn[:2, :2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
        *_, end = morph_newton(hidden, Goals(hidden.r0[lead] @ turn.T), EXACT.morph)
        found.append(Goals(end.r[lead]))
    return found


def screw(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Direction and a point of the axis about which (3, 3) turns into another."""
    a, b = (x - x.mean(axis=0) for x in (first, second))
    U, _, V = np.linalg.svd(a.T @ b)
    R = V.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(V.T @ U.T))]) @ U.T
    values, vectors = np.linalg.eig(R)
    u = np.real(vectors[:, np.argmin(np.abs(values - 1.0))])
    d = second.mean(axis=0) - R @ first.mean(axis=0)
    return u / np.linalg.norm(u), np.linalg.lstsq(np.eye(3) - R, d, rcond=None)[0]


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_hidden_axis_is_found_again_from_its_shapes(seed: int, unit: float) -> None:
    """It is that of the screw between two shapes, found apart (Kabsch 1976)."""
    axis = np.array([[0.0, 0.0, -0.4], [0.1, 0.1, 0.9]])
    hidden = door(axis, unit)
    targets = shapes(hidden, (-0.4, 0.5, 0.9))
    u, point = screw(targets[0].points, targets[2].points)
    off = 0.1 * np.random.default_rng(seed).normal(size=(2, 3))
    given, axes = door(axis + off, unit), Axes(((0, 1),))
    options = DesignOptions(tolerance=1e-9, reached=1e-16, max_steps=2000, limit=0.8)
    first, *_, last = design(given, targets, axes, options)
    assert first.F > 1e-5
    found = axes.made(given, last.change)[:2]
    along = (found[1] - found[0]) / np.linalg.norm(found[1] - found[0])
    assert abs(abs(along @ u) - 1.0) < 1e-6
    away = np.cross(found - point, u)
    assert np.abs(away).max() < 1e-4 * unit


def test_a_change_of_an_axis_is_worth_what_differences_say(
    rng: np.random.Generator,
) -> None:
    """Two axes, one tied to nodes at its own places; the error falls with h^2."""
    made = two_hinges()
    axes = Axes(((0, 1), (2, 3, 7, 8)))
    lead = made.leading
    targets = [Goals(made.r0[lead] + 0.2 * rng.normal(size=(len(lead), 3)))]
    change, way = 0.05 * rng.normal(size=8), rng.normal(size=8)
    found = objective(made, targets, axes, EXACT, change)
    sizes = [4e-3, 2e-3, 1e-3]
    errors = slope_errors(
        lambda x: objective(made, targets, axes, EXACT, x, found.ends).F,
        *(change, way, found.slope, sizes),
    )
    assert found.F > 1e-4
    assert errors[-1] < 1e-3 * abs(found.slope @ way)
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(2, abs=0.3)


def test_constants_follow_axes_with_the_slope_that_is_told(
    rng: np.random.Generator,
) -> None:
    """Of any worth of the rows, that of slides along an axis among it."""
    made, axes = two_hinges(), Axes(((0, 1), (2, 3, 7, 8)))
    rows = int(made.constraints.first_row[-1])
    change, way, worth = (
        size * rng.normal(size=count)
        for size, count in ((0.2, 8), (1.0, 8), (1.0, rows))
    )
    first = made.constraints.first_row[:-1]
    h = 1e-5
    ahead, behind = (
        axes.changed(made, change + by * way).constraints.constant for by in (h, -h)
    )
    told = axes.slope(made, change, worth) @ way
    held = made.constraints.kind != ConstraintKind.COIN
    apart = (ahead - behind)[held] @ worth[first[held]] / (2.0 * h)
    still = worth.copy()
    for row in first[~held]:
        still[row : row + 3] = 0.0
    assert axes.slope(made, change, still) @ way == pytest.approx(apart, rel=1e-7)
    assert told == pytest.approx(apart, rel=1e-7)  # what is tied moves as one


def two_hinges() -> Structure:
    """Ground, an arm on the axis 0-1, a blade on the axis 2-3, its own nodes 7, 8."""
    r = np.array(
        [[0, 0, -0.4], [0.1, 0, 0.5], [1, 0.1, 0], [1.1, 0.6, 0.1], [1.8, 0, 0.3],
         [2.2, 0.7, 0], [1.7, 0.6, 0.8], [1, 0.1, 0], [1.1, 0.6, 0.1]]
    )  # fmt: skip
    rows = [*fix(r, 0), *fix(r, 1)]
    rows += [dist(r, a, b) for a in (0, 1) for b in (2, 3)] + [dist(r, 2, 3)]
    rows += [dist(r, a, b) for a in (7, 8) for b in (4, 5)] + [dist(r, 7, 6)]
    rows += [dist(r, a, b) for a, b in ((4, 5), (5, 6), (4, 6))]
    rows += [coin(2, 7), coin(3, 8)]
    return Structure(r, ConstraintTable.of(rows), np.arange(4, 7))


def test_a_draft_of_a_hinge_keeps_its_mobility_with_another_axis() -> None:
    """Its axis is named by two nodes of each body, which are tied to each other."""
    nodes = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0), (0, 0, 1), (0, 1, 0)]
    draft = Draft([tuple(map(float, r)) for r in nodes]).body(0, 1, 2).body(3, 4, 5)
    made = draft.hinge((0, 1), (3, 4)).structure()
    axes = Axes(((0, 1, 3, 4),))
    other = axes.changed(made, np.array([0.1, -0.05, 0.2, 0.1]))
    placed = axes.made(made, np.array([0.1, -0.05, 0.2, 0.1]))
    table = other.constraints
    for kind, row, constant in zip(
        table.kind, table.nodes, table.constant, strict=True
    ):
        if kind == ConstraintKind.DIST:
            square = np.square(placed[row[1]] - placed[row[0]]).sum()
            assert constant == pytest.approx(square, rel=1e-12)
        elif kind == ConstraintKind.COIN:
            assert constant == 0.0
    assert_allclose(placed[[0, 1]], placed[[3, 4]], atol=1e-12)
    assert isinstance(table.kind[0], np.integer)
    assert Constraint(ConstraintKind.COIN, (0, 3), 0.0) == coin(0, 3)


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (((2, 3),), r"nodes \[2, 7\] stay in line or at one place, and not all"),
        (((0, 1, 4),), r"axis \[0, 1, 4\] is no line"),
        (((0,),), r"axis \[0\] is no line: name two nodes or more"),
        (((2, 7),), r"axis \[2, 7\] is no line"),
        (((0, 1), (1, 0)), r"axis \[1, 0\] names a node again"),
    ],
)
def test_axes_that_are_none_are_refused(
    axes: tuple[tuple[int, ...], ...], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Axes(axes).changed(two_hinges(), np.zeros(4 * len(axes)))
