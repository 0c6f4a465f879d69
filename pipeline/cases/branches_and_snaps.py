"""Branches of a structure's configurations, and snaps between its stable states.

branches.csv has a row for each way that was followed:

    branch, way     number of the branch, and 1 or -1 for along or against its tangent
    steps           followed
    distance        of the nodes from where branches meet at the end, rms / L
    S, E            eqs. (6) and (5) of [dJ23] at the end; E where there is a target
    mobility        smallest on the way, without rigid motions; where there is no target
    residual        largest on the way

actuation.csv has a row for each rest without the driver: how far the driven coordinate
has moved, the energy, whether it is stable, in how many ways the energy falls from it,
and its barriers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases import record
from pipeline.io.structure_file import aim_of, document
from sim.mechanism import bifurcations
from sim.mechanism.bifurcations import BranchStep
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import system_of
from sim.mechanism.mobility import refuse_many
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.shape_measures import characteristic_length, shape_factor
from sim.mechanism.statics import snap_through
from sim.mechanism.statics.equilibrium import EquilibriumOptions
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target


@dataclass(frozen=True, eq=False)
class BranchCase(bifurcations.BranchOptions):
    """One of conf/case, built by Hydra: paths that cross at the initial configuration.

    See `sim.mechanism.bifurcations`.

    Attributes
    ----------
    structure : see `sim.mechanism`
    """

    structure: Structure = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        structure = self.structure
        refuse_many(3 * len(structure.r0) + structure.constraints.multipliers)
        closed(system_of(self.structure), self.structure, self.residual)

    @cached_property
    def crossing(self) -> bifurcations.Crossing:
        return bifurcations.crossing(self.structure, self)

    def steps(self) -> Iterator[BranchStep]:
        yield from bifurcations.branches(self.structure, self, self.crossing)

    def recorder(self) -> "WayRecorder":
        return WayRecorder(self)

    def directions(self) -> record.Arrays:
        n = len(self.structure.r0)
        return {"directions": self.crossing.directions[:, :n]}

    def ends(self, ways: list[BranchStep]) -> record.Summary:
        found = self.crossing
        crosses = found.kind is bifurcations.CrossingKind.BRANCHES
        return {
            "stop": "followed",
            "configuration": found.kind.value,
            "branches": len(found.directions) if crosses else 0,
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
    structure : see `sim.mechanism`
    max_steps : at most
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
        return aim_of(self.structure, self.target)

    @cached_property
    def saddle(self) -> bifurcations.Saddle:
        return bifurcations.stationary(self.structure, self.shape, self.options)

    def steps(self) -> Iterator[BranchStep]:
        yield _way(0, -1, 0, self.saddle.end)
        ends = bifurcations.descents(
            self.structure, self.shape, self.options, self.saddle
        )
        for s, (branch, way, step) in enumerate(ends, 1):
            yield _way(s, branch, way, step)

    def recorder(self) -> "WayRecorder":
        return WayRecorder(self)

    def directions(self) -> record.Arrays:
        n = len(self.structure.r0)
        directions = self.saddle.motions[:, :n]
        return {"directions": directions, **record.wires(self.shape, self.structure.r0)}

    def ends(self, ways: list[BranchStep]) -> record.Summary:
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


class WayRecorder(record.WholeRecorder[BranchCase | SaddleCase, BranchStep]):
    """Records the ways from one configuration, with what the case says of it."""

    def row(self, step: BranchStep) -> record.Row:
        L, meeting = characteristic_length(self.case.structure.r0), self.seen[0].r
        moved = np.square(step.r - meeting).sum() / len(meeting)
        return {
            "step": step.s,
            **record.attributes(step, "branch", "way", "i"),
            "distance": float(np.sqrt(moved)) / L,
            "S": shape_factor(step.r, L),
            **step.numbers,
        }

    def arrays(self, step: BranchStep) -> record.Arrays:
        return {"r": step.r}

    def progress(self, step: BranchStep) -> str:
        return f"branch {step.branch}"

    def documents(self) -> record.Documents:
        return {"structure.json": document(self.case.structure)}

    def fixed_arrays(self) -> record.Arrays:
        return self.case.directions()

    def tables(self) -> record.Tables:
        return {"branches.csv": self._rows()}

    def _rows(self) -> Iterator[record.TableRow]:
        ways = self.seen
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

    def summary(self) -> record.Summary:
        return self.case.ends(self.seen)


def _way(s: int, branch: int, way: int, step: MorphStep) -> BranchStep:
    numbers = {"E": step.E, "gradient": step.gradient, "residual": step.residual}
    return BranchStep(s, branch, way, step.s, step.r, numbers)


@dataclass(frozen=True, eq=False)
class SnapCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports and loads; see `pipeline.cases.equilibrium`
    drive : which coordinate of which node is moved, and how far
    options : when an equilibrium counts as found
    """

    body: LoadedStructure
    drive: snap_through.Drive
    options: EquilibriumOptions = field(default_factory=EquilibriumOptions)

    def __post_init__(self) -> None:
        snap_through.driven(self.body, self.drive, 0.0)

    def steps(self) -> Iterator[snap_through.SnapStep]:
        return snap_through.profile(self.body, self.drive, self.options)

    def recorder(self) -> "SnapRecorder":
        return SnapRecorder(self)


class SnapRecorder(record.WholeRecorder[SnapCase, snap_through.SnapStep]):
    """Records the path of a driven structure, then finds the rests along it."""

    def row(self, step: snap_through.SnapStep) -> record.Row:
        found = step.equilibrium
        return {
            "step": step.s,
            **record.attributes(step, "moved", "force"),
            **record.attributes(found, "energy", "unbalanced"),
            "iterations": found.steps,
        }

    def arrays(self, step: snap_through.SnapStep) -> record.Arrays:
        return {"r": step.equilibrium.r()}

    def progress(self, step: snap_through.SnapStep) -> str:
        return f"moved {step.moved:.3g}"

    def documents(self) -> record.Documents:
        return {"structure.json": document(self.case.body.structure)}

    def fixed_arrays(self) -> record.Arrays:
        bars = self.case.body.elastic.links
        return {"links": bars, "bars": bars}

    @cached_property
    def rests(self) -> list[snap_through.RestState]:
        """Without the driver, in the order of the path."""
        case = self.case
        return snap_through.rest_states(case.body, case.drive, self.seen, case.options)

    @cached_property
    def _tops(self) -> list[float]:
        tops: list[float] = snap_through.barriers(self.rests, self.seen).tolist()
        return tops

    def tables(self) -> record.Tables:
        return {"actuation.csv": record.climb_rows(self.rests, self._tops, "downhill")}

    def summary(self) -> record.Summary:
        found = record.first_climb(self.rests, self._tops)
        return {
            "stop": "end of the path",
            "stable_states": found.pop("stable_states"),
            "largest_force": max(abs(s.force) for s in self.seen),
            "steps": self.seen[-1].s,
            **found,
        }
