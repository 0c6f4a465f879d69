"""A plate of layers whose strain at rest follows a field, as that changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.formats.structure_file import document
from sim.arrays import Floats
from sim.limits import is_finite
from sim.morph.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.morph.statics.growth import GrowthLaw, spread
from sim.morph.statics.layered import Layer, LayeredPlate, layered_plate

KEYS = {"modulus", "poisson", "thickness", "strain"}


class CurlingStep(NamedTuple):
    """A rest at one value of the field.

    Attributes
    ----------
    curvature, u : (2,) along x and y
    """

    s: int
    value: float
    curvature: Floats
    u: Floats
    found: Equilibrium


@dataclass(frozen=True, eq=False)
class CurlingCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    cells, size : of the plate along x and y
    layers : from the lowest up, each with modulus, poisson, thickness and a table
        strain of rows (field, strain, u)
    values : of the field, one rest after the other
    """

    cells: Sequence[int]
    size: Sequence[float]
    layers: Sequence[Mapping[str, Any]]
    values: Sequence[float]
    tolerance: float = 1e-8
    residual: float = 1e-10
    max_steps: int = 500

    def __post_init__(self) -> None:
        for i, layer in enumerate(self.layers):
            if set(layer) != KEYS:
                raise ValueError(
                    f"layers[{i}] has {', '.join(sorted(layer))}: give "
                    f"{', '.join(sorted(KEYS))}"
                )
        _ = self.options, self.plate
        if not len(self.values) or not all(map(is_finite, self.values)):
            raise ValueError(f"values is {self.values}: give numbers of the field")
        for value in self.values:
            self._strains(value)

    @cached_property
    def options(self) -> EquilibriumOptions:
        return EquilibriumOptions(self.tolerance, self.residual, self.max_steps)

    @cached_property
    def laws(self) -> list[GrowthLaw]:
        return [
            GrowthLaw.of(layer["strain"], f"layers[{i}].strain")
            for i, layer in enumerate(self.layers)
        ]

    @cached_property
    def plate(self) -> LayeredPlate:
        made = [
            Layer(layer["modulus"], layer["poisson"], layer["thickness"])
            for layer in self.layers
        ]
        return layered_plate(self.cells, self.size, made)

    def _strains(self, value: float) -> tuple[Floats, Floats]:
        """Of each layer, and their u."""
        strain, u = np.array([law.at(value) for law in self.laws]).T
        return strain, u

    def steps(self) -> Iterator[CurlingStep]:
        found: Equilibrium | None = None
        for s, value in enumerate(self.values):
            strain, u = self._strains(value)
            found = at_rest(self.plate.grown(strain.tolist()), self.options, found)
            curvature = self.plate.curvatures(found.r())
            u = spread(partial(self._curvature, found), curvature, strain, u)
            yield CurlingStep(s, float(value), curvature, u, found)

    def _curvature(self, start: Equilibrium, strain: Floats) -> Floats:
        found = at_rest(self.plate.grown(strain.tolist()), self.options, start)
        return self.plate.curvatures(found.r())

    def recorder(self) -> "CurlingRecorder":
        return CurlingRecorder(self)


@dataclass(eq=False)
class CurlingRecorder:
    """Records curvatures by the field."""

    case: CurlingCase
    last: CurlingStep = field(init=False)

    def see(self, step: CurlingStep) -> None:
        self.last = step

    def row(self, step: CurlingStep) -> Row:
        return {
            "step": step.s,
            "field": step.value,
            "curvature_x": float(step.curvature[0]),
            "curvature_y": float(step.curvature[1]),
            "u_curvature_x": float(step.u[0]),
            "u_curvature_y": float(step.u[1]),
            "energy": step.found.energy,
            "unbalanced": step.found.unbalanced,
            "residual": step.found.residual,
            "iterations": step.found.steps,
        }

    def arrays(self, step: CurlingStep) -> Arrays:
        return {"r": step.found.r()}

    def progress(self, step: CurlingStep) -> str:
        return f"field {step.value:g}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.plate.structure)}

    def fixed_arrays(self) -> Arrays:
        plate = self.case.plate
        return {"triangles": plate.panels.nodes, "layer": plate.layer}

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        told = self.row(self.last)
        steps = told.pop("step")
        return {"stop": "minimum", **told, "steps": steps}
