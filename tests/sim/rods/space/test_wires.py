"""Wires that touch themselves and each other, against the laws that they follow.

Of a closed rod, in turns,

    linking number = twist / 2 pi + writhe            (Calugareanu, Fuller, White)

The sum changes only where it passes through itself, by 2 each time. The writhe of a
polygon is the sum over pairs of edges of the area of the sphere from which they are
seen to cross, over 2 pi (Klenin and Langowski, Biopolymers 54, 2000), as two triangles
(van Oosterom and Strackee, IEEE Trans. Biomed. Eng. 30, 1983).
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.contact_detection import ContactModel
from sim.rods.space.frames import FULL, SpaceState, edge_lengths, edge_tangents
from sim.rods.space.rod import (
    SpaceMaterial,
    SpaceRod,
    disc,
    through,
    together,
)
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.space.made import ROUND, WIRE, B, C, MovingSupports, gaps_of

R = 1.0e-3
DRUM, THIN, STIFF = 0.05, 1.25e-4, SpaceMaterial(1.0e9, 1000.0, 0.3)  # of the capstan
NOWHERE = (0.0, 0.0, 0.0)
NEAR = 0.01  # of the radius: gap of what touches


@dataclass(frozen=True)
class Run:
    """A world, and how it is stepped."""

    world: SpaceWorld
    h: float
    duration: float
    every: int

    def steps(self) -> list[SpaceMotionStep]:
        options = StepOptions(self.h, Integrator.ENERGY_MOMENTUM)
        return list(
            simulate_in_space(self.world, options, self.duration, every=self.every)
        )


def wire(x: Floats, across: Floats, closed: bool = False) -> SpaceRod:
    """Naturally straight, through nodes."""
    rod = through(x, WIRE, ROUND, first=tuple(across), closed=closed)
    return replace(rod, curvature=np.zeros_like(rod.curvature))


def overlap(world: SpaceWorld, steps: list[SpaceMotionStep]) -> float:
    """By how much any two skins were within each other."""
    gaps = [gaps_of(world, step.x, 0.0).min(initial=0.0) for step in steps]
    return -float(min(gaps))


def touch(world: SpaceWorld, x: Floats) -> int:
    """Contacts of skins."""
    return len(gaps_of(world, x, NEAR * R))


def tensions(world: SpaceWorld, x: Floats) -> Floats:
    """(m,) N"""
    rod = world.rod
    return rod.stretching * (edge_lengths(x, rod.edges) / rod.rest_length - 1.0)


def bends(world: SpaceWorld, x: Floats, edges: int) -> tuple[Floats, Floats]:
    """Curvature, and twice the tangent, between the first edges, one after another."""
    t = edge_tangents(x, world.rod.edges)[:edges]
    a, b = t[:-1], t[1:]
    turned = 2.0 * np.linalg.norm(np.cross(a, b), axis=1)
    k = turned / (1.0 + np.sum(a * b, axis=1)) / world.rod.voronoi[: edges - 1]
    return k, a + b


def rope(edges: int) -> SpaceRod:
    """Thin, over the top of a drum along y, its edges touch it in their middle."""
    turn, far = np.pi / edges, DRUM + THIN
    angle = (np.arange(edges + 1) - 0.5) * turn
    corner = far / np.cos(0.5 * turn)
    over = corner * np.column_stack([-np.cos(angle), 0 * angle, np.sin(angle)])
    down = 2.0 * far * np.tan(0.5 * turn) * np.arange(4, 0, -1)
    ends = [
        end + np.outer(down[::way], [0.0, 0.0, -1.0])
        for end, way in ((over[0], 1), (over[-1], -1))
    ]
    x = np.concatenate([ends[0], over, ends[1]])
    rod = through(x, STIFF, disc(THIN), first=(0.0, 1.0, 0.0))
    rod.held[-1] = True
    return replace(rod, curvature=np.zeros_like(rod.curvature))


def capstan(edges: int, duration: float) -> Run:
    """A rope over a thick rod that is held: a force at one end, the other is pulled."""
    y = 2.0 * DRUM * (np.arange(4) / 3 - 0.5)
    axis = np.column_stack([0 * y, y, 0 * y])
    drum = through(axis, STIFF, disc(THIN), first=(0.0, 0.0, 1.0))
    drum.held[:], drum.held_frames[:] = True, True
    rod, last = together(rope(edges), drum), edges + 8
    force, velocity = np.zeros_like(rod.nodes), np.zeros_like(rod.nodes)
    force[0, 2], velocity[last, 2] = -0.1, -0.1
    world = SpaceWorld(
        rod, NOWHERE, Damping(5.0, 2.0e-3), force,
        drive=MovingSupports(velocity, np.zeros(len(rod.edges))),
        contact=ContactModel(np.append(np.full(last, THIN), np.full(3, DRUM)), 0.3),
    )  # fmt: skip
    return Run(world, 1.0e-4, duration, 20)


def michell_ring(edges: int, twist: float, duration: float, damping: Damping) -> Run:
    """A twisted ring, let go with two small waves across it; twist over Michell's."""
    angle = 2.0 * np.pi * np.arange(edges) / edges
    x = 0.1 * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    rod = wire(x, np.array([0.0, 0.0, 1.0]), closed=True)
    critical = 2.0 * np.pi * np.sqrt(3.0) * B / C
    rod.curvature[:, 2] = -twist * critical / rod.length
    velocity = 5.0e-3 * np.outer(np.cos(2.0 * angle), [0.0, 0.0, 1.0])
    world = SpaceWorld(
        rod, NOWHERE, damping, velocity=velocity,
        contact=ContactModel(np.full(edges, R), 0.1),
    )  # fmt: skip
    return Run(world, 5.0e-3, duration, 5)


