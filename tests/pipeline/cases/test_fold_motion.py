"""Cases of sheets that are let go: where they come to rest, and what is recorded."""

from functools import partial

import numpy as np
import pytest

from pipeline.cases.fold_motion import FoldMotionCase
from pipeline.cases.fold_snap import FoldSnapCase
from pipeline.terminal.errors import InputError
from tests.helpers.cases import composed
from tests.recorded import recorded

case = partial(composed, FoldMotionCase)


def test_a_pyramid_snaps_overshoots_and_rests_where_statics_says() -> None:
    _, still = recorded(composed(FoldSnapCase, "snap_pyramid"))
    rest = still.rests[-1]
    assert rest.stable
    steps, recorder = recorded(case("snapping_pyramid"))
    found, height = recorder.summary(), 0.004
    assert found["watched"] == pytest.approx(height + rest.at, abs=1e-7)
    assert found["strain_energy"] == pytest.approx(rest.energy, rel=1e-4)
    lowest = min(row["watched"] for row in recorder.rows)
    assert lowest < found["watched"] - 5e-4
    assert found["imbalance"] < 5e-3
    assert recorder.arrays(steps[0])["v"].max() == 0.0


def test_a_crease_that_is_let_go_has_no_moment_left() -> None:
    words = ("case.motion.steps=20", "case.motion.duration=0.02")
    steps, recorder = recorded(case("ringing_crease", *words))
    folds = np.array([recorder.arrays(step)["folds"][0] for step in steps])
    assert folds[0] == pytest.approx(0.6, rel=1e-3)
    assert folds.min() < -0.2
    assert "imbalance" in recorder.summary()


@pytest.mark.parametrize("mu", [0.3, 0.4])
def test_a_leaf_on_a_slope_slides_by_coulombs_law_or_sticks(mu: float) -> None:
    words = f"case.motion.friction={mu}", "case.motion.steps=20"
    _, recorder = recorded(case("sliding_leaf", *words))
    slope, rows = np.radians(20.0), recorder.rows
    speeding = 9.81 * (np.sin(slope) - mu * np.cos(slope))
    way = rows[-1]["watched"] - rows[0]["watched"]
    known = 0.5 * max(speeding, 0.0) * rows[-1]["time"] ** 2
    assert way == pytest.approx(known, rel=1e-4, abs=1e-8)
    assert max(row["complementarity"] for row in rows) <= 1e-9
    weight = 9.81 * 1200.0 * 0.001 * 0.02**2
    taken = mu * weight * np.cos(slope) * way
    found = recorder.summary()["friction_energy"]
    assert found == pytest.approx(taken, rel=1e-3, abs=1e-11)


@pytest.mark.parametrize("name", ["sliding_leaf", "ringing_crease"])
def test_a_tolerance_beyond_the_forces_is_refused(name: str) -> None:
    """Such a sheet hovered where it was let go, all steps done."""
    with pytest.raises(
        InputError, match=r"tolerance is 1.0 N, but what moves .* 0.[01]"
    ):
        recorded(case(name, "+case.motion.tolerance=1.0"))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("case.motion.slope=x", "slope is x: give a number of degrees"),
        ("+case.of.contact.enabled=false", "friction is 0.3, but nothing touches"),
        ("+case.of.phases.0.contact=false", "friction is 0.3, but nothing touches"),
    ],
)
def test_what_cannot_rub_is_refused(word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        case("sliding_leaf", word)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("case.watch=99", "watch is node 99"),
        ("+case.axis=3", "axis is 3"),
        ("case.motion.steps=0", "steps is 0"),
        ("+case.motion.friction=-1", "friction must be 0 or more"),
        ("+case.motion.slope=120", "slope is 120: give a number of degrees"),
        ("+case.supports=[[99,1,1,1]]", "support names node 99"),
    ],
)
def test_what_cannot_be_watched_is_refused(word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        case("ringing_crease", word)
