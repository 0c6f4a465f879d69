"""A sheet pushed by one node from one stable state to the next: energy and barriers.

actuation.csv has a row for each rest on the path without the driver: how far the node
has moved, the energy of the sheet, whether it is stable along the path, its barriers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from analysis.designs.energy_profile import Rest, barriers, rests
from pipeline.cases.origami import OrigamiCase, OrigamiRecorder
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.cases.rest_table import climbs, first_climb
from sim.origami.folding.folding import OrigamiStep
from sim.origami.loading.phases import Displace


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
                "a sheet that snaps has one phase, "
                "sim.origami.loading.phases.Displace: give it"
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

    def steps(self) -> Iterator[OrigamiStep]:
        return self.of.steps()

    def recorder(self) -> "FoldSnapRecorder":
        return FoldSnapRecorder(self.of.recorder(), self.force)

    def force(self, step: OrigamiStep) -> float:
        """Of the driver, the slope of the energy, N."""
        return float(step.factor * self._phase.force[self._phase.axis])


@dataclass(eq=False)
class FoldSnapRecorder:
    """Records a sheet, the energy that it has stored, and the force of the driver."""

    sheet: OrigamiRecorder
    force: Callable[[OrigamiStep], float]
    path: list[tuple[float, float, float]] = field(default_factory=list)

    def see(self, step: OrigamiStep) -> None:
        self.sheet.see(step)
        energy = float(step.energies.sum())
        self.path.append((step.displacement, energy, self.force(step)))

    def row(self, step: OrigamiStep) -> Row:
        moved, energy, force = self.path[-1]
        here = {"moved": moved, "force": force, "energy": energy}
        return self.sheet.row(step) | here

    def arrays(self, step: OrigamiStep) -> Arrays:
        return self.sheet.arrays(step)

    def progress(self, step: OrigamiStep) -> str:
        return f"moved {step.displacement:.2e} m"

    def documents(self) -> Documents:
        return self.sheet.documents()

    def fixed_arrays(self) -> Arrays:
        return self.sheet.fixed_arrays()

    @cached_property
    def rests(self) -> list[Rest]:
        """Where the driver carries nothing."""
        moved, energy, force = np.array(self.path).T
        return rests(moved, energy, force)

    def tables(self) -> Tables:
        return {"actuation.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        beside = climbs(self.rests, barriers(self.rests))
        for rest, climb in zip(self.rests, beside, strict=True):
            here = {"moved": rest.at, "energy": rest.energy, "stable": int(rest.stable)}
            yield {**here, **climb}

    def summary(self) -> Summary:
        return self.sheet.summary() | first_climb(self.rests, barriers(self.rests))
