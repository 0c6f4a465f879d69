"""Bars, hinges and whole models: energy to force, and force to stiffness."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.hinges import hinge_angle, hinge_slopes
from sim.origami.folding.equilibrium import spread
from sim.origami.folding.problem import FoldingProblem, near_at
from sim.origami.folding.sheet import hinge_angles
from sim.origami.folding.stability import stiffness_matrix
from sim.origami.model.assembly import assemble, energies_at
from sim.origami.model.bars import bar_strain, bar_terms
from sim.origami.model.contact import Contact, build_surface, no_surface
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.model.model import build_model
from tests.sim.contact.taylor import remainder_order
from tests.sim.origami.sheets import compliant_strip, concentrated_strip, held_at


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
def test_a_hinge_has_the_angle_it_was_opened_to(angle: float) -> None:
    x = folded(angle)
    assert hinge_angle(x) == pytest.approx(angle, abs=1e-12)
    assert slopes(x)[0] == pytest.approx(angle, abs=1e-12)


def test_a_flat_hinge_is_at_pi() -> None:
    assert hinge_angle(folded(np.pi)) == pytest.approx(np.pi, abs=1e-15)


@pytest.mark.parametrize("angle", [0.3, 1.57, 3.1, np.pi, 4.0, 6.0])
def test_slopes_of_a_hinge_have_second_order_remainders(
    angle: float, rng: np.random.Generator
) -> None:
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


def test_a_bar_has_green_strain() -> None:
    rest, stretched = np.array([2.0, 0, 0]), np.array([0.0, 2.2, 0])
    assert bar_strain(stretched, rest, 2.0) == pytest.approx((2.2**2 - 4) / 8)


def test_slopes_of_a_bar_have_second_order_remainders(rng: np.random.Generator) -> None:
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


def problem_of(mesh: BarHingeMesh, *, touching: bool) -> FoldingProblem:
    contact = Contact("full", 0.02, 4e-3, 4e-3).filled(mesh)
    surface = build_surface(mesh, contact) if touching else no_surface(mesh.rest)
    elastic = [[5, 10.0, 20.0, 30.0]]
    model = build_model(mesh, held_at(mesh), elastic)
    return FoldingProblem(model, surface, 0.02, 2e-3, True)


def rolled(mesh: BarHingeMesh, rng: np.random.Generator) -> Floats:
    """A strip wound up until its ends are close, a little disordered."""
    x = mesh.rest.copy()
    radius = np.ptp(x[:, 0]) / 6.0
    turn = x[:, 0] / radius
    x[:, 0], x[:, 2] = radius * np.sin(turn), radius * (1 - np.cos(turn))
    return np.asarray(x + 2e-4 * rng.normal(size=x.shape))


@pytest.mark.parametrize("build", [compliant_strip, concentrated_strip])
def test_slopes_of_the_whole_model_have_second_order_remainders(
    build: type, rng: np.random.Generator
) -> None:
    """Bars, hinges, contact and elastic supports together."""
    mesh = build(4)
    problem = problem_of(mesh, touching=True)
    x = rolled(mesh, rng)
    pairs = near_at(problem, x, problem.skin).pairs
    angles = hinge_angles(mesh, mesh.rest) + 0.1

    def at(u: Floats) -> Floats:
        return x + spread(problem.model, u)

    def system(u: Floats) -> tuple[Floats, Floats, Floats]:
        found = assemble(problem.model, pairs, problem.ke, at(u), angles)
        return found.energies, found.force, stiffness_matrix(found).toarray()

    def energy(u: Floats) -> float:
        found = energies_at(problem.model, pairs, problem.ke, at(u), angles)
        return float(found.sum())

    zero = np.zeros(len(problem.model.first))
    v = 2e-5 * rng.normal(size=len(zero))
    energies, force, stiffness = system(zero)
    assert energies[[0, 1, 2, 4, 5]].min() > 0
    assert energies.sum() == pytest.approx(energy(zero), rel=1e-13)
    first = remainder_order(energy, force @ v, zero, v)
    second = remainder_order(lambda u: system(u)[1], stiffness @ v, zero, v)
    assert first == pytest.approx(2.0, abs=0.1)
    assert second == pytest.approx(2.0, abs=0.1)


def test_rigid_motion_costs_no_energy_and_internal_forces_are_in_balance(
    rng: np.random.Generator,
) -> None:
    mesh = compliant_strip(3)
    model = build_model(mesh, [])
    x = rolled(mesh, rng)
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
