"""Rods on rigid bodies, fixed or moved as prescribed, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.rods.plane.ground import Wave
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY
from sim.rods.prescribed_motion import PrescribedMotion
from sim.rods.space.contact_detection import ContactModel, closest, entered
from sim.rods.space.rigid_bodies import (
    BarBody,
    Body,
    DrivenBody,
    HeightField,
    PlateBody,
    SphereBody,
    swept,
)
from sim.rods.space.rod import SpaceMaterial, SpaceRod, through
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.space.made import ROUND, momentum

R = 1.0e-3
STIFF = SpaceMaterial(1.0e9, 1000.0, 0.3)
DOWN = (0.0, 0.0, -GRAVITY)


def _wire(start: Floats, end: Floats, edges: int) -> SpaceRod:
    s = np.linspace(0.0, 1.0, edges + 1)[:, None]
    across = (0.0, 1.0, 0.0) if abs(end[1] - start[1]) < 1e-9 else (1.0, 0.0, 0.0)
    return through((1.0 - s) * start + s * end, STIFF, ROUND, first=across)


def _run(world: SpaceWorld, h: float, duration: float) -> list[SpaceMotionStep]:
    options = StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM)
    return list(simulate_in_space(world, options, duration))


def _paraboloid(u: Floats, v: Floats) -> Floats:
    one = np.ones_like(u)
    return np.array([u * u + 0.5 * v * v, 2.0 * u, v, 2.0 * one, 0.0 * one, one])


BODIES = {
    "sphere": SphereBody((0.1, -0.2, 0.3), 0.5),
    "bar": BarBody((0.0, 0.0, 0.0), (0.3, 0.4, 0.1), 0.2),
    "field": HeightField(_paraboloid),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_way_out_is_the_slope_of_the_distance(name, rng):
    """It has length 1, on both sides of the surface: a distance it is."""
    body: Body = BODIES[name]
    x = 0.4 * rng.normal(size=(40, 3))
    far, out = body.distance(x)
    x -= (far - 0.05 * np.sign(far))[:, None] * out  # near it, on the same side
    beyond = far > 0.0
    far, out = body.distance(x)
    assert far[beyond] == pytest.approx(0.05, abs=1e-9)
    assert (far[~beyond] < 0.0).all()
    assert 0 < np.count_nonzero(beyond) < len(x)
    step = 1e-6 * rng.normal(size=x.shape)
    change = (body.distance(x + step)[0] - body.distance(x - step)[0]) / 2.0
    assert change == pytest.approx(np.sum(out * step, axis=1), abs=1e-10)
    assert np.linalg.norm(out, axis=1) == pytest.approx(1.0, abs=1e-12)


def test_a_bar_is_round_along_its_way_and_at_both_ends():
    bar = BarBody((0.0, 0.0, 0.0), (0.3, 0.4, 0.0), 0.2)
    x = np.array([[0.6, 0.8, 0.0], [-0.3, -0.4, 0.0], [0.045, 0.56, 0.0]])
    assert bar.distance(x)[0] == pytest.approx([0.3, 0.3, 0.1], abs=1e-12)


def test_a_rod_rocks_on_a_sphere_as_a_plank_does():
    """It rolls without sliding: omega^2 = g (R - r) / (L^2 / 12 + r^2), small.

    Its mass sits in nodes: of 6 edges L^2 / 12 is (1 + 2 / 36) times as much.
    """
    size, radius, edges, rate = 0.1, 0.05, 6, 0.4
    rod = _wire(np.array([-0.5 * size, 0.0, R]), np.array([0.5 * size, 0.0, R]), edges)
    rod = replace(rod, bending=30.0 * rod.bending)
    v = np.zeros_like(rod.nodes)
    v[:, 2] = -rate * rod.nodes[:, 0]
    sphere = SphereBody((0.0, 0.0, -radius), radius)
    model = ContactModel(np.full(edges, R), 2.0, bodies=(sphere,))
    world = SpaceWorld(rod, DOWN, velocity=v, contact=model)
    gyration = size**2 / 12.0 * (1.0 + 2.0 / edges**2) + R * R
    omega = np.sqrt(GRAVITY * (radius - R) / gyration)
    seen = _run(world, 4e-3, 0.2)
    tilts = [(s.x[-1] - s.x[0])[2] / size * omega / rate for s in seen]
    assert tilts == pytest.approx(-np.sin(omega * 4e-3 * np.arange(51)), abs=0.015)
    assert seen[-1].moving.ledger.gap <= 1e-9 * size / edges


def _cylinder(u: Floats, v: Floats) -> Floats:
    """The upper half of `BAR`."""
    w, none = np.sqrt(np.maximum(BAR.radius**2 - u * u, 1e-9)), 0.0 * v
    return np.array([w, -u / w, none, -1.0 / w - u * u / w**3, none, none])


BAR = BarBody((0.0, -0.1, 0.0), (0.0, 0.1, 0.0), 0.05)


@pytest.mark.parametrize("mu", [0.0, 0.15])
def test_what_slides_along_a_curve_errs_at_second_order(mu):
    """th'' = g sin / R - mu (g cos / R - th'^2): a wire along a bar, and on a field."""
    far, begin, speed, time = BAR.radius + R, 0.2, 0.12, 0.08
    pull = GRAVITY / far

    def rates(_: float, y: Floats) -> Floats:
        pressed = pull * np.cos(y[0]) - y[1] ** 2
        return np.array([y[1], pull * np.sin(y[0]) - mu * pressed])

    found = solve_ivp(rates, (0.0, time), [begin, speed / far], rtol=1e-9, atol=1e-12)
    out = np.array([np.sin(begin), 0.0, np.cos(begin)])
    rod = _wire(far * out - [0.0, 0.01, 0.0], far * out + [0.0, 0.01, 0.0], 2)
    rod = replace(rod, held_frames=np.ones(2, dtype=np.bool_))  # it does not roll
    v = np.tile(speed * np.array([out[2], 0.0, -out[0]]), (3, 1))
    ends = []
    for body, h in ((BAR, 8e-3), (BAR, 4e-3), (HeightField(_cylinder), 4e-3)):
        model = ContactModel(np.full(2, R), mu, bodies=(body,))
        world = SpaceWorld(rod, DOWN, velocity=v, contact=model)
        last = _run(world, h, time)[-1]
        ends.append(float(np.arctan2(last.x[1, 0], last.x[1, 2])))
        assert last.moving.ledger.gap <= 1e-9 * far
    errors = np.array(ends) - found.y[0, -1]
    assert errors[0] == pytest.approx(4.0 * errors[1], rel=0.1)
    assert errors[1] * far == pytest.approx(0.0, abs=1e-5)  # of 14 to 18 mm
    assert errors[2] == pytest.approx(errors[1], abs=1e-8)


def test_a_rod_leaves_a_bar_at_two_thirds_of_its_height():
    """Along the bar, without friction: cos = 2 / 3 (cos of the start + v^2 / 2 g R)."""
    far, begin, speed = 0.05 + R, 0.3, 0.1
    out = np.array([np.sin(begin), 0.0, np.cos(begin)])
    ends = [far * out + [0.0, y, 0.0] for y in (-0.01, 0.01)]
    rod = _wire(ends[0], ends[1], 2)
    v = np.tile(speed * np.array([out[2], 0.0, -out[0]]), (3, 1))
    model = ContactModel(np.full(2, R), bodies=(BAR,))
    world = SpaceWorld(rod, DOWN, velocity=v, contact=model)
    off = 2.0 / 3.0 * (np.cos(begin) + speed**2 / (2.0 * GRAVITY * far))
    seen = _run(world, 1e-3, 0.16)
    apart = np.array([BAR.distance(s.x)[0].min() - R for s in seen])
    last = seen[int(np.flatnonzero(apart > 1e-9)[0]) - 1]
    assert last.x[:, 2] / far == pytest.approx(off, abs=0.01)  # a step is 0.012
    assert apart.min() >= -1e-6 * R
    assert seen[-1].energy == pytest.approx(seen[0].energy, rel=1e-6)


def test_a_rod_swings_in_the_trough_of_a_wave_as_its_middle_does():
    """Along the trough, without friction: omega^2 = g / (1 / a k^2 - r), small."""
    size, length, begin = 5e-3, 0.1, 1e-3
    wave = 2.0 * np.pi / length
    field = swept(Wave(size, length, 0.75 * length))
    _, out = field.distance(np.array([[begin, 0.0, 0.0]]))
    foot = np.array([begin, 0.0, -size * np.cos(wave * begin)])
    ends = [foot + R * out[0] + [0.0, y, 0.0] for y in (-0.01, 0.01)]
    model = ContactModel(np.full(2, R), bodies=(field,))
    world = SpaceWorld(_wire(ends[0], ends[1], 2), DOWN, contact=model)
    omega = np.sqrt(GRAVITY / (1.0 / (size * wave**2) - R))
    way = [s.x[1, 0] / ends[0][0] for s in _run(world, 4e-3, 0.16)]
    assert way == pytest.approx(np.cos(omega * 4e-3 * np.arange(41)), abs=2e-3)


@pytest.mark.parametrize("integrator", list(Integrator))
@pytest.mark.parametrize("late", [0.03, 0.5, 0.97, 2.0, 3.0])
def test_a_spinning_wire_lands_on_a_flat_field_as_on_a_plane(late, integrator):
    """Its impact makes it go at mu v_n, at most; edges touch at their nodes alone."""
    h, down, spin, radius, mu = 1e-3, 0.5, 300.0, 1e-3, 0.1
    s = np.linspace(-0.02, 0.02, 5)
    rod = through(np.column_stack([0 * s, s, 0 * s]), STIFF, ROUND, first=(0, 0, 1))
    at = -radius - late * h * down
    flat = HeightField(lambda u, _: np.array([0.0 * u + at, *np.zeros((5, len(u)))]))
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), velocity=np.tile([0.0, 0.0, -down], (5, 1)),
        spin=np.full(4, spin),
        contact=ContactModel(np.full(4, radius), mu, bodies=(flat,)),
    )  # fmt: skip
    options = StepOptions(h, integrator)
    *_, last = simulate_in_space(world, options, 6 * h, every=10**9)
    along, _, up = momentum(rod, last) / rod.mass.sum()
    assert 0.98 < along / (mu * (down + up)) < 1.0 + 1e-6
    turning = last.moving.v[15:].mean()
    assert turning == pytest.approx(spin - 2.0 * along / radius, rel=1e-2)


