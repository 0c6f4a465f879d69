"""morphtrack as its users meet it: names, mistakes, pipes, Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

from pipeline.cli.app import BLAS_THREADS, COMMANDS
from sim.core.numba_kernels import WAITING
from tests.pipeline.conftest import ROOT, refusal


def test_help_lists_every_command_and_imports_nothing_for_it():
    heavy = "{'hydra', 'numpy', 'pandas', 'matplotlib', 'mlflow', 'open3d'}"
    code = (
        "import sys; sys.argv = ['morphtrack', '--help']\n"
        "from pipeline.cli.app import main\n"
        f"main(); print('heavy:', sorted({heavy} & set(sys.modules)))"
    )
    line = [sys.executable, "-c", code]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert said.endswith("heavy: []\n")
    for name in COMMANDS:
        assert f" {name} " in said


@pytest.mark.parametrize(("told", "threads"), [({}, 1), ({BLAS_THREADS: "2"}, 2)])
def test_products_of_matrices_run_on_one_thread_unless_told_otherwise(told, threads):
    """Where threads share a factor, those of BLAS beside them took four times the CPU
    time of a morph of 10,080 nodes."""
    code = (
        "import sys; sys.argv = ['morphtrack', '--help']\n"
        "from pipeline.cli.app import main\n"
        "main(); import numpy, scipy.linalg, threadpoolctl\n"
        "print('threads', *{i['num_threads'] for i in threadpoolctl.threadpool_info()})"
    )
    env = {key: text for key, text in os.environ.items() if "NUM_THREADS" not in key}
    line = [sys.executable, "-c", code]
    done = subprocess.run(
        line, env=env | told, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(f"threads {min(threads, os.cpu_count() or 1)}\n")


@pytest.mark.parametrize("name", ["compare_series", "compare-series"])
@pytest.mark.parametrize("option", ["--u-simulated", "--u_simulated"])
def test_a_name_with_dashes_or_underscores_is_the_same(command, name, option):
    said = refusal(command(name, option, "x"))
    assert "--u-simulated" in said
    assert "'x'" in said


def test_the_version_is_that_of_the_installed_package(command):
    assert command("--version").stdout == f"morphtrack {version('morphtrack')}\n"


def test_no_command_at_all_is_refused_with_the_list(process):
    done = process()
    assert done.returncode == 2
    assert " simulate " in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["simulate", "ingest", "frobnicate"])
def test_words_that_are_no_text_are_refused_before_anything_runs(
    command, project, name
):
    """The name of a file in Latin-1: its case ran, and its words could not be kept."""
    said = refusal(command(name, "case.path=gr\udcfcn.yaml"))
    assert "case.path=gr?n.yaml is not UTF-8: rename it" in said
    assert not (project / "results").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["simulate", "case=pentapod", "--cfg", "job"],
        ["frobnicate"],
    ],
)
def test_a_reader_that_leaves_ends_no_command(project, words):
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "pipeline", *words]
    only = {"stdout": writing, "stderr": subprocess.PIPE}
    both = {"stdout": writing, "stderr": writing}
    for streams in (only, both):
        done = subprocess.run(line, cwd=project, check=False, **streams)  # type: ignore[call-overload]
        assert done.returncode == (2 if words == ["frobnicate"] else 0)
        assert b"Traceback" not in (done.stderr or b"")
        assert b"Broken pipe" not in (done.stderr or b"")
    os.close(writing)


def test_a_name_in_a_file_of_others_steers_no_terminal(project):
    case = project / "conf" / "case" / "pentapod.yaml"
    case.write_text("# \x1b]0;mine\x07\x9b31m of others\n" + case.read_text())
    line = [sys.executable, "-m", "pipeline", "list", "cases"]
    done = subprocess.run(line, cwd=project, capture_output=True, check=True)
    assert "?]0;mine??31m of others" in done.stdout.decode()
    assert not set(done.stdout.decode()) & {"\x1b", "\x07", "\x9b"}


def test_work_goes_on_when_nobody_reads_what_is_said(project):
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "pipeline", "simulate", "case=slider_crank_motion"]
    done = subprocess.run(line, cwd=project, stdout=writing, check=False)
    os.close(writing)
    assert done.returncode == 0
    shut = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *line, "record_every=2"]
    assert subprocess.run(shut, cwd=project, check=False).returncode == 0
    assert len(list((project / "results" / "runs").iterdir())) == 2


def test_ctrl_c_ends_with_one_line(project):
    case = ["case=double_pendulum", "case.duration=3000.0"]  # the signal ends it
    line = [sys.executable, "-m", "pipeline", "simulate", *case]
    started = subprocess.Popen(line, cwd=project, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 600.0
    while not list(project.glob("results/running/*/steps.csv")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=600)
    assert started.returncode == 130
    *waited, last = said.splitlines()
    assert last == "interrupted: run the same command again to continue"
    assert waited in ([], [WAITING])  # for the kernels of another test


def test_what_conf_holds_is_listed_with_their_first_lines(command, project):
    (project / "conf" / "case" / "mine.yaml").write_text("_target_: x\n")
    cases = command("list", "cases").stdout.splitlines()
    assert [line.split()[0] for line in cases] == sorted(
        path.stem for path in (project / "conf" / "case").glob("*.yaml")
    )
    assert "  mine" in cases
    assert any("[dJ23] Fig. 2a: a pentapod" in line for line in cases)
    studies = command("list", "studies").stdout
    assert re.search(r"^  sheet_size +How the size of the triangle", studies, re.M)
    figures = command("list", "figures").stdout
    assert re.search(r"^  dejong-3 +Fig. 3 of \[dJ23\]", figures, re.M)
    structures = command("list", "structures").stdout
    assert re.search(r"^  conf/structure/four_bar.yaml +A four-bar", structures, re.M)
    assert "conf/structure/joint/hinge.yaml" in structures


def test_an_installed_command_runs_the_code_of_the_folder_it_is_called_in(tmp_path):
    copied = tmp_path / "pipeline" / "cli"
    copied.mkdir(parents=True)
    (copied / "app.py").touch()
    (tmp_path / "pipeline" / "__init__.py").touch()
    (tmp_path / "pipeline" / "__main__.py").write_text("print('the copy ran')")
    code = "from pipeline.cli.app import installed; installed()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],  # -P: as if from elsewhere
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "the copy ran\n"
