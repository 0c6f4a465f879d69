"""The steps: what each is called, what it is given, what it reads.

A row names the module of pipeline.steps that performs the step. That module has a
function `perform(job, needs, out)`, and a class or function that the plain
configuration of a job becomes. It is imported when the step is at hand: some take
seconds, others packages that not every run has.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.store.runs import Job, Needs, Numbers


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    name : of its module, its rule, its folders of results
    config : of the class or function in the module that checks a configuration
    inputs : roles of the runs it reads
    """

    name: str
    config: str
    inputs: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module that performs it."""
        return f"pipeline.steps.{self.name}"

    def configured(self, config: Mapping[str, Any]) -> Any:
        """What a configuration becomes; TypeError or ValueError if it is not sound."""
        made = getattr(importlib.import_module(self.module), self.config)
        return made(**config) if isinstance(made, type) else made(dict(config))

    def perform(self, job: Job, needs: Needs, out: Path) -> Numbers:
        """Do a job; its files go into `out`."""
        numbers: Numbers = importlib.import_module(self.module).perform(job, needs, out)
        return numbers


ROWS = (
    Step("simulate", "sound_case"),
    Step("virtual_scan", "VirtualLab", ("simulated",)),
    Step("ingest", "Ingest", ("scan",)),
    Step("input_uncertainty", "InputUncertainty", ("simulated",)),
    Step("deviation", "Deviation", ("spheres", "simulated")),
    Step(
        "compare",
        "ComparisonSettings",
        ("spheres", "simulated", "deviation", "input_uncertainty"),
    ),
    Step("compare_series", "SeriesComparison", ("simulated",)),
    Step("calibrate", "SyntheticPoses"),
    Step("parts", "parts_of", ("simulated",)),
    Step("search", "SearchConfig"),
    Step("fit_measured", "sound_set"),
    Step("predict", "sound_set", ("fit",)),
    Step("measured", "sound_set", ("fit", "predicted")),
    Step("figure", "FigureConfig", ("simulated", "comparisons", "spheres")),
)

STEPS = {row.name: row for row in ROWS}
