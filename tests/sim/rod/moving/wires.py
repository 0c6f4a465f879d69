"""Wires that touch: knots, loops, a coiling ring, a rope on a drum, a gripper."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.rod.gravity import GRAVITY
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import LevelGround, Touching, contacts_of, near
from sim.rod.space.frames import edge_lengths
from sim.rod.space.sections import SpaceMaterial, disc
from sim.rod.space.space_rod import SpaceRod, clamped, edge_tangents, through, together
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping
from tests.sim.rod.space.made import ROUND, WIRE, B, C

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
        return list(moves(self.world, options, self.duration, every=self.every))


def wire(x: Floats, across: Floats, closed: bool = False) -> SpaceRod:
    """Naturally straight, through nodes."""
    rod = through(x, WIRE, ROUND, first=tuple(across), closed=closed)
    return replace(rod, curvature=np.zeros_like(rod.curvature))


def gaps_of(world: SpaceWorld, x: Floats, within: float) -> Floats:
    """Of skins nearer to each other than so, m."""
    assert world.touching is not None
    what = near(world.rod, world.touching, x, within)
    return contacts_of(world.rod, world.touching, what, x, None).gap


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
        touching=Touching(np.append(np.full(last, THIN), np.full(3, DRUM)), 0.3),
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
        touching=Touching(np.full(edges, R), 0.1),
    )  # fmt: skip
    return Run(world, 5.0e-3, duration, 5)


def plectoneme(turns: float = 5.0) -> Run:
    """A twisted wire with clamped ends, one of which comes towards the other."""
    length, edges, until = 0.2, 50, 1.0
    along = length / (edges - 1) * (np.arange(edges + 1) - 0.5)
    rod = wire(np.column_stack([along, 0 * along, 0 * along]), np.array([0, 1, 0]))
    rod.curvature[:, 2] = -2.0 * np.pi * turns / length
    velocity = np.zeros_like(rod.nodes)
    velocity[-2:, 0] = -0.5 * length / until
    world = SpaceWorld(
        clamped(rod, 0, edges - 1), (0.0, 0.0, -0.5), Damping(8.0, 2.0e-3),
        drive=MovingSupports(velocity, np.zeros(edges), end=until),
        touching=Touching(np.full(edges, R), 0.1),
    )  # fmt: skip
    return Run(world, 2.0e-3, 1.2, 20)


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
        touching=Touching(np.full(2 * edges, R), 0.3),
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
        touching=Touching(np.full(edges, R), friction),
    )  # fmt: skip
    return Run(world, 5.0e-4, duration, 20)


def natural(rod: SpaceRod, limbs: int, curvature: float) -> Callable[[float], Floats]:
    """Limbs bend about d1 until 0.1 s; they are of the first edges."""
    full = np.zeros_like(rod.curvature)
    full[(rod.bends < limbs).all(axis=1), 0] = curvature
    return lambda time: full * min(time / 0.1, 1.0)


def gripper(share: float) -> tuple[Run, float]:
    """Three limbs close about a thick rod on the ground, then their palm rises.

    Parameters
    ----------
    share : of the friction that holds its weight, if limbs push as straight beams: the
        free end of one of natural curvature k goes aside by k L^2 / 2, kept at d it
        pushes with 3 B (k L^2 / 2 - d) / L^3

    Returns
    -------
    the run, and the speed of the palm, m/s
    """
    thin, thick, length, apart, tall = 2.0e-3, 8.0e-3, 0.05, 0.016, 0.02
    edges, curvature, speed, soft = 8, 30.0, 0.05, SpaceMaterial(3.0e6, 1000.0, 0.3)
    limbs = []
    for a in 2.0 * np.pi * np.arange(3) / 3:
        down = np.linspace(0.0, length, edges + 1)
        x = apart * np.array([np.cos(a), np.sin(a), 0.0])
        x = x - down[:, None] * np.array([0.0, 0.0, 1.0])
        x[:, 2] += thick + 0.5 * tall + length - 0.5 * thin
        left = (-np.sin(a), np.cos(a), 0.0)
        limbs.append(clamped(through(x, soft, disc(thin), first=left), 0))
    up = thick + tall * np.linspace(0.0, 1.0, 3)
    axis = np.column_stack([0 * up, 0 * up, up])
    rod = together(*limbs, through(axis, soft, disc(thick), first=(0.0, 1.0, 0.0)))
    free = length * (1.0 - 0.5 / edges)
    push = 3.0 * soft.modulus * disc(thin).second[0] / free**3
    push *= 0.5 * curvature * free**2 - (apart - thick - thin)
    least = GRAVITY * float(rod.mass[-3:].sum()) / (3 * push)
    radii = np.append(np.full(3 * edges, thin), np.full(2, thick))
    velocity = np.where(rod.held, [0.0, 0.0, speed], 0.0)
    world = SpaceWorld(
        rod, (0.0, 0.0, -GRAVITY), Damping(5.0, 5.0e-3),
        natural=natural(rod, 3 * edges, curvature),
        drive=MovingSupports(velocity, np.zeros(len(rod.edges)), start=0.1),
        touching=Touching(radii, share * least, LevelGround()),
    )  # fmt: skip
    return Run(world, 1.0e-3, 0.25, 25), speed
