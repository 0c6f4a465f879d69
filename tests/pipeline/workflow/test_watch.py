"""How far a workflow is, read from receipts, running runs and logs."""

import json
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipeline.store.leases import process_start
from pipeline.workflow.watch import PlanWatch, spoken

NAMES = ["simulate/a", "simulate/sizes.2", "compare/b"]
PLAN = {"names": {name: {"study": "sizes" if ".2" in name else ""} for name in NAMES}}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def begin(results: Path, name: str, study: str = "", seconds: float = 30.0) -> Path:
    """A run that this process works on."""
    step, _, of = name.partition("/")
    record = {
        "key": of,
        "step": step,
        "name": of,
        "tags": {"study": study} if study else {},
        "host": socket.gethostname(),
        "process": os.getpid(),
        "process_start": process_start(os.getpid()),
        "started": (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(),
    }
    folder = results / "running" / f"{of}.1"
    put(folder / "owner.json", json.dumps(record))
    return folder


def test_what_is_made_is_known_by_its_receipt(tmp_path: Path) -> None:
    put(tmp_path / "made" / "compare" / "b", "old\n")
    watch = PlanWatch(PLAN, NAMES, tmp_path)
    assert watch.look().finished == []
    assert watch.look().said == "starting"
    put(tmp_path / "made" / "simulate" / "sizes.2", "new\n")
    os.utime(tmp_path / "made" / "compare" / "b", ns=(1, 1))
    assert watch.look().finished == ["simulate sizes, batch 2", "compare b"]


def test_what_runs_says_for_how_long_and_how_far_it_is(tmp_path: Path) -> None:
    watch = PlanWatch(PLAN, NAMES, tmp_path)
    folder = begin(tmp_path, "simulate/a")
    (one,) = watch.look().doing
    assert (one.name, one.said) == ("simulate a", "")
    assert 29.0 < one.seconds < 60.0
    put(folder / "steps.csv", "step,E\n0,1.0\n17,0.5\n")
    assert watch.look().doing[0].said == "step 17"


def test_a_run_of_a_study_is_told_by_its_values(tmp_path: Path) -> None:
    begin(tmp_path, "simulate/a", "sizes")
    rows = [{"key": "a", "point": {"case.target.radius": 2.5}}]
    put(tmp_path / "study" / "sizes" / "members.json", json.dumps({"members": rows}))
    (one,) = PlanWatch(PLAN, NAMES, tmp_path).look().doing
    assert one.name == "simulate a radius=2.5 (study sizes)"


def test_the_last_error_of_a_log_is_why_a_name_failed(tmp_path: Path) -> None:
    put(tmp_path / "log" / "compare" / "b.log", "error: compare b: of long ago\n")
    os.utime(tmp_path / "log" / "compare" / "b.log", (1, 1))
    watch = PlanWatch(PLAN, NAMES, tmp_path)
    log = tmp_path / "log" / "simulate" / "a.log"
    put(log, "warning: x\nerror: simulate a: the residual is 3\n")
    assert watch.failures() == [("simulate a", f"the residual is 3 ({log})")]
    assert watch.failures(settled=60.0) == []
    assert watch.failures(busy={"simulate/a"}) == []
    put(log, "Traceback (most recent call last):\n  File x\nKeyError: 'r'\n")
    assert watch.failures() == [("simulate a", f"KeyError: 'r' ({log})")]
    put(tmp_path / "made" / "simulate" / "a", "made after all\n")
    assert watch.failures() == []


def test_a_batch_of_a_study_fails_only_when_none_of_its_runs_goes_on(
    tmp_path: Path,
) -> None:
    watch = PlanWatch(PLAN, NAMES, tmp_path)
    put(tmp_path / "log" / "simulate" / "sizes.2.log", "error: simulate a: one row\n")
    assert watch.failures(busy={"sizes"}) == []
    assert [name for name, _ in watch.failures()] == ["simulate sizes, batch 2"]


def test_what_is_made_anew_is_not_made_while_its_receipt_is_taken_away(
    tmp_path: Path,
) -> None:
    receipt = tmp_path / "made" / NAMES[0]
    put(receipt, "of before\n")
    watch = PlanWatch(PLAN, NAMES, tmp_path)
    receipt.unlink()  # as Snakemake does before it runs a job
    assert watch.look().finished == []
    put(tmp_path / "log" / f"{NAMES[0]}.log", "error: no sphere\n")
    assert len(watch.failures()) == 1
    put(receipt, "made\n")
    assert len(watch.look().finished) == 1


def test_the_time_left_is_what_the_same_took_last_time(tmp_path: Path) -> None:
    names = [f"simulate/{letter}" for letter in "abcd"]
    plan = {"names": {name: {"study": ""} for name in names}}
    for key, name, wall in (("1", "d", 900.0), ("2", "d", 400.0), ("3", "a", 1.0)):
        record = {
            "key": key,
            "step": "simulate",
            "name": name,
            "wall_s": wall,
            "started": f"2026-01-0{key}T00:00:00+00:00",
        }
        put(tmp_path / "runs" / key / "run.json", json.dumps(record))
    watch = PlanWatch(plan, names, tmp_path)
    assert watch.look().seconds_left is None
    for name in names[:3]:
        put(tmp_path / "made" / name, "made\n")
    assert watch.look().seconds_left == 400.0
    begin(tmp_path, "simulate/d", seconds=100.0)
    left = watch.look().seconds_left
    assert left is not None
    assert 240.0 < left <= 300.0
    begin(tmp_path, "simulate/d", seconds=500.0)
    assert watch.look().seconds_left is None


def test_names_are_words() -> None:
    assert spoken("input_uncertainty/cylinder") == "input uncertainty cylinder"
    assert spoken("simulate/sizes.12", "sizes") == "simulate sizes, batch 12"
