"""Configurations at which a structure can go on in more than one way.

branches.csv has a row for each way that was followed:

    branch, way     number of the branch, and 1 or -1 for along or against its tangent
    steps           followed
    distance        of the nodes from where branches meet at the end, rms / L
    S, E            eqs. (6) and (5) of [dJ23] at the end; E where there is a target
    mobility        smallest on the way, without rigid motions; where there is no target
    residual        largest on the way
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.arrays import Floats
from sim.morph.branches import (
    BranchOptions,
    Crossing,
    Kind,
    branches,
    crossing,
)
from sim.morph.closing import closed
from sim.morph.measures import characteristic_length, shape_factor
from sim.morph.mobility import LARGEST
from sim.morph.morph import MorphStep
from sim.morph.problem import Newton
from sim.morph.saddles import Saddle, descents, stationary
from sim.morph.structure import Structure
from sim.morph.system import system_of
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target

Row = Mapping[str, float | str]


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
    def found(self) -> Crossing:
        return crossing(self.structure, self.options)

    @cached_property
    def _ways(self) -> list[WayStep]:
        return [
            WayStep(
                step.s,
                step.branch,
                step.way,
                step.i,
                step.r,
                {"residual": step.residual, "mobility": step.mobility},
            )
            for step in branches(self.structure, self.options)
        ]

    def steps(self) -> Iterator[WayStep]:
        yield from self._ways

    def numbers(self, step: WayStep) -> dict[str, float]:
        return numbers_of(self.structure, step, self._ways[0].r)

    def arrays(self, step: WayStep) -> dict[str, NDArray[np.generic]]:
        return {"r": step.r}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        n = len(self.structure.r0)
        return {"directions": self.found.directions[:, :n]}

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.structure)}

    def tables(self, step: WayStep) -> dict[str, Iterable[Row]]:
        del step  # the table tells of all
        return {"branches.csv": way_rows(self.structure, self._ways)}

    def result(self, step: WayStep) -> dict[str, float | str | int]:
        found = self.found
        return {
            "stop": "followed",
            "configuration": found.kind.value,
            "branches": len(found.directions) if found.kind is Kind.BRANCHES else 0,
            "dimension": found.dimension,
            "null_space": len(found.tangent.motions),
            "rigid_motions": found.tangent.rigid,
            "cokernel": len(found.tangent.cokernel),
            "forms": len(found.tangent.forms),
            "smallest_singular_value": found.tangent.smallest,
            "residual": max(way.numbers["residual"] for way in self._ways),
            "steps": step.s,
        }

    def progress(self, step: WayStep) -> str:
        return f"branch {step.branch}"


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
    def options(self) -> Newton:
        return Newton(self.tolerance, self.max_steps, self.residual)

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
    def found(self) -> Saddle:
        return stationary(self.structure, self.shape, self.options)

    @cached_property
    def _ways(self) -> list[WayStep]:
        ways = [_way(0, -1, 0, self.found.end)]
        ends = descents(self.structure, self.shape, self.options, self.found)
        for branch, way, step in ends:
            ways.append(_way(len(ways), branch, way, step))
        return ways

    def steps(self) -> Iterator[WayStep]:
        yield from self._ways

    def numbers(self, step: WayStep) -> dict[str, float]:
        return numbers_of(self.structure, step, self._ways[0].r)

    def arrays(self, step: WayStep) -> dict[str, NDArray[np.generic]]:
        return {"r": step.r}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        n = len(self.structure.r0)
        vertices, edges = self.shape.wireframe(self.structure.r0)
        return {
            "directions": self.found.motions[:, :n],
            "target_vertices": vertices,
            "target_edges": edges,
        }

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.structure)}

    def tables(self, step: WayStep) -> dict[str, Iterable[Row]]:
        del step  # the table tells of all
        return {"branches.csv": way_rows(self.structure, self._ways)}

    def result(self, step: WayStep) -> dict[str, float | str | int]:
        found = self.found
        kind = "minimum" if found.negative == 0 else "saddle"
        lowest = min(way.numbers["E"] for way in self._ways)
        return {
            "stop": "gradient",
            "configuration": kind,
            "E_there": self._ways[0].numbers["E"],
            "negative_motions": found.negative,
            "lowest_curvature": float(found.curvature.min(initial=0.0)),
            "branches": 2 * len(found.motions),
            "E": lowest,
            "residual": max(way.numbers["residual"] for way in self._ways),
            "steps": step.s,
        }

    def progress(self, step: WayStep) -> str:
        return f"branch {step.branch}"


def numbers_of(
    structure: Structure, step: WayStep, meeting: Floats
) -> dict[str, float]:
    """One row of steps.csv."""
    L = characteristic_length(structure.r0)
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


def way_rows(structure: Structure, ways: list[WayStep]) -> Iterator[Row]:
    """The rows of branches.csv."""
    meeting = ways[0].r
    for branch, way in dict.fromkeys((step.branch, step.way) for step in ways[1:]):
        own = [step for step in ways if (step.branch, step.way) == (branch, way)]
        end = numbers_of(structure, own[-1], meeting)
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


def _way(s: int, branch: int, way: int, step: MorphStep) -> WayStep:
    numbers = {"E": step.E, "gradient": step.gradient, "residual": step.residual}
    return WayStep(s, branch, way, step.s, step.r, numbers)
