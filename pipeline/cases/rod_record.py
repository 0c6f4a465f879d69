"""What is recorded of a rod."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from sim.arrays import Floats
from sim.rod.contact.coulomb import OPEN
from sim.rod.contact.ground import gaps, surface
from sim.rod.contact.touching import crossings, edge_gap
from sim.rod.rod.paths import centroid
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.storage import from_arrays, to_arrays
from sim.rod.stepping.world import World

GROUND_POINTS = 400  # of the drawn ground


class RodCase(Protocol):
    """A case about a rod; its world is made when it is first asked for."""

    @property
    def world(self) -> World: ...


class TimedCase(Protocol):
    """A case that is stepped for a time.

    Attributes
    ----------
    duration : s
    every : steps between two records
    """

    @property
    def duration(self) -> float: ...

    @property
    def every(self) -> int: ...

    @property
    def options(self) -> StepOptions: ...


class MovingCase(RodCase, TimedCase, Protocol):
    """A case about a rod that moves for a time."""


def moving(case: MovingCase, state: State | None = None) -> Iterator[RodStep]:
    """The steps of a moving rod, from its start or from a recorded state."""
    start = None if state is None else from_arrays(state)
    yield from simulate(
        case.world, case.options, case.duration, every=case.every, start=start
    )


def rod_row(world: World, step: RodStep) -> Row:
    x_c, y_c = centroid(step.x, world.rod.mass)
    return {
        "step": step.step,
        "time": step.time,
        "x_c": float(x_c),
        "y_c": float(y_c),
        "kinetic": step.kinetic,
        "stretching": step.stretching,
        "bending": step.bending,
        "gravity": step.gravity,
        "contacts": int(np.count_nonzero(step.contact != OPEN)),
        "residual": step.residual,
        "complementarity": step.complementarity,
        "given": step.given,
        "damped": step.damped,
        "friction": step.friction,
        "impact": step.impact,
        "out_of_balance": step.out_of_balance,
        "iterations": step.iterations,
        "substeps": step.substeps,
        "h": step.h,
    }


def rod_arrays(step: RodStep) -> Arrays:
    return {
        "x": step.x,
        "v": step.v,
        "reaction": step.reaction,
        "contact": step.contact,
    }


def rod_state(case: MovingCase, step: RodStep) -> Arrays:
    """What every later step depends on; nothing where none is left."""
    left = step.time < case.duration - 1e-6 * case.options.h
    return to_arrays(step.state) if left and not step.failed else {}


def rod_fixed_arrays(world: World) -> Arrays:
    rod = world.rod
    return {
        "edges": rod.edges,
        "edge_limb": rod.edge_limb,
        "mass": rod.mass,
        "ground": _drawn_ground(world),
    }


def _drawn_ground(world: World) -> Floats:
    """(k, 2) points of the ground around the start, or none."""
    if world.ground is None:
        return np.empty((0, 2))
    middle = world.rod.nodes[:, 0].mean()
    reach = 6.0 * np.ptp(world.rod.nodes, axis=0).max()
    x = np.linspace(middle - reach, middle + reach, GROUND_POINTS)
    relief = world.ground.relief
    return np.array([[p, surface(relief, p)[0]] for p in x])


def rod_progress(step: RodStep) -> str:
    return f"t {step.time:.3f} s"


def rod_summary(world: World, step: RodStep, stop: str) -> Summary:
    """What every rod run tells of itself; residuals are the largest of all steps.

    With a ground or touch, the largest distance of a contact from what it touches; the
    gaps of nodes and of edges above the ground at the end, and how many edges cross.
    """
    rod = world.rod
    near: Summary = {"crossings": crossings(rod.edges, step.x)}
    if world.ground is not None or world.touching is not None:
        near["contact_gap"] = step.contact_gap
    if world.ground is not None:
        near["gap"] = float(gaps(world.ground, step.x).min())
        near["edge_gap"] = edge_gap(rod.edges, step.x, world.ground)
    return near | {
        "stop": stop,
        "time": step.time,
        "steps": step.step,
        "energy": step.energy,
        "residual": step.worst_residual,
        "complementarity": step.worst_complementarity,
        "residual_share": step.worst_share,
        "out_of_balance": step.out_of_balance,
        "balance": step.worst_balance,
    }


def nothing(step: Any) -> dict[str, Any]:
    """Nothing is added."""
    del step
    return {}


class OfEveryRod:
    """What is recorded alike of every rod; `case` says which one."""

    case: RodCase

    def arrays(self, step: RodStep) -> Arrays:
        return rod_arrays(step)

    def progress(self, step: RodStep) -> str:
        return rod_progress(step)

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return rod_fixed_arrays(self.case.world)

    def tables(self) -> Tables:
        return {}


@dataclass(eq=False)
class RodRecorder(OfEveryRod):
    """Records a rod by what its case adds to what is recorded of every rod.

    Attributes
    ----------
    stop : why the run ended
    ends : entries of the summary
    columns : of steps.csv
    state : for checkpoints
    """

    case: RodCase
    stop: str
    ends: Callable[[RodStep], Summary]
    columns: Callable[[RodStep], Row] = nothing
    state: Callable[[RodStep], Arrays] = nothing
    last: RodStep = field(init=False)

    def see(self, step: RodStep) -> None:
        self.last = step

    def row(self, step: RodStep) -> Row:
        return rod_row(self.case.world, step) | self.columns(step)

    def summary(self) -> Summary:
        return rod_summary(self.case.world, self.last, self.stop) | self.ends(self.last)


def refuse_times(duration: float, every: int) -> None:
    finite = isinstance(duration, int | float) and 0.0 < duration < np.inf
    if not (finite and type(every) is int and every >= 1):
        raise ValueError(
            f"duration {duration} s, every {every} steps: give a positive time "
            "and a whole number from 1 up"
        )
