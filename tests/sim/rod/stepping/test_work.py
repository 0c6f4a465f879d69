"""Work of actuators against the energy that a robot gains."""

from dataclasses import replace

import numpy as np
import pytest

from sim.rod.actuation.actuation import Actuator, LeftOfContact, Pulses
from sim.rod.contact.ground import GroundPlane
from sim.rod.rod.rod import PASSIVE, RodMaterial, chain, hold
from sim.rod.rod.star import StarShape, star
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.work import ActuationWork
from sim.rod.stepping.world import Damping, World

ROBOT = star(StarShape(), RodMaterial())


def _worked(world: World, h: float, duration: float) -> tuple[ActuationWork, float]:
    """The work, and how much energy was gained meanwhile."""
    work = ActuationWork(world)
    steps = list(simulate(world, StepOptions(h=h, tolerance=1e-13), duration))
    for step in steps:
        work.add(step)
    return work, steps[-1].energy - steps[0].energy


def test_without_losses_all_work_becomes_energy() -> None:
    """In free space, undamped; Newmark's rule and the sum are of second order in h."""
    world = World(
        ROBOT,
        gravity=(0.0, 0.0),
        damping=Damping(beta=0.0),
        actuator=Actuator(ramp=10.0),  # no seam
        schedule=Pulses([0.0, 0.02], [3, 4]),
    )
    errors, sizes = [], np.array([1e-3, 5e-4, 2.5e-4, 1.25e-4])
    for h in sizes:
        work, gained = _worked(world, float(h), 0.2)
        assert gained > 0.0
        errors.append(abs(work.total.sum() - gained))
    assert errors[-1] < 1e-3 * gained
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] > 1.8


def test_a_held_limb_is_paid_for_what_the_law_stores_in_it() -> None:
    """1/2 E/E0 EI (kbar - kbar0)^2 dl summed over the bends, largest at the seam."""
    angle = np.linspace(0.0, 2.0, 21)
    nodes = 0.01 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    rod = chain(nodes, RodMaterial())
    rod = replace(rod, edge_limb=np.full(20, PASSIVE), bend_limb=np.full(19, 0))
    law = Actuator(ramp=0.05)
    world = World(
        hold(rod, list(range(21))), gravity=(0.0, 0.0), actuator=law,
        schedule=Pulses([0.0], [0]),
    )  # fmt: skip
    work, _ = _worked(world, 1e-3, 0.3)
    seam = 1.0 + np.exp(-law.rate * (law.ramp - law.delay))
    modulus = (1.0 - law.most_modulus) / seam + law.most_modulus
    curvature = (1.0 - law.least_curvature) / seam + law.least_curvature
    half = 0.5 * rod.bending * rod.voronoi * rod.curvature**2
    assert work.positive.sum() == pytest.approx(
        modulus * (1.0 - curvature) ** 2 * half.sum(), rel=1e-9
    )
    assert work.total.sum() < work.positive.sum()  # it relaxes, nothing comes back


def test_the_order_of_a_gait_counts_from_the_contact_limb() -> None:
    schedule = LeftOfContact(first=0.0, period=0.1, order="2-0")
    world = World(ROBOT, GroundPlane(), schedule=schedule)
    *_, end = simulate(world, StepOptions(), 0.15, every=10**9)
    assert np.flatnonzero(end.state.pulse == 0.0).tolist() == [2]  # 4 - 2
    (second,) = np.flatnonzero(end.state.pulse == 0.1)
    assert second in (3, 4, 5)  # below it, wherever it has rolled to


@pytest.mark.parametrize("order", ["", "1-", "a", "-1"])
def test_an_order_that_is_none_is_refused(order: str) -> None:
    with pytest.raises(ValueError, match="give whole numbers such as 1-2"):
        LeftOfContact(order=order)
