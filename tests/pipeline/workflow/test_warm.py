"""A process that has imported already makes jobs faster, and nothing else differs."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from pipeline.store.receipts import read_receipt
from pipeline.store.runs import finished
from pipeline.workflow import warm as warm_process
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.handing import OFF, WARM, handed_over
from pipeline.workflow.warm import FEWEST, is_local, wanted_modules, warm
from tests.pipeline.conftest import ROOT, command_in, furnish

GIVER = """
import sys
from pipeline.terminal.errors import command
from pipeline.workflow.handing import handed_over
status = command(handed_over)(sys.argv[1:])
sys.exit({} if status is None else status)"""
NOBODY = 99  # took a job
NAME = "simulate/dejong-3.small"

COMMAND = """
import os, subprocess, sys
from pipeline.workflow.warm import WARM, warm
with warm(["sleeper"]) as beside:
    print(beside[WARM], flush=True)
    line = [sys.executable, "-c", sys.argv[1], "simulate/it"]
    subprocess.run(line, env={**os.environ, **beside})"""

SLEEPER = """
import time
from pipeline.workflow import run
run.perform_name = lambda name: time.sleep(60)"""

Give = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder that these tests leave as it is."""
    folder = tmp_path_factory.mktemp("warm")
    furnish(folder)
    return folder


@contextlib.contextmanager
def taking(at: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that takes jobs of `warm_jobs`."""
    line = [sys.executable, str(Path(__file__).with_name("warm_jobs.py")), str(at)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


@pytest.fixture
def taker(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator["subprocess.Popen[str]"]:
    """One that takes what this process and those it starts give away."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv(WARM, str(tmp_path / "jobs"))
    with taking(tmp_path / "jobs") as process:
        yield process


@pytest.fixture
def given() -> Iterator[Give]:
    """Starts processes that give a job away."""
    with contextlib.ExitStack() as jobs:

        def give(*words: str) -> "subprocess.Popen[str]":
            pipe = subprocess.PIPE
            line = [sys.executable, "-c", GIVER.format(NOBODY), *words]
            job = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True)
            jobs.enter_context(job)
            jobs.callback(job.kill)
            return job

        yield give


def written(path: Path) -> int:
    """The process that a job noted, once it has."""
    for _ in range(1000):
        if path.is_file() and path.read_text():
            return int(path.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


def imported(*words: str) -> str:
    """What `morphtrack <words>` imports in its own process."""
    line = [sys.executable, "-X", "importtime", "-m", "pipeline", *words]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, check=True)
    return done.stderr


def processes_of(socket: str, number: int) -> list[int]:
    """Those that take jobs at a socket and their forks, once there are so many."""
    found: list[int] = []
    for _ in range(2000):
        found = []
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(Path(socket).parent).encode() in line.read_bytes():
                    found.append(int(line.parent.name))
        if len(found) == number:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{len(found)} processes at {socket}")


