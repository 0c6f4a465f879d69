"""Derivatives of motions by the parameters, against differences and closed forms."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.actuation.actuation import Actuator, Pulses
from sim.rod.contact.ground import Ground, GroundPlane, Wave
from sim.rod.rod.rod import RodMaterial, cantilever, chain, hold, network
from sim.rod.stepping.markers import marker, observed
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.parameters import Parameter
from sim.rod.stepping.sensitivity import Fitted, Tangents, hung, tangents
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.surroundings import DistributedLoad, Fluid, FollowerForce
from sim.rod.stepping.world import Damping, NodeLoad, World

EXACT = StepOptions(tolerance=1e-14, reuse=0.0, landing=0.01, contact_gap=0.02)
NOMINAL = {
    Parameter.MODULUS: 3.0e6,
    Parameter.BETA: 8.0e-3,
    Parameter.RATE: 3.4,
    Parameter.DELAY: 1.4,
    Parameter.LEAST_CURVATURE: 0.21,
    Parameter.MOST_MODULUS: 2.68,
}
Values = dict[Parameter, float]


def _actuator(values: Values) -> Actuator:
    laws = {p.value: v for p, v in values.items()}
    del laws["modulus"], laws["beta"]
    return Actuator(**laws)


def _limb(values: Values) -> World:
    """A clamped arc that is switched on between two steps."""
    angle = np.linspace(0.0, 2.0, 13)
    nodes = 0.01 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    rod = chain(nodes, RodMaterial(modulus=values[Parameter.MODULUS]))
    rod = replace(rod, edge_limb=np.zeros(12, int), bend_limb=np.zeros(11, int))
    return World(
        hold(rod, [0, 1]),
        damping=Damping(alpha=0.3, beta=values[Parameter.BETA]),
        actuator=_actuator(values),
        schedule=Pulses([0.013], [0]),
    )


def _limb_with_a_foot(values: Values) -> World:
    """The arc, joined at its end by a rigid node to a foot that no actuator drives."""
    arc = _limb(values).rod
    angle = arc.nodes[-1] + 0.004 * np.array([[1.0, 0.3], [2.0, 0.6]])
    nodes = np.vstack([arc.nodes, angle])
    i = np.arange(14)
    limb = np.where(i < 12, 0, -1)
    inner = np.concatenate([i[:11], [12]])
    rod = network(
        nodes, np.column_stack([i, i + 1]),
        np.column_stack([inner, inner + 1, inner + 2]),
        RodMaterial(modulus=values[Parameter.MODULUS]),
        edge_limb=limb, bend_limb=np.append(np.zeros(11, int), -1), joints=[12],
    )  # fmt: skip
    return replace(_limb(values), rod=hold(rod, [0, 1]))


def _bridge(friction: float) -> Callable[[Values], World]:
    """A bridge on two legs, set down on a slope of 5 degrees."""
    nodes = [[0, 0], [5, 10], [15, 15], [25, 17], [35, 15], [45, 10], [50, 0]]
    x, y = 1e-3 * np.array(nodes, dtype=np.float64).T
    lying = np.column_stack([x, y - np.tan(np.radians(5.0)) * x])
    i = np.arange(6)

    def made(values: Values) -> World:
        rod = network(
            lying,
            np.column_stack([i, i + 1]),
            np.column_stack([i[:5], i[:5] + 1, i[:5] + 2]),
            RodMaterial(modulus=values[Parameter.MODULUS]),
        )
        damping = Damping(beta=values[Parameter.BETA])
        return World(rod, GroundPlane(angle=-5.0), friction, damping=damping)

    return made


def _last(world: World, duration: float, parameters: list[Parameter]) -> Tangents:
    fitted = Fitted(parameters, NOMINAL[Parameter.MODULUS])
    *_, last = tangents(world, EXACT, fitted, duration)
    return last


def _difference(
    made: Callable[[Values], World], duration: float, parameter: Parameter
) -> Floats:
    ends = []
    size = 1e-5 * NOMINAL[parameter]
    for sign in (1.0, -1.0):
        values = NOMINAL | {parameter: NOMINAL[parameter] + sign * size}
        *_, end = simulate(made(values), EXACT, duration, every=10**9)
        ends.append(end.x)
    difference: Floats = (ends[0] - ends[1]) / (2.0 * size)
    return difference


def _limb_in_a_fluid(values: Values) -> World:
    """The arc with drag, a dead load for a time, a pressure, and a turning force."""
    spread = DistributedLoad([3, 4, 5], (0.02, 0.05), start=0.011, duration=0.1)
    pressure = DistributedLoad(list(range(2, 12)), along=0.01, across=0.3)
    return replace(
        _limb(values),
        fluid=Fluid(20.0, 90.0),
        distributed_loads=(spread, pressure),
        follower_forces=(FollowerForce(12, -1e-3, 2e-3),),
    )


@pytest.mark.parametrize("made", [_limb, _limb_with_a_foot, _limb_in_a_fluid])
def test_derivatives_of_an_actuated_limb_match_differences(
    made: Callable[[Values], World],
) -> None:
    last = _last(made(NOMINAL), 0.3, list(Parameter))
    for p, parameter in enumerate(Parameter):
        expected = _difference(made, 0.3, parameter)
        error = np.abs(last.dx[p] - expected).max()
        assert error < 1e-6 * np.abs(expected).max(), parameter


def test_a_last_step_that_is_cut_to_the_end_has_its_own_length() -> None:
    last = _last(_limb(NOMINAL), 0.0513, [Parameter.BETA])
    expected = _difference(_limb, 0.0513, Parameter.BETA)
    assert np.abs(last.dx[0] - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("friction", [0.8, 0.05, 0.0])
def test_derivatives_of_a_rod_that_sticks_or_slides_match_differences(
    friction: float,
) -> None:
    made = _bridge(friction)
    *_, step = simulate(made(NOMINAL), EXACT, 0.02, every=10**9)
    assert (step.contact[[0, -1]] > 0).all()
    last = _last(made(NOMINAL), 0.02, [Parameter.MODULUS, Parameter.BETA])
    for p, parameter in enumerate((Parameter.MODULUS, Parameter.BETA)):
        expected = _difference(made, 0.02, parameter)
        error = np.abs(last.dx[p] - expected).max()
        assert error < 1e-6 * np.abs(expected).max()


def _landing(values: Values) -> World:
    """The bridge just above the slope, bent and swinging: its legs land with gaps."""
    world = _bridge(0.8)(values)
    velocity = np.zeros_like(world.rod.nodes)
    velocity[3] = [0.0, 0.05]
    nodes = world.rod.nodes + np.array([0.0, 5e-5])
    return replace(world, rod=replace(world.rod, nodes=nodes), velocity=velocity)


def test_derivatives_of_gaps_that_contacts_close_match_differences() -> None:
    steps = list(simulate(_landing(NOMINAL), EXACT, 0.02))
    assert not steps[1].contact.any()
    assert (steps[-1].contact[[0, -1]] > 0).all()
    last = _last(_landing(NOMINAL), 0.02, [Parameter.MODULUS, Parameter.BETA])
    for p, parameter in enumerate((Parameter.MODULUS, Parameter.BETA)):
        expected = _difference(_landing, 0.02, parameter)
        assert np.abs(expected[[0, -1]]).max() > 1e-3 * np.abs(expected).max()
        error = np.abs(last.dx[p] - expected)
        assert error.max() < 1e-6 * np.abs(expected).max()
        assert error[[0, -1]].max() < 1e-4 * np.abs(expected[[0, -1]]).max()


def _falling(values: Values) -> World:
    """The bridge, swinging, 3.3 mm above the slope."""
    world = _landing(values)
    nodes = world.rod.nodes + np.array([0.0, 0.0033])
    return replace(world, rod=replace(world.rod, nodes=nodes))


def test_steps_that_are_cut_end_the_derivatives() -> None:
    with pytest.raises(NotConvergedError, match=r"was cut, .* has no derivative there"):
        _last(_falling(NOMINAL), 0.2, [Parameter.MODULUS])


def test_without_cuts_derivatives_go_on_through_landings() -> None:
    options = replace(EXACT, landing=10.0, contact_gap=10.0)
    modulus = NOMINAL[Parameter.MODULUS]
    fitted = Fitted([Parameter.MODULUS], modulus)
    *_, last = tangents(_falling(NOMINAL), options, fitted, 0.04)
    ends = []
    for sign in (1.0, -1.0):
        values = NOMINAL | {Parameter.MODULUS: modulus * (1.0 + 1e-6 * sign)}
        *_, end = simulate(_falling(values), options, 0.04, every=10**9)
        assert (end.contact[[0, -1]] > 0).all()
        ends.append(end.x)
    expected = (ends[0] - ends[1]) / (2e-6 * modulus)
    assert np.abs(last.dx[0] - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_beam_under_a_weight_sinks_by_the_inverse_of_its_modulus() -> None:
    """P L^3 / 3 EI at the tip, and its derivative."""
    material = RodMaterial(modulus=3.0e6)
    rod = cantilever(0.1, 40, material)
    world = World(rod, gravity=(0.0, 0.0))
    fitted = Fitted([Parameter.MODULUS, Parameter.BETA], 3.0e6)
    force = 1e-5
    rest, dx = hung(world, NodeLoad([39], (0.0, -force)), fitted)
    tip = rest.rod.nodes[-1, 1]
    assert tip == pytest.approx(-force * 1e-3 / (3.0 * material.bending), rel=2e-3)
    assert dx[0, -1, 1] == pytest.approx(-tip / 3.0e6, rel=1e-6)
    assert not dx[1].any()


def test_derivatives_begin_with_those_of_the_start() -> None:
    def tip(modulus: float) -> float:
        world = World(cantilever(0.06, 12, RodMaterial(modulus=modulus)))
        fitted = Fitted([Parameter.MODULUS], modulus)
        rest, dx = hung(world, NodeLoad([11], (0.0, -0.01)), fitted)
        *_, last = tangents(rest, EXACT, fitted, 0.2, dx)
        slopes.append(last.dx[0, -1, 1])
        return float(last.x[-1, 1])

    slopes: list[float] = []
    tip(3.0e6)
    expected = (tip(3.0e6 + 30.0) - tip(3.0e6 - 30.0)) / 60.0
    assert slopes[0] == pytest.approx(expected, rel=1e-6)


def test_markers_between_steps_follow_the_motion() -> None:
    """A fall of a chain: y = -g t^2 / 2, whose cubic is exact."""
    world = World(chain(np.array([[0.0, 0], [0.01, 0], [0.02, 0]]), RodMaterial()))
    motion = simulate(world, EXACT, 0.05)
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


@pytest.mark.parametrize(
    ("ground", "options", "damping", "words"),
    [
        (Wave(), EXACT, Damping(), "a Wave is curved"),
        (None, replace(EXACT, accuracy=1e-6), Damping(), "accuracy is 1e-06"),
        (None, replace(EXACT, contact="modified_mass"), Damping(), "contact exact"),
        (None, replace(EXACT, integrator="energy_momentum"), Damping(), "newmark"),
        (None, EXACT, Damping(rayleigh=True), "rayleigh false"),
    ],
)
def test_what_has_no_derivative_is_refused(
    ground: Ground | None, options: StepOptions, damping: Damping, words: str
) -> None:
    nodes = np.array([[0.0, 0.1], [0.01, 0.1], [0.02, 0.1]])
    world = World(chain(nodes, RodMaterial()), ground, damping=damping)
    with pytest.raises(ValueError, match=words):
        next(tangents(world, options, Fitted([Parameter.BETA], 3e6), 0.1))


def test_a_parameter_that_is_none_is_refused() -> None:
    assert Parameter("beta") is Parameter.BETA
    with pytest.raises(ValueError, match="parameter is 'ramp': choose one of modulus"):
        Parameter("ramp")
