"""Energy put in, stored and dissipated by every step; what is out of balance ends."""

from dataclasses import replace

import numpy as np
import pytest

from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import Pulses
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.control_environment import RodWorld
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY, RodMaterial, cantilever, hold, moved
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.world import Damping, NodeLoad, World
from tests.sim.rods.known import SOFT, straight

EXACT = StepOptions(integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-13)
ROBOT = star(StarShape(), RodMaterial())


def _ends(
    world: World, options: StepOptions, duration: float
) -> tuple[RodStep, RodStep]:
    first, *_, last = simulate(world, options, duration, every=10**9)
    return first, last


def _gain(first: RodStep, last: RodStep) -> float:
    taken = last.damped + last.friction + last.impact
    return last.given - taken + last.out_of_balance - (last.energy - first.energy)


def _busy(damping: Damping) -> World:
    """A star that falls 2 mm at 0.2 m/s, is switched on, and pulled for a while."""
    robot = moved(ROBOT, by=np.array([0.0, 2e-3]))
    return World(
        robot,
        GroundPlane(3.0, height=-1e-2),
        friction=0.3,
        damping=damping,
        schedule=Pulses([0.05, 0.12], [3, 3]),
        load=NodeLoad([5], (0.02, 0.01), 0.01, 0.0333),
        velocity=np.tile([0.2, 0.0], (len(robot.nodes), 1)),
    )


@pytest.mark.parametrize(
    "damping", [Damping(alpha=0.7, beta=4e-3), Damping(beta=1e-3, rayleigh=True)]
)
@pytest.mark.parametrize("accuracy", [0.0, 1e-5])
def test_steps_that_keep_energy_leave_none_out_of_balance(damping, accuracy):
    """Falls, slides, is pulled, damped and switched on twice, where eq. (7) jumps."""
    options = replace(EXACT, accuracy=accuracy)
    first, last = _ends(_busy(damping), options, 0.2)
    at_work = last.damped + last.friction + last.impact
    assert min(last.damped, last.friction, last.impact) > 1e-3 * at_work
    assert last.given > 0.1 * at_work
    assert abs(_gain(first, last)) < 1e-12 * at_work
    assert abs(last.out_of_balance) < 1e-6 * at_work


def test_newmarks_rule_owns_up_to_what_it_leaves_out_of_balance():
    """A beam under sudden gravity; what a step leaves is of order h^3."""
    world = World(cantilever(0.1, 12, SOFT), damping=Damping(beta=2e-3))
    sizes, left = np.array([1e-3, 0.5e-3, 0.25e-3, 0.125e-3]), []
    for h in sizes:
        options = StepOptions(h=float(h), tolerance=1e-13)
        first, last = _ends(world, options, 0.096)
        assert abs(_gain(first, last)) < 1e-12 * last.damped
        left.append(abs(last.out_of_balance))
    assert left[0] < 0.01 * last.damped
    slope = np.polyfit(np.log(sizes), np.log(left), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.2)


def test_a_star_that_falls_and_walks_by_newmarks_rule_stays_in_balance():
    first, last = _ends(_busy(Damping()), StepOptions(), 0.2)
    assert abs(_gain(first, last)) < 1e-12 * last.damped
    assert 0.0 < last.worst_balance < 0.1


def test_an_impact_takes_the_energy_of_the_fall():
    fall = 5e-3
    rod = moved(straight(0.1, 11, SOFT), by=np.array([0.0, fall]))
    _, end = _ends(World(rod, GroundPlane()), StepOptions(h=1e-3), 0.1)
    assert end.impact == pytest.approx(rod.mass.sum() * GRAVITY * fall, rel=1e-6)
    assert abs(end.friction) < 1e-12 * end.impact


def test_friction_takes_the_energy_of_a_block_that_it_stops():
    rod = straight(0.1, 11, SOFT)
    world = World(rod, GroundPlane(), velocity=np.tile([0.5, 0.0], (11, 1)))
    _, end = _ends(world, StepOptions(h=1e-3), 0.3)
    assert end.friction == pytest.approx(0.5 * rod.mass.sum() * 0.25, rel=1e-9)
    assert abs(end.impact) < 1e-12 * end.friction


def test_a_support_that_moves_puts_in_what_the_rod_gains():
    rod = straight(0.1, 11, SOFT)
    rod.held[0] = True
    v = np.zeros((11, 2))
    v[0] = [0.05, 0.3]
    options = replace(EXACT, h=1e-3)
    first, last = _ends(World(rod, velocity=v), options, 0.1)
    assert last.given > 0.0
    assert abs(last.out_of_balance) < 1e-6 * last.given
    assert abs(_gain(first, last)) < 1e-12 * last.given


def test_a_curvature_that_is_told_puts_energy_in():
    world = RodWorld(World(ROBOT, gravity=(0.0, 0.0)))
    first = world.observe()
    world.act(curvatures={2: 0.4})
    assert world.observe().given == pytest.approx(world.observe().energy)
    last = world.step(0.05)
    assert last.damped > 0.0
    assert abs(_gain(first, last)) < 1e-12 * last.given


def _end_loads(material: RodMaterial, options: StepOptions) -> RodStep:
    """41 nodes, two loads of 0.2 N across for 50 ms, no damping: the last good step."""
    world = World(
        straight(0.1, 41, material),
        gravity=(0.0, 0.0),
        damping=Damping(beta=0.0),
        load=NodeLoad([0, 40], (0.0, 0.2), duration=0.05),
    )
    with pytest.raises(NotConvergedError, match="no time step from") as caught:
        _ends(world, options, 2.0)
    best = caught.value.best
    assert isinstance(best, RodStep)
    return best


