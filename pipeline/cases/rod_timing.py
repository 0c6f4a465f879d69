"""Computing time of the star robot, Fig. 6 of [Hu20]."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.cases.rod import StarCase
from pipeline.terminal.machine import machine
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.contact.ground import Ground
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import Loop
from sim.rod.stepping.world import World

MOST = "_most"  # ends the columns of the slowest repeats


@dataclass(frozen=True)
class TimingStep:
    """CPU time over simulated time for one step length, by ground.

    Attributes
    ----------
    repeats : of each ground
    """

    step: int
    h: float
    repeats: dict[str, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class ComputingTimeCase:
    """CPU time of the compiled loop with N = 84, the least and the largest of repeats.

    Its numbers are those of the machine, which it names, and of the hour that ran it.

    grounds : by name; step_lengths : s; duration : s, simulated each time
    """

    grounds: dict[str, Ground]
    step_lengths: list[float]
    duration: float = 3.0
    repeats: int = 3

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "duration", of="computing time")
        refuse_unless_count(self, "repeats", of="computing time")
        for h in self.step_lengths:
            StepOptions(h=h)
        if not (self.grounds and self.step_lengths):
            raise ValueError(
                "computing time: name one ground and one step length or more"
            )

    def steps(self) -> Iterator[TimingStep]:
        worlds = {
            name: StarCase(ground=ground, duration=self.duration).world
            for name, ground in self.grounds.items()
        }
        self._cost(next(iter(worlds.values())), self.step_lengths[-1])  # compiles
        for k, h in enumerate(self.step_lengths):
            costs = {name: self._cost(world, h) for name, world in worlds.items()}
            yield TimingStep(k, h, costs)

    def _cost(self, world: World, h: float) -> tuple[float, ...]:
        taken = []
        for _ in range(self.repeats):
            loop = Loop(world, StepOptions(h=h), None)
            start = time.process_time()
            if not loop.run_to(1 << 40, self.duration):
                raise loop.failure()
            taken.append((time.process_time() - start) / self.duration)
        return tuple(taken)

    def recorder(self) -> "TimingRecorder":
        return TimingRecorder()


def extremes(repeats: Mapping[str, Sequence[float]]) -> Row:
    """The least and the largest of the repeats of each ground, in columns."""
    least: Row = {name: min(taken) for name, taken in repeats.items()}
    return least | {f"{name}{MOST}": max(taken) for name, taken in repeats.items()}


@dataclass(eq=False)
class TimingRecorder:
    """Records what was measured."""

    last: TimingStep = field(init=False)

    def see(self, step: TimingStep) -> None:
        self.last = step

    def row(self, step: TimingStep) -> Row:
        return {"step": step.step, "h": step.h, **extremes(step.repeats)}

    def arrays(self, step: TimingStep) -> Arrays:
        return {"ratios": np.array([min(taken) for taken in step.repeats.values()])}

    def progress(self, step: TimingStep) -> str:
        return f"h {1e3 * step.h:g} ms"

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return {}

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        lengths = self.last.step + 1
        return {"stop": "measured", "step_lengths": lengths, "machine": machine()}
