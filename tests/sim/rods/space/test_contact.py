"""Contact in space: Coulomb's law to rounding, and rods on slopes and on each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.contact.coulomb import coulomb_forces
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY
from sim.rods.space import end_of_step
from sim.rods.space.contact_detection import (
    ContactModel,
    LevelGround,
    contacts_of,
    near,
)
from sim.rods.space.contact_forces import NO_RIMS, step_rows
from sim.rods.space.frames import edge_tangents
from sim.rods.space.rod import SpaceMaterial, SpaceRod, through, together
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.space.made import (
    ROUND,
    MovingSupports,
    angular_momentum,
    gaps_of,
    momentum,
)

R, MU = 1.0e-3, 0.5
STIFF = SpaceMaterial(1.0e9, 1000.0, 0.3)


def _wire(start: tuple[float, ...], end: tuple[float, ...], edges: int) -> SpaceRod:
    s = np.linspace(0.0, 1.0, edges + 1)[:, None]
    x = (1.0 - s) * np.array(start) + s * np.array(end)
    return through(x, STIFF, ROUND, first=(0.0, 0.0, 1.0))


def _end(world: SpaceWorld, h: float, duration: float) -> SpaceMotionStep:
    options = StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM)
    *_, last = simulate_in_space(world, options, duration, every=10**9)
    return last


def _slope(degrees: float) -> tuple[float, float, float]:
    theta = np.radians(degrees)
    return GRAVITY * float(np.sin(theta)), 0.0, -GRAVITY * float(np.cos(theta))


def _slid(degrees: float, time: float) -> float:
    """How far a block has come down."""
    along, _, across = _slope(degrees)
    return 0.5 * max(0.0, along + MU * across) * time**2


def _sound(step: SpaceMotionStep, edge: float) -> None:
    """Nothing comes from nowhere, and what slides or rests keeps its gap."""
    ledger = step.moving.ledger
    assert ledger.gap <= 1e-9 * edge
    assert ledger.complementarity <= 1e-11
    assert ledger.friction >= 0.0
    assert abs(ledger.left) <= 1e-6 * ledger.at_work


@pytest.mark.parametrize("degrees", [26.5, 26.6, 35.0])
def test_a_rod_slides_down_a_slope_from_its_cone_on(degrees):
    """arctan 0.5 = 26.565 degrees."""
    rod = _wire((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 6)
    model = ContactModel(np.full(6, R), MU, LevelGround(height=-R))
    last = _end(SpaceWorld(rod, _slope(degrees), contact=model), 5e-3, 0.1)
    slid = last.x[:, 0] - rod.nodes[:, 0]
    assert slid == pytest.approx(_slid(degrees, 0.1), rel=1e-4, abs=1e-8)
    _sound(last, 0.1 / 6)


@pytest.mark.parametrize("degrees", [26.4, 26.7])
def test_a_straight_stack_of_rods_slides_exactly_at_its_cone(degrees):
    """Two along the slope on two across it on two that are held: all contacts share."""
    size = 0.04
    rails = [_wire((0.0, y, 0.0), (size, y, 0.0), 5) for y in (0.002, 0.010)]
    across = [_wire((x, -0.001, 2 * R), (x, 0.013, 2 * R), 4) for x in (0.0123, 0.0183)]
    top = [_wire((0.008, y, 4 * R), (0.024, y, 4 * R), 5) for y in (0.0034, 0.0089)]
    rod = together(*rails, *across, *top)
    m = len(rod.edges)
    rod = replace(rod, held_frames=np.ones(m, dtype=np.bool_))
    rod.held[:12] = True
    rod = replace(rod, bending=10.0 * rod.bending)
    world = SpaceWorld(rod, _slope(degrees), contact=ContactModel(np.full(m, R), MU))
    last = _end(world, 2e-3, 0.04)
    slid = (last.x - rod.nodes)[12:, 0]
    assert slid == pytest.approx(_slid(degrees, 0.04), abs=1e-6)
    _sound(last, size / 5)


def test_what_falls_does_not_rebound_and_friction_brings_it_to_rest():
    """It falls by 1 mm at 0.3 m/s; impact takes mu v_n off, then it brakes."""
    fall, speed = 1e-3, 0.3
    rod = _wire((0.0, 0.0, 0.0), (0.05, 0.0, 0.0), 4)
    v = np.tile([speed, 0.0, 0.0], (5, 1))
    model = ContactModel(np.full(4, R), MU, LevelGround(height=-R - fall))
    world = SpaceWorld(rod, (0.0, 0.0, -GRAVITY), velocity=v, contact=model)
    last = _end(world, 5e-4, 0.12)
    v_n = np.sqrt(2.0 * GRAVITY * fall)
    after = speed - MU * v_n
    way = speed * v_n / GRAVITY + after**2 / (2.0 * MU * GRAVITY)
    assert last.x[:, 0] - rod.nodes[:, 0] == pytest.approx(way, rel=1e-4)
    slid = [_end(world, h, 0.12).x[:, 0] - rod.nodes[:, 0] for h in (4e-3, 2e-3)]
    errors = [np.abs(one / way - 1.0).max() for one in slid]
    assert errors[1] < 0.6 * errors[0] < 0.6e-3  # of order 1 in h at an impact
    assert last.x[:, 2] == pytest.approx(-fall, abs=1e-9)
    assert np.abs(last.moving.v).max() < 1e-6
    ledger, mass = last.moving.ledger, rod.mass.sum()
    lost = ledger.friction + ledger.impact
    assert lost == pytest.approx(mass * (0.5 * speed**2 + GRAVITY * fall), rel=1e-6)


@pytest.mark.parametrize("late", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("friction", [0.1, 0.3, 1.5])
def test_an_impact_takes_no_more_of_a_slide_than_it_has(late, friction):
    """Wherever in a step it is: mu v_n at most, and nothing slides back."""
    h, down, along = 1e-3, 1.0, 0.2
    rod = _wire((0.0, 0.0, 0.0), (0.05, 0.0, 0.0), 4)
    ground = LevelGround(height=-R - late * h * down)
    world = SpaceWorld(
        rod, (0.0, 0.0, 0.0), velocity=np.tile([along, 0.0, -down], (5, 1)),
        contact=ContactModel(np.full(4, R), friction, ground),
    )  # fmt: skip
    last = _end(world, h, h)
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    expected = [max(0.0, along - friction * down), 0.0, 0.0]
    assert rod.mass @ v / rod.mass.sum() == pytest.approx(expected, abs=1e-6)
    assert last.moving.ledger.friction >= 0.0


def test_friction_rolls_a_rod_that_lies_across_a_slope():
    """A full cylinder gathers 2/3 of what it would without friction."""
    rod = _wire((0.0, 0.0, 0.0), (0.0, 0.05, 0.0), 4)
    model = ContactModel(np.full(4, R), MU, LevelGround(height=-R))
    last = _end(SpaceWorld(rod, _slope(20.0), contact=model), 2e-3, 0.04)
    free = 0.5 * _slope(20.0)[0] * 0.04**2
    middle = (last.x - rod.nodes)[1:-1, 0]
    assert middle == pytest.approx(2.0 / 3.0 * free, rel=0.02)
    assert last.moving.ledger.friction <= 1e-3 * last.kinetic
    speed, spin = last.moving.v[3], last.moving.v[rod.nodes.size + 1]
    assert speed == pytest.approx(spin * R, rel=1e-2)  # about y, along the rod


def test_rods_that_touch_move_rigidly_together_without_sliding():
    """Turned by w, nodes go by w x r and edges spin by w.t: no row of J sees that."""
    rod = together(
        _wire((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 2),
        _wire((0.03, -0.05, 2 * R), (0.06, 0.07, 2 * R), 3),
    )
    model = ContactModel(np.full(5, R), MU)
    what = near(rod, model, rod.nodes, 0.1 * R)
    contacts = contacts_of(rod, model, what, rod.nodes, None)
    assert contacts.gap == pytest.approx([0.0], abs=1e-12)
    w, by = np.array([0.3, -0.7, 0.5]), np.array([0.1, 0.2, -0.3])
    moved = by + np.cross(w, rod.nodes)
    spun = edge_tangents(rod.nodes, rod.edges) @ w
    still, count = (rod.state, rod.state), 21 + 5
    made, _ = step_rows(
        still, rod.edges, model.radius, NO_RIMS, contacts, contacts, 0.1 * R,
        model.slides(0.0, 1.0),
    )  # fmt: skip
    rows = made.columns(np.arange(count)).T
    assert np.abs(rows[:, rod.nodes.size :]).max() > 0.1 * R
    assert rows @ np.concatenate([moved.ravel(), spun]) == pytest.approx(0.0, abs=1e-15)


def _thrown(turn: Floats) -> SpaceWorld:
    """A wire thrown at another so that their contact runs along both, turned."""
    soft = SpaceMaterial(1.0e7, 1000.0, 0.3)
    s = np.linspace(0.0, 1.0, 5)[:, None]
    each = [
        through(((1.0 - s) * a + s * b) @ turn.T, soft, ROUND, first=tuple(turn[:, 2]))
        for a, b in (
            (np.array([-0.03, 0.0, 0.0]), np.array([0.03, 0.0, 0.0])),
            (np.array([0.0, -0.03, 2.2 * R]), np.array([0.004, 0.03, 2.2 * R])),
        )
    ]
    v = np.zeros((10, 3))
    v[5:] = turn @ np.array([1.2, 0.0, -1.5])
    rod = together(*each)
    return SpaceWorld(
        rod, (0.0, 0.0, 0.0), velocity=v, contact=ContactModel(np.full(8, R), 0.3)
    )


def test_skins_are_never_within_each_other_and_motions_turn_with_their_start():
    """To 1e-6 of a radius; contacts follow the closest points to the end of a step."""
    options = StepOptions(h=1e-3, integrator=Integrator.ENERGY_MOMENTUM)
    turn, ends = Rotation.random(random_state=5).as_matrix(), []
    for way in (np.eye(3), turn):
        world, worst = _thrown(way), 0.0
        for last in simulate_in_space(world, options, 0.02):
            worst = max(worst, -gaps_of(world, last.x, 0.0).min(initial=0.0))
        assert last.moving.ledger.friction > 1e-5
        assert worst <= 1.001e-6 * R
        ends.append(last.x @ way)
    assert np.abs(ends[0] - ends[1]).max() <= 1e-5 * 0.03  # of the way


@pytest.mark.parametrize("friction", [0.0, 0.3, 2.0])
def test_wires_that_meet_keep_both_momenta(friction):
    """A pair has no moment, spins included."""
    options = StepOptions(1e-3, Integrator.ENERGY_MOMENTUM, tolerance=1e-12)
    world = _thrown(np.eye(3))
    assert world.contact is not None
    model = replace(world.contact, friction=friction)
    first, *later = simulate_in_space(replace(world, contact=model), options, 0.02)
    size = np.abs(angular_momentum(world.rod, first)).max()
    for step in later:
        assert momentum(world.rod, step) == pytest.approx(
            momentum(world.rod, first), rel=1e-11, abs=1e-13
        )
        apart = angular_momentum(world.rod, step) - angular_momentum(world.rod, first)
        assert np.abs(apart).max() <= 1e-9 * size
    assert later[-1].moving.ledger.impact > 0.05 * first.energy


def test_coulomb_problems_are_solved_to_rounding(rng):
    """Random ones; in the second half contacts share loads, so that W is singular.

    Written out: normal part, cone, direction.
    """
    kinds = set()
    for k in range(12):
        rows = rng.normal(size=(18, 24 if k < 6 else 9))
        W, b = rows @ rows.T, rng.normal(size=(6, 3))
        b[:, 0] = -np.abs(b[:, 0]) if k % 2 else b[:, 0]
        if k >= 6:  # what can be reached, so that a solution exists
            b = (rows @ rng.normal(size=9)).reshape(6, 3)
            b[:, 0] += 2.0 * np.abs(b[:, 0])
            b[0, 0] = -0.1
        p, left = coulomb_forces(W, b, MU, np.zeros((6, 3)), 1e-11)
        assert left <= 1e-11
        w = b + (W @ p.ravel()).reshape(-1, 3)
        size, slip = np.hypot(*p[:, 1:].T), np.hypot(*w[:, 1:].T)
        normal = np.abs(np.minimum(p[:, 0], w[:, 0])).max()
        cone = np.maximum(size - MU * p[:, 0], 0.0).max()
        against = np.abs(MU * p[:, :1] * w[:, 1:] + slip[:, None] * p[:, 1:]).max()
        assert max(normal, cone, against) <= 1e-9 * max(1.0, np.abs(p).max())
        for one in p:
            stuck = np.hypot(*one[1:]) < 0.999 * MU * one[0]
            kinds.add("open" if one[0] == 0.0 else "sticks" if stuck else "slides")
    assert kinds == {"open", "sticks", "slides"}


@pytest.mark.parametrize("between", [True, False])
def test_what_supports_crush_ends_with_the_pairs_that_touch(between):
    """Two held wires that are driven together, with one between them or without."""
    held = [
        _wire((0.0, -0.02, 0.0), (0.0, 0.02, 0.0), 2),
        _wire((-0.02, 0.0, 0.01), (0.02, 0.0, 0.01), 2),
    ]
    rod = together(
        *held, *[_wire((-0.01, -0.012, 0.005), (0.01, 0.011, 0.005), 3)][: int(between)]
    )
    m, velocity = len(rod.edges), np.zeros_like(rod.nodes)
    velocity[3:6, 2] = -0.1
    rod.held[:6], rod.held_frames[:4] = True, True
    drive = MovingSupports(velocity, np.zeros(m))
    model = ContactModel(np.full(m, R), 0.3)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), drive=drive, contact=model)
    words = (
        r"edge \d and edge 5.* touch$"
        if between
        else "edge [01] and edge [23].* touch$"
    )
    with pytest.raises(NotConvergedError, match=words) as caught:
        _end(world, 1e-3, 0.2)
    gap = caught.value.best.x[4, 2] - 2.0 * R * (2 if between else 1)  # type: ignore[attr-defined]
    assert -1e-5 * R < gap < 1.1e-4


def test_steps_that_contacts_throw_far_are_cut_at_once(monkeypatch):
    """Two linked rings, each node thrown by itself: one such step took 18 s."""
    angle = 2.0 * np.pi * np.arange(16) / 16
    x = 0.03 * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    soft = SpaceMaterial(1.0e7, 1000.0, 0.3)
    rod = together(
        through(x, soft, ROUND, first=(0.0, 0.0, 1.0), closed=True),
        through(x[:, [0, 2, 1]] + [0.036, 0.0, 0.0], soft, ROUND, closed=True),
    )
    thrown = 3.0 * np.random.default_rng(1).normal(size=rod.nodes.shape)
    model = ContactModel(np.full(32, R))
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), velocity=thrown, contact=model)
    sizes, farthest, advance = world.system.sizes, [0.0], end_of_step._Compiled.advance

    def seen(parts: end_of_step._Compiled, change: Floats) -> float:
        farthest.append(float(np.abs(change * sizes).max()))
        return advance(parts, change)

    monkeypatch.setattr(end_of_step._Compiled, "advance", seen)
    last = _end(world, 8e-3, 8e-3)
    assert last.substeps > 1
    assert max(farthest) < 20.0 * rod.length


def test_rods_that_start_within_each_other_are_refused():
    crossing = together(
        _wire((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 2),
        _wire((0.05, -0.05, R), (0.05, 0.05, R), 3),
    )
    words = r"edge [01] penetrates edge 3 by 0\.001 m at the start: move them"
    with pytest.raises(ValueError, match=words):
        SpaceWorld(crossing, contact=ContactModel(np.full(5, R)))
    with pytest.raises(ValueError, match=r"edge 1 penetrates the ground by 0\.021 m"):
        SpaceWorld(
            _wire((0.0, 0.0, 0.0), (0.1, 0.0, -0.02), 2),
            contact=ContactModel(np.full(2, R), ground=LevelGround()),
        )
    with pytest.raises(ValueError, match=r"penetrates the ground by 0\.001 m"):
        SpaceWorld(
            _wire((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 2),
            contact=ContactModel(np.full(2, R), ground=LevelGround()),
        )
    with pytest.raises(ValueError, match="friction must be"):
        ContactModel(np.full(2, R), -1.0)
    with pytest.raises(ValueError, match="radius of edge 1 must be positive, not -0"):
        ContactModel(np.array([R, -R]))
    with pytest.raises(ValueError, match="1 radii for 2 edges: give one per edge"):
        SpaceWorld(
            _wire((0.0,) * 3, (0.1, 0.0, 0.0), 2), contact=ContactModel(np.full(1, R))
        )
    with pytest.raises(ValueError, match="height must be a finite number, not nan"):
        LevelGround(height=np.nan)
    with pytest.raises(ValueError, match="ground: normal must be longer than 0"):
        LevelGround((0.0, 0.0, 0.0))
