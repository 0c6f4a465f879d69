"""Rests and barriers of an energy known at points."""

import numpy as np
from numpy.testing import assert_allclose

from analysis.energy_profile import barriers, rests
from sim.core.arrays import Floats


def tilted(q: Floats) -> tuple[Floats, Floats]:
    """A double well that is deeper on the right, with its slope."""
    return (q**2 - 1.0) ** 2 - 0.3 * q, 4.0 * q * (q**2 - 1.0) - 0.3


def test_rests_of_a_double_well_converge_with_the_fourth_power_of_the_step():
    exact = np.sort(np.roots([4.0, 0.0, -4.0, -0.3]).real)
    counts, errors = np.array([20, 40, 80, 160]), []
    for count in counts:
        q = np.linspace(-1.63, 1.71, count + 1)
        found = rests(q, *tilted(q))
        assert [rest.stable for rest in found] == [True, False, True]
        assert_allclose([rest.moved for rest in found], exact, atol=0.01)
        energy = np.array([rest.energy for rest in found])
        errors.append(np.linalg.norm(energy - tilted(exact)[0]))
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert order > 3.5
    assert_allclose(barriers(found), [tilted(exact)[0][1]], rtol=1e-6)


def test_path_backwards_has_the_same_rests():
    q = np.linspace(-1.5, 1.5, 41)
    ahead, back = rests(q, *tilted(q)), rests(q[::-1], *(v[::-1] for v in tilted(q)))
    assert_allclose([r.moved for r in ahead], [r.moved for r in back[::-1]], atol=1e-12)
    assert [r.stable for r in ahead] == [r.stable for r in back[::-1]]


def test_rest_at_the_first_point_counts():
    q = np.linspace(0.0, 1.0, 11)
    found = rests(q, q**2, 2.0 * q)
    assert [(rest.moved, rest.stable) for rest in found] == [(0.0, True)]
    assert barriers(found) == []
