"""Run a case as the pipeline does, without files."""

from typing import Any


def recorded(case: Any) -> tuple[list[Any], Any]:
    """All steps of a case, and a recorder that saw them."""
    steps, recorder = [], case.recorder()
    for step in case.steps():
        recorder.see(step)
        steps.append(step)
    return steps, recorder


def summary(case: Any) -> dict[str, Any]:
    """How a run of the case ends."""
    return dict(recorded(case)[1].summary())


def table(case: Any, file: str) -> list[dict[str, Any]]:
    """The rows of a table that a run of the case leaves."""
    return [dict(row) for row in recorded(case)[1].tables()[file]]