def test_nothing_passes_through_a_thin_plate_or_a_bar_in_one_step():
    bodies = (
        PlateBody((0.0, 0.0, 0.0), (2.0, 2.0, 2e-3)),
        BarBody((0.0, -1.0, 0.0), (0.0, 1.0, 0.0), 1e-3),
    )
    x = np.array([[-0.1, 0.0, 0.5], [0.1, 0.0, 0.5]])
    edges, least = np.array([[0, 1]]), np.array([1e-3])
    down, beside = np.tile([0.0, 0.0, -1.0], (2, 1)), np.tile([0.0, 0.0, -0.4], (2, 1))
    for body in bodies:
        assert entered((body,), edges, x, down, least).all()
        assert not entered((body,), edges, x, beside, least).any()


def test_an_edge_is_closest_to_a_body_where_its_distance_is_least():
    sphere = SphereBody((0.3, 0.0, -1.0), 0.5)
    tail, head = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    zero, one = np.zeros(1), np.ones(1)
    assert closest(sphere, tail, head, zero, one) == pytest.approx(0.3, abs=1e-12)
    assert closest(sphere, tail, head, 0.5 * one, one) == 0.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SphereBody((0.0, 0.0, 0.0), -1.0), "sphere: radius must be positive"),
        (lambda: BarBody((0.0,) * 3, (0.0,) * 3, 1.0), "use a sphere"),
        (
            lambda: SpaceWorld(
                _wire(np.zeros(3), np.array([0.1, 0.0, 0.0]), 2),
                contact=ContactModel(
                    np.full(2, R), bodies=(SphereBody((0.0,) * 3, 0.02),)
                ),
            ),
            r"edge 0 penetrates body 0 by 0\.021 m at the start: move them apart",
        ),
    ],
)
def test_what_no_body_can_be_is_refused(make, words):  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        make()


