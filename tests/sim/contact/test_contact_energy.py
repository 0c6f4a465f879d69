"""Energy, force and stiffness of touching pairs."""

import numpy as np
import pytest

from sim.contact.contact_energy import (
    contact_energy,
    felt_pairs,
    pair_terms,
    separations,
)
from sim.contact.near_pairs import ContactPairs, ContactSurface, find_pairs
from sim.core.arrays import Floats
from tests.sim.contact.surfaces import surface_of
from tests.sim.contact.taylor import remainder_order

KE = 0.7
TWO = np.array([[0, 1, 2], [3, 4, 5]])


def above(height: float) -> Floats:
    """A triangle whose first corner points down at another."""
    return np.array(
        [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.3, 0.25, height],
            [0.5, 0.3, 1.0],
            [0.2, 0.6, 1.1],
        ]
    )


def crossed(height: float, slant: float) -> Floats:
    """Two edges that pass at `height`; `slant` 0 makes them parallel."""
    return np.array(
        [
            [-1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, -3.0, -2.0],
            [-1.0, -slant, height],
            [1.1, slant, height],
            [0.0, 3.0, 3.0],
        ]
    )


EDGES = np.array([[0, 1], [3, 4]])


def pairs_of(surface: ContactSurface, x: Floats) -> ContactPairs:
    return find_pairs(surface, x, 1.0)


def edges_alone(pairs: ContactPairs) -> ContactPairs:
    """Without the pairs of nodes and triangles."""
    n = pairs.faces
    return ContactPairs(0, *(values[n:] for values in pairs[1:]))


def assembled(pairs: ContactPairs, x: Floats) -> tuple[float, Floats, Floats]:
    """Energy, its gradient and its Hessian over all nodes, the obvious way."""
    n = len(x)
    total, force, stiffness = 0.0, np.zeros(3 * n), np.zeros((3 * n, 3 * n))
    for k, nodes in enumerate(pairs.node):
        g, h = np.zeros(12), np.zeros((12, 12))
        energy, _ = pair_terms(pairs, k, KE, x, g, h)
        rows = (3 * nodes[:, None] + np.arange(3)).ravel()
        total += energy
        if energy > 0:
            np.add.at(force, rows, g)
            np.add.at(stiffness, (rows[:, None], rows), h)
    return total, force, stiffness


def places() -> list[tuple[ContactSurface, Floats]]:
    x = above(0.2)
    node = surface_of(TWO, x, reach=0.6)
    out = [(node, x), (node._replace(thickness=0.1), x)]
    for slant in (0.9, 0.01):
        y = crossed(0.3, slant)
        out.append((surface_of(TWO, y, reach=0.6, edge=EDGES), y))
    return out


@pytest.mark.parametrize(
    ("surface", "x"),
    places(),
    ids=["node", "thick", "edges", "nearly parallel edges"],
)
def test_slopes_of_the_potential_have_second_order_remainders(surface, x, rng):
    pairs = pairs_of(surface, x)
    energy, force, stiffness = assembled(pairs, x)
    assert energy > 0
    assert energy == pytest.approx(contact_energy(pairs, KE, x), rel=1e-14)
    v = 0.02 * rng.normal(size=x.size)

    def potential(y: Floats) -> float:
        return contact_energy(pairs, KE, y.reshape(-1, 3))

    def gradient(y: Floats) -> Floats:
        return assembled(pairs, y.reshape(-1, 3))[1]

    x = x.ravel()
    assert remainder_order(potential, force @ v, x, v) == pytest.approx(2.0, abs=0.1)
    found = remainder_order(gradient, stiffness @ v, x, v)
    assert found == pytest.approx(2.0, abs=0.1)


def test_potential_of_edges_does_not_jump_as_they_become_parallel():
    slants = np.linspace(-0.02, 0.02, 81)
    energies = []
    for slant in slants:
        x = crossed(0.3, float(slant))
        surface = surface_of(TWO, x, reach=0.6, edge=EDGES)
        pairs = edges_alone(pairs_of(surface, x))
        energies.append(contact_energy(pairs, KE, x))
    jumps = abs(np.diff(energies))
    assert energies[40] == 0.0
    assert jumps.max() < 0.12 * max(energies)


def test_energy_is_infinite_within_the_thickness():
    x = above(0.1)
    surface = surface_of(TWO, x, reach=0.6, thickness=0.1001)
    assert contact_energy(pairs_of(surface, x), KE, x) == np.inf


def test_a_reach_is_limited_to_half_of_the_gap_at_rest():
    x = above(0.2)
    surface = surface_of(TWO, x, reach=0.6, limited=True)
    pairs = pairs_of(surface, x)
    assert contact_energy(pairs, KE, x) == 0.0
    assert separations(pairs, x).min() == pytest.approx(0.2)
    assert len(felt_pairs(pairs, x).node) == 0
    assert pairs.activation.min() == pytest.approx(0.1)


def test_joined_parts_do_not_push_each_other():
    x = above(0.2)
    tag = np.full((6, 2), -1)
    tag[:4] = 7
    surface = surface_of(TWO, x, reach=0.6, tag=tag)
    assert contact_energy(pairs_of(surface, x), KE, x) == 0.0
