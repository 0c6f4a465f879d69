"""Motion in space: what is kept, waves and modes with known frequencies, the plane."""

from dataclasses import replace

import numpy as np
import pytest

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.gravity import GRAVITY
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.rod.rod import RodMaterial, chain, hold
from sim.rod.space.frames import turning
from sim.rod.space.lifted import lifted
from sim.rod.space.sections import disc
from sim.rod.space.space_rod import StretchLaw, clamped, through
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.world import Damping, World
from tests.sim.rod.space.made import ROUND, WIRE, B, C, along_x, crooked

LINE = WIRE.density * ROUND.area
EVERY_TIME = 10**9


def _options(h: float, **more: float) -> StepOptions:
    return StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM, **more)  # type: ignore[arg-type]


def _last(world: SpaceWorld, options: StepOptions, duration: float) -> SpaceMotionStep:
    *_, last = moves(world, options, duration, every=EVERY_TIME)
    return last


def _thrown(rng: np.random.Generator) -> SpaceWorld:
    """A crooked rod that tumbles, bends and spins, without weight."""
    rod, _ = crooked(rng, StretchLaw.HOOKE)
    return SpaceWorld(
        rod, (0.0, 0.0, 0.0), velocity=0.4 * rng.normal(size=rod.nodes.shape),
        spin=3.0 * rng.normal(size=len(rod.edges)),
    )  # fmt: skip


def test_energy_and_both_momenta_are_kept_at_any_amplitude(
    rng: np.random.Generator,
) -> None:
    world = _thrown(rng)
    first, *later = moves(world, _options(0.02, tolerance=1e-12), 1.0, every=10)
    assert max(step.stretching + step.bending for step in later) > 0.2 * first.energy
    size = np.abs(first.angular_momentum).max()
    for step in later:
        assert step.energy == pytest.approx(first.energy, rel=1e-9)
        assert np.abs(step.momentum - first.momentum).max() <= 1e-11 * size
        apart = step.angular_momentum - first.angular_momentum
        assert np.abs(apart).max() <= 1e-10 * size


def test_a_rule_that_gains_a_little_in_every_step_is_told(
    rng: np.random.Generator,
) -> None:
    """By Newmark's rule 2.2 times what was thrown within 20 steps."""
    s = 0.1 * np.linspace(0.0, 1.0, 15)[:, None]
    rod = through(s * [1.0, 0.0, 0.0], replace(WIRE, modulus=1.0e8), ROUND)
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), Damping(beta=0.0), velocity=rng.normal(size=(15, 3))
    )
    found = []
    try:
        for step in moves(world, StepOptions(1.0e-3), 0.02, every=5):
            found.append(step.energy)
    except NotConvergedError as failed:
        found.append(failed.best.energy)
    assert len(found) > 1
    assert max(found) < 1.11 * found[0]


def test_what_damping_takes_and_weight_gives_is_accounted_for(
    rng: np.random.Generator,
) -> None:
    world = replace(
        _thrown(rng), gravity=(0.1, -0.2, 0.3), damping=Damping(alpha=0.2, beta=0.01)
    )
    first, *_, last = moves(world, _options(0.01, tolerance=1e-12), 0.5, every=10)
    damped = last.moving.ledger.damped
    assert damped > 0.1 * first.energy
    assert last.energy + damped == pytest.approx(first.energy, rel=1e-9)


def test_a_run_goes_on_from_any_record_to_the_same_bits(
    rng: np.random.Generator,
) -> None:
    world, options = _thrown(rng), _options(0.02, accuracy=1e-4)
    _, middle, *_, last = moves(world, options, 0.3, every=5)
    *_, again = moves(world, options, 0.3, every=5, start=middle.moving)
    assert np.array_equal(again.x, last.x)
    assert np.array_equal(again.moving.v, last.moving.v)


def test_steps_of_half_the_length_leave_a_quarter_of_the_error(
    rng: np.random.Generator,
) -> None:
    world = _thrown(rng)
    sizes = 1e-3 / 2.0 ** np.arange(4)
    ends = [_last(world, _options(h, tolerance=1e-12), 0.016).x for h in sizes]
    apart = [np.abs(a - b).max() for a, b in zip(ends[1:], ends[:-1], strict=True)]
    slope = np.polyfit(np.log(sizes[1:]), np.log(apart), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.15)


def test_a_slender_wire_swings_in_long_steps_that_are_not_cut() -> None:
    """Edges turn by a tenth of a rad in a step, at an EA of 1e5 times EI / L^2."""
    rod = clamped(along_x(0.5, 20), 0)
    world = SpaceWorld(rod, (0.0, 1.0, -GRAVITY), Damping(beta=2e-3))
    last = _last(world, _options(8e-3), 0.32)
    assert last.moving.step == 40
    assert last.substeps <= 44
    assert last.iterations <= 400


def _period(world: SpaceWorld, options: StepOptions, of: str, guess: float) -> float:
    """Of a mode let go at its largest velocity: four times its way to rest."""
    before = after = None
    for step in moves(world, options, guess, every=1):
        v = step.moving.v
        value = float(v[-1] if of == "spin" else v[step.x.size - 1])
        if after is not None and after[1] * value < 0.0:
            before, after = after, (step.time, value)
            break
        before, after = after, (step.time, value)
    assert before is not None
    assert after is not None
    share = before[1] / (before[1] - after[1])
    return 4.0 * (before[0] + share * (after[0] - before[0]))


