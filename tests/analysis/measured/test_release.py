"""When a tip was let go, and which frames are its rest."""

import numpy as np
import pytest

from analysis.measured.quantities import release_frame, resting

TIME = np.arange(0.0, 3.0, 0.01)


def falling(from_frame: int, speed: float) -> np.ndarray:
    return 0.05 - speed * np.maximum(TIME - TIME[from_frame], 0.0)


def test_release_is_the_frame_from_which_the_tip_falls_fast():
    assert release_frame(TIME, falling(44, 0.031)) == 44


def test_a_hand_that_sinks_slowly_has_not_let_go():
    height = falling(44, 0.029) - np.maximum(TIME - 0.9, 0.0)
    assert release_frame(TIME, height) == 90


@pytest.mark.parametrize(
    ("height", "words"),
    [
        (falling(44, -0.2), "upwards"),
        (falling(0, 0.2), "still held"),
        (-np.cos(20.0 * np.maximum(TIME - 0.4, 0.0)) * 0.01, "rises fast"),
    ],
)
def test_a_tip_that_is_not_let_go_is_refused(height, words):
    with pytest.raises(ValueError, match=words):
        release_frame(TIME, height)


def test_rest_is_the_last_six_tenths_of_a_second():
    assert resting(TIME).sum() == 60
    assert TIME[resting(TIME)].min() == pytest.approx(2.40)
