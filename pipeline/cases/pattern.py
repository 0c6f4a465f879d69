"""A case of patterns: which of two materials the growing parts of a body are made of.

pattern.csv has a row for each growth of two materials: its parts, its share of the
second one where shares are free, and the material found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases.equilibrium import check_values
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.formats.structure_file import OwnStructure, document
from sim.limits import is_count
from sim.morph.morphing.search import DesignStop, SearchOptions
from sim.morph.statics.equilibrium import EquilibriumOptions
from sim.morph.statics.growth import GrowingStructure, Growth
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.patterns import (
    PatternOptions,
    PatternStage,
    PatternStep,
    find_pattern,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

STILL = "no single change lowers F"


@dataclass(frozen=True, eq=False)
class PatternCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : some of whose growths name an `other` material
    values : of the field, one for each target
    targets : that the shape at each value shall come close to; the file's own if none
    sharpness, seed : see `sim.morph.statics.patterns`
    max_steps : of the search at each weight of the penalty
    tolerance, residual : of each equilibrium
    """

    body: LoadedStructure
    values: Sequence[float]
    targets: Sequence[Target] = ()
    sharpness: float = 1.0
    seed: int | None = None
    max_steps: int = 60
    tolerance: float = 1e-9
    residual: float = 1e-10

    def __post_init__(self) -> None:
        if not self.chosen:
            raise ValueError(
                "no growth of the body names an `other` material: nothing is to choose"
            )
        check_values(self.body, self.values)
        for growth in self.chosen:
            for value in self.values:
                assert growth.other is not None
                growth.other.at(value)
        if len(self.aims) != len(self.values):
            raise ValueError(
                f"values are {len(self.values)} and targets {len(self.aims)}: give a "
                "value of the field for each target (a file names one at most)"
            )
        if self.seed is not None and not is_count(self.seed, 0):
            raise ValueError(
                f"seed is {self.seed}: give a whole number from 0, or null"
            )
        _ = self.options

    @cached_property
    def options(self) -> PatternOptions:
        return PatternOptions(
            self.sharpness,
            self.seed,
            SearchOptions(1e-4, 1e-10, self.max_steps),
            EquilibriumOptions(self.tolerance, self.residual),
        )

    @cached_property
    def chosen(self) -> list[Growth]:
        """Growths that may be of two materials."""
        body = self.body
        growths = body.growths if isinstance(body, GrowingStructure) else ()
        return [growth for growth in growths if growth.other is not None]

    @cached_property
    def aims(self) -> list[Target]:
        if self.targets:
            return list(self.targets)
        structure = self.body.structure
        shape = structure.target if isinstance(structure, OwnStructure) else None
        own = shape or self.body.target
        return [] if own is None else [own]

    def steps(self) -> Iterator[PatternStep]:
        assert isinstance(self.body, GrowingStructure)
        return find_pattern(self.body, self.values, self.aims, self.options)

    def recorder(self) -> "PatternRecorder":
        return PatternRecorder(self)


@dataclass(eq=False)
class PatternRecorder:
    """Records the search for a pattern, and what rounding cost."""

    case: PatternCase
    seen: list[PatternStep] = field(default_factory=list)

    def see(self, step: PatternStep) -> None:
        self.seen.append(step)

    def row(self, step: PatternStep) -> Row:
        return {
            "step": step.s,
            "F": step.F,
            "undecided": float(np.mean(4.0 * step.share * (1.0 - step.share))),
            **{f"E_{t}": float(E) for t, E in enumerate(step.E)},
            "decided": float(step.stage is not PatternStage.RELAXED),
            "weight": step.weight,
            "residual": max(end.residual for end in step.ends),
        }

    def arrays(self, step: PatternStep) -> Arrays:
        ends = np.array([end.r() for end in step.ends])
        return {"share": step.share, "r": ends[0], "ends": ends}

    def progress(self, step: PatternStep) -> str:
        return f"{step.stage.value}, F {step.F:.1e}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.body.structure)}

    def fixed_arrays(self) -> Arrays:
        body = self.case.body
        arrays: Arrays = {
            "bars": body.elastic.links,
            "triangles": body.elastic.panels.nodes,
        }
        for t, target in enumerate(self.case.aims):
            vertices, edges = target.wireframe(body.structure.r0)
            arrays[f"target_{t}_vertices"] = vertices
            arrays[f"target_{t}_edges"] = edges
        return arrays

    def tables(self) -> Tables:
        free, last = self._free, self.seen[-1]
        rows: list[TableRow] = [
            {
                "parts": _named(growth, self.case.body.structure),
                "free_share": float(share),
                "material": "second" if found > 0.5 else "first",
            }
            for growth, share, found in zip(
                self.case.chosen, free.share, last.share, strict=True
            )
        ]
        return {"pattern.csv": rows}

    @property
    def _free(self) -> PatternStep:
        """The last step without a penalty, whose shares may be anything."""
        return [
            step
            for step in self.seen
            if step.stage is PatternStage.RELAXED and step.weight == 0.0
        ][-1]

    def summary(self) -> Summary:
        last, row = self.seen[-1], self.row(self.seen[-1])
        rounded = next((s for s in self.seen if s.stage is PatternStage.ROUNDED), last)
        stages = [step.stage for step in self.seen]
        reached = self.case.options.search.reached >= last.F
        return {
            "stop": DesignStop.REACHED.value if reached else STILL,
            **{k: v for k, v in row.items() if k[0] in "FE"},
            "F_free": self._free.F,
            "F_rounded": rounded.F,
            "changed": stages.count(PatternStage.CHANGED),
            "of_second": int(np.count_nonzero(last.share > 0.5)),
            "growths": len(last.share),
            "residual": row["residual"],
            "steps": last.s,
        }


def _named(growth: Growth, structure: Structure) -> str:
    """Its parts, as a file counts them; rigid links by their nodes."""
    parts = {"springs": growth.links, "hinges": growth.hinges, "panels": growth.panels}
    owners = structure.constraints.owners
    return "; ".join(
        [owners[row] for row in growth.rigid.tolist()]
        + [
            f"{kind} {', '.join(map(str, which.tolist()))}"
            for kind, which in parts.items()
            if len(which)
        ]
    )
