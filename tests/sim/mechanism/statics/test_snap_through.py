"""Barriers between stable states, against the closed form of the two-bar truss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.mechanism.statics.equilibrium import EquilibriumOptions
from sim.mechanism.statics.loaded_structure import LoadedStructure, two_bars
from sim.mechanism.statics.snap_through import Drive, barriers, profile, rest_states

HEIGHT, STIFFNESS = 0.3, 50.0
EXACT = EquilibriumOptions(tolerance=1e-10)


def truss(load: float = 0.0) -> LoadedStructure:
    return two_bars(HEIGHT, STIFFNESS, load)


def energy(w: float) -> float:
    rest = np.hypot(1.0, HEIGHT)
    return float(STIFFNESS * (np.hypot(1.0, w) - rest) ** 2)


def test_two_bars_have_two_states_and_the_barrier_of_the_flat_one():
    drive = Drive(2, 2, -2.5 * HEIGHT, 25)
    steps = list(profile(truss(), drive, EXACT))
    for step in steps:
        assert_allclose(
            step.equilibrium.energy, energy(HEIGHT + step.moved), atol=1e-12
        )
    states = rest_states(truss(), drive, steps, EXACT)
    assert [state.downhill for state in states] == [0, 1, 0]
    assert_allclose(
        [state.moved for state in states], [0.0, -HEIGHT, -2.0 * HEIGHT], atol=1e-9
    )
    assert_allclose(barriers(states, steps), [energy(0.0)], rtol=1e-10)


def test_load_lowers_the_barrier_on_its_side():
    load, drive = 0.2, Drive(2, 2, -2.5 * HEIGHT, 25)
    body = truss(load)
    steps = list(profile(body, drive, EXACT))
    states = rest_states(body, drive, steps, EXACT)
    stable = [state for state in states if state.stable]
    assert len(stable) == 2
    top = barriers(states, steps)[0]
    assert top - stable[0].energy < energy(0.0) < top - stable[1].energy


def test_drive_of_what_a_support_holds_is_refused():
    with pytest.raises(ValueError, match="where a support holds it"):
        list(profile(truss(), Drive(0, 2, 0.1), EXACT))
    with pytest.raises(ValueError, match="a node from 0 to 2"):
        list(profile(truss(), Drive(5, 2, 0.1), EXACT))