H = 1e-3

PLATE = PlateBody((0.0, 0.0, -R - 2e-3), (0.3, 0.2, 4e-3))


def _rod() -> SpaceRod:
    return _wire(np.array([-0.03, 0.0, 0.0]), np.array([0.03, 0.0, 0.0]), 4)


def _run_on(
    rod: SpaceRod, friction: float, bodies: tuple[Body, ...], duration: float
) -> list[SpaceMotionStep]:
    model = ContactModel(np.full(len(rod.edges), R), friction, bodies=bodies)
    options = StepOptions(h=H, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-11)
    return list(simulate_in_space(SpaceWorld(rod, contact=model), options, duration))


def test_places_go_as_one_body_and_slides_are_their_ways():
    motion = PrescribedMotion(
        (0.1, -0.2, 0.3), (1.0, 2.0, -0.5), [0.0, 1.0], [0.0, 1.3],
        [[0.0, 0.0, 0.0, 0.0], [1.0, 0.5, -0.2, 0.1]],
    )  # fmt: skip
    x = np.random.default_rng(1).normal(size=(7, 3))
    about, turn = np.array(motion.about), 1.3 * np.array([1.0, 2.0, -0.5])
    turn /= np.linalg.norm([1.0, 2.0, -0.5])
    whole = (x - about) @ Rotation.from_rotvec(turn).as_matrix().T + about
    placed = motion.placed(x, 1.0)
    assert np.abs(placed - whole - [0.5, -0.2, 0.1]).max() < 1e-14
    assert np.abs(motion.back(placed, 1.0) - x).max() < 1e-14
    before, after = motion.placed(x, 0.2), motion.placed(x, 0.5)
    (s, r), (v, w) = motion.slides(0.2, 0.3)
    along = s + np.cross(r, 0.5 * (before + after))
    assert np.abs(along - (after - before)).max() < 1e-14
    speed = (motion.placed(x, 0.5) - motion.placed(x, 0.5 - 1e-6)) / 1e-6
    assert np.abs((v + np.cross(w, after)) / 0.3 - speed).max() < 1e-5


