"""What a shell offers after a press of the tab key."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.conftest import ROOT

# As bash calls it: the line is split at blanks and at =, which is a word by itself.
PRESSED = r"""
eval "$3"
COMP_LINE=$2; COMP_POINT=${#2}
read -ra COMP_WORDS <<< "${2//=/ = }"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_morphtrack_completion "$1"
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def morphtrack(project):
    """A command called morphtrack, as an installation makes it."""
    path = project / "bin" / "morphtrack"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m pipeline "$@"\n')
    path.chmod(0o755)
    return path


@functools.cache
def completion() -> str:
    """What a person has bash read."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "_MORPHTRACK_COMPLETE": "source_bash"}
    line = [sys.executable, "-m", "pipeline"]
    return subprocess.run(line, env=env, capture_output=True, text=True).stdout


def offered(morphtrack: Path, line: str) -> set[str]:
    words = [str(morphtrack), f"{morphtrack} {line}", completion()]
    done = subprocess.run(
        ["bash", "-c", PRESSED, "bash", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("stu", {"study"}),
        ("study star", {"star_robot_contact"}),
        ("make dejong-", {"dejong-2", "dejong-3", "dejong-5"}),
        ("--v", {"--version"}),
        ("simulate case=octa", {"octahedra_organic"}),
        ("simulate case=pentapod case.max", {"case.max_steps=", "case.max_steps=1000"}),
        ("simulate case=pentapod case.max_steps=", {"1000"}),
        ("simulate case=nothing case.max", set()),
        ("mobility case=pent", {"pentapod"}),
    ],
)
def test_bash_completes_names(morphtrack, line, expected):
    assert offered(morphtrack, line) == expected


def test_every_case_is_offered(morphtrack, project):
    (project / "conf" / "case" / "mine.yaml").write_text("_target_: x\n")
    cases = {path.stem for path in (project / "conf" / "case").glob("*.yaml")}
    assert offered(morphtrack, "simulate case=") == cases


@pytest.mark.parametrize("folder", ["case", "study"])
def test_a_name_that_a_shell_would_run_is_not_offered(morphtrack, project, folder):
    known = next((project / "conf" / folder).glob("*.yaml")).read_text()
    for name in ("zz_a;touch\tb", "zz_$(touch b)", "zz_`touch b`", "zz_plain"):
        (project / "conf" / folder / f"{name}.yaml").write_text(known)
    line = "simulate case=zz" if folder == "case" else "study zz"
    assert offered(morphtrack, line) == {"zz_plain"}


def test_zsh_and_fish_complete_a_whole_override_and_import_no_numbers(project):
    """They end no word at =."""
    code = (
        "import sys; sys.argv = ['morphtrack']\n"
        "from pipeline.cli.app import main\n"
        "try: main()\n"
        "finally: print('heavy:', sorted({'numpy', 'pandas'} & set(sys.modules)))"
    )
    words = "morphtrack simulate case=pentapod case.max_steps"
    for shell in ("zsh", "fish"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=project,
            env={
                **os.environ,
                "_MORPHTRACK_COMPLETE": f"complete_{shell}",
                "_TYPER_COMPLETE_ARGS": words,
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert "case.max_steps=1000" in done.stdout
        assert done.stdout.endswith("heavy: []\n")
