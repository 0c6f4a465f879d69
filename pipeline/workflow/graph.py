"""What the Snakefile asks of the plan: its receipts, and what each is made from."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.store.files import read_json
from pipeline.store.receipts import receipt_path
from pipeline.terminal.names import close_to
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.order import ranks
from sim.syntax import SOURCE_ROOT

Wildcards = Any  # Snakemake's, of a rule with one

# A job is one thread: Snakemake runs as many jobs side by side as there are cores.
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


class Graph:
    """Names of the plan as files for Snakemake.

    Parameters
    ----------
    plan : file of the plan; made by morphtrack, or brought up to date here if ""
    main : whether this is Snakemake's main process; its workers take the plan as it is
    """

    def __init__(self, plan: str = "", *, main: bool = True) -> None:
        self._plan: Mapping[str, Any]
        if main and not plan:
            self._plan = plan_without_compiling()
        else:
            self._plan = read_json(Path(plan or "results/plan/plan.json"))

    def wanted(self) -> list[str]:
        """The receipt of every name, in the order of the plan."""
        return [str(receipt_path(name)) for name in self._plan["names"]]

    def made(self, step: str, role: str) -> Callable[[Wildcards], list[str]]:
        """Finds the receipts that a name of `step` reads in a role."""

        def receipts(wildcards: Wildcards) -> list[str]:
            entry = self._entry(step, wildcards)
            return [str(receipt_path(name)) for name in entry["reads"].get(role, [])]

        return receipts

    def priority(self, step: str) -> Callable[[Wildcards], int]:
        """Finds how early a name of `step` is made: what stands first, first."""
        return lambda wildcards: self._ranks.get(f"{step}/{wildcards[0]}", 0)

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        return ranks(self._plan)

    def threads(self, step: str) -> Callable[[Wildcards], int]:
        """Finds how many processes a job has: the workers of a search."""
        return lambda wildcards: int(self._entry(step, wildcards)["threads"])

    def _entry(self, step: str, wildcards: Wildcards) -> Mapping[str, Any]:
        name = f"{step}/{wildcards[0]}"
        if name not in self._plan["names"]:
            near = close_to(name, self._plan["names"])
            remedy = near or "morphtrack plan lists its names"
            raise ValueError(f"the plan has no {name}: {remedy}")
        entry: Mapping[str, Any] = self._plan["names"][name]
        return entry


def job_environment() -> dict[str, str]:
    """This interpreter's commands and this code first; one thread a job."""
    first = {"PATH": Path(sys.executable).parent, "PYTHONPATH": SOURCE_ROOT}
    places = {
        name: os.pathsep.join(filter(None, (str(place), os.environ.get(name))))
        for name, place in first.items()
    }
    return {f"{library}_NUM_THREADS": "1" for library in THREADS} | places
