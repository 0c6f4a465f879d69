"""What shapes a structure can take: samples of its configurations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.morph.envelope import EnvelopeOptions, Reached, Search
from sim.morph.limits import is_positive
from sim.morph.structure import Structure


@dataclass(frozen=True, eq=False)
class EnvelopeCase:
    """One of conf/case, built by Hydra; see `sim.morph.envelope`.

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
        _ = self._search()

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

    def _search(self) -> Search:
        return Search(self.solid, self.options)

    @cached_property
    def _searches(self) -> list[Search]:
        return []

    def steps(self) -> Iterator[Reached]:
        search = self._search()
        self._searches[:] = [search]
        return search.steps()

    def continued(self, arrays: Mapping[str, NDArray[Any]]) -> Iterator[Reached]:
        search = self._search()
        search.resume(arrays)
        self._searches[:] = [search]
        return search.steps()

    def checkpoint(self, step: Reached) -> dict[str, NDArray[Any]]:
        if step.stop is not None:
            return {}
        (search,) = self._searches  # of the run that goes on
        return search.checkpoint()

    def numbers(self, step: Reached) -> dict[str, float]:
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

    def arrays(self, step: Reached) -> dict[str, NDArray[np.generic]]:
        return {"r": step.r}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return {}

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.solid)}

    def result(self, last: Reached) -> dict[str, float | str | int | bool]:
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

    def progress(self, step: Reached) -> str:
        return f"{step.cells} cells, {step.new} new"
