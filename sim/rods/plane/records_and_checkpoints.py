"""A run of a rod, in the plane or in space: pulses, records and checkpoints.

A `MotionLoop` makes steps up to a number of them or a time, and switches limbs on where
they are due. `records` yields what it records on the way. `state_arrays` and
`state_from` are for files: all that the next step depends on, so that a run continued
from a stored state makes the same bits as one that never stopped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from sim.core.arrays import Floats, Ints
from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import Pulse, Schedule, pulses_due
from sim.rods.plane.options import StepOptions

NEAR = 1e-6  # of a step, by which a time may differ from a whole number of steps

Step = TypeVar("Step")
State = TypeVar("State")


class MotionLoop(ABC, Generic[Step]):
    """A run: where the rod is, and how it goes on."""

    def __init__(self, options: StepOptions, schedule: Schedule | None) -> None:
        self.options, self.schedule = options, schedule

    @property
    @abstractmethod
    def time(self) -> float:
        """s"""

    @property
    @abstractmethod
    def step(self) -> int:
        """Full steps made."""

    @abstractmethod
    def steps(self, steps: int, stop: float, end: float) -> bool:
        """One or more of at most so many steps; whether they were made.

        Steps of fixed length go on beyond `stop`, where a pulse begins, and are cut to
        end at `end`, s; adapted ones end at `stop`.
        """

    @abstractmethod
    def switch_on(self, pulse: Pulse) -> None:
        """Let a pulse begin; where eq. (7) jumps, its energy is given."""

    @abstractmethod
    def record(self, *, failed: bool = False) -> Step:
        """What is there now."""

    @abstractmethod
    def failure(self) -> NotConvergedError:
        """What to say where a step cannot be made."""

    def run_to(self, step: int, end: float) -> bool:
        """Run to a number of steps or a time, and switch limbs on where they are due.

        A pulse between two steps of fixed length begins to act with the later one.
        """
        h, schedule = self.options.h, self.schedule
        near = NEAR * h
        window = near if self.options.accuracy > 0.0 else h - near
        while self.step < step and self.time < end - near:
            for due in pulses_due(schedule, self.time - window, self.time + near):
                self.switch_on(due)
            later = next(pulses_due(schedule, self.time + near, end), None)
            stop = end if later is None else later.time
            if not self.steps(step - self.step, stop, end):
                return False
        return True

    def records(
        self, duration: float, every: int, *, continued: bool
    ) -> Iterator[Step]:
        """Yield the rod at the start, after every `every` steps, and at the end.

        Parameters
        ----------
        duration : s, the time at which to end
        continued : from a stored state, which is not yielded again

        Raises
        ------
        NotConvergedError
            after yielding what was reached before the step that failed
        """
        if not (duration > 0.0 and every >= 1):
            raise ValueError(
                f"duration is {duration} s, recorded every {every} steps: both must be "
                "positive"
            )
        if not continued:
            yield self.record()
        while self.time < duration - NEAR * self.options.h:
            recorded = self.time
            made = self.run_to((self.step // every + 1) * every, duration)
            if self.time > recorded:
                yield self.record(failed=not made)
            if not made:
                raise self.failure()


def lowest_limb(height: Floats, limb: Ints, count: int) -> int:
    """The limb whose edges (m,), of limbs or -1, are lowest on the mean."""
    return int(np.argmin([height[limb == k].mean() for k in range(count)]))


def numbers(kind: type[State]) -> State:
    """The numbers of a class in one piece of memory that numba reads and writes."""
    types = list(kind.__annotations__.items())
    made: Any = np.zeros((), np.dtype((np.record, types)))[()]
    return cast(State, made)


def state_arrays(state: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a named tuple of arrays, numbers and named tuples, by name."""
    found: dict[str, NDArray[Any]] = {}
    for name, part in state._asdict().items():
        if isinstance(part, tuple):
            inner = state_arrays(part).items()
            found |= {f"{name}_{own}": array for own, array in inner}
        else:
            found[name] = np.array(
                part.tolist() if isinstance(part, np.record) else part
            )
    return found


def state_from(kind: type[State], arrays: Mapping[str, NDArray[Any]]) -> State:
    """The named tuple that `state_arrays` took apart."""
    made: dict[str, Any] = {}
    for name, of in get_type_hints(kind).items():
        if get_origin(of) is not None:
            made[name] = arrays[name]
        elif of in (int, float):
            made[name] = of(arrays[name])
        elif issubclass(of, tuple):
            inner = {k.removeprefix(f"{name}_"): value for k, value in arrays.items()}
            made[name] = state_from(of, inner)
        else:
            made[name] = numbers(of)
            for own, value in zip(of.__annotations__, arrays[name], strict=True):
                made[name][own] = value
    return kind(**made)