def lasso(edges: int = 41, force: float = 0.08) -> Run:
    """Two hairpins, each through the other, all four ends pulled."""
    loop, leg = 0.02, 0.05
    half = 0.5 * np.pi * loop
    s = np.linspace(-half - leg, half + leg, edges + 1)
    turn = np.clip(s, -half, half) / loop
    down = np.maximum(np.abs(s) - half, 0.0)
    x = np.column_stack(
        [loop * np.sin(turn), 0 * s, loop * (np.cos(turn) - 1.0) - down]
    )
    above = [0.0, 0.0, 2.0 * (x[edges // 2, 2] - R * (1.0 + NEAR))]
    other = x[:, [1, 0, 2]] * [1.0, 1.0, -1.0] + above
    rod = together(wire(x, np.array([0, 1, 0])), wire(other, np.array([1, 0, 0])))
    pull = np.zeros_like(rod.nodes)
    pull[[0, edges], 2], pull[[edges + 1, -1], 2] = -force, force
    world = SpaceWorld(
        rod, NOWHERE, Damping(40.0, 2.0e-3), pull,
        contact=ContactModel(np.full(2 * edges, R), 0.3),
    )  # fmt: skip
    return Run(world, 5.0e-4, 0.3, 30)


def knot(friction: float = 0.1, rests: float = 0.1, duration: float = 0.5) -> Run:
    """A braid of two strands and a loop: an overhand knot whose ends are pulled."""
    loop, b, tail, far, edges, speed = 0.02, 0.03, 0.04, 1.5 * R, 64, 0.02
    s, end = np.linspace(0.0, 1.0, 4000, endpoint=False), np.linspace(0.0, 1.0, 4001)
    turn, x, a = 3.0 * np.pi * s, b * (s - 0.5), np.pi * s
    out, back = np.cos(turn), np.sin(turn)
    pieces = [
        (-0.5 * b - tail * (1.0 - s), far + 0 * s, 0 * s),
        (x, far * out, far * back),
        (0.5 * b + loop * np.sin(a), -far - loop + loop * np.cos(a), 0 * s),
        (-x, -far - 2.0 * loop + 0 * s, 0 * s),
        (-0.5 * b - loop * np.sin(a), -far - loop - loop * np.cos(a), 0 * s),
        (x, -far * out, -far * back),
        (0.5 * b + tail * end, far + 0 * end, 0 * end),
    ]
    fine = np.concatenate([np.column_stack(piece) for piece in pieces])
    way = np.append(0.0, np.linalg.norm(np.diff(fine, axis=0), axis=1).cumsum())
    even = np.linspace(0.0, way[-1], edges + 1)
    nodes = np.column_stack([np.interp(even, way, fine[:, k]) for k in range(3)])
    rod = wire(nodes, np.array([0.0, 0.0, 1.0]))
    rod.held[[0, -1]] = True
    velocity = np.zeros_like(nodes)
    velocity[[0, -1], 0] = -speed, speed
    world = SpaceWorld(
        rod, NOWHERE, Damping(8.0, 4.0e-3),
        drive=MovingSupports(velocity, np.zeros(edges), start=rests),
        contact=ContactModel(np.full(edges, R), friction),
    )  # fmt: skip
    return Run(world, 5.0e-4, duration, 20)


TINY = 1e-300  # m


def writhe(x: Floats) -> float:
    """Of the closed polygon through nodes (n, 3), in their order, in turns."""
    i, j = np.triu_indices(len(x), 2)
    a, b, c, d = x[i], x[(i + 1) % len(x)], x[j], x[(j + 1) % len(x)]
    corners = [_unit(way) for way in (c - a, d - a, d - b, c - b)]
    seen = _area(*corners[:3]) + _area(corners[0], *corners[2:])
    return -float(np.sum(seen)) / FULL


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), TINY))


