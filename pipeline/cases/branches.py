"""Configurations at which a structure can go on in more than one way.

branches.csv has a row for each way that was followed:

    branch, way     number of the branch, and 1 or -1 for along or against its tangent
    steps           followed
    distance        of the nodes from where branches meet at the end, rms / L
    S, E            eqs. (6) and (5) of [dJ23] at the end; E where there is a target
    mobility        smallest on the way, without rigid motions; where there is no target
    residual        largest on the way
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.formats.structure_file import document
from sim.arrays import Floats
from sim.morph.equations.closing import closed
from sim.morph.equations.system import system_of
from sim.morph.mobility.mobility import LARGEST
from sim.morph.morphing.branches import (
    BranchOptions,
    Crossing,
    CrossingKind,
    branches,
    crossing,
)
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.saddles import Saddle, descents, stationary
from sim.morph.structure.measures import characteristic_length, shape_factor
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target


class WayStep(NamedTuple):
    """A configuration on one way of a branch; branch -1 and way 0 where they meet.

    Attributes
    ----------
    numbers : of it alone: residual, mobility or E
    """

    s: int
    branch: int
    way: int
    i: int
    r: Floats
    numbers: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class BranchCase:
    """One of conf/case, built by Hydra: paths that cross at the initial configuration.

    Attributes
    ----------
    step : along the tangent, over L
    steps_each_way : from where branches meet
    residual : largest violation of a constraint, dimensionless
    seed : of the directions from which tangents are sought
    """

    structure: Structure
    step: float = 0.02
    steps_each_way: int = 50
    residual: float = 1e-10
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.options
        unknowns = 3 * len(self.structure.r0) + self.structure.constraints.multipliers
        if unknowns > LARGEST:
            raise ValueError(
                f"the structure has {unknowns} unknowns: branches are sought with "
                f"{LARGEST} at most"
            )
        closed(system_of(self.structure), self.structure, self.residual)

    @cached_property
    def options(self) -> BranchOptions:
        return BranchOptions(self.step, self.steps_each_way, self.residual, self.seed)

    @cached_property
    def crossing(self) -> Crossing:
        return crossing(self.structure, self.options)

    def steps(self) -> Iterator[WayStep]:
        for step in branches(self.structure, self.options, self.crossing):
            numbers = {"residual": step.residual, "mobility": step.mobility}
            yield WayStep(step.s, step.branch, step.way, step.i, step.r, numbers)

    def recorder(self) -> "WayRecorder":
        return WayRecorder(self.structure, self._directions, self._ends)

    def _directions(self) -> Arrays:
        n = len(self.structure.r0)
        return {"directions": self.crossing.directions[:, :n]}

    def _ends(self, ways: list[WayStep]) -> Summary:
        found = self.crossing
        return {
            "stop": "followed",
            "configuration": found.kind.value,
            "branches": len(found.directions)
            if found.kind is CrossingKind.BRANCHES
            else 0,
            "dimension": found.dimension,
            "null_space": len(found.tangent.motions),
            "rigid_motions": found.tangent.rigid,
            "cokernel": len(found.tangent.cokernel),
            "forms": len(found.tangent.forms),
            "smallest_singular_value": found.tangent.smallest,
            "residual": max(way.numbers["residual"] for way in ways),
            "steps": ways[-1].s,
        }


@dataclass(frozen=True, eq=False)
class SaddleCase:
    """One of conf/case, built by Hydra: a morph that rests where E is not least.

    Attributes
    ----------
    target : None where the structure brings the goals of its leading nodes
    tolerance : on the gradient along the constraints
    residual : largest violation of a constraint, dimensionless
    """

    structure: Structure
    target: Target | None = None
    tolerance: float = 1e-9
    max_steps: int = 1000
    residual: float = 1e-10

    def __post_init__(self) -> None:
        _ = self.options, self.shape
        closed(system_of(self.structure), self.structure, self.residual)

    @cached_property
    def options(self) -> NewtonOptions:
        return NewtonOptions(self.tolerance, self.max_steps, self.residual)

    @cached_property
    def shape(self) -> Target:
        if self.target is not None:
            return self.target
        if self.structure.goals is None:
            raise ValueError(
                "the case has no target and its structure no goals: give one of them"
            )
        return Goals(self.structure.goals)

    @cached_property
    def saddle(self) -> Saddle:
        return stationary(self.structure, self.shape, self.options)

    def steps(self) -> Iterator[WayStep]:
        yield _way(0, -1, 0, self.saddle.end)
        ends = descents(self.structure, self.shape, self.options, self.saddle)
        for s, (branch, way, step) in enumerate(ends, 1):
            yield _way(s, branch, way, step)

    def recorder(self) -> "WayRecorder":
        return WayRecorder(self.structure, self._directions, self._ends)

    def _directions(self) -> Arrays:
        n = len(self.structure.r0)
        vertices, edges = self.shape.wireframe(self.structure.r0)
        return {
            "directions": self.saddle.motions[:, :n],
            "target_vertices": vertices,
            "target_edges": edges,
        }

    def _ends(self, ways: list[WayStep]) -> Summary:
        found = self.saddle
        return {
            "stop": "gradient",
            "configuration": "minimum" if found.negative == 0 else "saddle",
            "E_there": ways[0].numbers["E"],
            "negative_motions": found.negative,
            "lowest_curvature": float(found.curvature.min(initial=0.0)),
            "branches": 2 * len(found.motions),
            "E": min(way.numbers["E"] for way in ways),
            "residual": max(way.numbers["residual"] for way in ways),
            "steps": ways[-1].s,
        }


@dataclass(eq=False)
class WayRecorder:
    """Records the ways from one configuration.

    Attributes
    ----------
    fixed_arrays : that tell of the configuration
    ends : what the case tells of it, and of all ways
    """

    structure: Structure
    fixed_arrays: Callable[[], Arrays]
    ends: Callable[[list[WayStep]], Summary]
    ways: list[WayStep] = field(default_factory=list)

    def see(self, step: WayStep) -> None:
        self.ways.append(step)

    def row(self, step: WayStep) -> Row:
        L, meeting = characteristic_length(self.structure.r0), self.ways[0].r
        moved = np.square(step.r - meeting).sum() / len(meeting)
        return {
            "step": step.s,
            "branch": step.branch,
            "way": step.way,
            "i": step.i,
            "distance": float(np.sqrt(moved)) / L,
            "S": shape_factor(step.r, L),
            **step.numbers,
        }

    def arrays(self, step: WayStep) -> Arrays:
        return {"r": step.r}

    def progress(self, step: WayStep) -> str:
        return f"branch {step.branch}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.structure)}

    def tables(self) -> Tables:
        return {"branches.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        ways = self.ways
        for branch, way in dict.fromkeys((step.branch, step.way) for step in ways[1:]):
            own = [step for step in ways if (step.branch, step.way) == (branch, way)]
            end = self.row(own[-1])
            row: dict[str, float | str] = {
                "branch": branch,
                "way": way,
                "steps": len(own),
                "distance": end["distance"],
                "S": end["S"],
                "residual": max(step.numbers["residual"] for step in own),
            }
            if "E" in end:
                row["E"] = end["E"]
            else:
                row["mobility"] = min(step.numbers["mobility"] for step in own)
            yield row

    def summary(self) -> Summary:
        return self.ends(self.ways)


def _way(s: int, branch: int, way: int, step: MorphStep) -> WayStep:
    numbers = {"E": step.E, "gradient": step.gradient, "residual": step.residual}
    return WayStep(s, branch, way, step.s, step.r, numbers)
