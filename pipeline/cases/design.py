"""Design and envelope: lengths for given targets, and the shapes within reach."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases import record
from pipeline.io.structure_file import document
from sim.core.arrays import Floats, Ints
from sim.core.options import NotNegative, is_count
from sim.mechanism.design import (
    DesignOptions,
    DesignStep,
    Links,
    Places,
    design,
    links_of,
    refuse_redundant,
)
from sim.mechanism.morph_objective import MorphProblem, NewtonOptions
from sim.mechanism.reachable_shapes import EnvelopeOptions, EnvelopeSearch, Reached
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target


@dataclass(frozen=True, eq=False)
class DesignCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure, targets : see `sim.mechanism.design`
    symmetries : each the axes whose coordinates change their signs; lengths that a
        symmetry maps onto each other stay equal in proportion
    places : nodes that may be made elsewhere, in place of links of other lengths
    limit : largest relative change of a length, or displacement of a place over L along
        each of x, y and z
    tolerance : on the gradient of F, whose variables are relative changes
    mean_exponent : 1 for the mean of E^2 over the targets; larger: nearer to the worst
    max_steps : of the search
    morph_tolerance : on the gradient along the constraints at the end of each morph
    residual : largest violation of a constraint, dimensionless
    """

    structure: Structure
    targets: Sequence[Target]
    symmetries: Sequence[str] = ()
    places: Sequence[int] = ()
    limit: float = 0.2
    tolerance: float = 1e-6
    mean_exponent: float = 1.0
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
        _ = self.options, self.variables
        refuse_redundant(self.structure)
        MorphProblem.at(self.structure, self.targets[0], self.options.morph)

    @cached_property
    def options(self) -> DesignOptions:
        morph = NewtonOptions(tolerance=self.morph_tolerance, residual=self.residual)
        return DesignOptions(
            limit=self.limit,
            tolerance=self.tolerance,
            mean_exponent=self.mean_exponent,
            max_steps=self.max_steps,
            morph=morph,
        )

    @cached_property
    def links(self) -> Links:
        """Between bodies; where places may change there may be none."""
        linked = any(len(body) == 2 for body in self.structure.bodies)
        if not linked and self.places:
            return Links(np.empty(0, np.int64), np.empty(0, np.int64))
        return links_of(self.structure, self.symmetries)

    @cached_property
    def variables(self) -> Links | Places:
        """What may change: places if any are named, else lengths."""
        named, n = self.places, len(self.structure.r0)
        listed = isinstance(named, Sequence) and not isinstance(named, str)
        nodes = {j for j in named if is_count(j, 0) and j < n} if listed else set()
        if not listed or len(nodes) < len(named):
            raise ValueError(
                f"places is {named}: list nodes from 0 to {n - 1}, each once"
            )
        if not named:
            return self.links
        if self.symmetries:
            raise ValueError("places exclude symmetries: set symmetries to []")
        made = Places(np.array(named, np.int64))
        made.changed(self.structure, np.zeros(made.count))
        return made

    def steps(self) -> Iterator[DesignStep]:
        yield from design(self.structure, self.targets, self.variables, self.options)

    def recorder(self) -> "DesignRecorder":
        return DesignRecorder(self)