def is_gone(process: int) -> bool:
    for _ in range(500):
        try:
            if " Z " in Path(f"/proc/{process}/stat").read_text():
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.usefixtures("taker")
def test_a_job_speaks_ends_and_finds_its_environment_as_if_it_were_here(
    given: Give, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setenv("WHOSE", "the giver")
    job = given("say")
    out, err = job.communicate(timeout=20)
    assert (out, err) == (f"said by the giver in {place.name}\n", "wrong\n")
    assert job.returncode == 7


def test_each_job_is_a_process_of_its_own(
    taker: "subprocess.Popen[str]", given: Give, tmp_path: Path
) -> None:
    files = [tmp_path / str(i) for i in range(3)]
    jobs = [given("note", str(file)) for file in files]
    assert [job.wait(20) for job in jobs] == [0, 0, 0]
    assert len({taker.pid, *map(written, files)}) == 4


@pytest.mark.usefixtures("taker")
def test_a_defect_keeps_its_traceback_and_its_status(given: Give) -> None:
    _, err = (job := given("fault")).communicate(timeout=20)
    assert job.returncode == 1
    assert err.splitlines()[-1] == "RuntimeError: a defect"


@pytest.mark.usefixtures("taker")
def test_a_job_that_is_killed_is_given_back(given: Give) -> None:
    _, err = (job := given("die")).communicate(timeout=20)
    assert job.returncode == NOBODY
    assert err == "note: its process is lost: made here\n"


def test_what_is_killed_with_its_jobs_gives_them_back(
    taker: "subprocess.Popen[str]", given: Give, tmp_path: Path
) -> None:
    job = given("sleep", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    taker.kill()
    assert job.wait(20) == NOBODY
    os.kill(process, signal.SIGKILL)  # which had gone on


@pytest.mark.usefixtures("taker")
def test_a_job_goes_with_whoever_gave_it(given: Give, tmp_path: Path) -> None:
    job = given("sleep", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    job.kill()
    assert is_gone(process)
    assert given("note").wait(20) == 0  # and others are taken as before


@pytest.mark.usefixtures("taker")
def test_ctrl_c_ends_a_job_as_it_ends_one_here(given: Give, tmp_path: Path) -> None:
    job = given("sleep", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=20)
    assert (job.returncode, err) == (130, "interrupted\n")
    assert is_gone(process)


@pytest.mark.usefixtures("taker")
def test_a_job_that_is_killed_by_ctrl_c_is_not_made_again(
    given: Give, tmp_path: Path
) -> None:
    job = given("stubborn", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    job.send_signal(signal.SIGINT)
    time.sleep(0.2)
    os.kill(process, signal.SIGKILL)
    _, err = job.communicate(timeout=20)
    assert (job.returncode, err) == (130, "interrupted\n")


def test_a_second_ctrl_c_is_answered_though_the_process_is_stopped(
    taker: "subprocess.Popen[str]", given: Give, tmp_path: Path
) -> None:
    job = given("sleep", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    taker.send_signal(signal.SIGSTOP)
    job.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert job.poll() is None
    job.send_signal(signal.SIGINT)
    assert job.wait(20) == 130
    taker.send_signal(signal.SIGCONT)
    assert is_gone(process)


def test_a_job_whose_giver_is_gone_is_not_begun(
    taker: "subprocess.Popen[str]", given: Give, tmp_path: Path
) -> None:
    taker.send_signal(signal.SIGSTOP)
    job = given("note", str(tmp_path / "it"))
    time.sleep(1.0)  # in which it is given
    job.kill()
    job.wait()
    taker.send_signal(signal.SIGCONT)
    assert given("note").wait(20) == 0  # which was taken after it
    assert not (tmp_path / "it").exists()


@pytest.mark.parametrize("signal_number", [signal.SIGHUP, signal.SIGKILL])
def test_a_job_ends_though_the_whole_group_of_its_command_is_gone(
    project: Path, signal_number: int
) -> None:
    (project / "sleeper.py").write_text(SLEEPER)
    line = [sys.executable, "-c", COMMAND, GIVER.format(NOBODY)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, text=True, start_new_session=True) as own:
        assert own.stdout is not None
        socket = own.stdout.readline().strip()
        before = processes_of(socket, 2)  # the job is a fork
        os.killpg(own.pid, signal_number)
    assert all(map(is_gone, before))


@pytest.mark.usefixtures("project")
def test_one_that_is_stopped_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warm_process, "END_SECONDS", 0.2)
    with warm(["json"]) as beside:
        [process] = processes_of(beside[WARM], 1)
        os.kill(process, signal.SIGSTOP)
    assert is_gone(process)
    assert not Path(beside[WARM]).parent.exists()


@pytest.mark.parametrize("place", ["nowhere", "long/" + "x" * 120])
def test_where_no_socket_can_be_made_each_job_imports_by_itself(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
) -> None:
    if place != "nowhere":
        (project / place).mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(project / place))
    with warm(["json"]) as beside:
        assert beside == {WARM: OFF}
    assert capsys.readouterr().err.startswith("note: each job imports by itself: ")
    assert not list((project / place).glob("*"))


def test_it_ends_with_the_command_that_began_it_after_its_last_job(
    taker: "subprocess.Popen[str]", given: Give, tmp_path: Path
) -> None:
    job = given("sleep", str(tmp_path / "it"))
    process = written(tmp_path / "it")
    assert taker.stdin is not None
    taker.stdin.close()
    time.sleep(0.2)
    assert taker.poll() is None
    assert given("note").wait(20) == NOBODY
    os.kill(process, signal.SIGINT)
    assert (job.wait(20), taker.wait(20)) == (130, 0)


@pytest.mark.usefixtures("taker")
def test_no_job_is_taken_once_a_file_of_conf_has_changed(
    given: Give, place: Path
) -> None:
    assert given("note").wait(20) == 0
    (place / "conf" / "case" / "box.yaml").touch()
    assert given("note").wait(20) == NOBODY


def test_where_nobody_listens_a_job_is_made_by_its_own_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WARM, str(tmp_path / "nobody"))
    assert handed_over(["anything"]) is None
    monkeypatch.setenv(WARM, OFF)
    assert handed_over(["anything"]) is None
    monkeypatch.delenv(WARM)
    assert handed_over(["anything"]) is None


def test_there_is_none_on_a_cluster_nor_for_few_jobs(project: Path) -> None:
    assert is_local(project / "conf" / "profile" / "local")
    assert not is_local(project / "conf" / "profile" / "slurm")
    assert not is_local(project / "conf" / "profile" / "nowhere")
    cases = {
        str(i): ["case=triangles_circle", f"record_every={i}"] for i in range(1, 4)
    }
    workflow = {"figures": {"dejong-3": {"cases": cases}}}
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    plan = fresh_plan()
    names = [*plan["names"]]
    assert len(names) == FEWEST
    found = wanted_modules(plan, names)
    assert {"pipeline.steps.figure", "pipeline.cases.morph"} <= {*found}
    assert wanted_modules(plan, names[1:]) == []
    with warm([]) as beside:
        assert beside == {WARM: OFF}


def test_a_run_holds_the_same_with_it_without_it_and_where_it_was_killed(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    small = [
        "case=triangles_circle",
        "case.structure.rows=1",
        "case.structure.columns=2",
        "case.target.radius=1.5",
    ]
    workflow = {"figures": {"dejong-3": {"cases": {"small": small}}}}
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    fresh_plan()
    kill = tmp_path_factory.mktemp("kill") / "jobs"  # whose every job is killed
    with taking(kill):
        monkeypatch.setenv(WARM, str(kill))
        done = command_in(project)("run", NAME)
    assert done.returncode == 0
    assert done.stderr.endswith("note: its process is lost: made here\n")
    alone = read_receipt(NAME)
    assert alone is not None
    shutil.rmtree("results/runs")
    with warm(["pipeline.steps.simulate", "pipeline.cases.morph"]) as beside:
        monkeypatch.setenv(WARM, beside[WARM])
        assert "pipeline.steps.simulate" not in imported("run", NAME)
    assert read_receipt(NAME) == alone
    assert finished(alone.runs[0].key)
    assert Path("results/log/warm.log").read_text() == ""
