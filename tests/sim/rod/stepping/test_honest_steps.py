"""No run that finishes has diverged: random rods, loads, steps and grounds."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from sim.convergence import NotConvergedError
from sim.rod.contact.ground import Ground, GroundPlane, Terrain, Wave, gaps
from sim.rod.contact.standing import standing
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import Rod, RodMaterial, chain, moved, ring
from sim.rod.rod.star import StarShape, star
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, NodeLoad, World
from tests.sim.rod.known import SOFT, straight

Random = np.random.Generator


class Trial(NamedTuple):
    """A motion that may be anything."""

    world: World
    options: StepOptions
    duration: float


def _rod(rng: Random) -> Rod:
    n, length = int(rng.integers(3, 60)), 10.0 ** rng.uniform(-2.0, -0.5)
    material = RodMaterial(
        10.0 ** rng.uniform(4.5, 9.0), 1000.0, length * 10.0 ** rng.uniform(-2.5, -1.0)
    )
    kind = rng.integers(4)
    if kind == 0:
        return straight(length, n, material)
    if kind == 1:
        return ring(length / 6.0, max(n, 8), material)
    if kind == 2:
        return star(StarShape(arc_edges=5, tail_edges=2), RodMaterial())
    turns = rng.uniform(-0.5, 0.5, n).cumsum()
    edges = length / n * np.column_stack([np.cos(turns), np.sin(turns)])
    return chain(np.vstack([[0.0, 0.0], edges.cumsum(axis=0)]), material)


def _ground(rng: Random, size: float) -> Ground | None:
    grounds: list[Ground | None] = [
        None,
        GroundPlane(rng.uniform(-40.0, 40.0)),
        Wave(0.05 * size, rng.uniform(1.0, 5.0) * size),
        Terrain(
            [[-size, 0.0], [0.0, 0.1 * size], [size, 0.0], [2.0 * size, 0.2 * size]]
        ),
    ]
    return grounds[rng.integers(4)]


def random_trial(rng: Random) -> Trial:
    rod = _rod(rng)
    n, size = len(rod.nodes), float(np.ptp(rod.nodes, axis=0).max())
    ground = _ground(rng, size)
    if ground is not None:
        rod = standing(rod, ground, rng.uniform(-size, size))
        rod = moved(rod, by=np.array([0.0, size * rng.choice([0.0, 0.3])]))
    force = rod.mass.sum() * GRAVITY * 10.0 ** rng.uniform(-1.0, 3.0)
    pull = force * rng.standard_normal(2)
    load = NodeLoad([int(rng.integers(n))], (float(pull[0]), float(pull[1])), 0.0, 0.05)
    speed = size * 10.0 ** rng.uniform(-1.0, 3.0)
    world = World(
        rod, ground, float(rng.choice([0.0, 0.4, 1.0])),
        gravity=(0.0, -GRAVITY if rng.random() < 0.8 else 0.0),
        damping=Damping(beta=float(rng.choice([0.0, 1e-4, 8e-3]))),
        load=load if rng.random() < 0.6 else None,
        velocity=speed * rng.standard_normal((n, 2)) if rng.random() < 0.3 else None,
    )  # fmt: skip
    h = 10.0 ** rng.uniform(-4.0, 0.3)
    rule = Integrator(str(rng.choice(["newmark", "energy_momentum"])))
    options = StepOptions(h=h, integrator=rule)
    return Trial(world, options, h * rng.uniform(0.3, 40.0))


def finished_run(trial: Trial) -> list[RodStep]:
    """All records of a run; none if it says that it has not converged."""
    try:
        return list(simulate(trial.world, trial.options, trial.duration))
    except NotConvergedError:
        return []


def faults(trial: Trial, steps: list[RodStep]) -> Iterator[str]:
    """What is impossible in a motion, told from its positions and velocities alone."""
    world, first, last = trial.world, steps[0], steps[-1]
    rod, x = world.rod, np.array([step.x for step in steps])
    if not (np.isfinite(x).all() and np.isfinite(last.v).all()):
        yield "not finite"
    if last.time != pytest.approx(trial.duration, rel=1e-9):
        yield f"ends at {last.time} of {trial.duration}"
    length = np.linalg.norm(x[:, rod.edges[:, 1]] - x[:, rod.edges[:, 0]], axis=2)
    if np.abs(length / rod.rest_length - 1.0).max() > 1.0 + 1e-9:
        yield "stretched by more than 1"
    energy = np.array([step.energy - step.gravity for step in steps])
    weight = rod.mass.sum() * np.hypot(*world.gravity)
    fallen = weight * np.abs(np.diff(x.mean(axis=1), axis=0)).sum()
    pulled = 0.0
    if world.load is not None:
        path = np.linalg.norm(np.diff(x[:, world.load.nodes], axis=0), axis=2).sum()
        pulled = float(np.hypot(*world.load.force) * path)
    rounding = 1e-20 * np.sum(rod.stretching * rod.rest_length)  # strains of 1e-10
    if energy.max() > 1.2 * (energy[0] + fallen + pulled) + rounding:
        yield f"energy {energy.max():.3g} J of {energy[0] + fallen + pulled:.3g}"
    if world.ground is not None:
        low = min(gaps(world.ground, shape).min() for shape in x)
        if low < -0.021 * rod.rest_length.min():
            yield f"{-low:.3g} m below the ground"
        if last.contact_gap < -low - 1e-12:
            yield "deeper than said"
    if first.time != 0.0:
        yield "begins late"


def _fuzz(seed: int, count: int) -> tuple[int, list[str]]:
    """How many of `count` random motions finish, and what is wrong with them."""
    finished, wrong = 0, []
    for k in range(count):
        trial = random_trial(np.random.default_rng([seed, k]))
        steps = finished_run(trial)
        finished += bool(steps)
        if steps:
            wrong += [f"trial {k}: {fault}" for fault in faults(trial, steps)]
    return finished, wrong


def test_no_random_run_that_finishes_has_diverged() -> None:
    finished, wrong = _fuzz(0, 60)
    assert not wrong
    assert finished > 20


@pytest.mark.long
def test_no_random_run_of_1000_that_finishes_has_diverged() -> None:
    finished, wrong = _fuzz(1, 1000)
    assert not wrong
    assert finished > 400


def _most_energy(world: World, options: StepOptions, steps: int) -> float:
    """The largest, over that at the start, until a run ends of whatever reason."""
    found = []
    try:
        for step in simulate(world, options, steps * options.h, every=20):
            found.append(step.energy)
    except NotConvergedError as failed:
        found.append(failed.best.energy)
    return max(found) / found[0]


@pytest.mark.parametrize("speed", [0.1, 0.3, 1.0])
def test_small_errors_of_many_steps_make_no_energy(
    speed: float, rng: np.random.Generator
) -> None:
    """Each of them is less than its tolerance explains: 1e-6 m, of edges of 3.7 mm."""
    rod = straight(0.1, 28, RodMaterial(3e6, 1000.0, 1e-3, 1e-3))
    world = World(
        rod, gravity=(0.0, 0.0), damping=Damping(beta=0.0),
        velocity=speed * rng.standard_normal(rod.nodes.shape),
    )  # fmt: skip
    options = StepOptions(1e-4, Integrator.ENERGY_MOMENTUM, tolerance=1e-6)
    assert _most_energy(world, options, 1000) < 1.4


def _falling(h: float, duration: float, height: float = 0.1) -> list[RodStep]:
    rod = moved(straight(0.1, 5, SOFT), by=np.array([0.0, height]))
    return list(simulate(World(rod, GroundPlane()), StepOptions(h=h), duration))


@pytest.mark.parametrize("h", [0.3, 0.7, 2.0])
def test_a_run_ends_when_it_is_told_to(h: float) -> None:
    """1.0 s, of which h is no part; a free fall is exact in any step."""
    rod = straight(0.1, 5, SOFT)
    *_, last = simulate(World(rod), StepOptions(h=h), 1.0)
    assert last.time == 1.0
    assert last.x[:, 1] == pytest.approx(-0.5 * GRAVITY, rel=1e-9)


@pytest.mark.parametrize("height", [5e-3, 0.05, 0.1, 0.3, 1.0, 3.0])
def test_a_step_far_too_long_ends_on_the_ground_or_not_at_all(height: float) -> None:
    """Of 5 s, and of 50 s, whose shortest part is longer than most landings take."""
    end = _falling(5.0, 10.0, height)[-1]
    assert np.abs(end.x[:, 1]).max() < 1e-4 * 0.025
    with pytest.raises(NotConvergedError, match=r"lets nodes land within 0\.0001 of"):
        _falling(50.0, 100.0, height)


def test_the_largest_distance_of_a_contact_from_the_ground_is_told() -> None:
    steps = _falling(2.5e-3, 0.3)
    touching = [np.abs(step.x[step.contact > 0, 1]).max(initial=0.0) for step in steps]
    assert 0.0 < max(touching) <= steps[-1].contact_gap < 1e-4 * 0.025