def _area(a: Floats, b: Floats, c: Floats) -> Floats:
    """(k,) of spherical triangles with unit vectors (k, 3) as corners, signed."""
    triple = np.sum(np.cross(a, b) * c, axis=1)
    cosines = np.sum(a * b, axis=1) + np.sum(b * c, axis=1) + np.sum(c * a, axis=1)
    return np.asarray(2.0 * np.arctan2(triple, 1.0 + cosines))


def linking_number(state: SpaceState) -> float:
    """Of a closed rod whose nodes are in its order, in turns: a whole number."""
    return writhe(state.x) + float(state.twist.sum()) / FULL


@pytest.mark.parametrize(
    ("edges", "duration", "apart"),
    [(12, 0.012, 2.5e-2), pytest.param(24, 0.02, 1e-2, marks=pytest.mark.long)],
)
def test_a_rope_that_slides_over_a_drum_is_pulled_as_euler_says(edges, duration, apart):
    """T2 / T1 = exp(mu beta) (Euler, Eytelwein)."""
    run = capstan(edges, duration)
    last = run.steps()[-1]
    rope = slice(0, edges + 8)
    t = edge_tangents(last.x, run.world.rod.edges)[rope]
    beta = float(np.arctan2(np.cross(t[0], t[-1])[1], t[0] @ t[-1]) % (2 * np.pi))
    assert beta == pytest.approx(np.pi, rel=2e-3)
    pull = tensions(run.world, last.x)[rope]
    assert pull[-1] / pull[0] == pytest.approx(np.exp(0.3 * beta), rel=apart)
    over = last.x[1 : edges + 8]
    assert np.hypot(over[:, 0], over[:, 2]).min() > 0.05
    assert last.moving.ledger.gap < 1e-4 * run.world.rod.rest_length.min()


def test_a_ring_leaves_its_plane_from_michells_twist_on():
    """2 pi sqrt(3) B / C (1889); below it swings about its plane, above it goes on."""
    far = {}
    for twist in (0.97, 1.05):
        steps = michell_ring(40, twist, 1.5, Damping(beta=0.0)).steps()
        far[twist] = max(np.abs(step.x[:, 2]).max() for step in steps) / 0.1
    assert far[0.97] < 0.03
    assert far[1.05] > 0.1


