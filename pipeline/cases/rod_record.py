"""What the rod cases record of a step."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sim.arrays import Floats
from sim.rod.coulomb import OPEN
from sim.rod.ground import surface
from sim.rod.options import StepOptions
from sim.rod.paths import centroid
from sim.rod.simulate import RodStep, simulate
from sim.rod.storage import from_arrays, to_arrays
from sim.rod.world import World

GROUND_POINTS = 400  # of the drawn ground


class RodCase(Protocol):
    """What the cases of this module record of a step."""

    @property
    def world(self) -> World:
        """What is simulated."""
        ...

    def numbers(self, step: RodStep) -> dict[str, float]:
        x_c, y_c = centroid(step.x, self.world.rod.mass)
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
            "iterations": step.iterations,
            "substeps": step.substeps,
            "h": step.h,
        }

    def arrays(self, step: RodStep) -> dict[str, NDArray[np.generic]]:
        return {
            "x": step.x,
            "v": step.v,
            "reaction": step.reaction,
            "contact": step.contact,
        }

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        rod = self.world.rod
        return {
            "edges": rod.edges,
            "edge_limb": rod.edge_limb,
            "mass": rod.mass,
            "ground": self._drawn_ground(),
        }

    def _drawn_ground(self) -> Floats:
        """(k, 2) points of the ground around the start, or none."""
        if self.world.ground is None:
            return np.empty((0, 2))
        middle = self.world.rod.nodes[:, 0].mean()
        reach = 6.0 * np.ptp(self.world.rod.nodes, axis=0).max()
        x = np.linspace(middle - reach, middle + reach, GROUND_POINTS)
        relief = self.world.ground.relief
        return np.array([[p, surface(relief, p)[0]] for p in x])

    def documents(self) -> dict[str, object]:
        return {}

    def progress(self, step: RodStep) -> str:
        return f"t {step.time:.3f} s"


class MovingRodCase(RodCase, Protocol):
    """A rod that moves for a time; its run can be continued.

    Attributes
    ----------
    duration : s
    every : steps between two records
    """

    duration: float
    every: int
    options: StepOptions

    def steps(self) -> Iterator[RodStep]:
        return simulate(self.world, self.options, self.duration, every=self.every)

    def checkpoint(self, step: RodStep) -> dict[str, NDArray[Any]]:
        left = step.time < self.duration - 1e-6 * self.options.h
        return to_arrays(step.state) if left and not step.failed else {}

    def continued(self, arrays: Mapping[str, NDArray[Any]]) -> Iterator[RodStep]:
        return simulate(
            self.world,
            self.options,
            self.duration,
            every=self.every,
            start=from_arrays(arrays),
        )


def common_result(step: RodStep, stop: str) -> dict[str, float | str | int | bool]:
    """What every rod run tells of itself; residuals are the largest of all steps."""
    return {
        "stop": stop,
        "time": step.time,
        "steps": step.step,
        "energy": step.energy,
        "residual": step.worst_residual,
        "complementarity": step.worst_complementarity,
    }


def refuse_times(duration: float, every: int) -> None:
    finite = isinstance(duration, int | float) and 0.0 < duration < np.inf
    if not (finite and type(every) is int and every >= 1):
        raise ValueError(
            f"duration {duration} s, every {every} steps: give a positive time "
            "and a whole number from 1 up"
        )
