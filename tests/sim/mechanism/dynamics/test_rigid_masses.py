"""Bodies as masses of their nodes have their mass, centre and inertia."""

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.mechanism.dynamics.rigid_masses import RigidMass, mass_matrix

TETRAHEDRON = np.array(
    [[0.1, 0.2, 0.0], [1.1, 0.1, 0.2], [0.3, 1.3, -0.1], [0.2, 0.4, 0.9]]
)


def inertia_of(M: Floats, r: Floats, about: Floats) -> Floats:
    """(3, 3) of nodes r (n, 3) with the mass matrix M, from the energy of turns."""
    turns = [np.cross(e, r - about).ravel() for e in np.eye(3)]
    whole = np.kron(M, np.eye(3))
    return np.array([[a @ whole @ b for b in turns] for a in turns])


@pytest.mark.parametrize("more", [0, 2])
def test_a_body_has_its_mass_centre_and_inertia(more):
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    inertia = turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T
    centre = np.array([0.4, -0.3, 0.6])
    others = np.array([[1.0, 1.0, 1.0], [0.5, 0.1, 0.7]])
    r = np.vstack([TETRAHEDRON, others[:more]])
    mass = RigidMass(tuple(range(4 + more)), 2.5, centre, inertia)
    M = mass_matrix(r, [mass]).toarray()
    assert M.sum() == pytest.approx(2.5, rel=1e-13)
    assert M.sum(axis=0) @ r / 2.5 == pytest.approx(centre, abs=1e-13)
    assert inertia_of(M, r, centre) == pytest.approx(inertia, abs=1e-12)


def test_a_lamina_and_a_rod_are_carried_by_nodes_in_a_plane_and_in_line():
    square = np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], dtype=np.float64)
    plate = np.diag([1.0, 4.0, 5.0]) * 3.0 / 12.0
    mass = RigidMass((0, 1, 2, 3), 3.0, np.array([1.0, 0.5, 0.0]), plate)
    M = mass_matrix(square, [mass]).toarray()
    assert inertia_of(M, square, np.array([1.0, 0.5, 0.0])) == pytest.approx(plate)
    rod = mass_matrix(square, [RigidMass((0, 1), 3.0)]).toarray()
    assert rod[:2, :2] == pytest.approx(np.array([[1.0, 0.5], [0.5, 1.0]]))


@pytest.mark.parametrize(
    ("mass", "words"),
    [
        (RigidMass((0, 1), 1.0, np.zeros(3), np.eye(3)), "outside the line or plane"),
        (
            RigidMass((0, 1, 2, 3), 1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])),
            "inertia is impossible",
        ),
        (RigidMass((0, 1, 2, 3), 1.0, np.zeros(3)), "centre and inertia"),
        (RigidMass((0, 7), 1.0), "nodes 0 to 3"),
        (RigidMass((0,), -1.0), "positive"),
        (RigidMass((0, 0), 1.0), "name each once"),
    ],
)
def test_what_no_body_weighs_is_refused(mass, words):
    with pytest.raises(ValueError, match=words):
        mass_matrix(TETRAHEDRON, [mass])