def test_the_distance_from_a_moved_body_is_that_from_its_place():
    motion = PrescribedMotion(
        (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), [0.0, 1.0], [0.0, 0.5 * np.pi],
        [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]],
    )  # fmt: skip
    moved = DrivenBody(SphereBody((1.0, 0.0, 0.0), 0.2), motion).at(1.0)
    there = SphereBody((0.0, 1.0, 2.0), 0.2)
    x = np.random.default_rng(2).normal(size=(9, 3))
    for own, other in zip(moved.distance(x), there.distance(x), strict=True):
        assert np.abs(own - other).max() < 1e-14


def test_a_plate_that_rises_lifts_a_rod_with_its_weight():
    """It gives m g H, but for what small blows at its steps take."""
    rise, duration = 0.02, 0.2
    t = np.arange(0.0, duration + H / 2, H)
    share = 0.5 * (1.0 - np.cos(np.pi * t / duration))
    moves = np.column_stack([t, np.outer(share, [0.0, 0.0, rise])]).tolist()
    motion = PrescribedMotion((0.0, 0.0, 0.0), moves=moves)
    rod = _rod()
    steps = _run_on(rod, 0.3, (DrivenBody(PLATE, motion),), duration + 0.02)
    mass, last = float(rod.mass.sum()), steps[-1]
    assert last.x[:, 2] == pytest.approx(rise, abs=1e-7)
    ledger = last.moving.ledger
    raised = mass * GRAVITY * rise
    assert ledger.given - ledger.impact == pytest.approx(raised, rel=1e-6)
    assert 0.0 < ledger.impact < 2e-3 * raised
    assert abs(ledger.left) < 1e-9 * ledger.at_work
    middle = steps[round(0.5 * duration / H)]
    speed = 0.5 * np.pi * rise / duration
    assert momentum(rod, middle)[2] == pytest.approx(mass * speed, rel=1e-3)