def test_a_ring_that_coils_keeps_its_linking_number():
    run = michell_ring(30, 1.3, 1.2, Damping(4.0, 1.0e-3))
    last = run.steps()[-1]
    assert writhe(last.x) > 1.0
    assert abs(linking_number(last.moving.state)) < 1e-9
    assert touch(run.world, last.x) >= 1


@np.errstate(divide="ignore", invalid="ignore")  # parallel ones cross nowhere
def _crossings(x: Floats) -> list[tuple[float, float]]:
    """Where (edge + share) a curve seen from above goes over, and under, itself."""
    found = []
    for i in range(len(x) - 1):
        for j in range(i + 2, len(x) - 1):
            d, e = x[i + 1] - x[i], x[j + 1] - x[j]
            by = x[j] - x[i]
            area = d[0] * e[1] - d[1] * e[0]
            s = (by[0] * e[1] - by[1] * e[0]) / area
            u = (by[0] * d[1] - by[1] * d[0]) / area
            if 0.0 <= s < 1.0 and 0.0 <= u < 1.0:
                above = (x[i] + s * d)[2] > (x[j] + u * e)[2]
                found.append((i + s, j + u) if above else (j + u, i + s))
    return found


def _determinant(x: Floats) -> int:
    """Of the knot of a curve whose ends are far away: 1 if loose, 3 of a trefoil.

    Arcs run from one crossing under to the next; at each, twice the arc above less both
    arcs below vanishes in a colouring (Fox). Any minor tells.
    """
    crossings = _crossings(x)
    under = np.sort([low for _, low in crossings])
    rows = np.zeros((len(crossings), len(crossings) + 1))
    for row, (high, low) in zip(rows, crossings, strict=True):
        k = int(np.searchsorted(under, low))
        row[int(np.searchsorted(under, high))] += 2.0
        row[k] -= 1.0
        row[k + 1] -= 1.0
    return round(abs(float(np.linalg.det(rows[:, 1:])))) if len(rows) else 1


def _pull(run: Run, step: SpaceMotionStep) -> float:
    """Mean tension of both tails, N."""
    tension = tensions(run.world, step.x)
    return float(np.concatenate([tension[1:3], tension[-3:-1]]).mean())


def _across(run: Run, step: SpaceMotionStep) -> float:
    """Curvature of the loop where it runs across the pull, on both sides, 1/m."""
    k, twice = bends(run.world, step.x, len(run.world.rod.edges))
    along = twice[:, 0]
    j = np.flatnonzero(along[:-1] * along[1:] < 0.0)
    share = along[j] / (along[j] - along[j + 1])
    found = (1.0 - share) * k[j] + share * k[j + 1]
    return float(np.sqrt(np.mean(found**2)))


def test_a_knot_stays_a_knot_and_nothing_passes_through():
    run = knot(rests=0.01, duration=0.03)
    steps = run.steps()
    assert {_determinant(step.x) for step in steps} == {3}
    assert overlap(run.world, steps) <= 1.001e-6 * R
    ledger = steps[-1].moving.ledger
    assert ledger.complementarity <= 1e-11
    assert ledger.friction > 0.0


