"""A structure moved from one stable state to the next, and the barrier in between.

actuation.csv has a row for each rest without the driver: how far the driven coordinate
has moved, the energy, whether it is stable, in how many ways the energy falls from it,
and the barrier to the next stable state and to the one before, from there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.morph.equilibrium import Balance
from sim.morph.loaded import Loaded
from sim.morph.snap import (
    Drive,
    RestState,
    SnapStep,
    barriers,
    driven,
    profile,
    rest_states,
)

Row = Mapping[str, float | str]


@dataclass(frozen=True, eq=False)
class SnapCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports and loads; see `pipeline.cases.loaded`
    drive : which coordinate of which node is moved, and how far
    options : when an equilibrium counts as found
    """

    body: Loaded
    drive: Drive
    options: Balance = field(default_factory=Balance)

    def __post_init__(self) -> None:
        driven(self.body, self.drive, 0.0)

    @cached_property
    def _steps(self) -> list[SnapStep]:
        return list(profile(self.body, self.drive, self.options))

    @cached_property
    def states(self) -> list[RestState]:
        """Rests without the driver, in the order of the path."""
        return rest_states(self.body, self.drive, self._steps, self.options)

    def steps(self) -> Iterator[SnapStep]:
        yield from self._steps

    def numbers(self, step: SnapStep) -> dict[str, float]:
        return {
            "step": step.s,
            "moved": step.moved,
            "force": step.force,
            "energy": step.found.energy,
            "unbalanced": step.found.unbalanced,
            "iterations": step.found.steps,
        }

    def arrays(self, step: SnapStep) -> dict[str, NDArray[np.generic]]:
        return {"r": step.found.r()}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return {"links": self.body.elastic.links}

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.body.structure)}

    def tables(self, step: SnapStep) -> dict[str, Iterable[Row]]:
        del step  # the table is of all steps
        return {"actuation.csv": self._rows()}

    def _rows(self) -> Iterator[Row]:
        tops, stable = barriers(self.states, self._steps).tolist(), 0
        for state in self.states:
            onward: float | str = ""
            back: float | str = ""
            if state.stable:
                if stable < len(tops):
                    onward = tops[stable] - state.energy
                if stable > 0:
                    back = tops[stable - 1] - state.energy
                stable += 1
            yield {
                "moved": state.moved,
                "energy": state.energy,
                "stable": int(state.stable),
                "downhill": state.downhill,
                "barrier_onward": onward,
                "barrier_back": back,
            }

    def result(self, step: SnapStep) -> dict[str, float | str | int]:
        tops = barriers(self.states, self._steps)
        stable = [state for state in self.states if state.stable]
        ended: dict[str, float | str | int] = {
            "stop": "end of the path",
            "stable_states": len(stable),
            "largest_force": max(abs(s.force) for s in self._steps),
            "steps": step.s,
        }
        if len(tops):
            ended["barrier"] = float(tops[0] - stable[0].energy)
            ended["barrier_back"] = float(tops[0] - stable[1].energy)
        return ended

    def progress(self, step: SnapStep) -> str:
        return f"moved {step.moved:.3g}"
