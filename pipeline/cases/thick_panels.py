"""Rigid thick panels along the folds of the thin sheet: whether they close and clear.

opening is how far the two sides of a hinge come apart, clearance the least distance of
two panels, below zero where they run into each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.terminal.errors import InputError
from sim.arrays import Floats, Ints
from sim.choice import Choice
from sim.limits import is_count, is_finite, refuse_negative, refuse_unless_positive
from sim.origami.mechanics.thick import (
    ThickFolding,
    check_cut,
    clearance,
    face_heights,
    panel_solids,
    panel_spans,
    thick_folding,
)
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_path import PARTS, RigidSheet

TOUCHING = 1e-6  # of the thickness: how deep panels that touch may seem to be


class HingePlace(Choice):
    """Where hinges lie: on the faces that close, or halfway between the faces."""

    FACES = "faces"
    MIDDLE = "middle"


class ThickPanelsStep(NamedTuple):
    """Panels at one part of their folds."""

    s: int
    folds: Floats
    folding: ThickFolding
    clearance: float


@dataclass(frozen=True, eq=False)
class ThickPanelsCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    pattern : flat and assigned; panels may have any number of corners, but be convex
    thickness : m
    hinges : "faces" or "middle"; around vertices as near to the faces as panels close
    cut : m by which panels are cut back from their creases
    fraction, increments : of the assigned folds, and in how many steps
    """

    pattern: CreasePattern
    thickness: float
    hinges: HingePlace | str = HingePlace.FACES
    cut: float = 0.0
    fraction: float = 1.0
    increments: int = 36

    def __post_init__(self) -> None:
        object.__setattr__(self, "hinges", HingePlace(self.hinges))
        refuse_unless_positive(self, "thickness")
        refuse_negative(self, "cut")
        if not is_finite(self.fraction) or not 0.0 < self.fraction <= 1.0:
            raise ValueError(f"fraction is {self.fraction}: give above 0, at most 1")
        if not is_count(self.increments):
            raise ValueError(f"increments are {self.increments}: give 1 or more")
        if not len(self.pattern.assignment):
            raise ValueError("the pattern assigns no folds: nothing tells how it folds")
        check_cut(self.pattern, self.cut)

    @cached_property
    def folds(self) -> list[Floats]:
        """(c,) rad of the thin sheet at each increment, the flat one first."""
        assigned = np.asarray(self.pattern.assignment)[self.pattern.creases]
        asked = np.pi * self.fraction * assigned
        parts = np.arange(self.increments + 1) / self.increments
        rigid = RigidSheet(self.pattern, asked, np.ones(len(asked)))
        if not rigid.vertices:
            return [part * asked for part in parts]
        finer = -(-PARTS // self.increments)
        path = rigid.path(finer * self.increments)
        if path[-1].open_vertices:
            raise InputError(
                f"rigid panels do not close around vertex {path[-1].open_vertices[0]}: "
                "thick ones follow the folds of thin ones"
            )
        return [0.0 * asked, *(state.folds for state in path[finer - 1 :: finer])]

    @cached_property
    def heights(self) -> Floats:
        """(c,) m of the hinges above the pattern's plane."""
        if self.hinges is HingePlace.MIDDLE:
            return np.zeros(len(self.pattern.creases))
        return face_heights(self.pattern, self.folds[1:], self.thickness)

    @cached_property
    def solids(self) -> list[Floats]:
        spans = panel_spans(self.pattern, self.heights, self.thickness)
        return panel_solids(self.pattern, spans, self.cut)

    def steps(self) -> Iterator[ThickPanelsStep]:
        for s, folds in enumerate(self.folds):
            folding = thick_folding(self.pattern, folds, self.heights)
            yield ThickPanelsStep(s, folds, folding, clearance(self.solids, folding))

    def recorder(self) -> "ThickPanelsRecorder":
        return ThickPanelsRecorder(self)


@dataclass(eq=False)
class ThickPanelsRecorder:
    """Records the solids, and until which fold they are clear of each other."""

    case: ThickPanelsCase
    opening: float = 0.0
    steps: int = 0
    clear: list[tuple[float, bool]] = field(default_factory=list)

    def see(self, step: ThickPanelsStep) -> None:
        self.steps, self.opening = step.s, max(self.opening, step.folding.opening)
        largest = float(np.degrees(np.abs(step.folds).max()))
        apart = step.clearance >= -TOUCHING * self.case.thickness
        self.clear.append((largest, apart))

    def row(self, step: ThickPanelsStep) -> Row:
        return {
            "step": step.s,
            "largest_fold_deg": float(np.degrees(np.abs(step.folds).max())),
            "opening": step.folding.opening,
            "clearance": step.clearance,
        }

    def arrays(self, step: ThickPanelsStep) -> Arrays:
        placed = [
            x @ R.T + t
            for x, R, t in zip(
                self.case.solids, step.folding.turn, step.folding.shift, strict=True
            )
        ]
        return {"x": np.concatenate(placed), "folds": step.folds}

    def progress(self, step: ThickPanelsStep) -> str:
        return f"opening {step.folding.opening:.1e} m, {step.clearance:.1e} m apart"

    def documents(self) -> Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> Arrays:
        return {"triangles": self._triangles(), "heights": self.case.heights}

    def _triangles(self) -> Ints:
        """(t, 3) of the faces of all solids."""
        out, first = [], 0
        for solid in self.case.solids:
            m = len(solid) // 2
            for k in range(m):
                a, b = first + k, first + (k + 1) % m
                out += [(a, b, b + m), (a, b + m, a + m)]
            for base in (first, first + m):
                out += [(base, base + k, base + k + 1) for k in range(1, m - 1)]
            first += 2 * m
        return np.array(out, dtype=np.int64)

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        blocked = [k for k, (_, apart) in enumerate(self.clear) if not apart]
        last = blocked[0] - 1 if blocked else len(self.clear) - 1
        return {
            "stop": "all increments done",
            "steps": self.steps,
            "opening": self.opening,
            "clear_to_deg": self.clear[last][0] if last >= 0 else -1.0,
        }
