"""Options of several words, and those that a dataclass of settings gives a command."""

import shlex
from dataclasses import asdict, fields
from typing import Any

import pytest

from pipeline.cli.app import called
from pipeline.cli.options import joined, typed
from pipeline.steps.settings import (
    ComparisonSettings,
    Deviation,
    Ingest,
    InputUncertainty,
    SeriesComparison,
)
from pipeline.workflow.plan import option_line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pick a.ply --at -1 2 -3 --unit mm", ["pick", "a.ply", "--at", "-1 2 -3"]),
        ("pick --at 1 2 3 a.ply", ["pick", "--at", "1 2 3", "a.ply"]),
        ("figure x --row 'a b' c --svg", ["figure", "x", "--row", "'a b' c", "--svg"]),
        ("figure x --row a b c d KEY=1", ["figure", "x", "--row", "a b c d", "KEY=1"]),
        ("calibrate --pose a b", ["calibrate", "--pose", "a b"]),
        ("pick --at --unit mm", ["pick", "--at", ""]),
    ],
)
def test_words_of_one_option_become_one_word(words, expected):
    assert joined(shlex.split(words))[: len(expected)] == expected


class Reached(BaseException):
    """A command is about to make a step of a configuration."""


INGEST = Ingest(5.0, "cm", 7.0, 0.1, 0.2, True, True, "seeds.csv", (1.0, -2.0, 3.0))
GIVEN = [
    ("ingest", "scan.ply", INGEST),
    (
        "ingest",
        "scan.ply",
        Ingest(5.0, "mm", register=True, accept=("1.00/2.00/-3.00",)),
    ),
    ("compare", "--spheres . --simulated .", ComparisonSettings(*range(11, 22))),
    ("deviation", "--spheres . --simulated .", Deviation(*range(1, 7))),
    ("input_uncertainty", "--simulated .", InputUncertainty(*range(1, 6))),
    (
        "compare_series",
        "--measured m.csv --simulated .",
        SeriesComparison(1.0, 2.0, 3.0, "x", True),
    ),
]


@pytest.mark.parametrize(("step", "needs", "settings"), GIVEN)
def test_the_options_that_a_workflow_writes_give_the_settings_back(
    step, needs, settings, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    made: list[Any] = []

    def make_step(_: str, config: Any, *__: Any, **___: Any) -> None:
        made.append(config)
        raise Reached

    monkeypatch.setattr("pipeline.workflow.make_step.make_step", make_step)
    words = [step, *needs.split(), "--out", "out"]
    with pytest.raises(Reached):
        called([*words, *shlex.split(option_line(step, settings))])
    assert made == [asdict(settings)]


def test_the_settings_tried_have_every_field():
    """Each with a value that is not its default, in one of them."""
    for kind in {type(settings) for _, _, settings in GIVEN}:
        tried = [settings for _, _, settings in GIVEN if type(settings) is kind]
        for field in fields(kind):
            assert any(getattr(one, field.name) != field.default for one in tried)


def test_a_message_has_the_options_of_a_command_line_for_its_settings():
    said = "printing_sd_mm was not stated; state scale_mm, not in-printing_sd_mm.csv"
    named = (
        "--printing-sd-mm was not stated; state --scale-mm, not in-printing_sd_mm.csv"
    )
    assert typed(said) == named
    of_conf = "comparisons.one.settings.printing_sd_mm, input_uncertainty"
    assert typed(of_conf) == of_conf


@pytest.mark.parametrize(
    ("more", "said"),
    [("", "--printing-sd-mm must be 0"), ("--planned x", "printing_sd_mm must be 0")],
)
def test_a_refusal_names_the_option_that_was_typed(more, said, tmp_path, capsys):
    line = f"compare --spheres {tmp_path} --simulated {tmp_path} --scale-mm 1 --out o "
    assert called([*(line + more).split(), "--printing-sd-mm", "-1"]) == 2
    assert f"error: {said} or more, not -1.0" in capsys.readouterr().err
