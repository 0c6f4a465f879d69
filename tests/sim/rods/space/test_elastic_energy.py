"""Energy of rods and hinges in space: slopes, rigid motions, and the plane."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.elastic_energy import elements, passive, unstrained
from sim.rods.plane.elastic_energy import energies as planar_energies
from sim.rods.plane.elastic_energy import gradients as planar_gradients
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import Rod, RodMaterial, chain, network
from sim.rods.plane.world import Damping
from sim.rods.space.assembled_system import SpaceSystem, no_loads
from sim.rods.space.elastic_energy import energies, strains_of_hinges
from sim.rods.space.frames import SpaceState, moved_on
from sim.rods.space.from_plane import lifted
from sim.rods.space.joints import HingeAxis, joined
from sim.rods.space.rod import (
    SpaceMaterial,
    SpaceRod,
    StretchLaw,
    clamped,
    rectangle,
    space_elements,
    through,
    together,
)
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.known import dense_stiffness
from tests.sim.rods.space.made import angular_momentum, crooked, dense, momentum

STEPS = 10.0 ** np.arange(-1.5, -3.6, -0.5)
LINE: Floats = np.arange(4.0)[:, None] * [1.0, 0.0, 0.0]


def _energy(rod: SpaceRod, state: SpaceState) -> float:
    return sum(energies(state, space_elements(rod)))


def _moved(rod: SpaceRod, state: SpaceState, by: Floats) -> SpaceState:
    n = rod.nodes.size
    return moved_on(state, rod.edges, rod.bends, by[:n].reshape(-1, 3), by[n:])


HOLD, SPRING = 30.0, 0.7


def _crossed(
    rng: np.random.Generator, spring: float = SPRING
) -> tuple[SpaceRod, SpaceState]:
    """Three rods that turn about one axis, out of rest; one runs towards the joint."""
    ends = np.array([[1.0, 0.1, 0.0], [0.2, 1.0, 0.3], [-0.6, -0.3, 0.9]])
    rods = []
    for k, end in enumerate(ends):
        x = np.linspace(0.0, 1.0, 4)[:, None] * end
        made = through(
            x[::-1] if k == 1 else x, SpaceMaterial(1e3, 1.0, 0.3),
            rectangle(0.1, 0.2), first=tuple(rng.normal(size=3)),
        )  # fmt: skip
        rods.append(made)
    place, axis = [(0, 0), (1, 3), (2, 0)], HingeAxis(rng.normal(size=3), spring)
    rod, _ = joined(rods, [place], [False], HOLD, [axis])
    move = 0.05 * rng.normal(size=rod.nodes.shape)
    turn = 0.4 * rng.normal(size=len(rod.edges))
    return rod, moved_on(rod.state, rod.edges, rod.bends, move, turn)


def _bent(kind: str, rng: np.random.Generator) -> tuple[SpaceRod, SpaceState]:
    """Rods on hinges, or one rod of a law."""
    return _crossed(rng) if kind == "hinges" else crooked(rng, StretchLaw(kind))


KINDS = pytest.mark.parametrize("kind", [*(law.value for law in StretchLaw), "hinges"])


@KINDS
def test_gradient_and_hessian_leave_taylor_remainders_of_order_two_and_three(kind, rng):
    rod, state = _bent(kind, rng)
    g, H = dense(SpaceSystem(rod, no_loads(rod)), state)
    assert len(rod.hinges) == (2 if kind == "hinges" else 0)
    turned = strains_of_hinges(state, space_elements(rod))
    assert np.abs(turned).min(initial=1.0) > 1e-3
    v = rng.normal(size=len(g))
    first, second = [], []
    for h in STEPS:
        change = _energy(rod, _moved(rod, state, h * v)) - _energy(rod, state)
        first.append(abs(change - h * g @ v))
        second.append(abs(change - h * g @ v - 0.5 * h**2 * v @ H @ v))
    slopes = [np.polyfit(np.log(STEPS), np.log(r), 1)[0] for r in (first, second)]
    assert slopes == pytest.approx([2.0, 3.0], abs=0.1)
    assert np.abs(H - H.T).max() <= 1e-12 * np.abs(H).max()


@KINDS
def test_rigid_motions_change_no_energy_and_inner_forces_are_in_balance(kind, rng):
    """A turning w moves nodes by w x r, and the angle of no edge but by w.t."""
    rod, state = _bent(kind, rng)
    turn = Rotation.random(random_state=3).as_matrix()
    x, d = state.x @ turn.T + rng.normal(size=3), state.d @ turn.T
    placed = SpaceState(x, d, state.twist)
    again = moved_on(
        placed, rod.edges, rod.bends, np.zeros_like(x), np.zeros(len(rod.edges))
    )
    assert _energy(rod, again) == pytest.approx(_energy(rod, state), rel=1e-13)
    g, _ = dense(SpaceSystem(rod, no_loads(rod)), state)
    force, torque = g[: rod.nodes.size].reshape(-1, 3), g[rod.nodes.size :]
    edge = np.diff(state.x[rod.edges], axis=1)[:, 0]
    t = edge / np.linalg.norm(edge, axis=1, keepdims=True)
    size = np.abs(g).max()
    assert np.abs(force.sum(axis=0)).max() <= 1e-13 * size
    moment = np.cross(state.x, force).sum(axis=0) + (torque[:, None] * t).sum(axis=0)
    assert np.abs(moment).max() <= 1e-12 * size


def _of_the_plane(rod: Rod, x: Floats) -> tuple[Floats, Floats]:
    """Energies of a planar rod, and their gradient."""
    on, off, none = elements(rod), passive(rod), unstrained(rod)
    elastic, viscous = np.empty_like(x), np.empty_like(x)
    planar_gradients(x, on, off, 0.0, none, unstrained(rod), elastic, viscous)
    return np.array(planar_energies(x, on, off)), elastic


@pytest.mark.parametrize("closed", [False, True])
def test_in_the_plane_it_is_the_planar_rod(closed, rng):
    """Energy, gradient and Hessian to 1e-12."""
    t, w = 0.02, 0.05
    angle = np.linspace(0.0, 5.0, 9)
    flat = np.column_stack([np.cos(angle), np.sin(angle)])
    planar = chain(flat, RodMaterial(1e6, 1000.0, t, w), closed=closed)
    raised = np.column_stack([flat, np.zeros(len(flat))])
    rod = through(
        raised, SpaceMaterial(1e6, 1000.0), rectangle(t, w),
        first=tuple(np.cross([0, 0, 1.0], raised[1] - raised[0])), closed=closed,
    )  # fmt: skip
    move = 0.05 * rng.normal(size=flat.shape)
    state = _moved(
        rod, rod.state,
        np.concatenate([np.column_stack([move, 0 * move[:, 0]]).ravel(),
                        np.zeros(len(rod.edges))]),
    )  # fmt: skip
    energy, elastic = _of_the_plane(planar, flat + move)
    assert energies(state, space_elements(rod))[:2] == pytest.approx(energy, rel=1e-12)
    g, H = dense(SpaceSystem(rod, no_loads(rod)), state)
    n = rod.nodes.size
    within = np.flatnonzero(np.arange(n) % 3 < 2)
    assert np.abs(g[within] - elastic.ravel()).max() <= 1e-12 * np.abs(g).max()
    assert np.abs(np.delete(g, within)).max() <= 1e-12 * np.abs(g).max()
    apart = H[np.ix_(within, within)] - dense_stiffness(planar, flat + move)
    assert np.abs(apart).max() <= 1e-12 * np.abs(H).max()


def test_bends_that_run_along_an_edge_both_ways_are_those_of_the_plane(rng):
    """Three edges at a node, of which one is the second of a bend and the first too."""
    bar = RodMaterial(1e6, 1000.0, 0.01, 0.01)
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [1.0, 1.0]])
    three = np.array([[0, 1], [1, 2], [1, 3]])
    both_ways = np.array([[0, 1, 2], [3, 1, 2], [0, 1, 3]])
    planar = network(nodes, three, both_ways, bar)
    rod = lifted(planar, bar)
    move = 0.05 * rng.normal(size=nodes.shape)
    by = np.column_stack([move, 0.0 * move[:, 0]])
    state = moved_on(rod.state, rod.edges, rod.bends, by, np.zeros(3))
    energy, elastic = _of_the_plane(planar, nodes + move)
    assert energies(state, space_elements(rod)) == pytest.approx([*energy, 0.0])
    g, _ = dense(SpaceSystem(rod, no_loads(rod)), state)
    within = g[: rod.nodes.size].reshape(-1, 3)
    assert np.abs(within[:, :2] - elastic).max() <= 1e-12 * np.abs(g).max()
    assert np.abs(within[:, 2]).max() <= 1e-12 * np.abs(g).max()


def test_twist_is_counted_through_full_turns():
    rod = through(LINE, SpaceMaterial(1e3, 1.0), rectangle(0.1, 0.2))
    state = rod.state
    for _ in range(8):
        turn = np.array([0.0, 0.0, 1.0])
        state = moved_on(state, rod.edges, rod.bends, np.zeros((4, 3)), turn)
    assert state.twist == pytest.approx([0.0, 8.0])


def test_rubber_bends_as_its_fibres_do():
    """The moment of a stretched, slightly bent bar, from fibres of its first section.

    A fibre off the axis by Y at first is off by Y / sqrt(lam), and is stretched by
    lam (1 + k Y / sqrt(lam)); its force is E (lam - 1 / lam^2) / 3 of its first area.
    """
    lam, E, side, curvature = 1.3, 1e3, 0.1, 1e-4
    Y = (np.arange(2000) + 0.5) / 2000 * side - side / 2
    fibre = lam * (1.0 + curvature * Y / np.sqrt(lam))
    force = E * (fibre - fibre**-2.0) / 3.0
    moment = np.sum(force * Y / np.sqrt(lam)) * side / 2000 * side
    x = lam * np.column_stack([np.arange(3.0), np.zeros(3), np.zeros(3)])
    rod = through(
        x / lam, SpaceMaterial(E, 1.0), rectangle(side, side), law=StretchLaw.RUBBER
    )
    tilt = curvature * lam  # of the second edge to the first, about d2 = z
    bent = x.copy()
    bent[2] = x[1] + lam * np.array([np.cos(tilt), np.sin(tilt), 0.0])
    state = moved_on(rod.state, rod.edges, rod.bends, bent - rod.nodes, np.zeros(2))
    slope = 2.0 * energies(state, space_elements(rod))[1] / tilt
    assert slope == pytest.approx(moment, rel=1e-5)
    pulled = E * side**2 * (lam - lam**-2.0) / 3.0
    h = 1e-6
    ends = np.zeros((3, 3))
    ends[1:, 0] = 0.5 * h, h
    stretched = [
        _energy(rod, moved_on(state, rod.edges, rod.bends, sign * ends, np.zeros(2)))
        for sign in (-1.0, 1.0)
    ]
    assert (stretched[1] - stretched[0]) / (2 * h) == pytest.approx(pulled, rel=1e-4)


def test_torsion_of_rectangles_is_that_of_the_tables():
    """Timoshenko and Goodier, table of k1: J = k1 (2a)^3 2b."""
    for ratio, k1 in ((1.0, 0.1406), (2.0, 0.229), (5.0, 0.291), (10.0, 0.312)):
        assert rectangle(1.0, ratio).torsion / ratio == pytest.approx(k1, abs=5e-4)


def test_what_no_rod_can_be_is_refused():
    soft = SpaceMaterial(1e3, 1.0)
    square, x = rectangle(0.1, 0.1), LINE
    with pytest.raises(ValueError, match="edge 1 between nodes 1 and 2 has length 0 m"):
        through(x[[0, 1, 1, 2]], soft, square)
    with pytest.raises(ValueError, match=r"bend 1 at node 2, .* m, turns back by 180"):
        through(x[[0, 1, 2, 1]], soft, square)
    with pytest.raises(
        ValueError, match=r"first director .* is parallel to the first edge"
    ):
        through(x, soft, square, first=(1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="2 sections for 3 edges"):
        through(x, soft, [square, square])
    with pytest.raises(ValueError, match="give rows of x y z"):
        through(x[:, :2], soft, square)
    rod = through(x, soft, square)
    with pytest.raises(
        ValueError, match=r"director .* of edge 0 has the component 1 along"
    ):
        replace(rod, directors=np.tile([1.0, 0.0, 0.0], (3, 1)))
    with pytest.raises(ValueError, match=r"curvature of bend 0 must be finite, not"):
        replace(rod, curvature=np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="give all the same"):
        together(rod, replace(rod, law=StretchLaw.RUBBER))


@pytest.mark.parametrize("number", [9, -1])
def test_what_names_nodes_or_edges_that_are_not_there_is_refused(number):
    rod = through(LINE, SpaceMaterial(1e3, 1.0), rectangle(0.1, 0.1))
    missing = np.array([[0, 1], [1, 2], [2, number]])
    nodes, edges = "nodes are numbered 0 to 3", "edges are numbered 0 to 2"
    with pytest.raises(ValueError, match=f"edge 2 names node {number}, but {nodes}"):
        replace(rod, edges=missing)
    with pytest.raises(ValueError, match=f"bend 1 names edge {number}, but {edges}"):
        replace(rod, bends=missing[1:])
    with pytest.raises(ValueError, match=f"clamp 1 names edge {number}, but {edges}"):
        clamped(rod, 0, number)
    assert clamped(rod, 0, 2).held_frames.tolist() == [True, False, True]


@pytest.mark.parametrize(("spring", "beta"), [(0.02, 0.0), (0.02, 0.01), (0.0, 0.0)])
def test_rods_on_a_hinge_keep_energy_and_both_momenta_as_they_tumble(spring, beta, rng):
    rod, _ = _crossed(rng, spring)
    v: Floats = 0.8 * rng.normal(size=rod.nodes.shape)
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), Damping(beta=beta), velocity=v,
        spin=3.0 * rng.normal(size=len(rod.edges)),
    )  # fmt: skip
    options = StepOptions(
        h=0.01, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-12
    )
    first, *later = simulate_in_space(world, options, 1.0, every=20)
    part, size = space_elements(rod), np.abs(angular_momentum(rod, first)).max()
    turned = [abs(strains_of_hinges(s.moving.state, part)[:, 2]).max() for s in later]
    assert max(turned) > 0.3
    for step in later:
        damped = step.moving.ledger.damped
        assert step.energy + damped == pytest.approx(first.energy, rel=1e-9)
        apart = angular_momentum(rod, step) - angular_momentum(rod, first)
        assert np.abs(apart).max() <= 1e-10 * size
        assert np.abs(momentum(rod, step) - momentum(rod, first)).max() <= 1e-11 * size
    assert (later[-1].moving.ledger.damped > 0.01 * first.energy) == (beta > 0.0)
    assert later[-1].substeps <= 25


def test_a_spring_about_an_axis_that_is_wound_beyond_half_a_turn_is_told():
    x = np.linspace(0.0, 1.0, 4)[:, None] * [1.0, 0.0, 0.0]
    halves = [
        through(side * x, SpaceMaterial(1e3, 1.0, 0.3), rectangle(0.1, 0.2))
        for side in (-1.0, 1.0)
    ]
    rod, stiff = (
        joined(
            [clamped(halves[0], *range(3)), halves[1]], [[(0, 0), (1, 0)]], [False],
            HOLD, [HingeAxis([1.0, 0.0, 0.0], stiffness)],
        )[0]
        for stiffness in (2e-5, 2e-3)
    )  # fmt: skip
    spin = np.where(rod.nodes[rod.edges].mean(axis=1)[:, 0] > 0.0, 3.0, 0.0)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), spin=spin)
    run = simulate_in_space(world, StepOptions(h=0.02), 3.0, every=1)
    words = r"a hinge spring is turned by 1[78]\d degrees, close to the limit of 180"
    with pytest.raises(NotConvergedError, match=words) as told:
        list(run)
    assert "time step h" not in str(told.value)  # none helps; what is advised does
    world = SpaceWorld(stiff, (0.0, 0.0, 0.0), spin=spin)
    assert list(simulate_in_space(world, StepOptions(h=0.02), 3.0, every=50))
    turned = strains_of_hinges(told.value.best.moving.state, space_elements(rod))
    assert 0.95 * np.pi < abs(turned[0, 2]) < np.pi
