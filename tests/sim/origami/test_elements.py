"""Bars, hinges and whole models: energy to force, and force to stiffness."""

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.core.hinges import hinge_angle, hinge_slopes
from sim.origami.folding.equilibrium import FoldingProblem, near_at
from sim.origami.folding.sheet import hinge_angles, no_surface
from sim.origami.model.assembly import (
    assemble,
    bar_strain,
    bar_terms,
    build_model,
    energies_at,
)
from tests.sim.contact.taylor import remainder_order
from tests.sim.origami.sheets import compliant_strip


def slopes(x: Floats) -> tuple[float, Floats, Floats]:
    gradient, hessian = np.empty(12), np.empty((12, 12))
    angle = hinge_slopes(
        np.ascontiguousarray(x.reshape(4, 3)), gradient, hessian, np.empty((6, 3, 3))
    )
    return angle, gradient, hessian


def folded(angle: float) -> Floats:
    """Nodes i, j, k, l of a hinge along y that is opened to `angle`."""
    wing = [-np.cos(angle - np.pi), 0.3, np.sin(angle - np.pi)]
    return np.array([[1.0, 0.4, 0.0], [0, 0, 0], [0, 1.2, 0], wing])


@pytest.mark.parametrize("angle", [0.02, 0.7, 1.57, 3.14159, 4.0, 6.1, 6.27])
def test_a_hinge_has_the_angle_it_was_opened_to(angle):
    x = folded(angle)
    assert hinge_angle(x) == pytest.approx(angle, abs=1e-12)
    assert slopes(x)[0] == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize("angle", [0.3, 1.57, 3.1, np.pi, 4.0, 6.0])
def test_slopes_of_a_hinge_have_second_order_remainders(angle, rng):
    x = folded(angle).ravel() + 0.05 * rng.normal(size=12)
    v = 0.05 * rng.normal(size=12)
    _, gradient, hessian = slopes(x)
    first = remainder_order(
        lambda y: hinge_angle(np.ascontiguousarray(y.reshape(4, 3))), gradient @ v, x, v
    )
    second = remainder_order(lambda y: slopes(y)[1], hessian @ v, x, v)
    assert first == pytest.approx(2.0, abs=0.1)
    assert second == pytest.approx(2.0, abs=0.1)
    assert abs(hessian - hessian.T).max() < 1e-12 * abs(hessian).max()


def test_a_bar_has_green_strain():
    rest, stretched = np.array([2.0, 0, 0]), np.array([0.0, 2.2, 0])
    assert bar_strain(stretched, rest, 2.0) == pytest.approx((2.2**2 - 4) / 8)


def test_slopes_of_a_bar_have_second_order_remainders(rng):
    rest, dx, v = rng.normal(size=(3, 3))
    v *= 0.1
    EA, length = 3.0, 1.3

    def terms(y: Floats) -> tuple[float, Floats, Floats]:
        force, block = np.empty(3), np.empty((3, 3))
        energy = bar_terms(y, rest, length, EA, force, block)
        return energy, force, block

    _, force, block = terms(dx)
    first = remainder_order(lambda y: terms(y)[0], force @ v, dx, v)
    second = remainder_order(lambda y: terms(y)[1], block @ v, dx, v)
    assert first == pytest.approx(2.0, abs=0.1)
    assert second == pytest.approx(2.0, abs=0.1)


def test_rigid_motion_costs_no_energy_and_internal_forces_are_in_balance(rng):
    """Of a strip wound up until its ends are close, a little disordered."""
    mesh = compliant_strip(3)
    model, x = build_model(mesh, []), mesh.rest.copy()
    radius = np.ptp(x[:, 0]) / 6.0
    angle = x[:, 0] / radius
    x[:, 0], x[:, 2] = radius * np.sin(angle), radius * (1 - np.cos(angle))
    x += 2e-4 * rng.normal(size=x.shape)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    moved = x @ turn.T + rng.normal(size=3)
    bare = FoldingProblem(model, no_surface(mesh.rest), 1.0, 1e-3, False)
    none, angles = near_at(bare, x, bare.skin).pairs, hinge_angles(mesh, mesh.rest)
    here = assemble(model, none, 1.0, x, angles)
    there = energies_at(model, none, 1.0, moved, angles)
    assert there == pytest.approx(here.energies, rel=1e-8, abs=1e-18)
    force = here.force[model.unknown]
    assert abs(force.sum(axis=0)).max() < 1e-11 * abs(force).max()
    assert abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * abs(force).max()
