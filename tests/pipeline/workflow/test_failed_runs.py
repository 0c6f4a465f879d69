"""A run that failed by itself is tried again when that is asked for, and not before."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline.store.attempts import run_once
from pipeline.store.plan_file import read_documents
from pipeline.store.runs import RESULTS, Job
from pipeline.store.standing import settle
from pipeline.terminal.errors import DONE, FAILED
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.run import perform_name

SHIPPED = "simulate/triangles_circle"
NAME = "simulate/dejong-3.short"
TWO_STEPS = ["case=triangles_circle", "case.max_steps=2"]


@pytest.fixture
def failed(project: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project whose only run has failed once."""
    cases = {"short": TWO_STEPS}
    workflow = {"figures": {"dejong-3": {"cases": cases}}}
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    fresh_plan()
    assert perform_name(NAME) == FAILED
    assert "still changes by more than" in capsys.readouterr().err
    return project


def attempts() -> list[str]:
    return sorted(p.name.rpartition(".")[2] for p in (RESULTS / "failed").iterdir())


@pytest.mark.usefixtures("failed")
def test_a_failed_run_repeats_its_reason_without_a_new_attempt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fresh_plan()
    assert perform_name(NAME) == FAILED
    said = capsys.readouterr().err
    assert "still changes by more than" in said
    assert "it failed before; morphtrack make --retry-failed tries it again" in said
    assert attempts() == ["1"]


@pytest.mark.usefixtures("failed")
def test_a_failed_run_is_tried_again_on_request_and_then_no_more() -> None:
    settle(read_documents(fresh_plan()), retry=True)
    assert perform_name(NAME) == FAILED
    assert attempts() == ["1", "2"]
    fresh_plan()
    assert perform_name(NAME) == FAILED
    assert attempts() == ["1", "2"]


def fails_once(error: BaseException) -> Callable[[Path], dict[str, float]]:
    waiting = [error]

    def body(_: Path) -> dict[str, float]:
        if waiting:
            raise waiting.pop()
        return {"E": 1.0}

    return body


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("cannot allocate 9 GiB"),
        SystemError("error return without exception set"),
        ChildProcessError("a worker was killed"),
    ],
    ids=["memory", "python", "worker"],
)
def test_a_lack_of_memory_says_nothing_about_the_run(
    error: Exception,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (project / "conf" / "workflow.yaml").write_text(
        yaml.safe_dump({"figures": {"dejong-3": {"cases": ["triangles_circle"]}}})
    )
    fresh_plan()
    body = fails_once(error)

    def performed(job: Job) -> Path:
        return run_once(job, body)

    monkeypatch.setattr("pipeline.workflow.run.perform_planned", performed)
    assert perform_name(SHIPPED) == FAILED
    assert str(error) in capsys.readouterr().err
    assert perform_name(SHIPPED) == DONE
