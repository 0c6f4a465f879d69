"""Energies of stretching, bending, joints, their slopes, and forces that keep them."""

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.builders import LIMBS, StarShape, star
from sim.rods.plane.elastic_energy import (
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
from sim.rods.plane.implicit_step import conserving_gradient
from sim.rods.plane.rod import Rod, RodMaterial, chain, network
from tests.sim.rods.known import dense_stiffness

MATERIAL = RodMaterial(modulus=1.0e5)
SCALE = MATERIAL.bending / 0.01  # an energy
STAR = star(StarShape(arc_edges=4, tail_edges=2), MATERIAL)
ELEMENTS, PASSIVE = elements(STAR), passive(STAR)


def _actuated(rng: np.random.Generator) -> Actuated:
    modulus, curvature = passive(STAR)
    actuated = Actuated(
        modulus + 0.5 * rng.random(len(modulus)),
        curvature - 0.5 * rng.random(len(curvature)),
    )
    join(ELEMENTS, actuated)
    return actuated


def _energy(actuated: Actuated, x: Floats) -> float:
    return sum(energies(x, ELEMENTS, actuated))


def _strains(x: Floats) -> Strains:
    strain, a, b = unstrained(STAR), np.empty_like(x), np.empty_like(x)
    gradients(x, ELEMENTS, PASSIVE, 0.0, unstrained(STAR), strain, a, b)
    return strain


def _gradients(actuated: Actuated, before: Strains, x: Floats) -> tuple[Floats, Floats]:
    elastic, viscous = np.empty_like(x), np.empty_like(x)
    strain = unstrained(STAR)
    gradients(x, ELEMENTS, actuated, 1.0, before, strain, elastic, viscous)
    return elastic, viscous


def _deformed(rng: np.random.Generator) -> tuple[Floats, Floats, Strains]:
    """A deformed shape, a direction, other strains with the slopes of the shape."""
    x = STAR.nodes + 4e-4 * rng.standard_normal(STAR.nodes.shape)
    before = _strains(x)
    before.stretch[:] += 0.05 * rng.standard_normal(len(STAR.edges))
    before.turn[:] += 0.3 * rng.standard_normal(len(STAR.bends))
    return x, 1e-3 * rng.standard_normal(STAR.nodes.shape), before


def _assert_balanced(force: Floats, x: Floats) -> None:
    """Forces have no sum and no moment about shape x."""
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-11 * size
    moment = x[:, 0] * force[:, 1] - x[:, 1] * force[:, 0]
    assert abs(moment.sum()) < 1e-11 * size


def _slope(errors: list[float]) -> float:
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))


def test_gradient_is_the_slope_of_the_energy(rng):
    actuated = _actuated(rng)
    x, d, before = _deformed(rng)
    gradient, _ = _gradients(actuated, before, x)
    energy = _energy(actuated, x)
    errors = [
        abs(_energy(actuated, x + h * d) - energy - h * np.sum(gradient * d))
        for h in 2.0 ** -np.arange(4, 9)
    ]
    assert _slope(errors) == pytest.approx(2.0, abs=0.1)


def test_viscous_force_takes_the_energy_of_the_strain_rate(rng):
    """F dx = -k (eps1 - eps0)^2 with an error of third order in dx."""
    e, (x, d, _) = ELEMENTS, _deformed(rng)
    before = _strains(x)
    errors = []
    for h in 2.0 ** -np.arange(5, 10):
        after = _strains(x + h * d)
        _, viscous = _gradients(PASSIVE, before, x + h * d)
        lost = np.sum(e.stretching * e.rest * (after.stretch - before.stretch) ** 2)
        lost += np.sum(e.bending / e.voronoi * (after.turn - before.turn) ** 2)
        errors.append(abs(float(np.sum(viscous * h * d) - lost)))
    assert _slope(errors) == pytest.approx(4.0, abs=0.2)


def test_stiffness_is_the_slope_of_the_gradient(rng):
    actuated = _actuated(rng)
    x, d, before = _deformed(rng)
    weight = Rates(elastic=0.5, viscous=0.7)
    K = dense_stiffness(STAR, x, actuated, weight, before)

    def total(y: Floats) -> Floats:
        elastic, viscous = _gradients(actuated, before, y)
        return (weight.elastic * elastic + weight.viscous * viscous).ravel()

    errors = [
        float(np.linalg.norm(total(x + h * d) - total(x) - h * (K @ d.ravel())))
        for h in 2.0 ** -np.arange(5, 10)
    ]
    assert _slope(errors) == pytest.approx(2.0, abs=0.1)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.0, 3.0, 3.1])
def test_bending_is_smooth_beyond_a_right_angle(angle):
    rod = chain(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), MATERIAL)
    x = rod.nodes.copy()
    x[2] = x[1] + [np.cos(angle), np.sin(angle)]
    expected = 0.5 * MATERIAL.bending * (2.0 * np.tan(angle / 2)) ** 2
    assert energies(x, elements(rod), passive(rod))[1] == pytest.approx(expected)


