"""No run with touch that finishes has diverged, crosses, or lies in the ground."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from sim.rod.contact.touching import (
    PlaneTouching,
    arc_gap,
    crossings,
    edge_gap,
    touch_of,
)
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World
from tests.sim.rod.stepping.test_honest_steps import (
    Trial,
    faults,
    finished_run,
    random_trial,
)

KEPT = 1.1  # gaps that a step may leave


def random_touch(rng: np.random.Generator) -> Trial | None:
    """A motion that may be anything, with touch; none where that refuses the start."""
    trial = random_trial(rng)
    arcs, rods = rng.random() < 0.25, rng.random() < 0.8
    touching = PlaneTouching(arcs=bool(arcs), rods=bool(rods))
    try:
        return trial._replace(world=replace(trial.world, touching=touching))
    except ValueError as refused:
        if "touching: " not in str(refused):
            raise
        return None


def _depth(world: World, x: np.ndarray) -> float:
    """How far arcs or edges are below the ground, in shortest edges."""
    rod, ground, touching = world.rod, world.ground, world.touching
    if ground is None or touching is None:
        return 0.0
    touch = touch_of(touching, rod, ground)
    if touching.arcs:
        low = min(arc_gap(touch, x, i, ground) for i in range(len(x)))
    else:
        low = edge_gap(rod.edges, x, ground)
    return -low / float(rod.rest_length.min())


def wrong_in(trial: Trial, steps: list[RodStep]) -> Iterator[str]:
    """What is impossible, where rods and ground feel each other."""
    yield from faults(trial, steps)
    world, last, touching = trial.world, steps[-1], trial.world.touching
    rod = world.rod
    assert touching is not None
    apart = touching.rods and crossings(rod.edges, rod.nodes) == 0
    if apart and any(crossings(rod.edges, step.x) for step in steps):
        yield "rods cross"
    if (depth := _depth(world, last.x)) > KEPT * touching.gap:
        yield f"{depth:.3g} edges below the ground"


def _fuzz(seed: int, count: int) -> tuple[int, list[str]]:
    """How many of `count` random motions finish, and what is wrong with them."""
    finished, wrong = 0, []
    for k in range(count):
        trial = random_touch(np.random.default_rng([seed, k]))
        steps = finished_run(trial) if trial else []
        finished += bool(steps)
        if trial and steps:
            wrong += [f"trial {k}: {fault}" for fault in wrong_in(trial, steps)]
    return finished, wrong


def test_no_random_run_with_touch_that_finishes_has_diverged() -> None:
    finished, wrong = _fuzz(2, 25)
    assert not wrong
    assert finished > 8


def _once_wrong(k: int) -> list[RodStep]:
    trial = random_touch(np.random.default_rng([2, k]))
    assert trial is not None
    steps = finished_run(trial)
    assert not (steps and list(wrong_in(trial, steps)))
    return steps


def test_a_fast_star_does_not_pass_its_own_corner() -> None:
    """Its limbs met end on, 0.9 edges a step: a crossing that nodes alone let by."""
    assert _once_wrong(360)


def test_an_arc_flatter_than_a_hill_does_not_sink_into_it() -> None:
    assert _once_wrong(613)


@pytest.mark.long
def test_ten_thousand_parts_of_steps_make_no_energy_together() -> None:
    """Each made less than its tolerance explains."""
    assert _once_wrong(835)


@pytest.mark.long
def test_no_random_run_of_300_with_touch_that_finishes_has_diverged() -> None:
    finished, wrong = _fuzz(2, 300)
    assert not wrong
    assert finished > 120