@pytest.mark.long
def test_a_knot_pulls_by_its_bending_and_by_its_friction():
    """F - B k^2 / 2 is what friction takes over the way on which strands slide.

    Of a wire without friction t.n + B k^2 / 2 + C tau^2 / 2 is the same everywhere, so
    F = B / 2 R^2 where the loop of radius R runs across the pull (Audoly, Clauvelin and
    Neukirch, PRL 99, 2007). Means over the swinging of the knot.
    """
    run = knot()
    steps = run.steps()
    k = _across(run, steps[-1])
    assert 1.0 / (R * k) < 25.0
    assert 0.65 < _pull(run, steps[-1]) / (B * k**2) < 1.1
    assert {_determinant(step.x) for step in steps} == {3}
    assert overlap(run.world, steps) <= 1.001e-6 * R
    slides = [step for step in steps if step.time > 0.199]
    first, last = slides[0], slides[-1]
    taken = last.moving.ledger.friction - first.moving.ledger.friction
    bent = [0.5 * B * _across(run, step) ** 2 for step in slides]
    more = np.mean([_pull(run, step) for step in slides]) - np.mean(bent)
    slid = 2.0 * 0.02 * (last.time - first.time)  # both ends go at 0.02 m/s
    assert more == pytest.approx(taken / slid, rel=0.06)
    run = knot(friction=0.0)
    late = [step for step in run.steps() if step.time > 0.25]
    told = [_pull(run, step) / (B * _across(run, step) ** 2) for step in late]
    assert np.mean(told) == pytest.approx(0.5, rel=0.07)


def test_contacts_that_follow_slowly_are_drawn_on():
    """By 8 steps of a knot, in which they contract by 0.35; 580 iterations if not."""
    run = replace(knot(), h=8e-3, every=1)
    steps = run.steps()
    assert sum(step.iterations for step in steps) <= 560
    assert overlap(run.world, steps) <= 1.001e-6 * R
    assert steps[-1].moving.ledger.complementarity <= 1e-11


def test_two_looped_wires_are_elastica_of_two_legs():
    """B k^2 / 2 = F (1 - cos theta); legs are 2 sqrt(2 B / F) apart."""
    run, force = replace(lasso(), duration=0.15), 0.08
    steps = run.steps()
    last = steps[-1].x
    wide = 2.0 * np.sqrt(2.0 * B / force)
    assert np.linalg.norm(last[0] - last[41]) == pytest.approx(wide, rel=0.05)
    k, twice = bends(run.world, last, 41)
    along = np.abs(twice[:, 2]) / np.linalg.norm(twice, axis=1)
    bent = along < 0.8
    law = 2.0 * force * (1.0 - along) / B
    assert np.mean(k[bent] ** 2 / law[bent]) == pytest.approx(1.0, rel=0.1)
    assert touch(run.world, last) == 1
    assert overlap(run.world, steps) <= 1.001e-6 * R


def test_wires_that_press_rest_in_long_steps_that_are_not_cut():
    """Their contact force would throw each by two radii in a step of 1 ms."""
    steps = replace(lasso(), h=1e-3, duration=0.02, every=1).steps()
    assert sum(step.substeps for step in steps) == 20
    assert sum(step.iterations for step in steps) <= 140


def test_a_move_that_turns_edges_far_does_not_throw_the_next():
    """It lengthens them; 574 iterations where Newton's matrix takes that as a pull.

    245 where the matrix of the first guess is taken again after a far move.
    """
    steps = replace(lasso(), h=8e-3, every=1).steps()
    assert sum(step.iterations for step in steps) <= 220


def test_a_ring_that_coils_turns_twist_into_writhe():
    """Their sum is kept, until the ring passes through itself: then it is 2 less."""
    run = michell_ring(24, 1.5, 0.6, Damping(beta=0.0))
    assert run.world.velocity is not None
    faster = 10.0 * run.world.velocity
    free = replace(run.world, contact=None, velocity=faster)
    steps = replace(run, world=free, h=4e-3).steps()
    numbers = [linking_number(step.moving.state) for step in steps]
    assert numbers == pytest.approx(np.round(numbers), abs=1e-9)
    before = [step for step, now in zip(steps, numbers, strict=True) if round(now) == 0]
    gained = writhe(before[-1].x)
    lost = -float(before[-1].moving.state.twist.sum()) / (2.0 * np.pi)
    assert gained > 0.3
    assert lost == pytest.approx(gained, abs=1e-9)
    assert round(numbers[-1]) == -2
