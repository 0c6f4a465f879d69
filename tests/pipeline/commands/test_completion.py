"""What a shell offers after a press of the tab key."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.conftest import ROOT, Command, refusal

# As bash calls it: the line is split at blanks and at =, which is a word by itself.
PRESSED = r"""
eval "$("$1" completion bash)"
COMP_LINE=$2; COMP_POINT=${#2}
read -ra COMP_WORDS <<< "${2//=/ = }"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_morphtrack
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def morphtrack(project: Path) -> Path:
    """A command called morphtrack, as an installation makes it."""
    path = project / "bin" / "morphtrack"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m pipeline "$@"\n')
    path.chmod(0o755)
    return path


def offered(morphtrack: Path, line: str) -> set[str]:
    done = subprocess.run(
        ["bash", "-c", PRESSED, "bash", str(morphtrack), f"{morphtrack} {line}"],
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
        ("stu", {"study", "study_table", "studies"}),
        ("study star", {"star_robot_contact"}),
        ("make dejong-", {"dejong-2", "dejong-3", "dejong-5"}),
        ("study sheet_size --r", {"--retry-failed"}),
        ("simulate case=octa", {"octahedra_organic"}),
        ("simulate case=pentapod case.max", {"case.max_steps="}),
        ("mobility case=pent", {"pentapod"}),
        ("completion ", {"bash", "zsh"}),
        ("frobnicate ", set()),
    ],
)
def test_bash_completes_names(morphtrack: Path, line: str, expected: set[str]) -> None:
    assert offered(morphtrack, line) == expected


def test_every_case_is_offered(morphtrack: Path, project: Path) -> None:
    (project / "conf" / "case" / "mine.yaml").write_text("_target_: x\n")
    cases = {path.stem for path in (project / "conf" / "case").glob("*.yaml")}
    assert offered(morphtrack, "simulate case=") == cases


@pytest.mark.parametrize("folder", ["case", "study"])
def test_a_name_that_a_shell_would_run_is_not_offered(
    morphtrack: Path, project: Path, folder: str
) -> None:
    known = next((project / "conf" / folder).glob("*.yaml")).read_text()
    for name in ("zz_a;touch\tb", "zz_$(touch b)", "zz_`touch b`", "zz_plain"):
        (project / "conf" / folder / f"{name}.yaml").write_text(known)
    line = "simulate case=zz" if folder == "case" else "study zz"
    assert offered(morphtrack, line) == {"zz_plain"}


def test_the_script_for_zsh_asks_the_same(command: Command) -> None:
    said = command("completion", "zsh").stdout
    assert "compdef _morphtrack morphtrack" in said
    assert "completion words" in said


def test_a_shell_without_a_script_is_refused(command: Command) -> None:
    assert "choose from" in refusal(command("completion", "fish"))
