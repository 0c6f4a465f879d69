"""A design case: a structure, targets, and link lengths that bring it closest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.arrays import Floats, Ints
from sim.morph.design import (
    DesignOptions,
    DesignStep,
    Links,
    changed,
    design,
    links_of,
    refuse_redundant,
)
from sim.morph.problem import Newton, Problem
from sim.morph.structure import Structure
from sim.morph.targets.protocol import Target


@dataclass(frozen=True, eq=False)
class DesignCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure, targets : see `sim.morph.design`
    symmetries : each the axes whose coordinates change their signs; lengths that a
        symmetry maps onto each other stay equal in proportion
    limit : largest relative change of a length
    tolerance : on the gradient of F, whose variables are relative changes
    max_steps : of the search
    morph_tolerance : on the gradient along the constraints at the end of each morph
    residual : largest violation of a constraint, dimensionless
    """

    structure: Structure
    targets: Sequence[Target]
    symmetries: Sequence[str] = ()
    limit: float = 0.2
    tolerance: float = 1e-6
    max_steps: int = 100
    morph_tolerance: float = 1e-9
    residual: float = 1e-10

    def __post_init__(self) -> None:
        if not self.targets:
            raise ValueError("targets is empty: give one target or more")
        if isinstance(self.symmetries, str):
            raise ValueError(
                f"symmetries is {self.symmetries!r}: give a list, such as [xy]"
            )
        _ = self.options, self.links
        refuse_redundant(self.structure)
        Problem.at(self.structure, self.targets[0], self.options.morph)

    @cached_property
    def options(self) -> DesignOptions:
        morph = Newton(tolerance=self.morph_tolerance, residual=self.residual)
        return DesignOptions(
            limit=self.limit,
            tolerance=self.tolerance,
            max_steps=self.max_steps,
            morph=morph,
        )

    @cached_property
    def links(self) -> Links:
        return links_of(self.structure, self.symmetries)

    @cached_property
    def _ends(self) -> Ints:
        """(l, 2) the nodes of each link."""
        return self.structure.constraints.nodes[self.links.constraint, :2]

    def _lengths(self, change: Floats) -> Floats:
        made = changed(self.structure, self.links, change).constraints.constant
        lengths: Floats = np.sqrt(made[self.links.constraint])
        return lengths

    def steps(self) -> Iterator[DesignStep]:
        return design(self.structure, self.targets, self.links, self.options)

    def numbers(self, step: DesignStep) -> dict[str, float]:
        return {
            "step": step.s,
            "F": step.F,
            **{f"E_{t}": float(E) for t, E in enumerate(step.E)},
            "gradient": step.gradient,
            "largest_change": float(np.abs(step.change).max()),
            "residual": max(end.residual for end in step.ends),
        }

    def arrays(self, step: DesignStep) -> dict[str, NDArray[np.generic]]:
        return {
            "change": step.change,
            "length": self._lengths(step.change),
            "r": np.array([end.r for end in step.ends]),
        }

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        arrays: dict[str, NDArray[np.generic]] = {"links": self._ends}
        for t, target in enumerate(self.targets):
            vertices, edges = target.wireframe(self.structure.r0)
            arrays[f"target_{t}_vertices"] = vertices
            arrays[f"target_{t}_edges"] = edges
        return arrays

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.structure)}

    def tables(
        self, step: DesignStep
    ) -> dict[str, Iterable[Mapping[str, float | str]]]:
        first, last = self._lengths(0.0 * step.change), self._lengths(step.change)
        rows: list[dict[str, float | str]] = [
            {
                "link": f"dist({a}, {b})",
                "group": int(group),
                "length_before": float(before),
                "length": float(after),
                "change": float(after / before - 1.0),
            }
            for (a, b), group, before, after in zip(
                self._ends.tolist(), self.links.group, first, last, strict=True
            )
        ]
        return {"lengths.csv": rows}

    def result(self, step: DesignStep) -> dict[str, float | str | int]:
        return {
            "stop": step.stop.value if step.stop is not None else "none",
            "F": step.F,
            **{f"E_{t}": float(E) for t, E in enumerate(step.E)},
            "gradient": step.gradient,
            "largest_change": float(np.abs(step.change).max()),
            "at_limit": int(np.count_nonzero(np.abs(step.change) >= self.limit)),
            "groups": len(step.change),
            "links": len(self.links.group),
            "residual": max(end.residual for end in step.ends),
            "steps": step.s,
        }

    def progress(self, step: DesignStep) -> str:
        return f"F {step.F:.1e}"
