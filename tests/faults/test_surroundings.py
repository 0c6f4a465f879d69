"""Limits of a shell, users, places and languages: told, nothing lost, gone on with."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.runs.run_attempts import running_directories
from pipeline.runs.run_keys import edits
from tests.pipeline.conftest import ROOT, furnish

pytestmark = pytest.mark.slow

COMMAND = f"{shlex.quote(sys.executable)} -m pipeline simulate case=cantilever"
MEDDLING = "--bounding-set=-dac_override --inh-caps=-dac_override"
# As root has no limits: the same user without the right to write what is not its own.
ANYBODY = f"setpriv {MEDDLING} {COMMAND}"
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="takes rights away")

DONE = {
    "few files open": f"ulimit -n 64; {COMMAND}",
    "little memory": f"ulimit -v 900000; {COMMAND}",
    "no home": f"export HOME=/proc/none; {COMMAND}",
    "no place for what is temporary": f"export TMPDIR=/none/at/all; {COMMAND}",
    "ASCII": f"export LC_ALL=POSIX PYTHONIOENCODING=ascii PYTHONUTF8=0; {COMMAND}",
    "no such language": f"export LC_ALL=xx_YY.UTF-9; {COMMAND}",
    "a day ahead": f"export TZ=Pacific/Kiritimati; {COMMAND}",
    "no such time": f"export TZ=none/such; {COMMAND}",
    "for nobody else": f"umask 077; {COMMAND}",
    "for everybody": f"umask 000; {COMMAND}",
}
TOLD = {
    "files of 1 kB": (f"ulimit -f 1; {COMMAND}", 1, "raise the file size limit"),
    "a file": (
        f"touch results; {COMMAND}",
        2,
        "a file or a broken link has the name of a needed folder",
    ),
    "a broken link": (f"ln -s /none results; {COMMAND}", 2, "a file or a broken link"),
    "read only": (f"mkdir -m 555 results; {ANYBODY}", 2, "access rights"),
    "of another user": (
        f"mkdir results; chown 65534 results; {ANYBODY}",
        2,
        "give this user access rights",
    ),
    "runs of another user": (
        f"mkdir -p results/runs; chown 65534 results/runs; {ANYBODY}",
        2,
        "give this user access rights",
    ),
}


@pytest.fixture
def project(tmp_path):
    furnish(tmp_path)
    return tmp_path


def run(project: Path, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", words], cwd=project, env={**os.environ, "PYTHONPATH": f"{ROOT}"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def assert_whole(project: Path) -> None:
    """One finished run, whole, and nothing left of others."""
    (run,) = (project / "results" / "runs").iterdir()
    assert edits(run) == []
    assert not running_directories(project / "results")


@pytest.mark.parametrize("name", DONE)
def test_surroundings_that_change_nothing(name, project):
    done = run(project, DONE[name])
    assert done.returncode == 0, done.stderr
    assert_whole(project)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=ROOT_ONLY if ANYBODY in words else ())
        for name, (words, *_) in TOLD.items()
    ],
)
def test_surroundings_are_told_and_the_next_plain_run_goes_on(name, project):
    words, status, said = TOLD[name]
    done = run(project, words)
    assert done.returncode == status, done.stderr
    (line,) = [text for text in done.stderr.splitlines() if text.startswith("error")]
    assert said in line
    assert "Traceback" not in done.stderr
    results = project / "results"
    if not results.is_dir():
        results.unlink()
    run(project, "chown -R 0 results; chmod -R u+w results")
    assert run(project, COMMAND).returncode == 0
    assert_whole(project)


def test_too_few_open_files_for_snakemake_are_told_before_anything_is_planned(project):
    words = COMMAND.replace("simulate case=cantilever", "make comparisons")
    done = run(project, f"ulimit -n 15; {words}")
    assert done.returncode == 2, done.stderr
    line, *more = done.stderr.splitlines()
    assert not more
    assert "15 open files" in line
    assert "raise the limit (ulimit -n)" in line
    assert not (project / "results").exists()


@ROOT_ONLY
@pytest.mark.parametrize(
    ("folder", "file", "told"),
    [
        (0o555, 0o444, ""),
        (0o111, 0o444, "Permission denied: 'rec': give this user access rights"),
        (0o444, 0o444, "Permission denied: 'rec/records.csv': give this user"),
        (0o555, 0o000, "Permission denied: 'rec/own_weight_a.csv': give this user"),
    ],
)
def test_records_that_this_user_may_only_read_are_compared_and_others_told(
    folder, file, told, project
):
    (project / "data").symlink_to(ROOT / "data")
    (project / "rec").mkdir()
    record = project / "rec" / "own_weight_a.csv"
    record.write_bytes((ROOT / "data/silicone_beam/own_weight_a.csv").read_bytes())
    record.chmod(file)
    record.parent.chmod(folder)
    rights = MEDDLING.replace("dac_override", "dac_override,-dac_read_search")
    words = "-m pipeline measured silicone_beam --records rec"
    done = run(project, f"setpriv {rights} {shlex.quote(sys.executable)} {words}")
    assert done.returncode == (2 if told else 0), done.stderr
    assert told in done.stderr
    assert done.stderr.count("error: ") == bool(told)
