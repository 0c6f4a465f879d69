"""Rigid nodes at which rods are joined: their energy, and what actuators turn there."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.energy.elastic import elements, energies, join, passive
from sim.rod.rod.rod import Rod, RodMaterial, chain, network
from sim.rod.rod.star import LIMBS, StarShape, star

MATERIAL = RodMaterial()
EI = MATERIAL.bending


def _cross(angles: list[float], lengths: list[float]) -> Rod:
    """Edges from one node, without other bends."""
    direction = np.column_stack([np.cos(angles), np.sin(angles)])
    nodes = np.vstack([[0.0, 0.0], np.array(lengths)[:, None] * direction])
    edges = np.array([[0, k + 1] for k in range(len(angles))])
    none = np.empty((0, 3), dtype=np.int64)
    return network(nodes, edges, none, MATERIAL, joints=[0])


@pytest.mark.parametrize("angles", [[0.1, 2.0, 4.0], [0.0, 1.5, 3.2, 4.6]])
def test_a_joint_is_a_rigid_node_of_half_edges(
    rng: np.random.Generator, angles: list[float]
) -> None:
    """Least energy over the node's angle of springs 2 EI / l, for small angles."""
    lengths = [0.01 * (1.0 + k) for k in range(len(angles))]
    rod = _cross(angles, lengths)
    turned = 1e-5 * rng.standard_normal(len(angles))
    moved = _cross([a + t for a, t in zip(angles, turned, strict=True)], lengths)
    found = energies(moved.nodes, elements(rod), passive(rod))[1]
    k = 2.0 * EI / np.array(lengths)
    mean = k @ turned / k.sum()
    assert found == pytest.approx(0.5 * k @ (turned - mean) ** 2, rel=1e-3)


def _arc_between_tails(n: int, span: float) -> Rod:
    """tail - joint - arc of n edges, actuated as limb 0 - joint - tail."""
    angle = np.linspace(0.0, span, n + 1)
    arc = 0.01 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    out = arc[-1] + 0.01 * np.array([np.cos(span), np.sin(span)])
    nodes = np.vstack([[-0.01, 0.0], arc, out])
    k = np.arange(n + 2)
    edges = np.column_stack([k, k + 1])
    inner = np.arange(1, n)
    bends = np.column_stack([inner, inner + 1, inner + 2])
    limb = np.where((k > 0) & (k <= n), 0, -1)
    return network(
        nodes, edges, bends, MATERIAL, edge_limb=limb,
        bend_limb=np.zeros(n - 1, dtype=np.int64), joints=[1, n + 1],
    )  # fmt: skip


def _bent(rod: Rod, n: int, span: float) -> Floats:
    """Its nodes where the arc turns by `span`, half a turn of an edge at each joint."""
    turns = np.full(n + 1, span / n)
    turns[[0, n]] *= 0.5
    angle = np.concatenate([[0.0], np.cumsum(turns)])
    edges = rod.rest_length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([rod.nodes[:1], rod.nodes[0] + np.cumsum(edges, axis=0)])


@pytest.mark.parametrize("n", [4, 8, 16])
@pytest.mark.parametrize("ratio", [0.0, 0.21, 1.0])
def test_the_half_edges_at_joints_turn_with_their_limb(n: int, ratio: float) -> None:
    """Eq. (7): at rest an actuated arc turns by the ratio of its span, all of it."""
    span = 1.2
    rod = _arc_between_tails(n, span)
    actuated = passive(rod)
    actuated.curvature[0] = ratio
    join(elements(rod), actuated)
    at_rest = energies(_bent(rod, n, ratio * span), elements(rod), actuated)[1]
    passive_halves = 0.5 * EI * (span * (1.0 - ratio) / n) ** 2 / rod.rest_length[1]
    assert at_rest < 2e-3 * passive_halves + 1e-25


@pytest.mark.parametrize("modulus", [1.0, 2.68])
def test_a_joint_of_two_edges_has_both_in_series(modulus: float) -> None:
    """5/12 of the edge that goes on, half of the one that does not."""
    rod = _arc_between_tails(8, 1e-3)
    actuated = passive(rod)
    actuated.modulus[0] = modulus
    join(elements(rod), actuated)
    flexible = (5.0 / 12.0 * rod.rest_length[1] / modulus + 0.5 * 0.01) / EI
    x = rod.nodes.copy()
    x[0] = x[1] + 0.01 * np.array([-np.cos(1e-4), np.sin(1e-4)])
    found = energies(x, elements(rod), actuated)[1]
    assert found == pytest.approx(0.5e-8 / flexible, rel=1e-3)


def test_a_chain_through_joints_is_as_flexible_as_a_plain_one() -> None:
    """The lengths that all bends stand for add up to the rod's, but its ends."""
    rod = _arc_between_tails(8, 1e-3)
    plain = chain(rod.nodes, MATERIAL)
    assert rod.voronoi.sum() == pytest.approx(plain.voronoi.sum(), rel=1e-6)


def test_a_fold_is_measured_from_the_reversed_edge() -> None:
    """The two arcs at a joint of the star come back upon themselves."""
    rod = star(StarShape(), MATERIAL)
    assert (rod.joints.fold == -1.0).sum() == LIMBS
    rest: Floats = rod.curvature * rod.voronoi
    assert np.abs(rest).max() < 1.0
    assert energies(rod.nodes, elements(rod), passive(rod))[1] < 1e-25


@pytest.mark.parametrize(
    ("bends", "joint", "message"),
    [
        ([], 2, "node 2 has 1 edges: choose one of two"),
        ([[0, 1, 2]], 1, "bend 0 is at node 1, a joint: leave it out"),
    ],
)
def test_a_joint_that_is_none_is_refused(
    bends: list[list[int]], joint: int, message: str
) -> None:
    edges = np.array([[0, 1], [1, 2]])
    table = np.array(bends, dtype=np.int64).reshape(-1, 3)
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match=message):
        network(nodes, edges, table, MATERIAL, joints=[joint])
