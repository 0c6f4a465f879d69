"""Newton's method on functions whose minima and saddles are known."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.linalg.sparse_ldl import Factor, analyse, factorise
from sim.optimize.curvature import (
    PositiveFactor,
    Spectrum,
    lowest_mode,
    positive_factor,
)
from sim.optimize.newton import (
    ARMIJO,
    End,
    Iterate,
    Step,
    Trial,
    halved,
    line_search,
    minimise,
)

LOWER = np.tril_indices(2)


class Wells:
    """f = (x^2 - 1)^2 / 4 + 3 y^2 / 2: minima at x = +-1, a saddle between."""

    def f(self, x: Floats) -> float:
        return float((x[0] ** 2 - 1.0) ** 2 / 4.0 + 1.5 * x[1] ** 2)

    def slope(self, x: Floats) -> Floats:
        return np.array([x[0] ** 3 - x[0], 3.0 * x[1]])

    def positive(self, x: Floats) -> PositiveFactor:
        K = np.diag([3.0 * x[0] ** 2 - 1.0, 3.0])

        def factor(shift: float) -> Factor:
            return factorise(analyse(2, *LOWER), (K + shift * np.eye(2))[LOWER])

        return positive_factor(factor, 1e-2)

    def is_balanced(self, x: Floats) -> bool:
        return float(np.abs(self.slope(x)).max()) < 1e-12

    def negative(self, x: Floats) -> int:
        return self.positive(x).negative

    def escaped(self, x: Floats) -> Floats:
        return x + 1e-2 * lowest_mode(self.positive(x).factor.solve, 2)

    def steps(self, x: Floats) -> Iterator[Step[Floats]]:
        g = self.slope(x)
        dx = -self.positive(x).factor.solve(g)

        def trials(share: float) -> Iterator[Trial[Floats]]:
            yield Trial(x + share * dx, self.f(x + share * dx) - self.f(x))

        yield Step(trials, float(g @ dx), 1e-16, halved(1.0, 1e-6))


def ended(x: list[float], max_steps: int = 50, **k: int) -> Iterate[Floats]:
    *_, last = minimise(Wells(), np.array(x), max_steps, **k)
    return last


@pytest.mark.parametrize("start", [[2.0, 1.0], [0.1, -2.0], [-0.4, 0.3]])
def test_a_minimum_is_found_on_the_side_where_the_search_begins(start):
    last = ended(start)
    assert (last.end, last.saddles, last.negative) == (End.MINIMUM, 0, 0)
    assert_allclose(last.point, [np.sign(start[0]), 0.0], atol=1e-12)


def test_a_saddle_is_left_as_often_as_may_be():
    last = ended([0.0, 1.0], max_steps=200)
    assert (last.end, last.saddles) == (End.MINIMUM, 1)
    assert_allclose(np.abs(last.point), [1.0, 0.0], atol=1e-12)
    held = ended([0.0, 1.0], most_saddles=0)
    assert (held.end, held.negative, held.balanced) == (End.SADDLE, 1, True)
    assert_allclose(held.point, 0.0, atol=1e-12)


def test_too_few_steps_are_no_minimum():
    last = ended([2.0, 1.0], max_steps=2)
    assert (last.end, last.steps, last.balanced) == (End.MAX_STEPS, 2, False)


def climbing(changes: dict[float, float], farthest: float = 0.0) -> Step[float]:
    """A step of slope -1 with the change of phi at each share that may be tried."""
    trials = lambda share: [Trial(share, changes[share])]  # noqa: E731
    return Step(trials, -1.0, 0.0, [1.0, 0.5, 0.25], farthest)


@pytest.mark.parametrize(
    ("changes", "slack", "share"),
    [
        ({1.0: -2e-4}, 0.0, 1.0),
        ({1.0: -0.5 * ARMIJO, 0.5: -ARMIJO}, 0.0, 0.5),
        ({1.0: 0.1}, 0.2, 1.0),
        ({1.0: 0.1, 0.5: 0.1, 0.25: 0.1}, 0.0, None),
    ],
)
def test_the_first_share_that_lowers_enough_is_taken(changes, slack, share):
    found = line_search(climbing(changes), slack)
    assert (found and found.point) == share


@pytest.mark.parametrize("farthest", [15.0, 100.0])
def test_a_step_that_is_too_short_is_prolonged_while_phi_falls(farthest):
    found = line_search(climbing({1.0: -1.0, 4.0: -3.0, 16.0: -2.9}, farthest))
    assert found is not None
    assert found.point == 4.0


def test_with_memory_a_step_may_lead_higher_than_the_last_point():
    """Changes of -3, +2 and -1: the second is below the highest of the last three."""
    way = {0.0: -3.0, 1.0: 2.0, 2.0: -1.0}

    class Way(Wells):
        def is_balanced(self, x: Floats) -> bool:
            return bool(x[0] == 3.0)

        def steps(self, x: Floats) -> Iterator[Step[Floats]]:
            there = Trial(x + np.array([1.0, 0.0]), way[float(x[0])])
            yield Step(lambda _: [there], -1.0, 0.0, [1.0])

    for memory, end in ((1, End.NO_STEP), (3, End.MINIMUM)):
        *_, last = minimise(Way(), np.zeros(2), 50, memory=memory)
        assert last.end is end


def made(n: int, lowest: list[float], rng: np.random.Generator) -> Floats:
    """A symmetric matrix (n, n) with the given lowest eigenvalues, else 1 to 2."""
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([lowest, np.linspace(1.0, 2.0, n - len(lowest))])
    return np.asarray(V * values @ V.T)


@pytest.mark.parametrize("lowest", [[0.5], [-0.3], [-0.7, -0.2], [0.0]])
def test_the_shift_makes_all_pivots_positive_and_finds_the_lowest_mode(lowest, rng):
    K, (row, col) = made(8, lowest, rng), np.tril_indices(8)

    def factor(shift: float) -> Factor:
        return factorise(analyse(8, row, col), (K + shift * np.eye(8))[row, col])

    found = positive_factor(factor, 1e-3)
    assert found.factor.negative == len(found.factor.dropped) == 0
    assert found.negative == sum(value < 0.0 for value in lowest)
    assert (found.shift > 0.0) == (lowest[0] <= 0.0)
    assert found.shift <= max(1e-3, -4.0 * lowest[0])
    v = lowest_mode(found.factor.solve, 8)
    assert_allclose(K @ v, lowest[0] * v, atol=2e-2)


def test_steps_go_down_and_are_as_long_as_asked_for():
    model = Spectrum(np.eye(3), np.array([2.0, 0.5, 1e-3]))
    slope = np.array([[1.0, -1.0, 0.2]])
    assert_allclose(model.step(slope, np.inf), [[-0.5, 2.0, -200.0]])
    short = model.step(slope, 0.1)
    assert_allclose(np.linalg.norm(short), 0.1, rtol=1e-9)
    assert (short * slope < 0.0).all()
