"""A rod in space followed as its loads, supports or natural shape change."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.space.balance import SpaceOptions, SpaceRest, rest
from sim.rod.space.frames import SpaceState, moved_on
from sim.rod.space.loads import SpaceLoads
from sim.rod.space.space_rod import SpaceRod

SMALLEST = 2.0**-10  # of a load step


class SpaceSetting(NamedTuple):
    """A rod, what acts on it, and where its supports are.

    Attributes
    ----------
    moved : (n, 3) m, of held nodes from their start
    turned : (m,) rad, of held frames about their edges from their start
    """

    rod: SpaceRod
    loads: SpaceLoads
    moved: Floats
    turned: Floats


class SpaceStep(NamedTuple):
    """One rest on the way.

    Attributes
    ----------
    share : of the whole way
    """

    s: int
    share: float
    rest: SpaceRest


def settled(rod: SpaceRod, loads: SpaceLoads) -> SpaceSetting:
    """Supports stay where they are."""
    return SpaceSetting(rod, loads, np.zeros_like(rod.nodes), np.zeros(len(rod.edges)))


def followed(
    setting: Callable[[float], SpaceSetting],
    count: int,
    options: SpaceOptions | None = None,
) -> Iterator[SpaceStep]:
    """Yield rests at shares 0, 1/count, ..., 1 of the way.

    Parameters
    ----------
    setting : by the share of the way

    Raises
    ------
    NotConvergedError
        where no rest is found with a thousandth of a step
    """
    before = setting(0.0)
    state, at = before.rod.state, 0.0
    for s in range(count + 1):
        share = s / count
        found, before, at = _towards(setting, before, state, at, share, options, count)
        state = found.state
        yield SpaceStep(s, share, found)


def _towards(
    setting: Callable[[float], SpaceSetting],
    before: SpaceSetting,
    state: SpaceState,
    at: float,
    share: float,
    options: SpaceOptions | None,
    count: int,
) -> tuple[SpaceRest, SpaceSetting, float]:
    """The rest at a share, by smaller steps where one is too large."""
    step = share - at
    while True:
        to = min(at + step, share) if step > 0.0 else share
        now = setting(to)
        try:
            carried = _carried(now, before, state)
            found = rest(now.rod, now.loads, carried, options)
        except NotConvergedError:
            step *= 0.5
            if step <= SMALLEST / count:
                raise
            continue
        state, before, at = found.state, now, to
        if to >= share:
            return found, now, at


def _carried(now: SpaceSetting, before: SpaceSetting, state: SpaceState) -> SpaceState:
    """The state with supports where they are now."""
    rod = now.rod
    return moved_on(
        state,
        rod.edges,
        rod.bends,
        now.moved - before.moved,
        now.turned - before.turned,
    )
