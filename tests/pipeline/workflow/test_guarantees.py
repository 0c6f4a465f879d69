"""Whatever is killed, one plain rerun makes the same files and no run twice.

`make test` kills one run; `make test-faults` does the rest.
"""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from pipeline.runs.run_directory import run_record
from pipeline.runs.run_keys import edits
from pipeline.runs.step_jobs import CIRCUMSTANCES
from pipeline.runs.summary import PAGE, PICTURE
from pipeline.steps.study_table import write_study
from pipeline.tracking.logged_contents import ATTEMPT
from pipeline.tracking.logging_process import LOGGER
from tests.helpers.mlflow_runs import runs_in
from tests.pipeline.conftest import ROOT, furnish
from tests.pipeline.workflow.conftest import (
    SERIES,
    environment,
    snakemake,
    snakemake_line,
    started,
    write_workflow,
)
from tests.pipeline.workflow.test_study import run_here

pytestmark = pytest.mark.together  # they begin with copies of one project

LOOKED_AT = {PICTURE, PAGE}  # drawn by who runs by hand
COSTS = {"costs.csv", "costs.trace.json"}
KILLING = Path(__file__).with_name("killing")
MLFLOW = {LOGGER: ""}  # which the others do without
MOMENTS = ("start", "middle", "end")
LONG = (pytest.mark.slow, pytest.mark.long)
ONE_OR_ALL = pytest.mark.parametrize(
    "moments", [MOMENTS[1:2], pytest.param(MOMENTS, marks=LONG)], ids=len
)
SWING = {"case": "double_pendulum", "overrides": ["case.duration=0.8"]}
WORKFLOW = {
    "series": {"way": SERIES, "swing": {**SWING, "measured": "swing.csv"}},
    "figures": {},
}
OUT = ["--out", "results/simulate/swing"]
BY_HAND = ["simulate", "case=double_pendulum", *SWING["overrides"], *OUT]
STUDY = {
    "case": "double_pendulum",
    "design": "list",
    "fixed": {"case.every": 10},
    "runs": [{"case.duration": 0.5}, {"case.duration": 0.1}, {"case.duration": 0.6}],
    "response": [],
    "batches": 1,
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A project in which one of two series is made."""
    folder = tmp_path_factory.mktemp("guarantees") / "begun"
    folder.mkdir()
    furnish(folder)
    write_workflow(folder, WORKFLOW)
    (folder / "swing.csv").write_text(
        "quantity,at,value,u,part\nkinetic,0.5,1,0.1,held out\n"
    )
    (folder / "conf" / "study" / "swings.yaml").write_text(yaml.safe_dump(STUDY))
    snakemake(folder, "results/compare_series/way/series.csv")
    return folder


@pytest.fixture(scope="module")
def whole(begun):
    """The same, all of it made, and nobody killed."""
    folder = begun.with_name("whole")
    shutil.copytree(begun, folder, symlinks=True)
    snakemake(folder)
    with chdir(folder):
        run_here("swings")
        write_study("swings")
    return folder


@pytest.fixture
def place(begun, tmp_path):
    """A copy of the first."""
    folder = tmp_path / "project"
    shutil.copytree(begun, folder, symlinks=True)
    return folder


def hooked(folder: Path, kill: str = "", **more: str) -> dict[str, str]:
    """The environment of a process that is killed at a moment, or kills another."""
    path = os.pathsep.join([str(ROOT), str(KILLING)])
    killed = str(folder.with_name("killed"))
    own = environment(KILL=kill, KILLED=killed, **more) | {"PYTHONPATH": path}
    return {name: value for name, value in own.items() if value or name == "KILL"}


def run(folder: Path, *words: str, status: int = 0, kill: str = "", **more: str) -> str:
    """What `morphtrack words` says."""
    line = [sys.executable, "-m", "pipeline", *words]
    return ended(line, folder, hooked(folder, kill, **more), status)


def make(folder: Path, status: int = 0, kill: str = "") -> str:
    """What `snakemake` says."""
    return ended(snakemake_line(), folder, hooked(folder, kill), status)


def ended(line: list[str], folder: Path, env: dict[str, str], status: int) -> str:
    """The output of a command until it ends; what it started may go on."""
    log = folder.with_name("log.txt")
    if env["KILL"]:
        Path(env["KILLED"]).unlink(missing_ok=True)  # of a process killed before
    with log.open("w") as file:
        done = subprocess.run(
            line,
            cwd=folder,
            env=env,
            stdout=file,
            stderr=file,
            start_new_session=True,
            timeout=600,
            check=False,
        )
    said = log.read_text()
    assert done.returncode == status, said
    if env["KILL"]:
        wait_for(Path(env["KILLED"]))  # a logging process may outlive its command
    return said


def files(folder: Path, *steps: str) -> Iterator[tuple[str, str]]:
    """Digests of what a person opens, but for what says when and where it was made."""
    for step in steps:
        for path in sorted((folder / "results" / step).rglob("*")):
            if path.is_file() and path.name not in CIRCUMSTANCES | COSTS | LOOKED_AT:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                yield str(path.relative_to(folder)), digest


def assert_as(whole: Path, folder: Path, *steps: str) -> None:
    """The same files as where nobody was killed; every run whole and finished."""
    assert dict(files(folder, *steps)) == dict(files(whole, *steps))
    results = folder / "results"
    assert not list((results / "running").iterdir())
    assert started(folder).keys() <= started(whole).keys()
    for directory in (results / "runs").iterdir():
        assert run_record(directory)["status"] == "finished"
        assert not edits(directory)


def assert_kept(folder: Path, before: dict[str, str], killed: int) -> None:
    """What was finished was not computed again; what was killed left its record."""
    after = started(folder)
    assert before.items() <= after.items()
    left = [run_record(path) for path in (folder / "results" / "failed").glob("*")]
    assert len(left) == killed
    for record in left:
        assert (record["status"], record["reason"]) == (
            "killed",
            "its process has ended",
        )
        went_on = folder / "results" / "runs" / record["key"] / "continued.json"
        assert json.loads(went_on.read_text())["step"] > 0


def running(folder: Path) -> dict[str, str]:
    """When the runs were started that are finished but for their last move."""
    records = (folder / "results" / "running").glob("*/run.json")
    found = [json.loads(path.read_text()) for path in records]
    return {record["key"]: record["started"] for record in found}


@pytest.mark.slow
@ONE_OR_ALL
def test_a_job_is_killed_at_one_moment_after_the_other(place, whole, moments):
    for moment in moments:
        make(place, status=1, kill=f"job {moment}")
    before = started(place) | running(place)
    make(place)
    assert_as(whole, place, "simulate", "compare_series")
    assert_kept(place, before, killed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", ["middle", *(pytest.param(m, marks=LONG) for m in ("start", "end"))]
)
def test_snakemake_is_killed_and_its_job_goes_on(place, whole, moment):
    make(place, status=-9, kill=f"snakemake {moment}")
    before = started(place) | running(place)
    make(place)  # while the first job is alive
    assert_as(whole, place, "simulate", "compare_series")
    assert before.items() <= started(place).items()
    assert not list((place / "results").glob("failed/*"))


@ONE_OR_ALL
def test_simulate_is_killed_at_one_moment_after_the_other(tmp_path, moments):
    place, unharmed = tmp_path / "one" / "project", tmp_path / "other" / "project"
    for folder in (place, unharmed):
        furnish(folder)
    for moment in moments:
        run(place, *BY_HAND, status=-9, kill=f"job {moment}")
    before = started(place) | running(place)
    run(place, *BY_HAND)
    run(unharmed, *BY_HAND)
    assert dict(files(place, "simulate")) == dict(files(unharmed, "simulate"))
    assert_kept(place, before, killed=1)


@pytest.mark.slow
@ONE_OR_ALL
def test_all_processes_of_a_study_are_killed_again_and_again(place, whole, moments):
    for moment in moments:
        run(place, "study", "swings", status=-9, kill=f"session {moment}")
    before = started(place) | running(place)
    run(place, "study", "swings")
    assert_as(whole, place, "study")
    assert_kept(place, before, killed=1)


@pytest.mark.slow
@pytest.mark.long  # two Snakemakes at once wait for each other, too
def test_the_command_of_a_study_is_killed_alone(place, whole):
    """Snakemake goes on; the same command waits for it."""
    run(place, "study", "swings", status=-9, kill="command middle")
    run(place, "study", "swings")
    assert_as(whole, place, "study")
    assert not list((place / "results").glob("failed/*"))


@pytest.mark.slow
def test_ctrl_c_ends_all_with_one_line(place, whole):
    said = run(place, "study", "swings", status=130, kill="interrupt middle")
    assert said.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in said
    before = started(place)
    run(place, "study", "swings")
    assert_as(whole, place, "study")
    assert before.items() <= started(place).items()


def both(folder: Path, line: list[str]) -> list[str]:
    """What a command says twice at once, the second begun in the middle of a run."""
    with subprocess.Popen(
        line,
        cwd=folder,
        env=hooked(folder, "nobody middle"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as first:
        wait_for(folder.with_name("killed"))
        second = ended(line, folder, hooked(folder), 0)
        said, _ = first.communicate(timeout=600)
    assert first.returncode == 0, said
    return [said, second]


def wait_for(path: Path) -> None:
    end = time.monotonic() + 600.0
    while not path.exists():
        assert time.monotonic() < end, f"there is no {path}"
        time.sleep(0.02)


@pytest.mark.slow
def test_two_commands_at_once_make_a_run_once(place, whole):
    both(place, [sys.executable, "-m", "pipeline", *BY_HAND])
    assert dict(files(place, "simulate")) == dict(files(whole, "simulate"))
    assert_kept(place, {}, killed=0)


@pytest.mark.slow
def test_two_snakemakes_at_once_work_one_after_the_other(place, whole):
    _, second = both(place, snakemake_line())
    assert "another Snakemake works in this folder: waiting for it" in second
    assert_as(whole, place, "simulate", "compare_series")
    assert_kept(place, {}, killed=0)


@pytest.mark.slow
@pytest.mark.long  # a job that refuses what was not planned is tried without a study
def test_a_conf_file_is_edited_while_a_run_goes_on(place):
    """The run keeps what it began with; the next job refuses what was not planned."""
    conf = str(place / "conf" / "case" / "double_pendulum.yaml")
    more = {"EDITED": conf, "EDIT": "residual: 1.0e-9"}
    words = ["study", "swings", "batches=2", "--cores", "1"]
    said = run(place, *words, status=1, kill="edit end", **more)
    assert "configuration or code changed since planning" in said
    before = started(place)
    run(place, *words)
    after = started(place)
    assert before.items() <= after.items()
    records = [run_record(place / "results" / "runs" / key) for key in after]
    swings = [r["config"]["case"] for r in records if r["name"] == "double_pendulum"]
    assert [case["residual"] for case in swings].count(1e-9) == len(STUDY["runs"])
    assert len(swings) - len(STUDY["runs"]) in (1, 2)  # of the first batch


@pytest.mark.slow
def test_a_full_disk(place, whole):
    """No file may be larger: as on a full disk, a write fails."""
    line = shlex.join([sys.executable, "-m", "pipeline", *BY_HAND])
    limited = ["bash", "-c", f"ulimit -f 16; exec {line}"]
    said = ended(limited, place, hooked(place), 1)
    (error,) = [text for text in said.splitlines() if text.startswith("error: ")]
    assert "raise the file size limit (ulimit -f), then run the" in error
    assert "Traceback" not in said
    before = started(place)
    run(place, *BY_HAND)
    assert dict(files(place, "simulate")) == dict(files(whole, "simulate"))
    assert before.items() < started(place).items()


# With MLflow; tests/pipeline/tracking kills without a workflow, and sooner.


def in_mlflow(folder: Path) -> Counter[tuple[str, str]]:
    """Keys and states of the attempts that MLflow has."""
    held = [run for run in runs_in(folder) if ATTEMPT in run.data.tags]
    return Counter(
        (run.data.tags[ATTEMPT].partition(" ")[0], run.info.status) for run in held
    )


def assert_logged(folder: Path) -> None:
    """Each finished run is in MLflow once, and each attempt that was killed."""
    killed = [path.stem for path in (folder / "results" / "failed").glob("*")]
    expected = Counter((key, "FINISHED") for key in started(folder))
    expected += Counter((key, "KILLED") for key in killed)
    end = time.monotonic() + 600.0  # a command waits 3 s for its logging process
    while (found := in_mlflow(folder)) != expected and time.monotonic() < end:
        time.sleep(0.5)
    assert found == expected


@pytest.mark.slow
@pytest.mark.long
def test_logging_processes_are_killed_and_what_they_follow(place):
    kills = [*(f"logger {moment}" for moment in MOMENTS), "job named", "job middle"]
    for number, kill in enumerate(kills, 1):
        words = [*BY_HAND[:2], f"case.duration=0.{number}", *OUT]
        run(place, *words, status=-9 * (kill == "job middle"), kill=kill, **MLFLOW)
    before = started(place)
    run(place, *words, **MLFLOW)
    assert_logged(place)
    assert before.items() <= started(place).items()


@pytest.mark.slow
@pytest.mark.long
def test_a_study_is_killed_with_all_that_logs_it(place):
    run(place, "study", "swings", status=-9, kill="session middle", **MLFLOW)
    run(place, "study", "swings", **MLFLOW)
    assert_logged(place)
