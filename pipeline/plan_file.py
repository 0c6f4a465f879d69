"""The plan on disk: which batches there are, what each holds, which are done.

results/plan/plan.json          batches: step, name, and the batches they wait for
results/plan/study-<name>.json  the same of a study
results/plan/<batch>.json       the jobs of one batch
results/done/<step>/<batch>     stamp: every job of the batch has finished
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.files import read_json, write_json
from pipeline.runs import RESULTS, Job, finished

BATCH_ID = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class Batch:
    """Jobs of one step that one process runs, one after the other."""

    jobs: tuple[Job, ...]

    @property
    def id(self) -> str:
        """The key of a single job, or the hash of the keys of several."""
        keys = [job.key for job in self.jobs]
        if len(keys) == 1:
            return keys[0]
        return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]

    @property
    def step(self) -> str:
        """The step that all its jobs perform."""
        return self.jobs[0].step


def _plan_directory(results: Path) -> Path:
    return results / "plan"


def stamp(step: str, batch: str, results: Path = RESULTS) -> Path:
    """The file that says a batch is done; all that Snakemake looks at."""
    return results / "done" / step / batch


def needed_keys(job: Job) -> list[str]:
    """Keys of the runs that `job` reads."""
    return [
        key
        for value in job.needs.values()
        for key in ([value] if isinstance(value, str) else value)
    ]


def write_plan(
    batches: Iterable[Batch],
    wanted: Mapping[str, Any],
    name: str = "plan",
    results: Path = RESULTS,
) -> dict[str, Any]:
    """Write the plan; drop stamps of batches whose runs are no longer there.

    Parameters
    ----------
    wanted : what the plan was made from, for status and report
    """
    held = {job.key: batch.id for batch in batches for job in batch.jobs}
    entries = {}
    for batch in batches:
        needs = {held[k] for job in batch.jobs for k in needed_keys(job)}
        entries[batch.id] = {
            "step": batch.step,
            "name": batch.jobs[0].name,
            "jobs": len(batch.jobs),
            "study": batch.jobs[0].tags.get("study", ""),
            "needs": sorted(needs),
        }
        if not all(finished(job.key, results) for job in batch.jobs):
            stamp(batch.step, batch.id, results).unlink(missing_ok=True)
        rows = [asdict(job) for job in batch.jobs]
        path = _plan_directory(results) / f"{batch.id}.json"
        write_json(path, rows, compact=True)
    path = _plan_directory(results) / f"{name}.json"
    plan = {"batches": entries, "file": str(path), **wanted}
    write_json(path, plan)
    return plan


def read_plan(results: Path = RESULTS) -> dict[str, Any]:
    """The plan of the workflow that was written last."""
    path = _plan_directory(results) / "plan.json"
    if not path.is_file():
        raise InputError("nothing is planned yet: run make figures")
    plan: dict[str, Any] = read_json(path)
    return plan


def read_batch(batch: str, results: Path = RESULTS) -> list[Job]:
    """The jobs of one batch."""
    path = _plan_directory(results) / f"{batch}.json"
    if not BATCH_ID.fullmatch(batch) or not path.is_file():
        raise InputError(f"the plan has no batch {batch!r}: run make figures")
    return [Job(**row | {"paths": tuple(row["paths"])}) for row in read_json(path)]
