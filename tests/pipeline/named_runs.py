"""Runs made with bodies of a test's own, linked and reported as those of a workflow."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.cli import make_and_summarise
from pipeline.runs.run_attempts import Body, run_once
from pipeline.runs.run_directory import Job
from pipeline.runs.step_jobs import link_files

Result = tuple[str, str]  # step and name


def run_named(job: Job, body: Body, results: Path) -> Path:
    """The finished run of a job; its files are in results/<step>/<name> as well."""
    run = run_once(job, body, results)
    link_files(run, results / job.step / job.name)
    return run


class Asked:
    """What conf/workflow.yaml would ask for.

    Parameters
    ----------
    upstream : what each result is made from, by step and name
    expect : the verdict that every comparison should come to
    """

    def __init__(
        self, upstream: Mapping[Result, Sequence[Result]], expect: str = ""
    ) -> None:
        self._upstream = upstream
        expected = SimpleNamespace(expect=expect)
        compared = {name: expected for step, name in upstream if step == "compare"}
        self.workflow = SimpleNamespace(comparisons=compared)

    def names(self) -> Iterable[Result]:
        return self._upstream.keys()

    def upstream(self, step: str, name: str) -> Sequence[Result]:
        return self._upstream[step, name]


def reported(asked: Asked, results: Path) -> Path:
    """The page that `morphtrack report` writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_and_summarise, "Plan", lambda: asked)
        make_and_summarise.report(results)
    return results / "report" / "index.html"
