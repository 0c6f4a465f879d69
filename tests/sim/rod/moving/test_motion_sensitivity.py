"""Derivatives of motions in space: Taylor remainders, and scalings that are exact."""

from dataclasses import replace

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.moving.bodies import SphereBody
from sim.rod.moving.motion import moves
from sim.rod.moving.motion_sensitivity import space_tangents
from sim.rod.moving.space_parameters import SpaceParameter, scaled
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import LevelGround, Touching
from sim.rod.space.sections import SpaceMaterial, disc, rectangle
from sim.rod.space.space_rod import clamped, through
from sim.rod.space.tendons import routed
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.surroundings import Fluid
from sim.rod.stepping.world import Damping

H, STEPS = 2e-3, 12
OPTIONS = StepOptions(H, Integrator.NEWMARK, tolerance=1e-13, residual=1e-12)
RUBBED = replace(OPTIONS, tolerance=1e-11, residual=1e-10)  # above rounding of contacts
ALL = tuple(one for one in SpaceParameter if one is not SpaceParameter.FRICTION)


def _world(times: dict[SpaceParameter, float]) -> SpaceWorld:
    """A curved tape, a tendon beside its axis, its clamp turning, its tip spinning."""
    at = {one.value: times.get(one, 1.0) for one in ALL}
    s = np.linspace(0.0, 1.2, 7)
    x = 0.08 * np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.3 * s**2])
    material = SpaceMaterial(2e6 * at["modulus"], 1100.0 * at["density"], 0.3)
    section = rectangle(3e-3, 5e-3)
    rod = clamped(through(x, material, [section] * 6, first=(0.0, 0.0, 1.0)), 0)
    rod = replace(rod, inertia=100.0 * rod.inertia)  # discs, whose spin turns axes
    route = [(0.0, 1e-3, 0.0), (0.12, 0.0, 1e-3)]
    tendon = routed(rod, np.full(6, 1.5e-3), 0.08, route, tension=0.3 * at["tension"])
    turn = np.where(np.arange(6) == 0, 6.0, 0.0)
    pull = 9.81 * at["gravity"]
    return SpaceWorld(
        rod, (0.2 * pull, 0.0, -pull), Damping(2.0 * at["alpha"], 1e-3 * at["beta"]),
        spin=np.array([0.0, 0.0, 0.0, 20.0, 40.0, 60.0]),
        drive=MovingSupports(np.zeros_like(x), turn), tendons=(tendon,),
    )  # fmt: skip


def _rubbing(times: dict[SpaceParameter, float], mu: float) -> SpaceWorld:
    """A wire bent in its plane, that slides on level ground and straightens."""
    at = {one.value: times.get(one, 1.0) for one in SpaceParameter}
    s = np.linspace(0.0, 1.0, 7)
    x = 0.08 * np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.0 * s])
    material = SpaceMaterial(2e7 * at["modulus"], 1100.0 * at["density"], 0.3)
    rod = through(x, material, [disc(2e-3)] * 6, first=(0.0, 0.0, 1.0))
    rod = replace(rod, curvature=0.3 * rod.curvature)
    ground = LevelGround(height=-2e-3)
    v = np.tile([0.3, 0.1, 0.0], (7, 1)) + 4.0 * np.cross([0.0, 0.0, 1.0], x)
    return SpaceWorld(
        rod, (0.0, 0.0, -9.81 * at["gravity"]),
        Damping(2.0 * at["alpha"], 1e-3 * at["beta"]), velocity=v,
        touching=Touching(np.full(6, 2e-3), mu * at["friction"], ground),
    )  # fmt: skip


def _end(world: SpaceWorld) -> Floats:
    options = OPTIONS if world.touching is None else RUBBED
    *_, last = moves(world, options, H * STEPS, every=10**9)
    return last.x


def test_derivatives_by_all_parameters_leave_remainders_of_order_two() -> None:
    *_, last = space_tangents(_world({}), OPTIONS, ALL, H * STEPS)
    assert last.x == pytest.approx(_end(_world({})), abs=1e-12)
    for k, parameter in enumerate(ALL):
        left = []
        for e in (0.02, 0.01, 0.005):
            off = _end(_world({parameter: 1.0 + e})) - last.x - e * last.dx[k]
            left.append(np.abs(off).max())
        assert np.abs(last.dx[k]).max() > 1e-5
        slopes = np.log2(np.divide(left[:-1], left[1:]))
        assert slopes == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("mu", [0.3, 3.0])
