"""Motion in space: what is kept, waves, drag, clamps that move, and the plane."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.core.options import NotConvergedError
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY, RodMaterial, chain, hold
from sim.rods.plane.simulate import simulate
from sim.rods.plane.world import Damping, Fluid, World
from sim.rods.prescribed_motion import UP, PrescribedMotion, TurningEdge
from sim.rods.space.contact_detection import ContactModel, LevelGround
from sim.rods.space.frames import turning
from sim.rods.space.from_plane import in_space, lifted
from sim.rods.space.joints import clamped_end
from sim.rods.space.rod import SpaceMaterial, StretchLaw, clamped, disc, through
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.world import SpaceWorld, TurningClamps
from tests.sim.rods.known import SOFT
from tests.sim.rods.plane.test_external_loads import _clamped
from tests.sim.rods.space.made import (
    ROUND,
    WIRE,
    C,
    MovingSupports,
    along_x,
    angular_momentum,
    crooked,
    momentum,
)

EVERY_TIME = 10**9


def _options(h: float, **more: float) -> StepOptions:
    return StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM, **more)  # type: ignore[arg-type]


def _last(world: SpaceWorld, options: StepOptions, duration: float) -> SpaceMotionStep:
    *_, last = simulate_in_space(world, options, duration, every=EVERY_TIME)
    return last


def _thrown(rng: np.random.Generator) -> SpaceWorld:
    """A crooked rod that tumbles, bends and spins, without weight."""
    rod, _ = crooked(rng, StretchLaw.HOOKE)
    return SpaceWorld(
        rod, (0.0, 0.0, 0.0), velocity=0.4 * rng.normal(size=rod.nodes.shape),
        spin=3.0 * rng.normal(size=len(rod.edges)),
    )  # fmt: skip


def test_energy_and_both_momenta_are_kept_at_any_amplitude(rng):
    world = _thrown(rng)
    first, *later = simulate_in_space(
        world, _options(0.02, tolerance=1e-12), 1.0, every=10
    )
    assert max(step.stretching + step.bending for step in later) > 0.2 * first.energy
    size = np.abs(angular_momentum(world.rod, first)).max()
    for step in later:
        assert step.energy == pytest.approx(first.energy, rel=1e-9)
        assert (
            np.abs(momentum(world.rod, step) - momentum(world.rod, first)).max()
            <= 1e-11 * size
        )
        apart = angular_momentum(world.rod, step) - angular_momentum(world.rod, first)
        assert np.abs(apart).max() <= 1e-10 * size


def test_a_rule_that_gains_a_little_in_every_step_is_told(rng):
    """By Newmark's rule 2.2 times what was thrown within 20 steps."""
    s = 0.1 * np.linspace(0.0, 1.0, 15)[:, None]
    rod = through(s * [1.0, 0.0, 0.0], replace(WIRE, modulus=1.0e8), ROUND)
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), Damping(beta=0.0), velocity=rng.normal(size=(15, 3))
    )
    found = []
    try:
        for step in simulate_in_space(world, StepOptions(1.0e-3), 0.02, every=5):
            found.append(step.energy)
    except NotConvergedError as failed:
        found.append(failed.best.energy)
    assert len(found) > 1
    assert max(found) < 1.11 * found[0]


def test_what_damping_takes_and_weight_gives_is_accounted_for(rng):
    world = replace(
        _thrown(rng), gravity=(0.1, -0.2, 0.3), damping=Damping(alpha=0.2, beta=0.01)
    )
    first, *_, last = simulate_in_space(
        world, _options(0.01, tolerance=1e-12), 0.5, every=10
    )
    damped = last.moving.ledger.damped
    assert damped > 0.1 * first.energy
    assert last.energy + damped == pytest.approx(first.energy, rel=1e-9)


def test_a_run_goes_on_from_any_record_to_the_same_bits(rng):
    world, options = _thrown(rng), _options(0.02, accuracy=1e-4)
    _, middle, *_, last = simulate_in_space(world, options, 0.3, every=5)
    *_, again = simulate_in_space(world, options, 0.3, every=5, start=middle.moving)
    assert np.array_equal(again.x, last.x)
    assert np.array_equal(again.moving.v, last.moving.v)


def test_steps_of_half_the_length_leave_a_quarter_of_the_error(rng):
    world = _thrown(rng)
    sizes = 1e-3 / 2.0 ** np.arange(4)
    ends = [_last(world, _options(h, tolerance=1e-12), 0.016).x for h in sizes]
    apart = [np.abs(a - b).max() for a, b in zip(ends[1:], ends[:-1], strict=True)]
    slope = np.polyfit(np.log(sizes[1:]), np.log(apart), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.15)


