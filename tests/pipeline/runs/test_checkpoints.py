"""A killed run goes on from its checkpoint, to the same bits."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.robots import JumperCase, StarCase
from pipeline.config.hydra import Composer
from pipeline.runs import checkpoints
from pipeline.runs.case_job import sound_case
from pipeline.runs.checkpoints import CHECKPOINT
from pipeline.steps.simulate import Case, Continuable, record_steps
from sim.core.options import NotConvergedError
from sim.rods.plane.builders import Ribbon
from sim.rods.plane.options import StepOptions

KEY = "0123456789abcdef"


def _cases() -> dict[str, Case]:
    return {
        "star": StarCase(duration=0.5, every=5),
        "jumper": JumperCase(duration=0.3, every=5),
        "ribbon": RibbonCase(Ribbon(nodes=40), duration=0.3, every=10),
    }


class _KilledError(Exception):
    pass


class _KilledCase:
    """Another case, whose process is gone after some steps.

    `left` is a copy of what then lies in the folder: a killed process does nothing
    more, an exception lets the files be closed.
    """

    def __init__(self, case: Any, after: int, folder: Path, left: Path) -> None:
        self._case, self._after = case, after
        self._folder, self._left = folder, left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._case, name)

    def continued(self, state: Any) -> Any:
        return self._case.continued(state)

    def steps(self) -> Iterator[Any]:
        for i, step in enumerate(self._case.steps()):
            yield step
            if i == self._after:
                shutil.copytree(self._folder, self._left)
                raise _KilledError


@pytest.fixture(autouse=True)
def at_every_step(monkeypatch):
    monkeypatch.setattr(checkpoints, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 1e9)


def _same_files(a: Path, b: Path) -> bool:
    with np.load(a / "steps.npz") as one, np.load(b / "steps.npz") as other:
        equal = all(np.array_equal(one[name], other[name]) for name in one)
        equal = equal and list(one) == list(other)
    return equal and (a / "steps.csv").read_bytes() == (b / "steps.csv").read_bytes()


@pytest.mark.parametrize("name", ["star", "jumper", "ribbon"])
@pytest.mark.parametrize("record_every", [1, 3])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, name, record_every, capsys):
    _goes_on(lambda: _cases()[name], tmp_path, 4, record_every)
    assert "continuing from step 5 of the attempt" in capsys.readouterr().err


def _goes_on(
    made: Callable[[], Case], place: Path, after: int, record_every: int = 1
) -> None:
    """A run killed after a step goes on to the bits of one that was not."""
    whole, running = place / "whole", place / "running"
    left = place / "failed" / f"{KEY}.1"
    for folder in (whole, running / "work", running / f"{KEY}.2"):
        folder.mkdir(parents=True)
    result = record_steps(made(), "", whole, record_every)
    case = made()
    assert isinstance(case, Continuable)
    killed = _KilledCase(case, after, running / "work", left)
    with pytest.raises(_KilledError):
        record_steps(killed, "", running / "work", record_every)
    again = running / f"{KEY}.2"
    assert record_steps(made(), "", again, record_every) == result
    assert _same_files(again, whole)
    went_on = json.loads((again / "continued.json").read_text())
    assert went_on == {"from": f"{KEY}.1", "step": after + 1}
    assert not (again / CHECKPOINT).exists()


# Every kind of case that goes on, small.
KINDS = {
    "star": ["case=star_robot", "case.duration=0.4"],
    "jumper": ["case=jumper", "case.duration=0.3"],
    "ribbon": ["case=ribbon_incline", "case.duration=0.2", "case.ribbon.nodes=40"],
    "own rod": ["case=own_rod", "case.duration=0.3"],
    "rod in space": [
        "case=rod_file", "case.path=conf/robot/spiral.yaml", "case.duration=0.1",
    ],
    "mechanism": ["case=double_pendulum", "case.duration=0.1"],
    "envelope": ["case=reachable_sheet", "case.samples=300"],
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_goes_on_whatever_step_it_is_killed_after(kind, tmp_path):
    composer = Composer()
    config = composer.compose("simulate", KINDS[kind])
    case = sound_case(config)
    last = sum(1 for _ in case.steps()) - 1
    for after in sorted({0, 1, last - 1, *random.Random(kind).sample(range(last), 3)}):
        _goes_on(lambda: sound_case(config), tmp_path / str(after), after)


def test_a_motion_that_is_killed_after_its_start_records_it_once(tmp_path):
    composer = Composer()
    config = composer.compose("simulate", KINDS["mechanism"])
    _goes_on(lambda: sound_case(config), tmp_path, 0)


@pytest.fixture
def folders(tmp_path):
    """Of a run that nobody stops, of one that goes on, and of its first attempt."""
    places = "whole", f"running/{KEY}.2", f"failed/{KEY}.1"
    for place in places:
        (tmp_path / place).mkdir(parents=True)
    return [tmp_path / place for place in places]


def test_a_run_that_had_time_to_end_its_files_is_continued_too(folders, tmp_path):
    """An interrupt packs the steps; the run lies in failed/."""
    whole, again, first = folders
    result = record_steps(_cases()["star"], "star", whole)
    killed = _KilledCase(_cases()["star"], 7, first, tmp_path / "unused")
    with pytest.raises(_KilledError):
        record_steps(killed, "star", first)
    assert (first / "steps.npz").is_file()
    assert record_steps(_cases()["star"], "star", again) == result
    assert _same_files(again, whole)


def test_a_damaged_checkpoint_costs_the_steps_and_no_more(folders):
    whole, again, first = folders
    (first / CHECKPOINT).write_bytes(b"PK\x03\x04 and no more")
    result = record_steps(_cases()["star"], "star", whole)
    assert record_steps(_cases()["star"], "star", again) == result
    assert not (again / "continued.json").exists()


def test_a_run_that_failed_is_not_continued_from_the_middle_of_a_step(folders):
    """Of the fifth step of 25 ms only a part can be made, which ends it too early."""
    options = StepOptions(h=0.025, contact_gap=1e-8)
    case = StarCase(duration=0.3, every=1, options=options)
    _, again, first = folders
    said = []
    for folder in (first, again):
        with pytest.raises(NotConvergedError) as caught:
            record_steps(case, "star", folder)
        said.append(str(caught.value))
    went_on = json.loads((again / "continued.json").read_text())
    assert went_on["step"] == 5  # after 0.1 s, the last whole step
    assert said[1] == said[0]
    assert _same_files(again, first)
    with np.load(first / "steps.npz") as arrays:
        assert len(arrays["x"]) == 6  # the start, four steps, a part of the fifth
