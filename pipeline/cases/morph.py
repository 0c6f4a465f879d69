"""A morphing case: a structure, a target, and how to bring one to the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.morph.morph import (
    Followers,
    MorphStep,
    Multipliers,
    Projection,
    Watch,
    morph,
)
from sim.morph.structure import Structure
from sim.morph.system import linearise, state, system_of
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target


@dataclass(frozen=True, eq=False)
class MorphCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure : see `sim.morph`
    target : None where the structure brings the goals of its leading nodes
    tolerance : on the change per step of what `watch` names, E or S
    residual : largest violation of a constraint, dimensionless
    followers : hold or home; multipliers : frozen or tangent
    """

    structure: Structure
    target: Target | None = None
    tolerance: float = 1e-6
    max_steps: int = 1000
    residual: float = 1e-10
    followers: str = "hold"
    multipliers: str = "frozen"
    watch: str = "E"

    def __post_init__(self) -> None:
        _ = self.options, self.shape

    @cached_property
    def options(self) -> Projection:
        return Projection(
            tolerance=self.tolerance,
            max_steps=self.max_steps,
            residual=self.residual,
            followers=Followers(self.followers),
            multipliers=Multipliers(self.multipliers),
            watch=Watch(self.watch),
        )

    @cached_property
    def shape(self) -> Target:
        """The target, or the structure's own goals."""
        if self.target is not None:
            return self.target
        if self.structure.goals is None:
            raise ValueError(
                "the case has no target and its structure no goals: give one of them"
            )
        return Goals(self.structure.goals)

    def steps(self) -> Iterator[MorphStep]:
        return morph(self.structure, self.shape, self.options)

    def numbers(self, step: MorphStep) -> dict[str, float]:
        return {"step": step.s, "E": step.E, "S": step.S, "residual": step.residual}

    def arrays(self, step: MorphStep) -> dict[str, NDArray[np.generic]]:
        return {"r": step.r, "g": step.g, "lam": step.lam}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        vertices, edges = self.shape.wireframe(self.structure.r0)
        return {"target_vertices": vertices, "target_edges": edges}

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.structure)}

    def result(self, step: MorphStep) -> dict[str, float | str | int]:
        table = self.structure.constraints
        linear = linearise(system_of(self.structure), state(self.structure))
        rank = linear.system.m - len(linear.factorise().dropped)
        return {
            "stop": step.stop.value if step.stop is not None else "none",
            "E": step.E,
            "S": step.S,
            "residual": step.residual,
            "steps": step.s,
            "nodes": linear.system.n,
            "rows": linear.system.m,
            "multipliers": table.multipliers,
            "redundant": linear.system.m - rank,
            "mobility": 3 * linear.system.n + linear.system.k - rank,
        }

    def progress(self, step: MorphStep) -> str:
        return f"E {step.E:.1e}"
