"""A removal case: a structure, targets, and how many of its links shall go."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases.design import DesignCase, fixed_drawing
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.formats.structure_file import document
from sim.arrays import Floats
from sim.morph.morphing.design import links_of
from sim.morph.morphing.removal import (
    Manner,
    RemovalOptions,
    RemovalStep,
    refuse_removal,
    remove_links,
)
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class RemovalCase(DesignCase):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    remove : links that go
    trials : links that are tried before one goes
    """

    remove: int = 1
    trials: int = 6

    def _refuse(self) -> None:
        if self.symmetries:
            raise ValueError("links go one by one: leave symmetries empty")
        if self.places or self.axes:
            raise ValueError(
                "lengths are designed once links went: leave places and axes empty"
            )
        if self.sizes or self.drivers is not None:
            raise ValueError("links go without sizes and drivers: leave these out")
        refuse_removal(self.structure, self.removal.count)

    @cached_property
    def removal(self) -> RemovalOptions:
        return RemovalOptions(self.remove, self.trials, self.options)

    def steps(self) -> Iterator[RemovalStep]:  # type: ignore[override]
        return remove_links(self.structure, self.targets, self.removal)

    def recorder(self) -> "RemovalRecorder":  # type: ignore[override]
        return RemovalRecorder(self)


@dataclass(eq=False)
class RemovalRecorder:
    """Records which links go, and the lengths of those left."""

    case: RemovalCase
    last: RemovalStep = field(init=False)
    mobility: int = field(init=False)
    removed: list[TableRow] = field(init=False, default_factory=list)

    def see(self, step: RemovalStep) -> None:
        self.last = step
        if step.s == 0:
            self.mobility = int(step.mobility.max())
        if step.gone is not None:
            a, b = step.gone.nodes
            link = {"link": f"dist({a}, {b})", "manner": step.gone.manner.value}
            self.removed.append({**self.row(step), **link})

    def row(self, step: RemovalStep) -> Row:
        return {
            "step": step.s,
            "F": step.F,
            "links": len(links_of(step.structure).group),
            "mobility": int(step.mobility.max()),
            **{f"E_{t}": float(E) for t, E in enumerate(step.E)},
            "residual": max(end.residual for end in step.ends),
        }

    def arrays(self, step: RemovalStep) -> Arrays:
        return {
            "length": self._lengths(step.structure),
            "r": np.array([end.r for end in step.ends]),
        }

    def _lengths(self, structure: Structure) -> Floats:
        """(l,) of the links that the case began with, NaN for those gone."""
        table, links = structure.constraints, links_of(structure).constraint
        squares = table.constant[links].tolist()
        left = dict(zip(map(tuple, table.nodes[links].tolist()), squares, strict=True))
        case = self.case
        all_links = case.structure.constraints.nodes[case.links.constraint]
        ends = map(tuple, all_links.tolist())
        return np.sqrt([left.get(pair, np.nan) for pair in ends])

    def progress(self, step: RemovalStep) -> str:
        return f"{len(self.removed)} links less, F {step.F:.1e}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.structure)}

    def fixed_arrays(self) -> Arrays:
        return fixed_drawing(self.case)

    def tables(self) -> Tables:
        return {"removed.csv": self.removed}

    def summary(self) -> Summary:
        step, row = self.last, self.row(self.last)
        cut = [gone["manner"] for gone in self.removed].count(Manner.CUT.value)
        return {
            "stop": step.stop.value if step.stop is not None else "none",
            **{name: row[name] for name in row if name != "step"},
            "mobility_before": self.mobility,
            "cut": cut,
            "joined": len(self.removed) - cut,
            "steps": step.s,
        }
