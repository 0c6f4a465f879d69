"""Planar worlds in space: the same motions, joints that are rigid, rims that tip."""

from dataclasses import replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.actuation import Pulses
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.contact_geometry import EdgeContact
from sim.rods.plane.ground import GroundPlane, Wave
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import RodMaterial, RoundSection, hold, network
from sim.rods.plane.simulate import simulate
from sim.rods.plane.world import Fluid, World
from sim.rods.space.assembled_system import SpaceSystem
from sim.rods.space.frames import moved_on
from sim.rods.space.from_plane import in_space, lifted
from sim.rods.space.rod import disc
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.statics import rest
from tests.sim.rods.space.made import dense, with_force

ROUND = RoundSection(1.0e9, 1000.0, 4.0e-3)
SMALL = StarShape(arc_edges=4, tail_edges=2)


def _energy(system: SpaceSystem, x: Floats, d: Floats) -> float:
    """Of nodes moved and edges turned."""
    rod = system.rod
    state = moved_on(rod.state, rod.edges, rod.bends, x, d)
    return system.energy(state, system.tensions(state))


def test_joints_have_exact_first_and_second_derivatives(rng):
    """What is left of energies beside gradient and Hessian falls with third order."""
    rod = lifted(star(SMALL, RodMaterial()), RodMaterial())
    m = len(rod.edges)
    assert (rod.bends >= m).any()
    size = rod.rest_length.min()
    state = moved_on(
        rod.state, rod.edges, rod.bends,
        0.1 * size * rng.normal(size=rod.nodes.shape), 0.1 * rng.normal(size=m),
    )  # fmt: skip
    rod = replace(rod, nodes=state.x, directors=state.d)
    system = SpaceSystem(rod, with_force(rod, 0, np.zeros(3)))
    move, turn = size * rng.normal(size=rod.nodes.shape), rng.normal(size=m)
    way = np.concatenate([move.ravel(), turn])
    g, H = dense(system, rod.state)
    left = []
    for h in (1e-2, 5e-3):
        there = _energy(system, h * move, h * turn)
        here = _energy(system, 0.0 * move, 0.0 * turn)
        left.append(there - here - h * (g @ way) - 0.5 * h * h * (way @ H @ way))
    assert left[0] / left[1] == pytest.approx(8.0, rel=0.1)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_an_actuated_star_moves_in_space_as_in_its_plane(integrator):
    """Joints, moduli and curvatures of eq. (7), and the drag of a fluid."""
    robot, schedule = star(SMALL, RodMaterial()), Pulses([0.011, 0.031], [0, 3])
    world = World(
        robot, None, gravity=(0.0, 0.0), schedule=schedule, fluid=Fluid(0.05, 0.1)
    )
    options = StepOptions(h=2.5e-3, integrator=integrator, tolerance=1e-12)
    *_, plane = simulate(world, options, 0.1, every=100)
    *_, space = simulate_in_space(
        in_space(world, RodMaterial()), options, 0.1, every=100
    )
    assert np.abs(space.x[:, 2]).max() <= 1e-12
    given = space.moving.ledger.given
    assert given == pytest.approx(plane.given, rel=1e-6)
    way = np.abs(plane.x - robot.nodes).max()
    assert way > 5e-3
    near = 1e-7 if integrator is Integrator.NEWMARK else 1e-5
    assert np.abs(space.x[:, :2] - plane.x).max() <= near * way


def test_a_right_angle_bends_and_twists_as_its_legs_do():
    """Loaded across its plane: P a^3/3EI of each leg, and P b^2 a/GJ; rigid corner."""
    a, b, pull, n = 0.1, 0.06, 0.01, 24
    first = np.column_stack([np.linspace(0.0, a, n + 1), np.zeros(n + 1)])
    second = np.column_stack([np.full(n, a), b * np.arange(1, n + 1) / n])
    nodes = np.vstack([[-a / n, 0.0], first, second, [a, -b / n]])
    k = len(nodes)
    chain = np.array([[i, i + 1] for i in range(k - 2)])
    edges = np.vstack([chain, [n + 1, k - 1]])  # a stub makes the corner one of three
    bends = [[i, i + 1, i + 2] for i in range(k - 3) if i != n]
    flat = network(nodes, edges, np.array(bends), ROUND, joints=[n + 1])
    flat = hold(flat, [0, 1])
    rod = lifted(flat, ROUND)
    found = rest(rod, with_force(rod, k - 2, np.array([0.0, 0.0, pull]))).state.x
    section = disc(2e-3)
    EI, GJ = 1e9 * section.second[0], 1e9 / 3.0 * section.torsion
    told = pull * ((a**3 + b**3) / (3.0 * EI) + b**2 * a / GJ)
    # The first leg is clamped in the middle of the edge before it.
    extra = pull * 0.5 * (a / n) * (a**2 / EI + b**2 / GJ)
    assert found[k - 2, 2] == pytest.approx(told + extra, rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ground": Wave()}, "ground must be a plane in 3D"),
        (
            {"edge_contact": EdgeContact(thickness=1e-4)},
            "edge_contact works in 2D only",
        ),
    ],
)
def test_what_is_of_the_plane_only_is_refused(change, words):
    robot = star(SMALL, RodMaterial())
    far = replace(robot, nodes=robot.nodes + np.array([0.0, 1.0]))
    world = replace(World(far), **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=words):
        in_space(world, RodMaterial())
    mixed = [RodMaterial()] * (len(robot.edges) - 1) + [ROUND]
    with pytest.raises(ValueError, match="flat and round ones, work in 2D"):
        in_space(replace(World(far), ground=GroundPlane()), mixed)


@pytest.mark.parametrize("angle", [0.0, 50.0, 90.0])
def test_a_hinge_of_the_plane_carries_what_is_across_it(angle):
    """A cantilever that turns at its corner, drawn on by its half edges: P a^3/3EI of
    each leg, and what the first turns by, bent and twisted, times the second's arm."""
    a, b, pull, n = 0.1, 0.06, 3e-4, 24
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    first = np.column_stack([np.linspace(-a / n, a, n + 2), np.zeros(n + 2)])
    second = first[-1] + np.outer(b * np.arange(1, n + 1) / n, [c, s])
    nodes = np.vstack([first, second])
    edges = np.array([[i, i + 1] for i in range(len(nodes) - 1)])
    bends = [[i - 1, i, i + 1] for i in range(1, len(nodes) - 1) if i != n + 1]
    flat = hold(network(nodes, edges, np.array(bends), ROUND), [0, 1])
    rod = lifted(flat, ROUND)
    assert rod.hinges.tolist() == [[n, n + 1]]
    held = rod.held.copy()
    held[-1, :2] = True  # or it would be free to turn in the plane
    rod = replace(rod, held=held)
    found = rest(rod, with_force(rod, -1, np.array([0.0, 0.0, pull]))).state.x[-1, 2]
    section = disc(2e-3)
    EI, GJ = 1e9 * section.second[0], 1e9 / 3.0 * section.torsion
    L = a + 0.5 * a / n  # from the middle of the edge that is held
    bent = (L**3 / 3.0 + L**2 * b * c + L * (b * c) ** 2 + b**3 / 3.0) / EI
    assert found == pytest.approx(pull * (bent + L * (b * s) ** 2 / GJ), rel=2e-3)
