"""Rigid bodies that move as prescribed, and rods that they lift, push and drag."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.arrays import Floats
from sim.rod.gravity import GRAVITY
from sim.rod.moving.bodies import BarBody, Body, PlateBody, SphereBody
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.prescribed import DrivenBody, PrescribedMotion
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.sections import SpaceMaterial
from sim.rod.space.space_rod import SpaceRod, through
from sim.rod.stepping.options import Integrator, StepOptions
from tests.sim.rod.space.made import ROUND

R, H = 1.0e-3, 1e-3
STIFF = SpaceMaterial(1.0e9, 1000.0, 0.3)
PLATE = PlateBody((0.0, 0.0, -R - 2e-3), (0.3, 0.2, 4e-3))


def _rod(height: float = 0.0, edges: int = 4) -> SpaceRod:
    x = np.linspace(-0.03, 0.03, edges + 1)
    nodes = np.column_stack([x, 0.0 * x, 0.0 * x + height])
    return through(nodes, STIFF, ROUND, first=(0.0, 1.0, 0.0))


def _run(
    rod: SpaceRod, friction: float, bodies: tuple[Body, ...], duration: float
) -> list[SpaceMotionStep]:
    touching = Touching(np.full(len(rod.edges), R), friction, bodies=bodies)
    options = StepOptions(h=H, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-11)
    return list(moves(SpaceWorld(rod, touching=touching), options, duration))


def _way(duration: float, far: Floats) -> list[list[float]]:
    """Rows of time and way: (1 - cos) / 2 of it, by a row each step."""
    t = np.arange(0.0, duration + H / 2, H)
    share = 0.5 * (1.0 - np.cos(np.pi * t / duration))
    return np.column_stack([t, share[:, None] * far]).tolist()


def test_places_go_as_one_body_and_slides_are_their_ways() -> None:
    motion = PrescribedMotion(
        (0.1, -0.2, 0.3), (1.0, 2.0, -0.5), [0.0, 1.0], [0.0, 1.3],
        [[0.0, 0.0, 0.0, 0.0], [1.0, 0.5, -0.2, 0.1]],
    )  # fmt: skip
    x = np.random.default_rng(1).normal(size=(7, 3))
    about, turn = np.array(motion.about), 1.3 * np.array([1.0, 2.0, -0.5])
    turn /= np.linalg.norm([1.0, 2.0, -0.5])
    whole = (x - about) @ Rotation.from_rotvec(turn).as_matrix().T + about
    placed = motion.placed(x, 1.0)
    assert np.abs(placed - whole - [0.5, -0.2, 0.1]).max() < 1e-14
    assert np.abs(motion.back(placed, 1.0) - x).max() < 1e-14
    before, after = motion.placed(x, 0.2), motion.placed(x, 0.5)
    (s, r), (v, w) = motion.slides(0.2, 0.3)
    along = s + np.cross(r, 0.5 * (before + after))
    assert np.abs(along - (after - before)).max() < 1e-14
    speed = (motion.placed(x, 0.5) - motion.placed(x, 0.5 - 1e-6)) / 1e-6
    assert np.abs((v + np.cross(w, after)) / 0.3 - speed).max() < 1e-5


def test_the_distance_from_a_moved_body_is_that_from_its_place() -> None:
    motion = PrescribedMotion(
        (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), [0.0, 1.0], [0.0, 0.5 * np.pi],
        [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]],
    )  # fmt: skip
    moved = DrivenBody(SphereBody((1.0, 0.0, 0.0), 0.2), motion).at(1.0)
    there = SphereBody((0.0, 1.0, 2.0), 0.2)
    x = np.random.default_rng(2).normal(size=(9, 3))
    for own, other in zip(moved.distance(x), there.distance(x), strict=True):
        assert np.abs(own - other).max() < 1e-14


def test_a_plate_that_rises_lifts_a_rod_with_its_weight() -> None:
    """It gives m g H, but for what small blows at its steps take."""
    rise, duration = 0.02, 0.2
    motion = PrescribedMotion(
        (0.0, 0.0, 0.0), moves=_way(duration, np.array([0.0, 0.0, rise]))
    )
    rod = _rod()
    steps = _run(rod, 0.3, (DrivenBody(PLATE, motion),), duration + 0.02)
    mass, last = float(rod.mass.sum()), steps[-1]
    assert last.x[:, 2] == pytest.approx(rise, abs=1e-7)
    ledger = last.moving.ledger
    raised = mass * GRAVITY * rise
    assert ledger.given - ledger.impact == pytest.approx(raised, rel=1e-6)
    assert 0.0 < ledger.impact < 2e-3 * raised
    assert abs(ledger.left) < 1e-9 * ledger.at_work
    middle = steps[round(0.5 * duration / H)]
    speed = 0.5 * np.pi * rise / duration
    assert middle.momentum[2] == pytest.approx(mass * speed, rel=1e-3)


@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_a_plate_takes_a_rod_along_as_far_as_friction_goes(mu: float) -> None:
    """From rest at 3 m/s^2: with it if mu g is more, else at mu g."""
    t = np.arange(0.0, 0.1 + H / 2, H)
    none = 0.0 * t
    way = np.column_stack([t, 1.5 * t**2, none, none])
    motion = PrescribedMotion((0.0, 0.0, 0.0), moves=way.tolist())
    rod = _rod()
    last = _run(rod, mu, (DrivenBody(PLATE, motion),), 0.1)[-1]
    pull = min(3.0, mu * GRAVITY)
    mass, ledger = float(rod.mass.sum()), last.moving.ledger
    assert last.x[:, 0].mean() == pytest.approx(0.5 * pull * 0.01, rel=2e-3)
    assert ledger.given == pytest.approx(mass * pull * 1.5 * 0.01, rel=2e-2)
    rubbed = mass * pull * (1.5 - 0.5 * pull) * 0.01
    assert ledger.friction == pytest.approx(rubbed, abs=2e-2 * mass * pull * 0.015)


def test_turning_cylinders_drag_a_rod_until_it_is_as_fast_as_their_skins() -> None:
    """At mu g until omega R, of which half the work given is rubbed away."""
    radius, omega, mu = 0.01, 12.0, 0.2
    bars = tuple(
        DrivenBody(
            BarBody((x, -0.05, -radius - R), (x, 0.05, -radius - R), radius),
            PrescribedMotion(
                (x, 0.0, -radius - R), (0.0, 1.0, 0.0), [0.0, 1.0], [0.0, omega]
            ),
        )
        for x in (-0.02, 0.02)
    )
    rod, speed = _rod(), omega * radius
    mass, until = float(rod.mass.sum()), omega * radius / (mu * GRAVITY)
    steps = _run(rod, mu, bars, until + 0.02)
    sliding = steps[round(0.5 * until / H)]
    assert sliding.momentum[0] == pytest.approx(
        mass * mu * GRAVITY * sliding.time, rel=1e-2
    )
    ledger, last = steps[-1].moving.ledger, steps[-1]
    assert last.momentum[0] == pytest.approx(mass * speed, rel=1e-3)
    assert ledger.given == pytest.approx(mass * speed**2, rel=2e-2)
    assert ledger.friction == pytest.approx(0.5 * mass * speed**2, rel=2e-2)
    assert abs(ledger.left) < 1e-3 * ledger.given


def test_nothing_passes_through_a_bar_that_comes_by_fast() -> None:
    """1 m/s, 10 radii of the wire in a step, which is cut."""
    bar = BarBody((-0.1, 0.02, 0.0), (0.1, 0.02, 0.0), R)
    way = [[0.0, 0.0, 0.0, 0.0], [0.1, 0.0, -0.1, 0.0]]
    body = DrivenBody(bar, PrescribedMotion((0.0, 0.0, 0.0), moves=way))
    rod = _rod()
    touching = Touching(np.full(len(rod.edges), R), 0.0, bodies=(body,))
    options = StepOptions(h=0.01, integrator=Integrator.ENERGY_MOMENTUM)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), touching=touching)
    *_, last = moves(world, options, 0.1)
    assert last.x[:, 1].max() < 0.02 - 0.1 - 2.0 * R + 1e-6
    mass = float(rod.mass.sum())
    assert last.momentum[1] == pytest.approx(-mass, rel=1e-3)


def test_a_body_that_turns_too_far_in_a_step_is_refused() -> None:
    motion = PrescribedMotion((0, 0, 0), (0, 0, 1), [0.0, 1.0], [0.0, 4000.0])
    with pytest.raises(ValueError, match="turns by 229"):
        _run(_rod(), 0.3, (DrivenBody(PLATE, motion),), 0.1)