@pytest.mark.slow
def test_turning_cylinders_drag_a_rod_until_it_is_as_fast_as_their_skins():
    """At mu g until omega R, of which half the work given is rubbed away."""
    radius, omega, mu = 0.01, 6.0, 0.2
    bars = tuple(
        DrivenBody(
            BarBody((x, -0.05, -radius - R), (x, 0.05, -radius - R), radius),
            PrescribedMotion(
                (x, 0.0, -radius - R), (0.0, 1.0, 0.0), [0.0, 1.0], [0.0, omega]
            ),
        )
        for x in (-0.02, 0.02)
    )
    rod, speed = _rod(), omega * radius
    mass, until = float(rod.mass.sum()), omega * radius / (mu * GRAVITY)
    steps = _run_on(rod, mu, bars, until + 0.02)
    sliding = steps[round(0.5 * until / H)]
    assert momentum(rod, sliding)[0] == pytest.approx(
        mass * mu * GRAVITY * sliding.time, rel=1e-2
    )
    ledger, last = steps[-1].moving.ledger, steps[-1]
    assert momentum(rod, last)[0] == pytest.approx(mass * speed, rel=1e-3)
    assert ledger.given == pytest.approx(mass * speed**2, rel=2e-2)
    assert ledger.friction == pytest.approx(0.5 * mass * speed**2, rel=2e-2)
    assert abs(ledger.left) < 1e-3 * ledger.given


def test_nothing_passes_through_a_bar_that_comes_by_fast():
    """1 m/s, 10 radii of the wire in a step, which is cut."""
    bar = BarBody((-0.1, 0.02, 0.0), (0.1, 0.02, 0.0), R)
    way = [[0.0, 0.0, 0.0, 0.0], [0.1, 0.0, -0.1, 0.0]]
    body = DrivenBody(bar, PrescribedMotion((0.0, 0.0, 0.0), moves=way))
    rod = _rod()
    model = ContactModel(np.full(len(rod.edges), R), 0.0, bodies=(body,))
    options = StepOptions(h=0.01, integrator=Integrator.ENERGY_MOMENTUM)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), contact=model)
    *_, last = simulate_in_space(world, options, 0.1)
    assert last.x[:, 1].max() < 0.02 - 0.1 - 2.0 * R + 1e-6
    mass = float(rod.mass.sum())
    assert momentum(rod, last)[1] == pytest.approx(-mass, rel=1e-3)


def test_a_body_that_turns_too_far_in_a_step_is_refused():
    motion = PrescribedMotion((0, 0, 0), (0, 0, 1), [0.0, 1.0], [0.0, 4000.0])
    with pytest.raises(ValueError, match="turns by 229"):
        _run_on(_rod(), 0.3, (DrivenBody(PLATE, motion),), 0.1)


def test_a_table_without_an_angle_for_each_time_is_refused():
    with pytest.raises(ValueError, match="turns: give one or more times"):
        PrescribedMotion((0.0, 0.0, 0.0), times=[0.0, 1.0], angles=[0.0])
    with pytest.raises(
        ValueError, match="moves: give one or more rows of time, x, y and z"
    ):
        PrescribedMotion((0.0, 0.0, 0.0), moves=[[0.0, 0.0, 0.0]])