def test_a_slender_wire_swings_in_long_steps_that_are_not_cut():
    """Edges turn by a tenth of a rad in a step, at an EA of 1e5 times EI / L^2."""
    rod = clamped(along_x(0.5, 20), 0)
    world = SpaceWorld(rod, (0.0, 1.0, -GRAVITY), Damping(beta=2e-3))
    last = _last(world, _options(8e-3), 0.32)
    assert last.moving.step == 40
    assert last.substeps <= 44
    assert last.iterations <= 400


def _period(world: SpaceWorld, options: StepOptions, guess: float) -> float:
    """Of a spin let go at its largest: four times its way to rest."""
    seen = [
        (s.time, float(s.moving.v[-1]))
        for s in simulate_in_space(world, options, 0.3 * guess)
    ]
    k = next(k for k, (_, spin) in enumerate(seen) if spin * seen[0][1] < 0.0)
    (before, a), (after, b) = seen[k - 1 : k + 1]
    return 4.0 * (before + a / (a - b) * (after - before))


def test_twist_waves_run_at_the_root_of_shear_modulus_over_density():
    """The first mode of a free wire; its period is 2 L / c, to order 2 in edges."""
    length, errors = 0.3, []
    c = np.sqrt(C / (WIRE.density * ROUND.polar))
    assert c == pytest.approx(np.sqrt(WIRE.shear / WIRE.density))
    for edges in (10, 20):
        rod = along_x(length, edges, first=0.0)
        s = (np.arange(edges) + 0.5) / edges
        world = SpaceWorld(rod, (0.0, 0.0, 0.0), spin=np.cos(np.pi * s))
        period = 2.0 * length / c
        errors.append(_period(world, _options(period / 800), period) / period - 1.0)
    assert abs(errors[0]) < 6e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_spinning_wire_whirls_the_faster_to_one_side(integrator):
    """rho A w'' + B w'''' = i J omega dw''/dt: both ways of a wave of wavenumber k
    differ by J omega k^2 / (rho A)."""
    edges, length, spin, thick = 12, 0.1, 2000.0, disc(0.01)
    x = np.linspace(0.0, length, edges + 1)
    rod = through(np.column_stack([x, 0 * x, 0 * x]), WIRE, thick)
    held = rod.held.copy()
    held[[0, -1]] = True
    rod, k = replace(rod, held=held), np.pi / length
    still = np.sqrt(WIRE.modulus * thick.second[0] / WIRE.density / thick.area) * k**2
    v = np.zeros_like(rod.nodes)
    v[:, 1] = 1e-3 * np.sin(k * rod.nodes[:, 0])
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), velocity=v, spin=np.full(edges, spin))
    options = StepOptions(0.05 / still, integrator, tolerance=1e-14)
    seen = list(simulate_in_space(world, options, 6.0 / still))
    middle = np.array([step.x[edges // 2, 1:] for step in seen[1:]])
    t = np.array([step.time for step in seen[1:]])
    turned = np.unwrap(np.arctan2(middle[:, 1], middle[:, 0]), period=np.pi)
    rate = np.polyfit(t, turned, 1)[0]
    split = thick.polar * spin * k**2 / thick.area
    assert 0.05 * still < split < 0.5 * still
    assert rate == pytest.approx(0.5 * split, rel=0.02)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_planar_motion_is_the_same_in_space(integrator):
    """A curved, damped arm, clamped and let go; with Newmark's rule to rounding."""
    angle = np.linspace(0.0, 2.0, 9)
    material = RodMaterial(1e6, 1000.0, 5e-3, 10e-3)
    flat = hold(
        chain(0.1 * np.column_stack([np.sin(angle), np.cos(angle)]), material), [0, 1]
    )
    damping = Damping(alpha=0.3, beta=2e-3)
    options = StepOptions(h=2e-3, integrator=integrator, tolerance=1e-12)
    *_, plane = simulate(World(flat, damping=damping), options, 0.2, every=50)
    world = SpaceWorld(lifted(flat, material), (0.0, -GRAVITY, 0.0), damping)
    *_, space = simulate_in_space(world, options, 0.2, every=50)
    assert np.abs(plane.x - flat.nodes).max() > 0.02
    near = 1e-9 if integrator is Integrator.NEWMARK else 1e-4
    assert np.abs(space.x[:, :2] - plane.x).max() <= near * 0.2
    assert np.abs(space.x[:, 2]).max() <= 1e-12


def test_supports_that_turn_twist_a_rod_and_their_work_is_given():
    rod = clamped(along_x(0.2, 10), 0, 9)
    spin = np.zeros(10)
    spin[-1] = 4.0
    drive = MovingSupports(np.zeros((11, 3)), spin, end=0.5)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), Damping(alpha=20.0), drive=drive)
    last = _last(world, _options(0.02), 1.0)
    assert last.moving.state.twist.sum() == pytest.approx(2.0)
    assert last.twisting == pytest.approx(0.5 * C / 0.2 * 2.0**2, rel=1e-3)
    left = last.moving.ledger
    assert left.given == pytest.approx(left.damped + last.energy, rel=1e-9)


def test_natural_curvature_that_grows_bends_an_arm():
    rod = clamped(along_x(0.2, 10), 0)
    full = np.zeros_like(rod.curvature)
    full[:, 0] = 8.0
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), Damping(alpha=8.0, beta=0.01),
        natural=lambda time: min(time / 0.5, 1.0) * full,
    )  # fmt: skip
    last = _last(world, _options(0.02), 3.0)
    turn = turning(last.moving.state, rod.edges, rod.bends)
    assert turn[:, 0] / rod.voronoi == pytest.approx(8.0, rel=1e-3)


