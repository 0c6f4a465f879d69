"""Runs that are made without a solver."""

import contextlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pipeline.runs.atomic_files import StepWriter
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job, Numbers
from pipeline.runs.run_keys import identity
from pipeline.terminal import RunFailedError

STEPS = 5


def toy_job(
    n: int, step: str = "simulate", tags: Mapping[str, str] | None = None
) -> Job:
    """A job that is told from others by a number."""
    config = {"case": {"n": n, "margin": 0.5}}
    return Job(step, "toy", identity(step, config), config, tags=tags or {})


def toy_steps(out: Path, n: int) -> Numbers:
    """Five steps, and numbers and words about them."""
    with closing(StepWriter(out)) as writer:
        for s in range(STEPS):
            writer.append({"step": s, "E": n + 0.1 * s}, {})
    return {"E": n + 0.4, "stop": "change", "margin": 0.5, "reached": True}


def toy_run(n: int, step: str = "simulate", **tags: str) -> Path:
    """A finished run."""
    return run_once(toy_job(n, step, tags), lambda out: toy_steps(out, n))


def failed_run(n: int, **tags: str) -> Path:
    """A run that failed after its steps."""

    def body(out: Path) -> dict[str, Any]:
        toy_steps(out, n)
        raise RuntimeError("as asked")

    with contextlib.suppress(RunFailedError):
        run_once(toy_job(n, tags=tags), body)
    (directory,) = Path("results/failed").glob(f"{toy_job(n).key}.*")
    return directory