class DesignRecorder(record.Recorder[DesignCase, DesignStep]):
    """Records the search for lengths or places, and those it ends with."""

    def row(self, step: DesignStep) -> record.Row:
        return {
            "step": step.s,
            "F": step.F,
            **{f"E_{t}": float(E) for t, E in enumerate(step.E)},
            "gradient": step.gradient,
            "largest_change": float(np.abs(step.change).max()),
            "residual": max(end.residual for end in step.ends),
        }

    def arrays(self, step: DesignStep) -> record.Arrays:
        return {
            "change": step.change,
            "length": self._lengths(step.change),
            "r": np.array([end.r for end in step.ends]),
        }

    def _lengths(self, change: Floats) -> Floats:
        case = self.case
        made = case.variables.changed(case.structure, change).constraints.constant
        lengths: Floats = np.sqrt(made[case.links.constraint])
        return lengths

    def progress(self, step: DesignStep) -> str:
        return f"F {step.F:.3g}"

    def documents(self) -> record.Documents:
        return {"structure.json": document(self.case.structure)}

    def fixed_arrays(self) -> record.Arrays:
        case = self.case
        arrays: record.Arrays = {"links": _ends(case)}
        for t, target in enumerate(case.targets):
            arrays |= record.wires(target, case.structure.r0, f"target_{t}")
        return arrays

    def tables(self) -> record.Tables:
        change = self.last.change
        first, last = self._lengths(0.0 * change), self._lengths(change)
        ends, groups = _ends(self.case).tolist(), self.case.links.group
        rows: list[record.TableRow] = [
            {
                "link": f"dist({a}, {b})",
                "group": int(group),
                "length_before": float(before),
                "length": float(after),
                "change": float(after / before - 1.0),
            }
            for (a, b), group, before, after in zip(
                ends, groups, first, last, strict=True
            )
        ]
        variables, structure = self.case.variables, self.case.structure
        if isinstance(variables, Links):
            return {"lengths.csv": rows}
        made = variables.made(structure, change)
        return {
            "lengths.csv": [{k: v for k, v in r.items() if k != "group"} for r in rows],
            "places.csv": [
                {"node": j, **record.along_axes("{}", made[j])}
                for j in self.case.places
            ],
        }

    def summary(self) -> record.Summary:
        step, row = self.last, self.row(self.last)
        residual, size = row.pop("residual"), np.abs(step.change)
        return {
            "stop": record.stop_of(step),
            **{name: row[name] for name in row if name != "step"},
            "at_limit": int(np.count_nonzero(size >= self.case.limit)),
            "groups": len(step.change),
            "links": len(self.case.links.group),
            "residual": residual,
            "steps": step.s,
        }


def _ends(case: DesignCase) -> Ints:
    """(l, 2) the nodes of each link."""
    return case.structure.constraints.nodes[case.links.constraint, :2]


@dataclass(frozen=True, eq=False)
class EnvelopeCase(EnvelopeOptions):
    """One of conf/case, built by Hydra; see `sim.mechanism.reachable_shapes`.

    Attributes
    ----------
    structure : its solids cannot pass through each other, its ranges are respected
    ball_radius : of spheres at the nodes that have none in `structure`
    """

    structure: Structure = field(kw_only=True)
    ball_radius: NotNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        EnvelopeSearch(self.solid, self)  # which refuses what it cannot search

    @cached_property
    def solid(self) -> Structure:
        """The structure with the spheres of `ball_radius`."""
        return record.with_spheres(self.structure, self.ball_radius)

    def steps(self) -> Iterator[Reached]:
        yield from EnvelopeSearch(self.solid, self).steps()

    def recorder(self) -> "EnvelopeRecorder":
        return EnvelopeRecorder(self)

    def continued(
        self, state: record.State
    ) -> tuple["EnvelopeRecorder", Iterator[Reached]]:
        search = EnvelopeSearch(self.solid, self)
        search.resume(state)
        return self.recorder(), search.steps()


BOX = ("box_long", "box_middle", "box_short")


class EnvelopeRecorder(record.Recorder[EnvelopeCase, Reached]):
    """Records the shapes that were reached."""

    def row(self, step: Reached) -> record.Row:
        return {
            **record.attributes(step, "sample", "S", "size", "sigma"),
            **dict(zip(BOX, step.box.tolist(), strict=True)),
            **record.attributes(step, "cells", "new", "residual"),
        }

    def arrays(self, step: Reached) -> record.Arrays:
        return {"r": step.r}

    def state(self, step: Reached) -> record.Arrays:
        return step.checkpoint() if step.stop is None else {}

    def progress(self, step: Reached) -> str:
        return f"{step.cells} different shapes (cells) found, {step.new} of them new"

    def documents(self) -> record.Documents:
        return {"structure.json": document(self.case.solid)}

    def summary(self) -> record.Summary:
        last = self.last
        ranges = {
            f"{name}_{end}": float(values[k])
            for k, name in enumerate(("S", "size", "sigma"))
            for end, values in (("least", last.least), ("most", last.most))
        }
        return {
            "stop": record.stop_of(last),
            "samples": last.sample + 1,
            "cells": last.cells,
            "new_in_last_100": last.new,
            **ranges,
        }