def test_what_no_motion_can_be_is_refused(rng):
    rod, _ = crooked(rng, StretchLaw.RUBBER)
    with pytest.raises(ValueError, match="rubber is for statics: use"):
        SpaceWorld(rod)
    rod = replace(rod, law=StretchLaw.HOOKE)
    for gravity in ((0.0, np.nan, 0.0), (0.0, -9.81)):
        with pytest.raises(ValueError, match=r"gravity is .*: give three finite"):
            SpaceWorld(rod, gravity)  # type: ignore[arg-type]
    for given in (np.zeros((2, 3)), np.full(rod.nodes.shape, np.nan)):
        with pytest.raises(ValueError, match=r"velocity has shape .*: give finite"):
            SpaceWorld(rod, velocity=given)
    bad = SpaceWorld(rod, natural=lambda _: np.full(rod.curvature.shape, np.nan))
    with pytest.raises(
        ValueError, match=r"natural curvature has shape .*: give finite"
    ):
        next(simulate_in_space(bad, StepOptions(), 0.1))
    with pytest.raises(ValueError, match="rayleigh works in 2D only"):
        SpaceWorld(rod, damping=Damping(rayleigh=True))
    with pytest.raises(ValueError, match=r"duration is 0\.0 s"):
        next(simulate_in_space(SpaceWorld(rod), StepOptions(), 0.0))


def test_a_step_that_cannot_be_made_ends_in_one_line(rng):
    world = _thrown(rng)
    for integrator, words in (
        (
            Integrator.NEWMARK,
            "reduce the time step h to .* s or less, or use .* energy_momentum$",
        ),
        (Integrator.ENERGY_MOMENTUM, "reduce the time step h to .* s or less$"),
    ):
        options = StepOptions(h=0.5, integrator=integrator, shortest=1.0, strain=0.01)
        with pytest.raises(NotConvergedError, match=words) as caught:
            list(simulate_in_space(world, options, 1.0))
        assert isinstance(caught.value.best, SpaceMotionStep)


FLUID = Fluid(0.3, 0.7)
STIFF = SpaceMaterial(1.0e10, 1000.0, 0.3)
PULL = 9.81 * 1000.0 * np.pi * 1e-6  # N/m


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_helix_that_sinks_turns_about_its_axis(integrator):
    """Gray and Hancock: no torque about the axis of whole turns, weight along it.

    With k = c_t - c_n and the slope a, sinking at U it turns at W, where
    W r (c_n + k cos^2 a) = -k U sin a cos a.
    """
    r, a, turns, n = 0.02, 0.9, 4, 160
    length = 2.0 * np.pi * r * turns / np.cos(a)
    angle = 2.0 * np.pi * turns * np.arange(n + 1) / n
    x = np.column_stack([r * np.cos(angle), r * np.sin(angle), r * angle * np.tan(a)])
    rod = through(x, STIFF, ROUND, first=(1.0, 0.0, 0.0))
    world = SpaceWorld(rod, (0.0, 0.0, -9.81), Damping(beta=1e-3), fluid=FLUID)
    options = StepOptions(2e-3, integrator)
    first, *_, before, last = simulate_in_space(world, options, 0.2, every=99)
    lost = last.moving.ledger.damped
    assert lost == pytest.approx(first.energy - last.energy, rel=1e-7)
    c, s, k = np.cos(a), np.sin(a), FLUID.along - FLUID.across
    round_over_down = -k * s * c / (FLUID.across + k * c * c)
    sinking = -PULL / (FLUID.across + k * s * (s + round_over_down * c))
    mean = (last.x - before.x).mean(axis=0) / (last.time - before.time)
    assert mean[2] == pytest.approx(sinking, rel=5e-3)
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    out = last.x - last.x.mean(axis=0)
    turned = np.cross(out, v - v.mean(axis=0))[:, 2].sum() / (out[:, :2] ** 2).sum()
    assert turned * r == pytest.approx(round_over_down * sinking, rel=2e-2)
    assert length == pytest.approx(rod.length, rel=1e-2)


