"""A structure moved from one stable state to the next, and the barrier in between.

actuation.csv has a row for each rest without the driver: how far the driven coordinate
has moved, the energy, whether it is stable, in how many ways the energy falls from it,
and its barriers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.cases.rest_table import climbs, first_climb
from pipeline.formats.structure_file import document
from sim.morph.statics.equilibrium import EquilibriumOptions
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.snap import (
    Drive,
    RestState,
    SnapStep,
    barriers,
    driven,
    profile,
    rest_states,
)


@dataclass(frozen=True, eq=False)
class SnapCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports and loads; see `pipeline.cases.loaded`
    drive : which coordinate of which node is moved, and how far
    options : when an equilibrium counts as found
    """

    body: LoadedStructure
    drive: Drive
    options: EquilibriumOptions = field(default_factory=EquilibriumOptions)

    def __post_init__(self) -> None:
        driven(self.body, self.drive, 0.0)

    def steps(self) -> Iterator[SnapStep]:
        return profile(self.body, self.drive, self.options)

    def recorder(self) -> "SnapRecorder":
        return SnapRecorder(self)


@dataclass(eq=False)
class SnapRecorder:
    """Records the path of a driven structure, then finds the rests along it."""

    case: SnapCase
    path: list[SnapStep] = field(default_factory=list)

    def see(self, step: SnapStep) -> None:
        self.path.append(step)

    def row(self, step: SnapStep) -> Row:
        return {
            "step": step.s,
            "moved": step.moved,
            "force": step.force,
            "energy": step.equilibrium.energy,
            "unbalanced": step.equilibrium.unbalanced,
            "iterations": step.equilibrium.steps,
        }

    def arrays(self, step: SnapStep) -> Arrays:
        return {"r": step.equilibrium.r()}

    def progress(self, step: SnapStep) -> str:
        return f"moved {step.moved:.3g}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.body.structure)}

    def fixed_arrays(self) -> Arrays:
        bars = self.case.body.elastic.links
        return {"links": bars, "bars": bars}

    @cached_property
    def rests(self) -> list[RestState]:
        """Without the driver, in the order of the path."""
        case = self.case
        return rest_states(case.body, case.drive, self.path, case.options)

    @cached_property
    def _tops(self) -> list[float]:
        tops: list[float] = barriers(self.rests, self.path).tolist()
        return tops

    def tables(self) -> Tables:
        return {"actuation.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        beside = climbs(self.rests, self._tops)
        for rest, climb in zip(self.rests, beside, strict=True):
            yield {
                "moved": rest.moved,
                "energy": rest.energy,
                "stable": int(rest.stable),
                "downhill": rest.downhill,
                **climb,
            }

    def summary(self) -> Summary:
        found = first_climb(self.rests, self._tops)
        return {
            "stop": "end of the path",
            "stable_states": found.pop("stable_states"),
            "largest_force": max(abs(s.force) for s in self.path),
            "steps": self.path[-1].s,
            **found,
        }
