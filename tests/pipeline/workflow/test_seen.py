"""Nothing is looked through again where nothing is new."""

import os
from pathlib import Path

import pytest

from pipeline.terminal.errors import DONE
from pipeline.workflow import page, workflow
from pipeline.workflow.page import Page
from pipeline.workflow.seen import Seen

RUN = Path("results/runs/0123456789abcdef/run.json")
LEFT = Path("results/report/index.html")


@pytest.fixture
def calls(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that were called; each leaves what it is known by."""
    assert project.is_dir()
    called: list[str] = []

    def call(name: str) -> int:
        called.append(name)
        left = {"report": LEFT, "track": Path(workflow.EMBEDDED)}[name]
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text(name)
        return DONE

    monkeypatch.setattr(page, "call_silently", call)
    monkeypatch.setattr(workflow, "call_silently", call)
    RUN.parent.mkdir(parents=True)
    RUN.write_text("{}")
    return called


def take_in() -> None:
    assert Page().finish() == DONE
    assert workflow._tracked() == DONE


def test_report_and_tracker_are_called_again_for_something_new_alone(
    calls: list[str],
) -> None:
    take_in()
    take_in()
    assert calls == ["report", "track"]


@pytest.mark.parametrize(
    "change",
    [
        lambda: RUN.write_text('{"edited": 1}'),
        lambda: os.utime(RUN, ns=(0, 0)),
        lambda: RUN.unlink(),
        lambda: RUN.with_name("steps.csv").write_text("step\n"),
        lambda: Path("conf/case/box.yaml").write_text("x: 1\n"),
    ],
    ids=["edited", "touched", "gone", "new", "conf"],
)
def test_whatever_is_new_is_taken_in(calls: list[str], change: object) -> None:
    take_in()
    assert callable(change)
    change()
    take_in()
    assert calls == ["report", "track"] * 2


def test_what_they_left_is_not_to_be_altered(calls: list[str]) -> None:
    take_in()
    LEFT.unlink()
    Path(workflow.EMBEDDED).write_text("of another hand")
    take_in()
    assert calls == ["report", "track"] * 2


def test_a_server_is_asked_each_time(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    take_in()
    take_in()
    assert calls == ["report", "track", "track"]


def test_what_left_nothing_is_not_remembered(calls: list[str]) -> None:
    assert not calls
    seen = Seen("report", LEFT)
    state = seen.now()
    seen.remember(state)
    assert not seen.holds(state)
