"""Energies of stretching and bending, with their slopes and curvatures."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.energy.elastic import (
    Actuated,
    Rates,
    Strains,
    elements,
    energies,
    gradients,
    join,
    passive,
    unstrained,
)
from sim.rod.rod.rod import Rod, RodMaterial, chain
from sim.rod.rod.star import StarShape, star
from tests.sim.rod.known import dense_stiffness

MATERIAL = RodMaterial(modulus=1.0e5, thickness=2.0e-3)
SCALE = MATERIAL.bending / 0.01  # an energy


def _star() -> Rod:
    return star(StarShape(arc_edges=4, tail_edges=2), MATERIAL)


def _actuated(rod: Rod, rng: np.random.Generator) -> Actuated:
    modulus, curvature = passive(rod)
    actuated = Actuated(
        modulus + 0.5 * rng.random(len(modulus)),
        curvature - 0.5 * rng.random(len(curvature)),
    )
    join(elements(rod), actuated)
    return actuated


def _energy(rod: Rod, actuated: Actuated, x: Floats) -> float:
    return sum(energies(x, elements(rod), actuated))


def _strains(rod: Rod, x: Floats) -> Strains:
    strain, a, b = unstrained(rod), np.empty_like(x), np.empty_like(x)
    gradients(x, elements(rod), passive(rod), 0.0, unstrained(rod), strain, a, b)
    return strain


def _gradients(
    rod: Rod, actuated: Actuated, before: Strains, x: Floats
) -> tuple[Floats, Floats]:
    elastic, viscous = np.empty_like(x), np.empty_like(x)
    strain = unstrained(rod)
    gradients(x, elements(rod), actuated, 1.0, before, strain, elastic, viscous)
    return elastic, viscous


def _deformed(
    rod: Rod, rng: np.random.Generator, size: float = 4e-4
) -> tuple[Floats, Floats, Strains]:
    """A deformed shape, a direction, other strains with the slopes of the shape."""
    x = rod.nodes + size * rng.standard_normal(rod.nodes.shape)
    before = _strains(rod, x)
    before.stretch[:] += 0.05 * rng.standard_normal(len(rod.edges))
    before.turn[:] += 0.3 * rng.standard_normal(len(rod.bends))
    return x, 1e-3 * rng.standard_normal(rod.nodes.shape), before


def _slope(errors: list[float]) -> float:
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))


def test_gradient_is_the_slope_of_the_energy(rng: np.random.Generator) -> None:
    rod = _star()
    actuated = _actuated(rod, rng)
    x, d, before = _deformed(rod, rng)
    gradient, _ = _gradients(rod, actuated, before, x)
    energy = _energy(rod, actuated, x)
    errors = [
        abs(_energy(rod, actuated, x + h * d) - energy - h * np.sum(gradient * d))
        for h in 2.0 ** -np.arange(4, 9)
    ]
    assert _slope(errors) == pytest.approx(2.0, abs=0.1)


def test_viscous_force_takes_the_energy_of_the_strain_rate(
    rng: np.random.Generator,
) -> None:
    """F dx = -k (eps1 - eps0)^2 with an error of third order in dx."""
    rod = _star()
    e = elements(rod)
    x, d, _ = _deformed(rod, rng)
    before = _strains(rod, x)
    errors = []
    for h in 2.0 ** -np.arange(5, 10):
        after = _strains(rod, x + h * d)
        _, viscous = _gradients(rod, passive(rod), before, x + h * d)
        lost = np.sum(e.stretching * e.rest * (after.stretch - before.stretch) ** 2)
        lost += np.sum(e.bending / e.voronoi * (after.turn - before.turn) ** 2)
        errors.append(abs(float(np.sum(viscous * h * d) - lost)))
    assert _slope(errors) == pytest.approx(4.0, abs=0.2)


def test_stiffness_is_the_slope_of_the_gradient(rng: np.random.Generator) -> None:
    rod = _star()
    actuated = _actuated(rod, rng)
    x, d, before = _deformed(rod, rng)
    weight = Rates(elastic=0.5, viscous=0.7)
    K = dense_stiffness(rod, x, actuated, weight, before)

    def total(y: Floats) -> Floats:
        elastic, viscous = _gradients(rod, actuated, before, y)
        return (weight.elastic * elastic + weight.viscous * viscous).ravel()

    errors = [
        float(np.linalg.norm(total(x + h * d) - total(x) - h * (K @ d.ravel())))
        for h in 2.0 ** -np.arange(5, 10)
    ]
    assert _slope(errors) == pytest.approx(2.0, abs=0.1)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.0, 3.0, 3.1])
def test_bending_is_smooth_beyond_a_right_angle(angle: float) -> None:
    rod = chain(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), MATERIAL)
    x = rod.nodes.copy()
    x[2] = x[1] + [np.cos(angle), np.sin(angle)]
    expected = 0.5 * MATERIAL.bending * (2.0 * np.tan(angle / 2)) ** 2
    assert energies(x, elements(rod), passive(rod))[1] == pytest.approx(expected)


def test_rigid_motion_changes_no_energy_and_internal_forces_balance(
    rng: np.random.Generator,
) -> None:
    rod = _star()
    actuated = _actuated(rod, rng)
    x, _, before = _deformed(rod, rng)
    c, s = np.cos(0.7), np.sin(0.7)
    moved = x @ np.array([[c, s], [-s, c]]) + [0.3, -0.2]
    energy = _energy(rod, actuated, x)
    assert _energy(rod, actuated, moved) == pytest.approx(energy, rel=1e-12)
    for force in _gradients(rod, actuated, before, x):
        size = np.abs(force).max()
        assert np.abs(force.sum(axis=0)).max() < 1e-11 * size
        moment = x[:, 0] * force[:, 1] - x[:, 1] * force[:, 0]
        assert abs(moment.sum()) < 1e-11 * size


def test_stretching_energy_does_not_depend_on_the_number_of_edges() -> None:
    def stretched(n: int) -> float:
        x = np.column_stack([np.linspace(0.0, 1.0, n), np.zeros(n)])
        rod = chain(x, MATERIAL)
        return energies(1.1 * x, elements(rod), passive(rod))[0]

    assert stretched(5) == pytest.approx(0.5 * MATERIAL.stretching * 0.01)
    assert stretched(50) == pytest.approx(stretched(5))


def test_the_rest_shape_is_without_energy_and_force() -> None:
    rod = _star()
    assert _energy(rod, passive(rod), rod.nodes) < 1e-20 * SCALE
    force, _ = _gradients(rod, passive(rod), unstrained(rod), rod.nodes)
    assert np.abs(force).max() < 1e-9
