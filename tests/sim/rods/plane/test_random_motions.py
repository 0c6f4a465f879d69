"""No run that finishes has diverged, with touch or without: random rods and grounds."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from sim.core.options import NotConvergedError
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.contact_geometry import (
    EdgeContact,
    arc_gap,
    crossings,
    edge_contacts,
    edge_gap,
)
from sim.rods.plane.ground import (
    Ground,
    GroundPlane,
    Terrain,
    Wave,
    gaps,
    set_on_ground,
)
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY, Rod, RodMaterial, chain, moved, ring
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.world import Damping, NodeLoad, World
from tests.sim.rods.known import SOFT, straight

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
        rod = set_on_ground(rod, ground, rng.uniform(-size, size))
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


def _fuzz(
    seed: int,
    numbers: range,
    draw: Callable[[Random], Trial | None],
    impossible: Callable[[Trial, list[RodStep]], Iterator[str]],
) -> tuple[int, list[str]]:
    """How many of random motions finish, and what is wrong with them."""
    finished, wrong = 0, []
    for k in numbers:
        trial = draw(np.random.default_rng([seed, k]))
        steps = finished_run(trial) if trial else []
        finished += bool(steps)
        if trial and steps:
            wrong += [f"trial {k}: {fault}" for fault in impossible(trial, steps)]
    return finished, wrong


@pytest.mark.parametrize("speed", [0.1, 0.3, 1.0])
def test_small_errors_of_many_steps_make_no_energy(speed, rng):
    """Each of them is less than its tolerance explains: 1e-6 m, of edges of 3.7 mm."""
    rod = straight(0.1, 28, RodMaterial(3e6, 1000.0, 1e-3, 1e-3))
    world = World(
        rod, gravity=(0.0, 0.0), damping=Damping(beta=0.0),
        velocity=speed * rng.standard_normal(rod.nodes.shape),
    )  # fmt: skip
    options = StepOptions(1e-4, Integrator.ENERGY_MOMENTUM, tolerance=1e-6)
    found = []
    try:
        for step in simulate(world, options, 0.1, every=20):
            found.append(step.energy)
    except NotConvergedError as failed:
        found.append(failed.best.energy)
    assert max(found) < 1.4 * found[0]


def _falling(h: float, duration: float, height: float = 0.1) -> list[RodStep]:
    rod = moved(straight(0.1, 5, SOFT), by=np.array([0.0, height]))
    return list(simulate(World(rod, GroundPlane()), StepOptions(h=h), duration))


@pytest.mark.parametrize("h", [0.3, 0.7, 2.0])
def test_a_run_ends_when_it_is_told_to(h):
    """1.0 s, of which h is no part; a free fall is exact in any step."""
    rod = straight(0.1, 5, SOFT)
    *_, last = simulate(World(rod), StepOptions(h=h), 1.0)
    assert last.time == 1.0
    assert last.x[:, 1] == pytest.approx(-0.5 * GRAVITY, rel=1e-9)


@pytest.mark.parametrize("height", [5e-3, 0.05, 0.1, 0.3, 1.0, 3.0])
def test_a_step_far_too_long_ends_on_the_ground_or_not_at_all(height):
    """Of 5 s, and of 50 s, whose shortest part is longer than most landings take."""
    end = _falling(5.0, 10.0, height)[-1]
    assert np.abs(end.x[:, 1]).max() < 1e-4 * 0.025
    with pytest.raises(NotConvergedError, match=r"resolves impacts to 0\.0001 of"):
        _falling(50.0, 100.0, height)


def test_the_largest_distance_of_a_contact_from_the_ground_is_told():
    steps = _falling(2.5e-3, 0.3)
    touching = [np.abs(step.x[step.contact > 0, 1]).max(initial=0.0) for step in steps]
    assert 0.0 < max(touching) <= steps[-1].contact_gap < 1e-4 * 0.025


KEPT = 1.1  # gaps that a step may leave


def random_touch(rng: np.random.Generator) -> Trial | None:
    """A motion that may be anything, with touch; none where that refuses the start."""
    trial = random_trial(rng)
    arcs, rods = rng.random() < 0.25, rng.random() < 0.8
    edge_contact = EdgeContact(arcs=bool(arcs), rods=bool(rods))
    try:
        return trial._replace(world=replace(trial.world, edge_contact=edge_contact))
    except ValueError as refused:
        if "edge contact: " not in str(refused):
            raise
        return None


def _depth(world: World, x: np.ndarray) -> float:
    """How far arcs or edges are below the ground, in shortest edges."""
    rod, ground, edge_contact = world.rod, world.ground, world.edge_contact
    if ground is None or edge_contact is None:
        return 0.0
    touch = edge_contacts(edge_contact, rod, ground)
    if edge_contact.arcs:
        low = min(arc_gap(touch, x, i, ground) for i in range(len(x)))
    else:
        low = edge_gap(rod.edges, x, ground)
    return -low / float(rod.rest_length.min())


def wrong_in(trial: Trial, steps: list[RodStep]) -> Iterator[str]:
    """What is impossible, where rods and ground feel each other."""
    yield from faults(trial, steps)
    world, last, edge_contact = trial.world, steps[-1], trial.world.edge_contact
    rod = world.rod
    assert edge_contact is not None
    apart = edge_contact.rods and crossings(rod.edges, rod.nodes) == 0
    if apart and any(crossings(rod.edges, step.x) for step in steps):
        yield "rods cross"
    if (depth := _depth(world, last.x)) > KEPT * edge_contact.gap:
        yield f"{depth:.3g} edges below the ground"


NODES, TOUCH = (random_trial, faults), (random_touch, wrong_in)


@pytest.mark.parametrize(
    ("kind", "seed", "numbers", "least"),
    [
        (NODES, 0, range(24, 48), 8),
        pytest.param(NODES, 1, range(1000), 400, marks=pytest.mark.long),
        (TOUCH, 2, range(25), 8),
        pytest.param(TOUCH, 2, range(300), 120, marks=pytest.mark.long),
    ],
)
def test_no_random_run_that_finishes_has_diverged(kind, seed, numbers, least):
    """Of the first few, 28 and 43 diverge unless strain and balance are limited."""
    finished, wrong = _fuzz(seed, numbers, *kind)
    assert not wrong
    assert finished > least


def _once_wrong(k: int) -> list[RodStep]:
    trial = random_touch(np.random.default_rng([2, k]))
    assert trial is not None
    steps = finished_run(trial)
    assert not (steps and list(wrong_in(trial, steps)))
    return steps


@pytest.mark.parametrize("number", [360, 613])
def test_a_fast_star_and_a_flat_arc_pass_through_nothing(number):
    """360: limbs met end on, 0.9 edges a step, a crossing that nodes alone let by.
    613: an arc flatter than the hill under it."""
    assert _once_wrong(number)


@pytest.mark.long
def test_ten_thousand_parts_of_steps_make_no_energy_together():
    """Each made less than its tolerance explains."""
    assert sum(step.substeps for step in _once_wrong(1083)) > 10_000
