"""What shapes a structure can take: samples of its configurations."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from pipeline.formats.structure_file import document
from sim.limits import is_positive
from sim.morph.morphing.envelope import EnvelopeOptions, EnvelopeSearch, Reached
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class EnvelopeCase:
    """One of conf/case, built by Hydra; see `sim.morph.morphing.envelope`.

    Attributes
    ----------
    structure : its solids cannot pass through each other, its ranges are kept to
    ball_radius : of balls at the nodes that have none in `structure`
    samples, seed, stride, walk, cell : as of `EnvelopeOptions`
    """

    structure: Structure
    samples: int = 2000
    seed: int = 0
    stride: float = 0.1
    walk: int = 8
    cell: float = 0.02
    ball_radius: float = 0.0

    def __post_init__(self) -> None:
        if self.ball_radius != 0.0 and not is_positive(self.ball_radius):
            raise ValueError(
                f"ball_radius must not be negative, not {self.ball_radius}"
            )
        EnvelopeSearch(self.solid, self.options)  # which refuses what it cannot search

    @cached_property
    def options(self) -> EnvelopeOptions:
        return EnvelopeOptions(
            self.samples, self.seed, self.stride, self.walk, self.cell
        )

    @cached_property
    def solid(self) -> Structure:
        """The structure with the balls of `ball_radius`."""
        if self.ball_radius == 0.0:
            return self.structure
        n, solids = len(self.structure.r0), self.structure.solids
        return replace(self.structure, solids=solids.with_balls(n, self.ball_radius))

    def steps(self) -> Iterator[Reached]:
        yield from EnvelopeSearch(self.solid, self.options).steps()

    def recorder(self) -> "EnvelopeRecorder":
        return EnvelopeRecorder(self.solid)

    def continued(self, state: State) -> tuple["EnvelopeRecorder", Iterator[Reached]]:
        search = EnvelopeSearch(self.solid, self.options)
        search.resume(state)
        return self.recorder(), search.steps()


@dataclass(eq=False)
class EnvelopeRecorder:
    """Records the shapes that were reached."""

    structure: Structure
    last: Reached = field(init=False)

    def see(self, step: Reached) -> None:
        self.last = step

    def row(self, step: Reached) -> Row:
        long, middle, short = step.box.tolist()
        return {
            "sample": step.sample,
            "S": step.S,
            "size": step.size,
            "sigma": step.sigma,
            "box_long": long,
            "box_middle": middle,
            "box_short": short,
            "cells": step.cells,
            "new": step.new,
            "residual": step.residual,
        }

    def arrays(self, step: Reached) -> Arrays:
        return {"r": step.r}

    def state(self, step: Reached) -> Arrays:
        return step.checkpoint() if step.stop is None else {}

    def progress(self, step: Reached) -> str:
        return f"{step.cells} cells, {step.new} new"

    def documents(self) -> Documents:
        return {"structure.json": document(self.structure)}

    def fixed_arrays(self) -> Arrays:
        return {}

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        last = self.last
        ranges = {
            f"{name}_{end}": float(values[k])
            for k, name in enumerate(("S", "size", "sigma"))
            for end, values in (("least", last.least), ("most", last.most))
        }
        return {
            "stop": last.stop.value if last.stop is not None else "none",
            "samples": last.sample + 1,
            "cells": last.cells,
            "new_in_last_100": last.new,
            **ranges,
        }
