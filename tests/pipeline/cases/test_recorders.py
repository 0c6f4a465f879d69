"""A case is a problem and a recorder: what holds for every file of conf/case."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from pipeline.cases import equilibrium as equilibrium_cases
from pipeline.cases import robots as rod_cases
from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.robots import StarCase
from pipeline.steps.simulate import record_steps
from sim.core.options import NotConvergedError
from sim.mechanism.statics import snap_through as snap
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.generators import miura
from sim.rods.plane.builders import Ribbon
from tests.helpers.cases import composed
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import ROOT
from tests.pipeline.shipped_cases import NAMES
from tests.recorded import recorded

# Functions of the solvers that make a step, or the first one.
SOLVERS = {
    "RodSimulator.run_to", "_first_step", "_morph", "at_rest", "crossing", "design",
    "morph", "solve_static", "stationary",
}  # fmt: skip
SPRING = {
    "nodes": [[0, 0, 0], [1, 0, 0]],
    "springs": [[0, 1, 2.0]],
    "supports": [[0, 1, 1, 1], [1, 0, 1, 1]],
    "loads": [[1, 0.1, 0, 0]],
}
QUICK = {
    "beam_fit": ["case.specimen.options.h=0.005"],
    "computing_time": ["case.step_lengths=[0.01,0.02]", "case.duration=0.02"],
    "star_space": ["case.every=1"],
}
TIMED = "computing_time"  # which no second run repeats
CLOSED_FORM = "actuator_law"  # a formula of time: no solver runs at all


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.chdir(ROOT)


def shipped(name: str, *words: str) -> Any:
    return composed(object, name, *QUICK.get(name, ()), *words)


@pytest.fixture
def words(tmp_path):
    """What a case leaves to its user: the path of a file."""
    fold, spring = tmp_path / "sheet.fold", tmp_path / "spring.json"
    sheet = miura(2, 2, width=0.02, height=0.02, angle=60.0)
    fold.write_text(json.dumps(pattern_document(sheet)), encoding="utf-8")
    spring.write_text(json.dumps(SPRING), encoding="utf-8")
    asked = {
        "fold_file": [
            f"case.pattern.path={fold}",
            "case.supports=[[0,1,1,1],[1,0,1,1],[3,0,0,1]]",
        ],
        "loaded_file": [f"case.body.path={spring}"],
        "mechanism_motion": ["case.body.path=conf/structure/double_pendulum.yaml"],
        "rod_file": ["case.path=conf/robot/gripper.yaml"],
        "structure_file": ["case.structure.path=conf/structure/finger.json"],
    }
    return lambda name: asked.get(name, [])


@contextmanager
def called(*, first: bool = False) -> Iterator[Counter[str]]:
    """Which functions of sim are called in the block, and how often.

    With `first`, only the first of them, for noting all costs more than most cases.
    """
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.startswith("sim."):
            calls[frame.f_code.co_qualname] += 1
            if first:
                sys.setprofile(before)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def _parts(recorder: Any, step: Any) -> dict[str, Any]:
    """All that is recorded of a step, as bytes or numbers."""
    recorder.see(step)
    arrays = {name: a.tobytes() for name, a in recorder.arrays(step).items()}
    row = {name: float(value).hex() for name, value in recorder.row(step).items()}
    return {**arrays, **row, "progress": recorder.progress(step)}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "limb_fit" else ())
        for name in NAMES
    ],
)
def test_a_case_solves_step_by_step_and_two_runs_side_by_side_are_the_same(name, words):
    """Nothing before the first step, and not all before the second."""
    with called() as built:
        case = shipped(name, *words(name))
    assert not SOLVERS & built.keys()
    with called(first=True) as begun:
        steps, recorder = case.steps(), case.recorder()
    assert not begun
    recorder.documents()
    others, other = case.steps(), case.recorder()
    with closing(steps), closing(others):
        for _ in range(2):
            with called(first=True) as solved:
                step = next(steps, None)
            if step is None:
                break
            assert solved or name == CLOSED_FORM
            if name != TIMED:
                assert _parts(recorder, step) == _parts(other, next(others))
    if name != TIMED:
        fixed = recorder.fixed_arrays().values(), other.fixed_arrays().values()
        for array, again in zip(*fixed, strict=True):
            assert np.array_equal(array, again)


SHORT = {
    "four_bar_branches": lambda: shipped("four_bar_branches", "case.steps_each_way=3"),
    "reachable_sheet": lambda: shipped("reachable_sheet", "case.samples=12"),
    "ribbon": lambda: RibbonCase(Ribbon(nodes=40), duration=0.1, every=5),
    "snap_pyramid": lambda: shipped("snap_pyramid", "case.of.phases.0.increments=6"),
    "snap_two_bars": lambda: shipped("snap_two_bars", "case.drive.increments=8"),
    "toggle_branches": lambda: shipped("toggle_branches"),
}


def _ended(recorder: Any) -> str:
    tables = {file: list(rows) for file, rows in recorder.tables().items()}
    return repr((recorder.summary(), tables))


@pytest.mark.parametrize("name", SHORT)
def test_recorders_of_two_runs_do_not_mix(name):
    """Those that add up: one run ends after its first step, the other goes on."""
    case = SHORT[name]()
    _, alone = recorded(case)
    left, whole = case.recorder(), case.recorder()
    for i, step in enumerate(case.steps()):
        whole.see(step)
        if i == 0:
            left.see(step)
    assert _ended(whole) == _ended(alone)


def _rows(out: Path) -> list[dict[str, str]]:
    return rows_of(out / "steps.csv")


FAILING = {  # the case, and where the solver finds an equilibrium
    "snap_two_bars": snap,
    "hinged_sheet": equilibrium_cases,
}


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_leaves_the_steps_made_so_far(name, tmp_path, monkeypatch):
    at_rest, found = FAILING[name].at_rest, Counter[str]()

    def thrice(*given: Any) -> Any:
        found["times"] += 1
        if found["times"] > 3:
            raise NotConvergedError("no fourth time", best=None)
        return at_rest(*given)

    monkeypatch.setattr(FAILING[name], "at_rest", thrice)
    with pytest.raises(NotConvergedError, match="no fourth time"):
        record_steps(shipped(name), name, tmp_path)
    assert len(_rows(tmp_path)) == 3
    with np.load(tmp_path / "steps.npz") as arrays:
        assert len(arrays["r"]) == 3
        assert len(arrays["links"])


def test_what_only_the_end_tells_is_open_until_then(tmp_path):
    """The links of the last equilibrium are rigid; the others are compared with it."""
    case = shipped("hinged_sheet", "case.compliances=[1.0,0.1,0.0]")
    recorder = case.recorder()
    for step in case.steps():
        recorder.see(step)
        assert np.isnan(recorder.row(step)["away_from_rigid"])
    result = record_steps(case, "hinged_sheet", tmp_path, record_every=2)
    away = [float(row["away_from_rigid"]) for row in _rows(tmp_path)]
    assert away == recorder.late()["away_from_rigid"][::2]
    assert away[0] > 1e-3 > away[1] == 0.0 == result["away_from_rigid"]


def test_the_height_of_the_star_is_measured_once(monkeypatch):
    made: Counter[str] = Counter()

    def counted(*given: Any) -> Any:
        made["stars"] += 1
        return star(*given)

    star = rod_cases.star
    monkeypatch.setattr(rod_cases, "star", counted)
    steps, recorder = recorded(StarCase(duration=0.1, every=4))
    assert len([recorder.row(step) for step in steps]) == 11
    assert made["stars"] == 2  # that of the world, and that of the height
