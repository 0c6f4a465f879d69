"""Eq. (7) of [Hu20] and its seams."""

import numpy as np
import pytest

from sim.rod.actuation.actuation import Actuator, actuate, relative
from sim.rod.energy.elastic import Actuated

LAW = Actuator().law


def test_a_limb_ramps_to_its_extreme_and_decays_back() -> None:
    assert relative(0.0, 0.21, LAW) == 1.0
    assert relative(0.025, 0.21, LAW) == pytest.approx(0.605)
    assert relative(1.4, 0.21, LAW) == pytest.approx(0.5 * (1.0 + 0.21))
    assert relative(10.0, 0.21, LAW) == pytest.approx(1.0)
    assert relative(10.0, 2.68, LAW) == pytest.approx(1.0)


def test_the_later_branch_holds_at_a_seam() -> None:
    before, at = relative(0.05 - 1e-10, 0.21, LAW), relative(0.05, 0.21, LAW)
    assert relative(0.05 - 1e-12, 0.21, LAW) == pytest.approx(at, rel=1e-9)
    assert before == pytest.approx(0.21)
    decay = (1.0 - 0.21) / (1.0 + np.exp(-3.4 * (0.05 - 1.4))) + 0.21
    assert at == pytest.approx(decay)
    assert at - before == pytest.approx(0.008, abs=1e-3)


def test_only_a_limb_that_was_switched_on_changes() -> None:
    actuated = Actuated(np.full(3, 9.0), np.full(3, 9.0))
    actuate(1.0, np.array([np.inf, 0.98]), LAW, actuated)
    assert actuated.modulus[0] == actuated.curvature[0] == 1.0
    assert actuated.modulus[1] == pytest.approx(1.0 + 1.68 * 0.4)
    assert actuated.curvature[1] == pytest.approx(1.0 - 0.79 * 0.4)
    assert actuated.modulus[2] == 9.0  # passive parts are not touched


def test_a_bad_actuator_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ramp must be positive, not 0\.0"):
        Actuator(ramp=0.0)
