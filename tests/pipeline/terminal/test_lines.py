"""What a person sees: lines that fit, in any encoding, at a terminal or none."""

import io
import os
import pty
import subprocess
import sys
import termios

import pytest

from pipeline import terminal
from pipeline.cli.make_and_summarise import in_words, verdict_lines
from pipeline.config.workflow_file import Compared
from pipeline.terminal import SPELLING, aligned
from tests.pipeline.conftest import ROOT

CONTROL = {
    "verdict": "differs", "S_simulated": "0.71234", "S_scanned": "0.7533",
    "S_scanned_u": "0.00021", "synthetic": "True",
}  # fmt: skip


def compared(expect: str) -> Compared:
    return Compared(
        name="control", case="c", scan=["s.ply"], sphere_radius_mm=6.0, scale_mm=40.0,
        expect=expect,
    )  # fmt: skip


def test_a_verdict_is_told_with_its_numbers_in_words_on_eighty_columns():
    head, line = verdict_lines(
        {"control": CONTROL}, {"control": compared("differs")}, 80
    )
    assert head.split() == [
        "comparison",
        "S",
        "simulated",
        "S",
        "scanned",
        "±",
        "u",
        "verdict",
    ]
    assert line.split(maxsplit=5) == [
        "control", "0.7123", "0.7533", "±", "0.0002",
        "differs, as expected (synthetic)",
    ]  # fmt: skip


def test_a_control_that_does_not_do_what_it_must_says_so():
    assert in_words(CONTROL, "agrees").startswith("differs, expected: agrees")
    real = {"verdict": "agrees", "synthetic": "False"}
    assert in_words(real, "") == "agrees"


@pytest.mark.parametrize("width", [20, 30, 60])
def test_what_is_too_wide_stands_below_each_other(width):
    lines = verdict_lines({"control": CONTROL}, {"control": compared("")}, width)
    assert lines[0] == "control"
    assert "  S scanned ± u: 0.7533 ± 0.0002" in lines


def test_columns_end_without_blanks():
    assert aligned([["a", "b"], ["long", ""]]) == ["a     b", "long"]


def test_signs_that_a_terminal_lacks_are_spelt():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=SPELLING)
    out.write("0.75 ± 0.01 – “so” ∂")
    out.flush()
    assert out.buffer.getvalue() == b'0.75 +- 0.01 - "so" ?'  # type: ignore[attr-defined]


def test_a_log_gets_a_line_of_progress_now_and_then(monkeypatch, capsys):
    times = iter([0.0, 4.0, 12.0, 12.0, 21.0, 23.0, 23.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(terminal, "EVERY", 10.0)
    with terminal.progress("simulate") as show:
        for step in range(4):
            show(f"E = 0.{step}")
    assert capsys.readouterr().err == (
        "simulate: step 2, E = 0.1\nsimulate: step 4, E = 0.3\n"
    )


SHOWN = """
from pipeline.terminal import progress
from pipeline.terminal import outlive_readers
outlive_readers()
with progress("simulate") as show:
    show("E = 0.5")
print("S \u00b1 u")
"""


@pytest.mark.parametrize(
    "told",
    [{"PYTHONIOENCODING": "utf-8"}, {"PYTHONIOENCODING": "ascii"}, {"TERM": "dumb"}],
    ids=["utf-8", "ascii", "dumb"],
)
def test_any_terminal_will_do(told):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **told},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        said += more
    os.close(ours)
    assert process.wait(60) == 0
    *bar, line = said.decode("utf-8").strip().splitlines()
    sign = "+-" if told.get("PYTHONIOENCODING") == "ascii" else "±"
    assert line == f"S {sign} u"
    assert "simulate: 1 steps" in "".join(bar)


@pytest.mark.parametrize(
    ("words", "into", "status", "lines"),
    [
        ("--help", "> /dev/full", 1, 1),
        ("list cases", "> /dev/full", 1, 1),
        ("nosuch", "2> /dev/full", 2, 0),
        ("nosuch", "2> /dev/full > /dev/full", 2, 0),
    ],
)
def test_words_that_a_full_disk_does_not_take_are_one_line(words, into, status, lines):
    done = subprocess.run(
        f"{sys.executable} -m pipeline {words} {into}",
        shell=True, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (status, lines), done.stderr
    assert not lines or "make room" in done.stderr
