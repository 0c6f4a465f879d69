"""Residuals of the constraints and their first two derivatives."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.linalg.sparse_ldl import factorise
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    HessianTerms,
    assemble,
    hessian_pattern_of,
    linearise,
    state,
    system_of,
)
from sim.mechanism.constraints import (
    Constraint,
    ConstraintTable,
    coin,
    dist,
    dot,
    fix,
    par,
    triple,
)
from sim.mechanism.structure import Structure

N = 9
CASES: dict[str, Callable[[Floats], list[Constraint]]] = {
    "dist": lambda r: [dist(r, 0, 1)],
    "dot": lambda r: [dot(r, 0, 1, 2, 3)],
    "dot that shares a node": lambda r: [dot(r, 0, 3, 0, 1)],
    "dot of a vector with itself": lambda r: [dot(r, 4, 5, 4, 5)],
    "triple": lambda r: [triple(r, (0, 1, 2, 3, 4, 5))],
    "triple of a body": lambda r: [triple(r, (0, 4, 0, 1, 1, 2))],
    "par": lambda _: [par(0, 1, 2, 3)],
    "par from one node": lambda _: [par(0, 6, 0, 7), par(8, 2, 2, 0)],
    "coin": lambda _: [coin(3, 8)],
    "fix": lambda r: fix(r, 5),
}  # fmt: skip
LINEAR = ("coin", "fix")  # kinds whose rows have no curvature


def built(constraints: list[Constraint], r: Floats) -> tuple[ConstraintSystem, Floats]:
    structure = Structure(r, ConstraintTable.of(constraints), np.arange(N))
    return system_of(structure), state(structure)


def motion(system: ConstraintSystem, rng: np.random.Generator) -> Floats:
    dz = rng.normal(size=(N + system.k, 3))
    dz[N:, 1:] = 0.0
    return dz


@pytest.mark.parametrize("name", CASES)
def test_jacobian_leaves_a_remainder_of_second_order(name, rng):
    r = rng.normal(size=(N, 3))
    system, z = built(CASES[name](r), r)
    z = z + 0.3 * motion(system, rng)
    dz = motion(system, rng)
    linear = linearise(system, z)
    steps = np.array([1e-2, 3e-3, 1e-3, 3e-4])
    errors = np.array(
        [
            np.abs(linearise(system, z + h * dz).c - linear.c - h * linear.times(dz))
            .max()
            for h in steps
        ]
    )  # fmt: skip
    if name in LINEAR:
        assert errors.max() < 1e-14
    else:
        order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert order == pytest.approx(2.0, abs=0.1)


def test_transpose_is_the_adjoint_of_the_jacobian(rng):
    r = rng.normal(size=(N, 3))
    system, z = built([c for make in CASES.values() for c in make(r)], r)
    linear = linearise(system, z)
    dz, y = motion(system, rng), rng.normal(size=system.m)
    assert y @ linear.times(dz) == pytest.approx(np.sum(linear.transpose_times(y) * dz))


def test_rows_without_multipliers_allow_the_same_motions(rng):
    r = rng.normal(size=(N, 3))
    r[1] = r[0] + 0.7 * (r[3] - r[2])
    system, z = built([par(0, 1, 2, 3)], r)
    with_lam, without = linearise(system, z), linearise(system, z, eliminate=True)
    dz = motion(system, rng)
    J = np.array([with_lam.transpose_times(e) for e in np.eye(3)]).reshape(3, -1)
    allowed = dz - (np.linalg.pinv(J) @ (J @ dz.ravel())).reshape(dz.shape)
    assert np.abs(with_lam.times(allowed)).max() < 1e-13
    assert np.abs(without.times(allowed)).max() < 1e-13
    assert np.linalg.matrix_rank(
        np.array([without.transpose_times(e) for e in np.eye(3)]).reshape(3, -1)
    ) == 2  # fmt: skip


def test_second_derivatives_match_differences_of_the_first(rng):
    r = rng.normal(size=(N, 3))
    system, z = built([c for make in CASES.values() for c in make(r)], r)
    z = z + 0.3 * motion(system, rng)
    places, linear = hessian_pattern_of(system.topology), linearise(system, z)
    y, rho = rng.normal(size=system.m), rng.uniform(0.5, 1.5, system.m)
    W = rng.normal(size=(N, 3, 3))
    W = W + W.transpose(0, 2, 1)
    terms = HessianTerms(W, y, rho, 3.0)
    values = assemble(system.layout, places, linear.B, z, terms)
    factor = factorise(places.factor, values, drop=0.0)
    dz, h = motion(system, rng), 1e-5
    ahead, behind = linearise(system, z + h * dz), linearise(system, z - h * dz)
    bend = (ahead.transpose_times(y) - behind.transpose_times(y)) / (2.0 * h)
    expected = bend + 3.0 * dz + linear.transpose_times(rho * linear.times(dz))
    expected[:N] += np.einsum("nij,nj->ni", W, dz[:N])
    assert_allclose(factor.solve(expected.ravel()), dz.ravel(), atol=1e-8)
