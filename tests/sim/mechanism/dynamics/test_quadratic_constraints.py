"""Rows in time are those of morphs, written as products of two unknowns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ConstraintKind, ConstraintTable
from sim.mechanism.dynamics.quadratic_constraints import OF_FRAME, drafted, frames_of
from sim.mechanism.structure import Structure
from tests.sim.mechanism.test_jacobian_pattern import CASES, N

WRITTEN = set(map(ConstraintKind, range(6)))  # another is written or refused, not fixed


@pytest.mark.parametrize("name", CASES)
def test_each_kind_says_the_same_in_time(name, rng):
    r = rng.normal(size=(N, 3))
    made = Structure(r, ConstraintTable.of(CASES[name](r)), np.arange(N))
    if not set(made.constraints.kind) <= WRITTEN:
        with pytest.raises(ValueError, match="constraints do not work in a motion"):
            drafted(made, 0)
        return
    draft, _ = drafted(made, 0)
    z = state(made)
    z[:N] += 0.3 * rng.normal(size=(N, 3))
    x = np.append(z[:N], z[N:, 0])
    for frame in frames_of(made):
        u, v = (z[b] - z[a] for a, b in (frame.u, frame.v))
        x = np.append(x, [*np.cross(u, v), *np.zeros(OF_FRAME - 3)])
    c = linearise(system_of(made), z).c
    found = draft.made(np.ones(draft.count)).values(x, np.ones(1))
    assert np.abs(c).max() > 1e-3
    assert_allclose(found[: len(c)], c, atol=1e-12)
