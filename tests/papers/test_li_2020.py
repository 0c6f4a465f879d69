"""A fold that is pressed flat against the barrier of IPC, beside ipctk's functions."""

import ipctk
import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from sim.arrays import Floats
from sim.origami.folding.problem import near_at
from sim.origami.folding.sheet import build_problem
from tests.helpers.cases import composed
from tests.recorded import recorded


def pushed(y: Floats, first: int, d0: float, scale: float) -> tuple[float, Floats]:
    """Energy of a pair of 4 nodes, J, and its gradient (12,), N; mollified edges."""
    of = ("point_triangle", "edge_edge")[first - 1]
    square = getattr(ipctk, f"{of}_distance")(*y)
    slope = getattr(ipctk, f"{of}_distance_gradient")(*y)
    kappa = 0.002 / d0**4
    energy = kappa * ipctk.barrier(square, d0**2)
    gradient = kappa * ipctk.barrier_first_derivative(square, d0**2) * slope
    if first == 1:
        return energy, gradient
    m = ipctk.edge_edge_mollifier(*y, scale)
    dm = ipctk.edge_edge_mollifier_gradient(*y, scale)
    return m * energy, m * gradient + energy * dm


def test_a_fold_rests_on_the_barrier_and_forces_that_ipctk_has() -> None:
    case = composed(OrigamiCase, "single_fold_ipc")
    steps, recorder = recorded(case)
    assert recorder.summary()["fold"] == "folded"
    problem, touched = build_problem(case.sheet, case.phases[-1]), []
    for step in steps:
        pairs = near_at(problem, step.x, 0.0).pairs
        energy, force = 0.0, np.zeros_like(step.x)
        for k, nodes in enumerate(pairs.node):
            first = 1 if k < pairs.faces else 2
            part, gradient = pushed(
                step.x[nodes], first, pairs.activation[k], pairs.mollifier_scale[k]
            )
            energy += part
            np.add.at(force, nodes, -gradient.reshape(4, 3))
        assert step.energies[4] == pytest.approx(energy, rel=1e-9)
        assert step.contact_force == pytest.approx(force, rel=1e-9, abs=1e-15)
        touched.append(energy > 0.0)
    assert sum(touched) > 20
    assert touched[-1]
    assert steps[-1].smallest_distance < 0.99 * 0.002
