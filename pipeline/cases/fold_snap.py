"""A sheet pushed by one node from one stable state to the next: energy and barriers.

actuation.csv has a row for each rest on the path without the driver: how far the node
has moved, the energy of the sheet, whether it is stable along the path, and the barrier
to the next stable state and to the one before, from there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.energy_profile import Rest, barriers, rests
from pipeline.cases.origami import OrigamiCase
from sim.origami.folding import OrigamiStep
from sim.origami.phases import Displace

Row = Mapping[str, float | str]


@dataclass(frozen=True, eq=False)
class FoldSnapCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    of : its only phase displaces a node along an axis by a force on that node alone
    """

    of: OrigamiCase

    def __post_init__(self) -> None:
        _ = self._phase

    @cached_property
    def _phase(self) -> Displace:
        phase = self.of.phases[0]
        if len(self.of.phases) != 1 or not isinstance(phase, Displace):
            raise ValueError(
                "a sheet that snaps has one phase, sim.origami.phases.Displace: give it"
            )
        along = np.zeros(3)
        along[phase.axis] = phase.force[phase.axis]
        alone = list(phase.nodes) == [phase.watch]
        if not alone or not np.array_equal(along, np.array(phase.force)):
            raise ValueError(
                f"the force of the driver acts on nodes {list(phase.nodes)} along "
                f"{list(phase.force)}: let it act on node {phase.watch} alone, along "
                f"{'xyz'[phase.axis]}"
            )
        return phase

    @cached_property
    def _steps(self) -> list[OrigamiStep]:
        return list(self.of.steps())

    def steps(self) -> Iterator[OrigamiStep]:
        yield from self._steps

    def _force(self, step: OrigamiStep) -> float:
        """Of the driver, the slope of the energy, N."""
        return float(step.factor * self._phase.force[self._phase.axis])

    @cached_property
    def rests(self) -> list[Rest]:
        """Where the driver carries nothing."""
        steps = self._steps
        return rests(
            np.array([step.displacement for step in steps]),
            np.array([step.energies.sum() for step in steps]),
            np.array([self._force(step) for step in steps]),
        )

    def numbers(self, step: OrigamiStep) -> dict[str, float]:
        return self.of.numbers(step) | {
            "moved": step.displacement,
            "force": self._force(step),
            "energy": float(step.energies.sum()),
        }

    def arrays(self, step: OrigamiStep) -> dict[str, NDArray[np.generic]]:
        return self.of.arrays(step)

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return self.of.fixed_arrays()

    def documents(self) -> dict[str, object]:
        return self.of.documents()

    def tables(self, step: OrigamiStep) -> dict[str, Iterable[Row]]:
        del step  # the table is of all steps
        return {"actuation.csv": self._rows()}

    def _rows(self) -> Iterator[Row]:
        tops, stable = barriers(self.rests), 0
        for rest in self.rests:
            onward: float | str = ""
            back: float | str = ""
            if rest.stable:
                onward = tops[stable] - rest.energy if stable < len(tops) else ""
                back = tops[stable - 1] - rest.energy if stable else ""
                stable += 1
            yield {
                "moved": rest.at,
                "energy": rest.energy,
                "stable": int(rest.stable),
                "barrier_onward": onward,
                "barrier_back": back,
            }

    def result(self, step: OrigamiStep) -> dict[str, float | str | int]:
        stable = [rest for rest in self.rests if rest.stable]
        tops = barriers(self.rests)
        ended = self.of.result(step) | {"stable_states": len(stable)}
        if tops:
            ended["barrier"] = tops[0] - stable[0].energy
            ended["barrier_back"] = tops[0] - stable[1].energy
        return ended

    def progress(self, step: OrigamiStep) -> str:
        return f"moved {step.displacement:.2e} m"