def test_derivatives_of_what_slides_and_sticks_leave_remainders_of_order_two(
    mu: float,
) -> None:
    """On a plane, where no contact changes from one to the other; at 3 some stick."""
    P = SpaceParameter
    chosen = P.MODULUS, P.BETA, P.ALPHA, P.DENSITY, P.GRAVITY, P.FRICTION
    *_, last = space_tangents(_rubbing({}, mu), RUBBED, chosen, H * STEPS)
    assert last.x == pytest.approx(_end(_rubbing({}, mu)), abs=1e-12)
    for k, parameter in enumerate(chosen):
        left = []
        for e in (5e-4, 2.5e-4):
            off = _end(_rubbing({parameter: 1.0 + e}, mu)) - last.x - e * last.dx[k]
            left.append(np.abs(off).max())
        # beyond 1e-12 m, which steps leave
        assert left[1] < 1e-12 or np.log2(left[0] / left[1]) == pytest.approx(
            2.0, abs=0.1
        )
        assert left[1] < 1e-2 * 2.5e-4 * np.abs(last.dx[k]).max() + 1e-11


def test_what_is_thrown_at_its_ground_leaves_remainders_of_order_two() -> None:
    """The impulse leans as friction does, whose direction changes too."""

    def thrown(times: dict[SpaceParameter, float]) -> SpaceWorld:
        world = _rubbing(times, 0.3)
        assert world.velocity is not None
        return replace(world, velocity=world.velocity - [0.0, 0.0, 0.2])

    chosen = SpaceParameter.MODULUS, SpaceParameter.FRICTION
    *_, last = space_tangents(thrown({}), RUBBED, chosen, H * STEPS)
    for k, parameter in enumerate(chosen):
        left = [
            np.abs(_end(thrown({parameter: 1.0 + e})) - last.x - e * last.dx[k]).max()
            for e in (5e-4, 2.5e-4)
        ]
        assert np.log2(left[0] / left[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("parameter", list(SpaceParameter))
def test_a_world_that_is_scaled_is_one_that_is_made_so(
    parameter: SpaceParameter,
) -> None:
    rubs = parameter is SpaceParameter.FRICTION
    worlds = [_rubbing({}, 0.3) if rubs else _world({})]
    worlds.append(_rubbing({parameter: 1.2}, 0.3) if rubs else _world({parameter: 1.2}))
    own = scaled(worlds[0], {parameter: 1.2})
    assert _end(own) == pytest.approx(_end(worlds[1]), abs=1e-11)
    assert np.abs(_end(own) - _end(worlds[0])).max() > 1e-6


def test_a_fit_finds_modulus_damping_and_pull_of_a_motion_again() -> None:
    """Gauss and Newton's steps in the logarithms, from 20 % off; synthetic markers."""
    P = SpaceParameter
    chosen = P.MODULUS, P.BETA, P.ALPHA, P.TENSION
    seen = [s.x for s in space_tangents(_world({}), OPTIONS, (), H * STEPS)]
    found = np.log([1.2, 0.8, 0.85, 1.15])
    for _ in range(5):
        times = dict(zip(chosen, np.exp(found).tolist(), strict=True))
        run = list(space_tangents(_world(times), OPTIONS, chosen, H * STEPS))
        off = np.ravel([s.x - x for s, x in zip(run, seen, strict=True)])
        slopes = np.array([s.dx.reshape(len(chosen), -1) for s in run])
        by = np.concatenate(list(slopes.transpose(0, 2, 1)))
        found -= np.linalg.lstsq(by, off)[0]
    assert found == pytest.approx(0.0, abs=1e-7)


def test_what_scales_with_modulus_density_and_tension_alike_does_not_move_it() -> None:
    """Stiffness with its damping, mass and pull: all forces grow alike."""
    chosen = SpaceParameter.MODULUS, SpaceParameter.DENSITY, SpaceParameter.TENSION
    *_, last = space_tangents(_world({}), OPTIONS, chosen, H * STEPS)
    assert last.dx.sum(axis=0) == pytest.approx(0.0, abs=1e-9 * np.abs(last.dx).max())
    assert last.dv.sum(axis=0) == pytest.approx(0.0, abs=1e-9 * np.abs(last.dv).max())


def test_what_has_no_derivative_is_refused() -> None:
    world, grown = _world({}), lambda _: np.zeros((5, 3))
    conserving = replace(OPTIONS, integrator=Integrator.ENERGY_MOMENTUM)
    body = SphereBody((0.0, 0.0, -1.0), 0.1)
    ground = Touching(np.full(6, 1e-3), bodies=(body,))
    loose = replace(world.rod, held_frames=np.arange(6) == 5)
    for bad, options, words in (
        (replace(world, rod=loose), OPTIONS, "frame of edge 5 is held, but not"),
        (world, conserving, "integrator newmark with accuracy 0"),
        (replace(world, touching=ground), OPTIONS, "leave bodies and rims out"),
        (replace(world, natural=grown), OPTIONS, "no natural curvature in time"),
        (replace(world, fluid=Fluid(1.0, 2.0)), OPTIONS, "know no fluid"),
    ):
        with pytest.raises(ValueError, match=words):
            next(space_tangents(bad, options, ALL, 1.0))
