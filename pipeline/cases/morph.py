"""A morphing case: a structure, a target, and how to bring one to the other."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.reaction_table import reaction_rows, strongest
from pipeline.cases.structure_file import document
from sim.morph.choice import Choice
from sim.morph.closing import closed
from sim.morph.limits import is_positive
from sim.morph.measures import characteristic_length
from sim.morph.mobility import mobility
from sim.morph.morph import (
    Followers,
    MorphStep,
    Multipliers,
    Projection,
    Watch,
    morph,
)
from sim.morph.newton_morph import morph_newton
from sim.morph.problem import Newton
from sim.morph.reactions import Reactions, reactions
from sim.morph.structure import Structure
from sim.morph.system import system_of
from sim.morph.targets.goals import Goals
from sim.morph.targets.norms import AlongAxis
from sim.morph.targets.pose import Moved, perturbed
from sim.morph.targets.protocol import Target
from sim.morph.volume import STIFFNESS, Obstacles

TOUCHING = 1e-4  # of L, force from which a contact counts


class Method(Choice):
    PROJECTION = "projection"
    NEWTON = "newton"


@dataclass(frozen=True, eq=False)
class MorphCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure : see `sim.morph`
    target : None where the structure brings the goals of its leading nodes
    method : projection, eqs. (11) and (12) as the paper has them, or newton
    tolerance : projection: on the change per step of what `watch` names, E or S;
        newton: on the gradient along the constraints. 1e-6 and 1e-9 unless given
    residual : largest violation of a constraint, dimensionless
    followers : hold or home
    multipliers : frozen or tangent, in a projection
    perturb : seed, and standard deviations `turn` (rad) and `shift` of a small motion
        of the target, which breaks a symmetry
    ball_radius : of balls at the nodes that have none in `structure`; newton only.
        Balls, capsules and triangles cannot overlap, nor pass each other
    reactions : write the forces of the constraints at the end to reactions.csv
    """

    structure: Structure
    target: Target | None = None
    method: Method | str = Method.PROJECTION
    tolerance: float | None = None
    max_steps: int = 1000
    residual: float = 1e-10
    followers: str = "hold"
    multipliers: str = "frozen"
    watch: str = "E"
    perturb: Mapping[str, Any] | None = None
    ball_radius: float = 0.0
    reactions: bool = False

    def __post_init__(self) -> None:
        if self.ball_radius != 0.0 and not is_positive(self.ball_radius):
            raise ValueError(
                f"ball_radius must not be negative, not {self.ball_radius}"
            )
        _ = self.options, self.shape
        self._check_goals()
        self._check_size()
        z = closed(system_of(self.structure), self.structure, self.residual)
        if self.obstacles is not None:
            self.obstacles.check(z)

    def _check_size(self) -> None:
        r0 = self.structure.r0
        if not np.ptp(r0, axis=0).any():
            raise ValueError(
                "all nodes are at one place, which leaves E and S without a length to "
                "be divided by: move one of them"
            )
        far = float(np.abs(r0).max()) / characteristic_length(r0)
        rounding = float(np.finfo(np.float64).eps) * far
        if rounding > 0.25 * self.residual:
            raise ValueError(
                f"nodes are {far:.1e} L from the origin, where a coordinate is rounded "
                f"to {rounding:.1e} L: too coarse for a residual of "
                f"{self.residual:.0e}: put the origin closer"
            )

    def _check_goals(self) -> None:
        target = self.shape.target if isinstance(self.shape, Moved) else self.shape
        if isinstance(target, AlongAxis) and isinstance(self.options, Newton):
            raise ValueError(
                "goals along an axis are not the nearest ones, and a Newton step need "
                "not lower E: choose `method: projection`"
            )

    @cached_property
    def options(self) -> Projection | Newton:
        if Method(self.method) is Method.NEWTON:
            return Newton(
                tolerance=1e-9 if self.tolerance is None else self.tolerance,
                max_steps=self.max_steps,
                residual=self.residual,
                followers=Followers(self.followers),
            )
        if self._is_limited:
            raise ValueError(
                "balls, capsules, triangles and ranges need `method: newton`: choose "
                "it, or leave them out"
            )
        return Projection(
            tolerance=1e-6 if self.tolerance is None else self.tolerance,
            max_steps=self.max_steps,
            residual=self.residual,
            followers=Followers(self.followers),
            multipliers=Multipliers(self.multipliers),
            watch=Watch(self.watch),
        )

    @cached_property
    def solid(self) -> Structure:
        """The structure with the balls of `ball_radius`."""
        if self.ball_radius == 0.0:
            return self.structure
        n, solids = len(self.structure.r0), self.structure.solids
        solids = solids.with_balls(n, self.ball_radius)
        return replace(self.structure, solids=solids)

    @property
    def _is_limited(self) -> bool:
        return len(self.solid.solids) > 0 or len(self.solid.ranges) > 0

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """Bodies and ranges in their way, if there are any."""
        if not self._is_limited:
            return None
        return Obstacles.of(self.solid)

    @cached_property
    def shape(self) -> Target:
        """The target, or the structure's own goals."""
        target = self.target
        if target is None:
            if self.structure.goals is None:
                raise ValueError(
                    "the case has no target and its structure no goals: give one of "
                    "them"
                )
            target = Goals(self.structure.goals)
        if self.perturb is None:
            return target
        if set(self.perturb) != {"seed", "turn", "shift"}:
            raise ValueError(
                f"perturb has {', '.join(self.perturb)}: give seed, turn and shift"
            )
        by = self.perturb
        return perturbed(target, seed=by["seed"], turn=by["turn"], shift=by["shift"])

    def steps(self) -> Iterator[MorphStep]:
        if isinstance(self.options, Newton):
            return morph_newton(self.solid, self.shape, self.options)
        return morph(self.structure, self.shape, self.options)

    def numbers(self, step: MorphStep) -> dict[str, float]:
        return {
            "step": step.s,
            "E": step.E,
            "S": step.S,
            "residual": step.residual,
            "gradient": step.gradient,
        }

    def arrays(self, step: MorphStep) -> dict[str, NDArray[np.generic]]:
        return {"r": step.r, "g": step.g, "lam": step.lam}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        vertices, edges = self.shape.wireframe(self.structure.r0)
        return {"target_vertices": vertices, "target_edges": edges}

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.solid)}

    def tables(self, step: MorphStep) -> dict[str, Iterable[Mapping[str, float | str]]]:
        tables: dict[str, Iterable[Mapping[str, float | str]]] = {}
        if self.reactions:
            forces = self._forces(step)
            tables["reactions.csv"] = reaction_rows(self.structure, forces)
        if self.obstacles is not None:
            found = self.obstacles.touching(step.state, self._kappa)
            tables["contacts.csv"] = [touch._asdict() for touch in found]
        return tables

    @property
    def _kappa(self) -> float:
        """That of the last potential of bodies and ranges."""
        return STIFFNESS[-1] * characteristic_length(self.structure.r0) ** 2

    def _forces(self, step: MorphStep) -> Reactions:
        contacts = None
        if self.obstacles is not None:
            contacts = self.obstacles.contacts(step.state, self._kappa)
        return reactions(self.structure, step.state, step.g, contacts)

    def result(self, step: MorphStep) -> dict[str, float | str | int]:
        table, found = self.structure.constraints, mobility(self.structure)
        ended: dict[str, float | str | int] = {
            "method": Method(self.method).value,
            "stop": step.stop.value if step.stop is not None else "none",
            "E": step.E,
            "S": step.S,
            "residual": step.residual,
            "projected_gradient": step.gradient,
            "steps": step.s,
            "nodes": found.nodes,
            "rows": found.rows,
            "multipliers": found.multipliers,
            "redundant": len(found.redundant),
            "redundant_rows": "; ".join(table.name_of_row(i) for i in found.redundant),
            "mobility": found.mobility,
        }
        if isinstance(self.shape, Moved):
            for axis, turn, shift in zip(
                "xyz", self.shape.turn, self.shape.shift, strict=True
            ):
                ended[f"target_turn_{axis}"] = turn
                ended[f"target_shift_{axis}"] = shift
        if self.obstacles is not None:
            found_there = self.obstacles.touching(step.state, self._kappa)
            ended["overlaps"] = self.obstacles.overlaps(step.r)
            if found_there:
                ended["smallest_gap"] = min(touch.room for touch in found_there)
            L = characteristic_length(self.structure.r0)
            carry = [touch for touch in found_there if touch.force > TOUCHING * L]
            ended["contacts"] = len(carry)
        if self.reactions:
            ended |= strongest(self.structure, self._forces(step))
        return ended

    def progress(self, step: MorphStep) -> str:
        return f"E {step.E:.1e}"