def test_twist_waves_run_at_the_root_of_shear_modulus_over_density() -> None:
    """The first mode of a free wire; its period is 2 L / c, to order 2 in edges."""
    length, errors = 0.3, []
    c = np.sqrt(C / (WIRE.density * ROUND.polar))
    assert c == pytest.approx(np.sqrt(WIRE.shear / WIRE.density))
    for edges in (10, 20):
        rod = along_x(length, edges, first=0.0)
        s = (np.arange(edges) + 0.5) / edges
        world = SpaceWorld(rod, (0.0, 0.0, 0.0), spin=np.cos(np.pi * s))
        period = 2.0 * length / c
        errors.append(
            _period(world, _options(period / 800), "spin", period) / period - 1
        )
    assert abs(errors[0]) < 6e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


def _mode(s: Floats) -> Floats:
    """First mode of a clamped beam of length 1."""
    k = 1.8751040687
    ratio = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
    return np.cosh(k * s) - np.cos(k * s) - ratio * (np.sinh(k * s) - np.sin(k * s))


def test_a_clamped_wire_swings_at_the_frequency_of_its_first_mode() -> None:
    length, errors = 0.1, []
    period = 2.0 * np.pi / (1.8751040687**2 * np.sqrt(B / LINE) / length**2)
    for edges in (10, 20):
        size = length / (edges - 0.5)
        s = size * (np.arange(edges + 1) - 0.5)
        rod = clamped(through(np.column_stack([s, 0 * s, 0 * s]), WIRE, ROUND), 0)
        v = np.zeros_like(rod.nodes)
        v[2:, 2] = 1e-2 * _mode(s[2:] / length)
        world = SpaceWorld(rod, (0.0, 0.0, 0.0), velocity=v)
        found = _period(
            world, _options(period / 800, tolerance=1e-13), "move", 0.5 * period
        )
        errors.append(found / period - 1.0)
    assert 0.0 < errors[0] < 6e-3
    assert errors[0] / errors[1] > 3.5


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_spinning_wire_whirls_the_faster_to_one_side(integrator: Integrator) -> None:
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
    seen = list(moves(world, options, 6.0 / still))
    middle = np.array([step.x[edges // 2, 1:] for step in seen[1:]])
    t = np.array([step.time for step in seen[1:]])
    turned = np.unwrap(np.arctan2(middle[:, 1], middle[:, 0]), period=np.pi)
    rate = np.polyfit(t, turned, 1)[0]
    split = thick.polar * spin * k**2 / thick.area
    assert 0.05 * still < split < 0.5 * still
    assert rate == pytest.approx(0.5 * split, rel=0.02)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_planar_motion_is_the_same_in_space(integrator: Integrator) -> None:
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
    *_, space = moves(world, options, 0.2, every=50)
    assert np.abs(plane.x - flat.nodes).max() > 0.02
    near = 1e-9 if integrator is Integrator.NEWMARK else 1e-4
    assert np.abs(space.x[:, :2] - plane.x).max() <= near * 0.2
    assert np.abs(space.x[:, 2]).max() <= 1e-12


def test_supports_that_turn_twist_a_rod_and_their_work_is_given() -> None:
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


def test_natural_curvature_that_grows_bends_an_arm() -> None:
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


def test_what_no_motion_can_be_is_refused(rng: np.random.Generator) -> None:
    rod, _ = crooked(rng, StretchLaw.RUBBER)
    with pytest.raises(ValueError, match="stretch law is rubber: choose hooke"):
        SpaceWorld(rod)
    rod = replace(rod, law=StretchLaw.HOOKE)
    for gravity in ((0.0, np.nan, 0.0), (0.0, -9.81)):
        with pytest.raises(ValueError, match=r"gravity is .*: give three finite"):
            SpaceWorld(rod, gravity)  # type: ignore[arg-type]
    for given in (np.zeros((2, 3)), np.full(rod.nodes.shape, np.nan)):
        with pytest.raises(ValueError, match=r"velocity of shape .*: give finite"):
            SpaceWorld(rod, velocity=given)
    bad = SpaceWorld(rod, natural=lambda _: np.full(rod.curvature.shape, np.nan))
    with pytest.raises(ValueError, match=r"natural curvature of shape .*: give finite"):
        next(moves(bad, StepOptions(), 0.1))
    with pytest.raises(ValueError, match="rayleigh is of the plane only"):
        SpaceWorld(rod, damping=Damping(rayleigh=True))
    with pytest.raises(ValueError, match=r"duration is 0\.0 s"):
        next(moves(SpaceWorld(rod), StepOptions(), 0.0))


def test_a_step_that_cannot_be_made_ends_in_one_line(rng: np.random.Generator) -> None:
    world = _thrown(rng)
    for integrator, words in (
        (Integrator.NEWMARK, "choose a smaller h, or integrator energy_momentum$"),
        (Integrator.ENERGY_MOMENTUM, "choose a smaller h$"),
    ):
        options = StepOptions(h=0.5, integrator=integrator, shortest=1.0, strain=0.01)
        with pytest.raises(NotConvergedError, match=words) as caught:
            list(moves(world, options, 1.0))
        assert isinstance(caught.value.best, SpaceMotionStep)
