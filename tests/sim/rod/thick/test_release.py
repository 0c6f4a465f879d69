"""Where a released rod comes to rest, with few steps and with many."""

from itertools import islice

import numpy as np
import pytest

from sim.relaxation import Relaxation, prony
from sim.rod.thick.motion import Hold, held, motion
from sim.rod.thick.release import crept_height, rest_height, ringing_heights
from sim.rod.thick.rest import rest
from sim.rod.thick.thick_rod import Prism, ThickRod, TipMass

BLOCK = Prism(0.1, 0.03, 0.03, 1070.0)
HOLD = Hold(0.0, 3.0)


def test_an_elastic_rod_comes_back_to_where_it_had_hung() -> None:
    rod = ThickRod(BLOCK, Relaxation(2.2e5), tip=TipMass(0.05))
    series = prony(rod.law)
    assert rest_height(rod, series, 0.006, HOLD, 4.0) == pytest.approx(
        rest(rod, 2.2e5)[-1, 1], rel=1e-6
    )


def test_a_relaxing_rod_remembers_that_it_was_lifted() -> None:
    """After 4 s it is above its last rest, and it still sinks."""
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.15, 0.28), tip=TipMass(0.05))
    series = prony(rod.law)
    last = rest(rod, series.equilibrium)[-1, 1]
    early, late = (rest_height(rod, series, 0.016, HOLD, t) for t in (4.0, 40.0))
    assert last < late < early < last + 1e-3


def test_creep_by_few_long_steps_is_that_after_ringing_through() -> None:
    """Half a second of ringing, then creep, against ringing for three seconds."""
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.3, 0.28), tip=TipMass(0.02), drag=20.0)
    series = prony(rod.law)
    _, early = ringing_heights(rod, series, HOLD, 0.8, 2e-3)
    whole, late = ringing_heights(rod, series, HOLD, 3.0, 2e-3)
    left = late.time - early.time
    crept = crept_height(rod, series, early, left, 0.05 * left)
    end = float(late.q[-1, 1])
    fall = float(whole(0.0)) - end
    assert crept == pytest.approx(end, abs=2e-3 * fall)


def test_heights_between_kept_steps_are_those_of_the_motion() -> None:
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.15, 0.28), tip=TipMass(0.05))
    series = prony(rod.law)
    height, _ = ringing_heights(rod, series, HOLD, 0.3, 2e-3)
    steps = islice(motion(rod, series, held(rod, series, HOLD), 2e-3), 150)
    gone = [float(height(one.time)) - one.q[-1, 1] for one in steps]
    assert np.abs(gone).max() < 5e-6  # m, of a swing of 30 mm
