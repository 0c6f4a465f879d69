"""What is measured of a rod, between its steps too, and what may be fitted to it."""

import numpy as np
import pytest

from sim.rod.rod.rod import RodMaterial, chain
from sim.rod.stepping.markers import marker, observed
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.parameters import Parameter
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.world import World


def test_markers_between_steps_follow_the_motion() -> None:
    """A fall of a chain: y = -g t^2 / 2, whose cubic is exact."""
    world = World(chain(np.array([[0.0, 0], [0.01, 0], [0.02, 0]]), RodMaterial()))
    motion = simulate(world, StepOptions(tolerance=1e-14), 0.05)
    at = np.array([0.0, 0.0111, 0.05])
    names = ["y_c", "x_tip", "y_1"]
    markers = [marker(name, world.rod.nodes, world.rod.mass) for name in names]
    values = observed(motion, markers, np.array([0, 0, 2]), at)
    assert values == pytest.approx(-0.5 * 9.81 * at**2, abs=1e-12)


@pytest.mark.parametrize("name", ["z_c", "x_3", "x_", "tip"])
def test_quantities_that_a_rod_has_not_are_refused(name: str) -> None:
    rod = chain(np.array([[0.0, 0], [0.01, 0], [0.02, 0]]), RodMaterial())
    with pytest.raises(ValueError, match=f"quantity is '{name}': a rod has x_c"):
        marker(name, rod.nodes, rod.mass)


def test_a_parameter_that_is_none_is_refused() -> None:
    assert Parameter("beta") is Parameter.BETA
    with pytest.raises(ValueError, match="parameter is 'ramp': choose one of modulus"):
        Parameter("ramp")