MATERIALS = pytest.mark.parametrize(
    "material", [RodMaterial(), SOFT], ids=["thick", "thin"]
)


@MATERIALS
def test_end_loads_on_a_free_rod_do_not_explode_unseen(material):
    best = _end_loads(material, StepOptions())
    assert abs(best.out_of_balance) <= 0.101 * best.state.clock.at_work


@MATERIALS
def test_a_step_is_accepted_on_its_residual_whatever_its_last_move(material):
    """By moves alone, half of the largest force is left unbalanced: some 2,000 N."""
    options = StepOptions(strain=1e12, balance=1e12)
    best = _end_loads(material, options)
    assert best.worst_share < 1e-5


STIFF = RodMaterial(modulus=3.0e9, density=1240.0, thickness=2.0e-3, width=2.0e-3)


@pytest.mark.parametrize("h", [1e-3, 5e-3])
def test_a_stiff_rod_swings_on_its_pin_and_keeps_its_energy(h):
    """PLA, 20 x 2 mm: the tolerance of 1e-9 m is five times its weight in EA / l."""
    rod = hold(straight(0.02, 9, STIFF), [0])
    options = StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM)
    steps = list(simulate(World(rod, damping=Damping(beta=0.0)), options, 0.5))
    fall = GRAVITY * rod.mass @ rod.nodes[:, 0]
    energy = np.array([step.energy for step in steps])
    assert max(step.x[-1, 1] for step in steps) < 1e-6
    assert np.abs(energy - energy[0]).max() < 1e-5 * fall
    assert max(step.kinetic for step in steps) == pytest.approx(fall, rel=0.02)
    assert steps[-1].state.clock.at_work < 1.001 * fall  # three swings: not their sum
    assert steps[-1].worst_share < 1e-4


def _bent_and_spun(amplitude: float) -> World:
    """The first mode of a free rod with this velocity, and a spin, in units of L w."""
    rod = straight(0.1, 41, SOFT)
    s = np.linspace(-1.0, 1.0, 41)
    w = 22.37 * np.sqrt(SOFT.bending / (SOFT.line_density * 0.1**4))
    v = np.zeros((41, 2))
    v[:, 1] = amplitude * (0.1 * w * (s**2 - 1.0 / 3.0) + s)
    return World(rod, gravity=(0.0, 0.0), damping=Damping(beta=0.0), velocity=v)


@pytest.mark.parametrize("amplitude", [1.0, 3.0])
def test_bending_and_spin_of_large_amplitude_do_not_explode_unseen(amplitude):
    with pytest.raises(NotConvergedError, match="the energy error below"):
        _ends(_bent_and_spun(amplitude), StepOptions(), 2.0)


def test_the_energy_momentum_rule_goes_on_where_newmarks_ends():
    """Twice as long as Newmark's."""
    options = StepOptions(integrator=Integrator.ENERGY_MOMENTUM)
    first, last = _ends(_bent_and_spun(1.0), options, 0.5)
    assert last.energy == pytest.approx(first.energy, rel=1e-3)


def _most_gained(world: World, h: float, steps: int) -> float:
    """The largest rise of a rod's energy that nothing damps, over all at work."""
    options = replace(EXACT, h=h, tolerance=1e-12)
    found = list(simulate(world, options, steps * h))
    energy = np.array([step.energy for step in found])
    rise = float((energy - np.minimum.accumulate(energy)).max())
    return rise / float(found[-1].state.clock.at_work)


@pytest.mark.parametrize(
    ("modulus", "h"), [(1e8, 1e-4), (1e8, 1e-5), (1e10, 1e-4), (1e10, 1e-5)]
)
def test_a_rod_thrown_on_its_end_gains_nothing_as_it_leaves_the_ground(modulus, h):
    """What the impact pushed on it, while it left within a step, were 20 % of all."""
    rod = straight(0.1, 11, RodMaterial(modulus, 1000.0, 2e-3, 2e-3))
    rod = moved(rod, by=np.array([0.0, 1e-3]), angle=np.radians(90.0))
    world = World(
        rod, GroundPlane(), 0.0, gravity=(0.0, 0.0), damping=Damping(beta=0.0),
        velocity=np.tile([0.0, -1.0], (11, 1)),
    )  # fmt: skip
    assert _most_gained(world, h, int(1e-3 / h) + 200) < 0.015


@pytest.mark.parametrize(
    ("n", "h", "seed"), [(6, 1e-3, 7), (4, 1e-3, 27), (4, 1e-2, 17)]
)
def test_a_stiff_rod_that_rises_and_falls_within_a_step_gains_nothing(n, h, seed):
    """8, 5 and 4 % where the contacts of a step might give what they did."""
    rod = straight(0.1, n, RodMaterial(1e10, 1000.0, 2e-3, 2e-3))
    rod = moved(rod, by=np.zeros(2), angle=0.3)
    rod = moved(rod, by=np.array([0.0, 2e-3 - rod.nodes[:, 1].min()]))
    noise = np.random.default_rng(seed).standard_normal((n, 2))
    still = Damping(beta=0.0)
    world = World(rod, GroundPlane(), 0.0, damping=still, velocity=0.5 * noise)
    assert _most_gained(world, h, 30) < 0.005
