"""What a person sees: lines that fit, in any encoding, at a terminal or none."""

import io
import os
import pty
import subprocess
import sys

import pytest

from pipeline.commands.make import in_words, verdict_lines
from pipeline.config.workflow_file import Compared
from pipeline.results.verdicts import ToldVerdict
from pipeline.terminal.board import Going, PlainLines, board, heading
from pipeline.terminal.words import SPELLING, aligned, duration
from tests.pipeline.conftest import ROOT

CONTROL = ToldVerdict("control", "differs", 0.71234, 0.7533, 0.00021, True)


def compared(expect: str) -> Compared:
    return Compared(
        name="control", case="c", scan=["s.ply"], sphere_radius_mm=6.0, scale_mm=40.0,
        expect=expect,
    )  # fmt: skip


def test_a_verdict_is_told_with_its_numbers_in_words_on_eighty_columns() -> None:
    head, line = verdict_lines([CONTROL], {"control": compared("differs")}, 80)
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
        "differs, as it should (synthetic)",
    ]  # fmt: skip


def test_a_control_that_does_not_do_what_it_must_says_so() -> None:
    assert in_words(CONTROL, "agrees").startswith("differs, but should be: agrees")
    real = ToldVerdict("scan", "agrees", 1.0, 1.0, 0.1, False)
    assert in_words(real, "") == "agrees"


@pytest.mark.parametrize("width", [20, 30, 60])
def test_what_is_too_wide_stands_below_each_other(width: int) -> None:
    lines = verdict_lines([CONTROL], {"control": compared("")}, width)
    assert lines[0] == "control"
    assert "  S scanned ± u: 0.7533 ± 0.0002" in lines


def test_columns_end_without_blanks() -> None:
    assert aligned([["a", "b"], ["long", ""]]) == ["a     b", "long"]


def test_signs_that_a_terminal_lacks_are_spelt() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=SPELLING)
    out.write("0.75 ± 0.01 – “so” ∂")
    out.flush()
    assert out.buffer.getvalue() == b'0.75 +- 0.01 - "so" ?'  # type: ignore[attr-defined]


def test_without_a_terminal_each_end_is_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with board("make") as shown:
        assert isinstance(shown, PlainLines)
        shown.show(Going(12, ["simulate a"]))
        shown.show(Going(12, ["simulate a"], failed=[("compare b", "no sphere")]))
        shown.show(Going(12, ["simulate a", "compare c"]))
    assert capsys.readouterr().out.splitlines() == [
        "[ 1/12] simulate a",
        "failed: compare b: no sphere",
        "[ 2/12] compare c",
    ]


def test_the_heading_says_how_far_and_how_long() -> None:
    going = Going(12, ["a"], failed=[("b", "x")], seconds_left=300.0)
    assert heading("make", going) == "make: 1 of 12 made, 1 failed, about 5 min left"
    assert [duration(s) for s in (None, 4.4, 5400.0)] == ["unknown", "4 s", "1.5 h"]


SHOWN = """
from pipeline.terminal.board import Doing, Going, board
from pipeline.terminal.streams import outlive_readers
outlive_readers()
with board("make") as shown:
    shown.show(Going(12, ["a"], [Doing("simulate " + "long" * 30, 3.0, "step 4")],
                     [("compare b", "no sphere " * 20)], 60.0))
print("S \u00b1 u")
"""


@pytest.mark.parametrize(
    "told",
    [
        {"COLUMNS": "30", "LINES": "8"},
        {"COLUMNS": "100", "NO_COLOR": "1"},
        {"COLUMNS": "80", "PYTHONIOENCODING": "ascii"},
        {"COLUMNS": "80", "TERM": "dumb"},
    ],
    ids=["narrow", "no colour", "ascii", "dumb"],
)
def test_any_terminal_will_do(told: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **told},
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=False,
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
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0
    text = said.decode("utf-8")
    assert "1 of 12 made" in text or "[ 1/12] a" in text
    assert ("S +- u" if "PYTHONIOENCODING" in told else "S ± u") in text
    if told["COLUMNS"] == "30":
        assert "long" * 30 not in text
    if "NO_COLOR" in told:
        assert "\x1b[31m" not in text


@pytest.mark.parametrize(
    ("words", "into", "status", "lines"),
    [
        ("--help", "> /dev/full", 1, 1),
        ("cases", "> /dev/full", 1, 1),
        ("nosuch", "2> /dev/full", 2, 0),
        ("nosuch", "2> /dev/full > /dev/full", 2, 0),
    ],
)
def test_words_that_a_full_disk_does_not_take_are_one_line(
    words: str, into: str, status: int, lines: int
) -> None:
    done = subprocess.run(
        f"{sys.executable} -m pipeline {words} {into}",
        shell=True, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (status, lines), done.stderr
    assert not lines or "make room" in done.stderr
