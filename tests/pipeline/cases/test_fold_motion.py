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


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("case.watch=99", "watch is node 99"),
        ("+case.axis=3", "axis is 3"),
        ("case.motion.steps=0", "steps is 0"),
    ],
)
def test_what_cannot_be_watched_is_refused(word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        case("ringing_crease", word)