KEEPING = StepOptions(h=5e-3, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-12)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_an_end_of_the_plane_that_turns_and_moves_does_so_in_space(integrator):
    rod, ways = _clamped(10), [[0.0, 0.0, 0.0, 0.0], [0.1, 0.01, -0.02, 0.0]]
    way = PrescribedMotion((*rod.nodes[0], 0.0), UP, [0.0, 0.1], [0.0, 1.0], ways)
    turn = TurningEdge(len(rod.edges) - 1, way)
    world = World(
        rod, gravity=(0.0, -9.81), damping=Damping(alpha=1.0, beta=0.01),
        turning=(turn,),
    )  # fmt: skip
    options = StepOptions(h=1e-3, integrator=integrator, tolerance=1e-12)
    *_, planar = simulate(world, options, 0.15, every=10**6)
    *_, raised = simulate_in_space(in_space(world, SOFT), options, 0.15, every=10**6)
    assert np.ptp(planar.x, axis=0).min() > 0.03
    exact = integrator is Integrator.NEWMARK
    assert np.abs(raised.x[:, :2] - planar.x).max() < (1e-9 if exact else 2e-5)
    assert np.abs(raised.x[:, 2]).max() < 1e-12


def _driven(edge: int, *way: Any, **more: Any) -> SpaceWorld:
    """An edge that goes by tables about the first node, at the origin."""
    rod = clamped_end(along_x(0.1, 8, first=0.0), 0)
    clamp = TurningEdge(edge, PrescribedMotion(rod.nodes[0], *way, **more))
    drive = TurningClamps(rod, [clamp])
    return SpaceWorld(rod, (0, 0, 0), Damping(alpha=20.0, beta=0.01), drive=drive)


def test_a_rod_comes_to_rest_where_its_clamp_was_turned_and_moved_to():
    """As one body, however far about: its frames by the rotation, its places too."""
    axis, way = np.array([1.0, -2.0, 0.5]), [0.02, -0.01, 0.03]
    world = _driven(
        8, axis, [0.0, 0.3, 0.6], [0.0, 2.5, 4.0], [[0.1, 0, 0, 0], [0.5, *way]]
    )
    rod, last = world.rod, _last(world, KEEPING, 3.0)
    turn = Rotation.from_rotvec(4.0 * axis / np.linalg.norm(axis)).as_matrix()
    assert np.abs(last.x - rod.nodes @ turn.T - way).max() < 1e-6
    assert np.abs(last.moving.state.d - rod.directors @ turn.T).max() < 1e-5
    held = rod.edges[8]
    assert np.abs((last.x - rod.nodes @ turn.T - way)[held]).max() < 1e-13
    ledger = last.moving.ledger
    stored = last.energy
    assert ledger.given - ledger.damped == pytest.approx(stored, abs=1e-9)
    assert ledger.given > 0.0


def test_a_clamp_that_turns_about_its_rod_twists_it():
    """By all of its turn, beyond half a turn too, where the other end is held."""
    world = _driven(8, [-1.0, 0.0, 0.0], [0.0, 1.0], [0.0, 5.0])
    rod = clamped_end(world.rod, 8)
    assert isinstance(world.drive, TurningClamps)
    drive = replace(world.drive, rod=rod)
    last = _last(replace(world, rod=rod, drive=drive), KEEPING, 1.5)
    assert last.moving.state.twist.sum() == pytest.approx(5.0, abs=1e-9)
    twisting = 0.5 * rod.twisting[0] * 25.0 / 0.1
    assert last.twisting == pytest.approx(twisting, rel=1e-3)


def test_tables_that_no_clamp_follows_are_refused():
    with pytest.raises(ValueError, match="edge 3 is not held: clamp it"):
        _driven(3, [0, 0, 1])
    fast = _driven(8, [0, 0, 1], [0.0, 0.01], [0.0, 4.0])
    with pytest.raises(ValueError, match=r"turns by 114\.592 degrees in a step"):
        _last(fast, KEEPING, 1.0)


def test_a_clamp_that_goes_into_the_ground_is_refused_with_its_time():
    world = _driven(8, [0, 0, 1], moves=[[0, 0, 0, 0], [1, 0, 0, -0.05]])
    model = ContactModel(np.full(9, 1e-3), 0.0, LevelGround(height=-0.03))
    words = "ground: a moving clamp or its edge penetrates it by 0.021 m"
    with pytest.raises(ValueError, match=words):
        replace(world, contact=model)
    replace(world, contact=replace(model, ground=LevelGround(height=-0.06)))
