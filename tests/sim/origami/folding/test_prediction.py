"""Where a sheet is expected next."""

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.origami.folding.load_control import (
    MOST_POINTS,
    extrapolated_move,
    foretold_stresses,
    remembered,
)

TIMES = np.array([0.0, 0.2, 0.5, 0.6])


def along(t: Floats, powers: int, rng: np.random.Generator) -> Floats:
    """(k, 5, 3) places on a polynomial of the given number of terms."""
    terms = rng.normal(size=(powers, 5, 3))
    return np.asarray(np.polynomial.polynomial.polyval(t, terms)).transpose(2, 0, 1)


@pytest.mark.parametrize("powers", [1, 2, 3])
def test_a_steady_course_is_foretold_exactly(powers, rng):
    places = along(np.append(TIMES, 0.9), powers, rng)
    move = extrapolated_move(TIMES, places[:-1], 0.9)
    assert move == pytest.approx(places[-1] - places[-2], abs=1e-12)


def test_only_the_last_places_are_remembered(rng):
    times, places = np.zeros(1), rng.normal(size=(1, 2, 3))
    for t in range(1, 6):
        x = rng.normal(size=(2, 3))
        times, places = remembered(times, places, float(t), x)
    assert times.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert len(places) == MOST_POINTS
    assert (places[-1] == x).all()


@pytest.mark.parametrize(("known", "same_stage"), [(4, 4), (2, 4), (4, 3)])
def test_stresses_are_foretold_along_the_equilibria_of_the_same_stage(
    known, same_stage, rng
):
    """On a polynomial of one term less than there are equilibria of the stage."""
    steady = along(np.append(TIMES, 0.9), min(known, same_stage) - 1, rng)[:, :, 0]
    stresses, expected = steady[4 - known : 4].copy(), steady[4]
    stresses[: max(known - same_stage, 0)] = 9.0  # of the stage before
    times = TIMES[4 - same_stage :]
    assert foretold_stresses(stresses, times, 0.9) == pytest.approx(expected)
