"""Forces whose work over a step is exactly the energy that is lost."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.energy.elastic import elements, energies, gradients, passive, unstrained
from sim.rod.rod.rod import RodMaterial
from sim.rod.rod.star import StarShape, star
from sim.rod.stepping.conserving import conserving_gradient

ROD = star(StarShape(arc_edges=4, tail_edges=2), RodMaterial(modulus=1e5))
ELEMENTS, PASSIVE = elements(ROD), passive(ROD)


def _two_shapes(rng: np.random.Generator) -> tuple[Floats, Floats]:
    first, second = ROD.nodes + 6e-4 * rng.standard_normal((2, *ROD.nodes.shape))
    return first, second


def _gradient(x0: Floats, x1: Floats, viscous: float = 0.0) -> Floats:
    total = np.empty_like(x0)
    conserving_gradient(x0, x1, ELEMENTS, PASSIVE, viscous, total)
    return total


def test_their_work_is_the_difference_of_energy(rng: np.random.Generator) -> None:
    x0, x1 = _two_shapes(rng)
    change = sum(energies(x1, ELEMENTS, PASSIVE)) - sum(energies(x0, ELEMENTS, PASSIVE))
    work = np.sum(_gradient(x0, x1) * (x1 - x0))
    assert work == pytest.approx(change, rel=1e-9)


def test_damping_only_takes_energy(rng: np.random.Generator) -> None:
    for _ in range(20):
        x0, x1 = _two_shapes(rng)
        extra = _gradient(x0, x1, 1.0) - _gradient(x0, x1)
        assert np.sum(extra * (x1 - x0)) > 0.0


def test_they_have_no_sum_and_no_moment_about_the_mean_shape(
    rng: np.random.Generator,
) -> None:
    x0, x1 = _two_shapes(rng)
    force, mean = _gradient(x0, x1, 0.3), 0.5 * (x0 + x1)
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-11 * size
    moment = mean[:, 0] * force[:, 1] - mean[:, 1] * force[:, 0]
    assert abs(moment.sum()) < 1e-11 * size


def test_in_a_short_step_they_are_the_gradient(rng: np.random.Generator) -> None:
    x0, x1 = _two_shapes(rng)
    elastic, unused = np.empty_like(x0), np.empty_like(x0)
    strain = unstrained(ROD)
    gradients(x0, ELEMENTS, PASSIVE, 0.0, unstrained(ROD), strain, elastic, unused)
    errors = [
        np.abs(_gradient(x0, x0 + h * (x1 - x0)) - elastic).max() for h in (1e-3, 5e-4)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)
