"""Mechanisms of many bodies: the same answers, without dense matrices."""

from itertools import combinations

import numpy as np
import pytest

from pipeline.io.structure_file import structure_file
from sim.core.arrays import Floats
from sim.mechanism.dynamics.motion import (
    MotionOptions,
    MotionState,
    motion,
    start_state,
)
from sim.mechanism.dynamics.moving_mechanism import MovingMechanism
from sim.mechanism.dynamics.quadratic_constraints import QuadraticRows
from sim.mechanism.dynamics.rigid_masses import RigidMass
from sim.mechanism.structure_builder import Draft
from tests.sim.mechanism.dynamics.moving import largest, moved, moving

DOWN = np.array([0.0, 0.0, -9.81])


def coil(count: int) -> MovingMechanism:
    """Tetrahedra in a coil, each with a corner of the one before, the first held."""
    r, bodies = [[0.5, 0.0, 0.0]], []
    for k in range(count):
        for along, out, up in ((0.05, 0.03, 0.0), (0.05, -0.03, 0.01), (0.1, 0, 0)):
            turn = (0.1 * k + along) / 0.5
            ring = (0.5 + out) * np.array([np.cos(turn), np.sin(turn)])
            r.append([*ring, up + 0.03 * turn])
        bodies.append((3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 3))
    draft, at = Draft(r).held(0), np.array(r)
    for body in bodies:
        for pair in combinations(body, 2):
            draft.link(*pair)
    inertia = 1e-4 * np.eye(3)
    masses = [RigidMass(b, 0.1, at[list(b)].mean(axis=0), inertia) for b in bodies]
    return moving(draft.structure(), masses, DOWN)


def bricard() -> MovingMechanism:
    """One row too many."""
    made = structure_file("conf/structure/bricard.yaml")
    return moving(made, [RigidMass(body, 1.0) for body in made.bodies[1:]], DOWN)


def slide() -> MovingMechanism:
    """A prismatic joint, with multipliers and frames among its unknowns."""
    made = structure_file("conf/structure/joint/prismatic.yaml")
    masses = [RigidMass((node,), 1.0) for node in range(len(made.r0))]
    return moving(made, masses, DOWN)


@pytest.mark.parametrize("made", [lambda: coil(4), bricard, slide])
def test_independent_rows_are_as_many_as_the_rank_of_the_dense_matrix(made):
    mechanism = made()
    steps = moved(mechanism, 0.005, 0.02)
    assert largest(steps, "balance") < 1e-11
    end = steps[-1].state
    G = mechanism.rows.dense(end.z, mechanism.numbers(0.02)[0])
    rank = np.linalg.matrix_rank(G, tol=1e-8)
    assert np.count_nonzero(end.independent) == rank
    assert np.linalg.matrix_rank(G[end.independent], tol=1e-8) == rank


def test_a_node_without_mass_is_refused():
    draft = Draft([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]).held(0).link(0, 1).link(1, 2)
    with pytest.raises(ValueError, match="node 2 can move without moving any mass"):
        moving(draft.structure(), [RigidMass((0, 1), 1.0)], DOWN)


def test_a_coil_of_a_hundred_bodies_falls_without_a_dense_matrix(monkeypatch):
    """603 rows of 903 unknowns."""

    def refused(*_: object) -> Floats:
        raise AssertionError("a dense matrix")

    monkeypatch.setattr(QuadraticRows, "dense", refused)
    steps = moved(coil(100), 0.002, 0.006)
    assert steps[-1].kinetic > 0.0
    assert largest(steps, "balance") < 1e-11
    assert largest(steps, "hidden") < 1e-9
    assert [step.substeps for step in steps[1:]] == [1, 1, 1]


def far_chain(away: float) -> MovingMechanism:
    """Eight links of 0.1 m in a row, far from the origin."""
    draft = Draft([[away + 0.1 * i, 0.0, 0.0] for i in range(9)]).held(0)
    for i in range(8):
        draft.link(i, i + 1)
    rods = [RigidMass((i, i + 1), 1.0) for i in range(8)]
    return moving(draft.structure(), rods, DOWN)


def test_links_too_short_for_where_they_are_are_told_what_to_raise():
    """Their squares are differences of squares of coordinates."""
    with pytest.raises(ValueError, match=r"or raise residual \(1e-10\) to [1-9]e-10"):
        begun(far_chain(100.0), 1e-10)
    options, state = begun(far_chain(100.0), 1e-9)
    steps = list(motion(far_chain(100.0), options, state, 0.02))
    assert largest(steps, "balance") < 1e-8
    with pytest.raises(ValueError, match=r"1e\+03 from the origin: .* middle$"):
        begun(far_chain(1000.0), 1e-10)


def begun(made: MovingMechanism, residual: float) -> tuple[MotionOptions, MotionState]:
    options = MotionOptions(0.01, residual)
    return options, start_state(made, options, {})
