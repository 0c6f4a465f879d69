"""Timings are repeated and kept by machine; no key holds them for ever."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from pipeline.cases.rod_timing import ComputingTimeCase
from pipeline.commands.timings import main
from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import read_workflow
from pipeline.results.timings_file import read_kept
from pipeline.steps.timings import measure, perform, timing_of
from pipeline.store.keys import identity
from pipeline.store.runs import Job
from pipeline.store.timings_place import KEPT, kept_path
from pipeline.terminal.errors import REFUSED, InputError
from pipeline.terminal.machine import machine
from pipeline.workflow import workflow
from pipeline.workflow.fresh import state_of_inputs
from pipeline.workflow.planner import Planner
from pipeline.workflow.wanted import figure
from tests.pipeline.conftest import ROOT

CASE = {
    "_target_": "pipeline.cases.rod_timing.ComputingTimeCase",
    "grounds": {"flat": {"_target_": "sim.rod.contact.ground.GroundPlane"}},
    "step_lengths": [1e-3, 2e-3],
    "repeats": 2,
}
CONFIG = {"name": "times", "case": CASE}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[float, ...]]]:
    """What the next measurements find, in place of a simulation; all are taken."""
    coming: list[tuple[float, ...]] = []
    monkeypatch.setattr(
        ComputingTimeCase, "_cost", lambda *_: coming.pop(0) if coming else (1.0,)
    )
    no_robot = SimpleNamespace(world=None)
    monkeypatch.setattr("pipeline.cases.rod_timing.StarCase", lambda **_: no_robot)
    yield coming
    assert not coming


def find(coming: list[Any], *costs: Sequence[float]) -> None:
    coming[:] = [(0.0,), *costs]  # what compiles is not counted


def job(config: dict[str, Any] = CONFIG, paths: tuple[str, ...] = ()) -> Job:
    return Job("timings", "times", identity("timings", config), config, paths=paths)


def recorded(out: Path, config: dict[str, Any] = CONFIG) -> tuple[pd.DataFrame, Any]:
    out.mkdir()
    result = perform(job(config), {}, out)
    return pd.read_csv(out / "steps.csv"), result


def test_times_are_measured_once_and_read_from_then_on(
    clock: list[Any], tmp_path: Path
) -> None:
    find(clock, (0.3, 0.5), (0.2, 0.25))
    first, result = recorded(tmp_path / "a")
    again, _ = recorded(tmp_path / "b")
    assert first.equals(again)
    assert first["flat"].tolist() == [0.3, 0.2]
    assert first["flat_most"].tolist() == [0.5, 0.25]
    assert result["machine"] == machine()
    assert (result["repeats"], result["sessions"]) == (2, 1)
    assert kept_path("times").parent.parent == KEPT


def test_a_second_session_is_added_and_anew_forgets_both(
    clock: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(["2026-01-01T00", "2026-01-01T01", "2026-01-01T02"])
    session = "pipeline.steps.timings.session_now"
    told = {"machine": machine(), "load": 0.5, "commit": "", "case": ""}
    case = read_digest(clock, tmp_path)
    monkeypatch.setattr(session, lambda _: told | {"case": case, "taken": next(hours)})
    path = kept_path("times")
    for anew, costs in ((True, 0.4), (False, 0.3)):
        find(clock, (costs, 0.5), (costs, 0.6))
        list(measure(CONFIG, path, anew=anew))
    table, result = recorded(tmp_path / "both")
    assert table["flat"].tolist() == [0.3, 0.3]
    assert (result["repeats"], result["sessions"]) == (4, 2)
    find(clock, (0.9, 0.9), (0.9, 0.9))
    list(measure(CONFIG, path, anew=True))
    table, result = recorded(tmp_path / "anew")
    assert table["flat"].tolist() == [0.9, 0.9]
    assert result["sessions"] == 1


def read_digest(clock: list[Any], folder: Path) -> str:
    """The digest under which the times of CONFIG are kept."""
    find(clock, (1.0,), (1.0,))
    recorded(folder / "first")
    return str(read_kept(kept_path("times"), CASE)["case"].iloc[0])


def test_times_of_another_configuration_are_not_shown(
    clock: list[Any], tmp_path: Path
) -> None:
    find(clock, (0.3,), (0.2,))
    recorded(tmp_path / "a")
    other = {"name": "times", "case": {**CASE, "step_lengths": [4e-3]}}
    find(clock, (0.1,))
    table, _ = recorded(tmp_path / "b", other)
    assert table["h"].tolist() == [4e-3]
    assert table["flat"].tolist() == [0.1]


def test_a_session_that_fails_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, clock: list[Any]
) -> None:
    find(clock, (0.3,))
    monkeypatch.setattr(pd, "concat", lambda *_, **__: pytest.fail("kept"))
    session = measure(CONFIG, kept_path("times"))
    next(session)
    session.close()
    assert not KEPT.exists()


def test_a_file_that_holds_no_timings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("h,ratio\n1,2\n")
    with pytest.raises(InputError, match=r"times\.csv has columns h, ratio, not case"):
        read_kept(path, CASE)


def test_a_case_without_times_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["star_robot"]) == REFUSED
    assert "the case star_robot measures no times" in capsys.readouterr().err


def test_a_new_session_makes_the_figure_anew_and_no_run_of_a_solver() -> None:
    """The key of the figure's row follows the file, once there is one."""
    drawn = read_workflow().figures["huang-6"]
    path, keys = kept_path("computing_time"), []
    for text in ("", "case\n", "case\n1\n"):
        if text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with Composer() as composer:
            planner = Planner(composer)
            figure(planner, drawn, {}, read_workflow().style)
        steps = {one.step: one.key for one in planner.jobs.values()}
        assert steps.keys() == {"timings", "figure"}
        keys.append(steps["timings"])
        assert (str(path) in state_of_inputs(set())["states"]) == bool(text)
    assert len(set(keys)) == 3


def test_make_measures_first_what_this_machine_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        workflow, "call_silently", lambda *words: called.append(words) or 0
    )
    whole = read_workflow()
    for asked in ("huang-4", "comparisons", "huang-6"):
        workflow._time_first(whole, asked)
    assert called == [("timings", "computing_time")]
    kept_path("computing_time").parent.mkdir(parents=True)
    kept_path("computing_time").write_text("")
    workflow._time_first(whole, "")
    assert len(called) == 1


def test_the_shipped_case_times_six_grounds() -> None:
    with Composer() as composer:
        config = timing_of("computing_time", composer)
    assert len(config["case"]["grounds"]) == 6