def test_rigid_motion_changes_no_energy_and_internal_forces_balance(rng):
    actuated = _actuated(rng)
    x, _, before = _deformed(rng)
    c, s = np.cos(0.7), np.sin(0.7)
    moved = x @ np.array([[c, s], [-s, c]]) + [0.3, -0.2]
    energy = _energy(actuated, x)
    assert _energy(actuated, moved) == pytest.approx(energy, rel=1e-12)
    for force in _gradients(actuated, before, x):
        _assert_balanced(force, x)


def test_stretching_energy_does_not_depend_on_the_number_of_edges():
    def stretched(n: int) -> float:
        x = np.column_stack([np.linspace(0.0, 1.0, n), np.zeros(n)])
        rod = chain(x, MATERIAL)
        return energies(1.1 * x, elements(rod), passive(rod))[0]

    assert stretched(5) == pytest.approx(0.5 * MATERIAL.stretching * 0.01)
    assert stretched(50) == pytest.approx(stretched(5))


def test_the_rest_shape_is_without_energy_and_force():
    assert _energy(PASSIVE, STAR.nodes) < 1e-20 * SCALE
    force, _ = _gradients(PASSIVE, unstrained(STAR), STAR.nodes)
    assert np.abs(force).max() < 1e-9


def _two_shapes(rng: np.random.Generator) -> tuple[Floats, Floats]:
    first, second = STAR.nodes + 6e-4 * rng.standard_normal((2, *STAR.nodes.shape))
    return first, second


def _gradient(x0: Floats, x1: Floats, viscous: float = 0.0) -> Floats:
    total = np.empty_like(x0)
    conserving_gradient(x0, x1, ELEMENTS, PASSIVE, viscous, total)
    return total


def test_their_work_is_the_difference_of_energy(rng):
    x0, x1 = _two_shapes(rng)
    change = _energy(PASSIVE, x1) - _energy(PASSIVE, x0)
    work = np.sum(_gradient(x0, x1) * (x1 - x0))
    assert work == pytest.approx(change, rel=1e-9)


def test_damping_only_takes_energy(rng):
    for _ in range(20):
        x0, x1 = _two_shapes(rng)
        extra = _gradient(x0, x1, 1.0) - _gradient(x0, x1)
        assert np.sum(extra * (x1 - x0)) > 0.0


def test_they_have_no_sum_and_no_moment_about_the_mean_shape(rng):
    x0, x1 = _two_shapes(rng)
    _assert_balanced(_gradient(x0, x1, 0.3), 0.5 * (x0 + x1))


def test_in_a_short_step_they_are_the_gradient(rng):
    x0, x1 = _two_shapes(rng)
    elastic, _ = _gradients(PASSIVE, unstrained(STAR), x0)
    errors = [
        np.abs(_gradient(x0, x0 + h * (x1 - x0)) - elastic).max() for h in (1e-3, 5e-4)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


RIBBON = RodMaterial()
EI = RIBBON.bending


def _cross(angles: list[float], lengths: list[float]) -> Rod:
    """Edges from one node, without other bends."""
    direction = np.column_stack([np.cos(angles), np.sin(angles)])
    nodes = np.vstack([[0.0, 0.0], np.array(lengths)[:, None] * direction])
    edges = np.array([[0, k + 1] for k in range(len(angles))])
    none = np.empty((0, 3), dtype=np.int64)
    return network(nodes, edges, none, RIBBON, joints=[0])


@pytest.mark.parametrize("angles", [[0.1, 2.0, 4.0], [0.0, 1.5, 3.2, 4.6]])
def test_a_joint_is_a_rigid_node_of_half_edges(rng, angles):
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
        nodes, edges, bends, RIBBON, edge_limb=limb,
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
def test_the_half_edges_at_joints_turn_with_their_limb(n, ratio):
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
def test_a_joint_of_two_edges_has_both_in_series(modulus):
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


def test_a_chain_through_joints_is_as_flexible_as_a_plain_one():
    """The lengths that all bends stand for add up to the rod's, but its ends."""
    rod = _arc_between_tails(8, 1e-3)
    plain = chain(rod.nodes, RIBBON)
    assert rod.voronoi.sum() == pytest.approx(plain.voronoi.sum(), rel=1e-6)


def test_a_fold_is_measured_from_the_reversed_edge():
    """The two arcs at a joint of the star come back upon themselves."""
    rod = star(StarShape(), RIBBON)
    assert (rod.joints.fold == -1.0).sum() == LIMBS
    rest: Floats = rod.curvature * rod.voronoi
    assert np.abs(rest).max() < 1.0
    assert energies(rod.nodes, elements(rod), passive(rod))[1] < 1e-25


@pytest.mark.parametrize(
    ("bends", "joint", "message"),
    [
        ([], 2, r"node 2 has under 2 edges \(1\)"),
        ([[0, 1, 2]], 1, "bend 0 is at node 1, a joint: leave it out"),
    ],
)
def test_a_joint_that_is_none_is_refused(bends, joint, message):
    edges = np.array([[0, 1], [1, 2]])
    table = np.array(bends, dtype=np.int64).reshape(-1, 3)
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match=message):
        network(nodes, edges, table, RIBBON, joints=[joint])
