"""A sheet that repeats, folded in steps: the plate that it is from afar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary
from pipeline.terminal.errors import InputError
from sim.origami.loading.phases import Fold
from sim.origami.mechanics.plate import (
    FoldedCell,
    PlateStiffness,
    folded_cells,
    plate_of,
)
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.pattern import CreasePattern


class PlateStep(NamedTuple):
    """The sheet at one part of its fold."""

    s: int
    cell: FoldedCell
    plate: PlateStiffness


@dataclass(frozen=True, eq=False)
class PlateCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    pattern : a flat sheet, one cell and a panel around it at least
    material : of panels and creases, which are single hinges
    periods : two pairs of vertices with the same places in neighbouring cells
    fold : how far, in how many increments; the flat sheet is none of them
    """

    pattern: CreasePattern
    material: SheetMaterial
    periods: Sequence[Sequence[int]]
    fold: Fold

    def __post_init__(self) -> None:
        self.fold.targets(self.mesh)
        vertices = len(self.pattern.vertices)
        if len(self.periods) != 2:
            raise ValueError(f"{len(self.periods)} periods are given: give two")
        for pair in self.periods:
            if len(pair) != 2 or not all(0 <= v < vertices for v in pair):
                raise ValueError(
                    f"a period is {list(pair)}: give two vertices, numbered 0 to "
                    f"{vertices - 1}"
                )
        a, b = (self.pattern.vertices[j] - self.pattern.vertices[i]
                for i, j in self.periods)  # fmt: skip
        area = float(np.linalg.norm(np.cross(a, b)))
        if area <= 1e-9 * float(np.linalg.norm(a)) * float(np.linalg.norm(b)):
            raise ValueError(
                f"periods {list(map(list, self.periods))} lie in line: give two ways"
            )

    @property
    def mesh(self) -> BarHingeMesh:
        return concentrated_mesh(self.pattern, self.material)

    def steps(self) -> Iterator[PlateStep]:
        cells = folded_cells(self.pattern, self.material, self.fold, self.periods)
        try:
            for s, cell in enumerate(cells):
                yield PlateStep(s, cell, plate_of(cell, self.material))
        except ValueError as error:
            raise InputError(str(error)) from None

    def recorder(self) -> "PlateRecorder":
        return PlateRecorder(self)


@dataclass(eq=False)
class PlateRecorder:
    """Records ratios and moduli of the plate."""

    case: PlateCase
    last: PlateStep = field(init=False)

    def see(self, step: PlateStep) -> None:
        self.last = step

    def row(self, step: PlateStep) -> Row:
        folds = np.degrees(np.abs(step.cell.folds))
        in_plane, bending = step.plate.poisson()
        names = ("stretch_x", "stretch_y", "bending_x", "bending_y")
        return {
            "step": step.s,
            "part": (step.s + 1) / self.case.fold.increments,
            "smallest_fold_deg": float(folds.min()),
            "largest_fold_deg": float(folds.max()),
            "period_0": float(step.plate.periods[0]),
            "period_1": float(step.plate.periods[1]),
            "poisson": in_plane,
            "bending_poisson": bending,
            **dict(zip(names, step.plate.moduli().tolist(), strict=True)),
        }

    def arrays(self, step: PlateStep) -> Arrays:
        mesh = concentrated_mesh(step.cell.pattern, self.case.material)
        return {"x": mesh.rest, "plate": step.plate.C}

    def progress(self, step: PlateStep) -> str:
        return "Poisson's ratio {:.2g}, bending {:.2g}".format(*step.plate.poisson())

    def documents(self) -> Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> Arrays:
        mesh = self.case.mesh
        return {"rest": mesh.rest, "triangles": mesh.triangle}

    def tables(self) -> dict[str, list[Row]]:
        return {}

    def summary(self) -> Summary:
        in_plane, bending = self.last.plate.poisson()
        return {
            "stop": "all increments done",
            "steps": self.last.s,
            "poisson": in_plane,
            "bending_poisson": bending,
        }
