"""How a motion in space changes with the parameters of its rod, exactly, step by step.

The equation of a step of Newmark's rule, `sim.rod.moving.step_equation`, holds to
rounding, and so does its derivative. A change of a state is (u, w): moves of nodes, and
turns of directors about their edges beyond what carrying them along does. Carried from
t0 to t1, directors turn by what encloses an area,

    w1 = w0 + turn - (t0 x t1) . (dt0 + dt1) / (1 + t0 . t1),

which is how the twist of a bend changes too, with the tangents of its two edges. So the
slope g of an energy changes by its Hessian, and, as moves of an edge by u and v in turn
differ from those by v and u by a turn, by g_w (t x dt) / 2 |e| on the ends of edges
(the frames of Bergou et al., 2010, are not those of coordinates).

What is left of a step is linear in what changes with a parameter. It is solved with the
matrix of Newton's iteration, and corrected until nothing but rounding is left, since
that matrix is not quite the derivative.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Floats
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.linear.sparse import Factor
from sim.rod.moving.account import Effort, SpaceEnd
from sim.rod.moving.contact_sensitivity import RubbedStep
from sim.rod.moving.motion import at_start
from sim.rod.moving.one_step import made
from sim.rod.moving.pulled import tendon_slopes, tensions_at
from sim.rod.moving.softened import softened_at_end
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.trial import SpaceMoving
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, edge_lengths, of_runs, turning, turns
from sim.rod.space.places import edge_places, pair_places, triangle_places
from sim.rod.space.space_rod import edge_tangents
from sim.rod.stepping.options import Integrator, StepOptions

ROUNDING = 1e-12  # last correction, relative to the derivative
CORRECTIONS = 60
LARGEST = 0.01  # strain and turning to which changes are scaled


class SpaceParameter(Choice):
    """What a motion is differentiated by, each for its relative change."""

    MODULUS = "modulus"  # of stretching, bending and twisting together
    BETA = "beta"
    ALPHA = "alpha"
    DENSITY = "density"
    GRAVITY = "gravity"
    TENSION = "tension"  # of all tendons
    FRICTION = "friction"  # of contact with a plane

    @property
    def positive(self) -> bool:
        """Whether it makes sense above zero only."""
        return True


def scaled(world: SpaceWorld, times: Mapping[SpaceParameter, float]) -> SpaceWorld:
    """The world with some parameters so many times what they are."""
    by = {one: times.get(one, 1.0) for one in SpaceParameter}
    stiff, dense, pull, tight, rough = (
        by[SpaceParameter(name)]
        for name in ("modulus", "density", "gravity", "tension", "friction")
    )
    rod, damping, touching = world.rod, world.damping, world.touching
    rod = replace(
        rod, stretching=stiff * rod.stretching, bending=stiff * rod.bending,
        twisting=stiff * rod.twisting, mass=dense * rod.mass,
        inertia=dense * rod.inertia,
    )  # fmt: skip
    alpha = by[SpaceParameter.ALPHA] * damping.alpha
    damping = replace(damping, alpha=alpha, beta=by[SpaceParameter.BETA] * damping.beta)
    if touching is not None:
        touching = replace(touching, friction=rough * touching.friction)
    x, y, z = world.gravity
    return replace(
        world, rod=rod, gravity=(pull * x, pull * y, pull * z), damping=damping,
        touching=touching,
        tendons=tuple(replace(t, tension=tight * t.tension) for t in world.tendons),
    )  # fmt: skip


class SpaceTangents(NamedTuple):
    """The motion at one time, and how it changes with P parameters.

    Attributes
    ----------
    x, v : (n, 3) m, m/s
    dx, dv : (P, n, 3) by relative changes of the parameters
    """

    time: float
    x: Floats
    v: Floats
    dx: Floats
    dv: Floats


def around(t: Floats, to: Floats, dt: Floats, dto: Floats) -> Floats:
    """(k,) how directors turn that are carried from t to `to`, as both change."""
    way = np.cross(t, to) / (1.0 + np.sum(t * to, axis=1))[:, None]
    return np.asarray(-np.sum(way * (dt + dto), axis=1))


class _At:
    """A state, and how what depends on it changes."""

    def __init__(self, world: SpaceWorld, state: SpaceState) -> None:
        self.world, self.state = world, state
        self.edges, self.bends = world.rod.edges, world.rod.bends
        self.size = edge_lengths(state.x, self.edges)
        self.t = edge_tangents(state.x, self.edges)
        self.turning = turning(state, self.edges, self.bends)

    def tangents(self, by: Floats) -> tuple[Floats, Floats]:
        """(m, 3) changes of tangents, and (m,) of lengths, m, with (3 n + m,)."""
        u = by[: self.state.x.size].reshape(-1, 3)
        e = u[self.edges[:, 1]] - u[self.edges[:, 0]]
        longer = np.sum(e * self.t, axis=1)
        return (e - longer[:, None] * self.t) / self.size[:, None], longer

    def turned(self, by: Floats) -> Floats:
        """(b, 3) changes of `turning`."""
        dt, w = self.tangents(by)[0], by[self.state.x.size :]
        first, second = self.state.d, np.cross(self.t, self.state.d)
        d_first = w[:, None] * second - self.t * np.sum(first * dt, axis=1)[:, None]
        d_second = -w[:, None] * first - self.t * np.sum(second * dt, axis=1)[:, None]
        number, way = of_runs(self.bends, len(self.edges))
        (e, f), (p, q) = number.T, way.T[:, :, None]
        t, s, ds, dr = p * self.t[e], q * self.t[f], p * dt[e], q * dt[f]
        over = 1.0 + np.sum(t * s, axis=1)[:, None]
        k = 2.0 * np.cross(t, s) / over
        dk = 2.0 * (np.cross(ds, s) + np.cross(t, dr))
        dk = (dk - k * np.sum(ds * s + t * dr, axis=1)[:, None]) / over
        found = np.empty_like(self.turning)
        for a, (d, dd, flips) in enumerate(
            ((first, d_first, True), (second, d_second, False))
        ):
            sign = (p, q) if flips else (1.0, 1.0)
            both = sign[0] * d[e] + sign[1] * d[f]
            d_both = sign[0] * dd[e] + sign[1] * dd[f]
            found[:, a] = 0.5 * np.sum(d_both * k + both * dk, axis=1)
        own = q[:, 0] * w[f] - p[:, 0] * w[e]
        found[:, 2] = own - around(t, s, ds, dr)
        return found

    def sloped(self, by: Floats, g: Floats, hessian: csr_array) -> Floats:
        """(3 n + m,) change of slopes g of an energy."""
        dt, _ = self.tangents(by)
        n = self.state.x.size
        total = hessian @ by
        pair = np.cross(self.t, dt) * (0.5 * g[n:] / self.size)[:, None]
        ends = total[:n].reshape(-1, 3)
        np.add.at(ends, self.edges[:, 1], pair)
        np.add.at(ends, self.edges[:, 0], -pair)
        return np.asarray(total)

    def strained(self, part: SpaceElements, curved: Floats, longer: Floats) -> Floats:
        """(3 n + m,) slopes of what strains (b, 3) 1/m and (m,) alone resist."""
        most = max(np.abs(longer).max(), np.abs(curved * part.voronoi[:, None]).max())
        scale = LARGEST / max(float(most), 1e-300)
        alone = part._replace(
            curvature=self.turning / part.voronoi[:, None] - scale * curved,
            rest=self.size / (1.0 + scale * longer),
        )
        return np.asarray(self.world.system.elastic(self.state, alone)[0] / scale)


class _MadeStep:
    """One step that was made, and the derivative of its equation."""

    def __init__(
        self, world: SpaceWorld, before: SpaceMoving, after: SpaceMoving, h: float,
        end: SpaceEnd | None,
    ) -> None:  # fmt: skip
        self.rubbed: RubbedStep | None = None
        if end and end.found.pushed and end.found.pushed.pushing.any():
            self.rubbed = RubbedStep(world, before.state.x, end, h)
        self.world, self.h, self.part = world, h, world.system.part
        self.ends = _At(world, before.state), _At(world, after.state)
        self.tension = tensions_at(world, before.time + 0.5 * h)
        self.v, self.viscous = before.v, world.damping.beta / h
        move = (after.state.x - before.state.x).ravel()
        turn = turns(before.state, after.state, world.rod.edges)
        self.moves = np.concatenate([move, turn])
        rest = self.part.rest
        self.longer = (self.ends[1].size - self.ends[0].size) / rest
        self.faster = self.ends[1].turning - self.ends[0].turning

    @cached_property
    def pulled(self) -> SpaceElements:
        """Elements that pull as elastic and viscous strains together."""
        shorter = 1.0 - self.viscous * self.longer
        flown = self.viscous * self.faster / self.part.voronoi[:, None]
        return self.part._replace(
            rest=self.part.rest * shorter,
            stretching=self.part.stretching * shorter,
            curvature=self.part.curvature - flown,
        )

    @cached_property
    def _slopes(self) -> list[tuple[Floats, Floats, csr_array]]:
        """Of both ends: elastic and viscous slopes, those of tendons, the Hessian."""
        found, system = [], self.world.system
        for end in self.ends:
            g, values = system.elastic(end.state, self.pulled)
            drawn, more = tendon_slopes(self.world, self.tension, end.state)
            whole = _whole(self.world, np.concatenate([values, more]))
            found.append((g, drawn, whole))
        return found

    def changed(self, by: tuple[Floats, Floats], dv: Floats) -> Floats:
        """(3 n + m,) of what is unbalanced, with both states and the first velocity."""
        total = np.zeros(len(dv))
        longer = [end.tangents(own)[1] for end, own in zip(self.ends, by, strict=True)]
        turned = [end.turned(own) for end, own in zip(self.ends, by, strict=True)]
        flow = self._flowing(turned[1] - turned[0], longer[1] - longer[0])
        for end, own, slopes in zip(self.ends, by, self._slopes, strict=True):
            g, drawn, hessian = slopes
            total -= 0.5 * end.sloped(own, g + drawn, hessian)
        moves = self.moved(by)
        world, h = self.world, self.h
        total += flow + self._spun(by, moves)
        drag = world.damping.alpha * moves / h + 2.0 * (moves - h * dv) / h**2
        return np.asarray(total - world.inertia * drag)

    def _flowing(self, turned: Floats, longer: Floats) -> Floats:
        """(3 n + m,) what viscous strains do that change by (b, 3), and (m,) m."""
        if self.viscous == 0.0:
            return np.zeros(len(self.moves))
        curved = turned / self.part.voronoi[:, None]
        slopes = [
            end.strained(self.part, curved, longer / self.part.rest)
            for end in self.ends
        ]
        return -0.5 * self.viscous * (slopes[0] + slopes[1])

    def moved(self, by: tuple[Floats, Floats]) -> Floats:
        """(3 n + m,) changes of the moves and turns of the step."""
        n = self.ends[0].state.x.size
        moves = by[1] - by[0]
        (t, to), (dt, dto) = self._tangents(by)
        moves[n:] -= around(t, to, dt, dto)
        return moves

    def _tangents(self, by: tuple[Floats, Floats]) -> tuple[list[Floats], list[Floats]]:
        changes = [end.tangents(own)[0] for end, own in zip(self.ends, by, strict=True)]
        return [end.t for end in self.ends], changes

    def spun(self) -> Floats:
        """(3 n + m,) what turns the axes of spinning edges, as in a step."""
        return self._on_ends(*self._couple()[:2])

    def _couple(self) -> tuple[Floats, Floats, Floats, Floats]:
        """(m, 3) couples on axes, (m,) mean lengths, (m, 3) moments, mean tangents."""
        (t, to), n = (end.t for end in self.ends), self.ends[0].state.x.size
        spin = -self.world.rod.inertia * self.moves[n:] / self.h**2
        moment, middle = spin[:, None] * (to - t), 0.5 * (t + to)
        w = middle / np.sum(middle * middle, axis=1, keepdims=True)
        size = 0.5 * (self.ends[0].size + self.ends[1].size)
        return np.cross(moment, w), size, moment, middle

    def _on_ends(self, couple: Floats, size: Floats) -> Floats:
        edges = self.world.rod.edges
        total = np.zeros_like(self.world.rod.nodes)
        force = couple / size[:, None]
        np.add.at(total, edges[:, 1], force)
        np.add.at(total, edges[:, 0], -force)
        return np.concatenate([total.ravel(), np.zeros(len(edges))])

    def _spun(self, by: tuple[Floats, Floats], moves: Floats) -> Floats:
        """(3 n + m,) the change of `spun`."""
        n = self.ends[0].state.x.size
        (t, to), (dt, dto) = self._tangents(by)
        couple, size, moment, middle = self._couple()
        square = np.sum(middle * middle, axis=1, keepdims=True)
        d_middle = 0.5 * (dt + dto)
        w = middle / square
        dw = (d_middle - 2.0 * w * np.sum(middle * d_middle, axis=1)[:, None]) / square
        spin = -self.world.rod.inertia / self.h**2
        d_moment = (spin * moves[n:])[:, None] * (to - t)
        d_moment += (spin * self.moves[n:])[:, None] * (dto - dt)
        longer = [end.tangents(own)[1] for end, own in zip(self.ends, by, strict=True)]
        d_size = 0.5 * (longer[0] + longer[1])
        changed = np.cross(d_moment, w) + np.cross(moment, dw)
        return self._on_ends(changed - couple * (d_size / size)[:, None], size)

    def told(self, parameter: SpaceParameter) -> Floats:
        """(3 n + m,) what is unbalanced by a relative change of a parameter alone."""
        world, h = self.world, self.h
        n, rod = world.rod.nodes.size, world.rod
        weight = np.zeros(len(self.moves))
        weight[:n] = (rod.mass[:, None] * np.array(world.gravity)).ravel()
        drag = -world.damping.alpha * world.inertia * self.moves / h
        if parameter is SpaceParameter.MODULUS:
            return self._mean(0)
        if parameter is SpaceParameter.BETA:
            return self._flowing(self.faster, self.longer * self.part.rest)
        if parameter is SpaceParameter.ALPHA:
            return np.asarray(drag)
        if parameter is SpaceParameter.GRAVITY:
            return weight
        if parameter is SpaceParameter.TENSION:
            return self._mean(1)
        if parameter is SpaceParameter.FRICTION:
            return np.zeros(len(self.moves))
        inertial = 2.0 * world.inertia * (self.moves - h * self.v) / h**2
        return np.asarray(weight + drag + self.spun() - inertial)

    def _mean(self, k: int) -> Floats:
        """(3 n + m,) mean forces of elements (0) or tendons (1)."""
        return np.asarray(-0.5 * (self._slopes[0][k] + self._slopes[1][k]))

    @cached_property
    def _factor(self) -> Factor:
        world, system = self.world, self.world.system
        soft = softened_at_end(self.part, self.ends[0].state, self.viscous)
        values = system.elastic(self.ends[1].state, soft)[1]
        more = tendon_slopes(world, self.tension, self.ends[1].state)[1]
        kept = 0.5 * system.kept(np.concatenate([values, more]))
        own = world.inertia * (2.0 / self.h**2 + world.damping.alpha / self.h)
        return system.factor(kept, own[system.free])

    @cached_property
    def _answers(self) -> tuple[Floats, Floats]:
        assert self.rubbed is not None
        return self.rubbed.answers(self._factor)

    def solved(
        self, dx: Floats, dv: Floats, parameter: SpaceParameter
    ) -> tuple[Floats, Floats]:
        """(3 n + m,) the changes of the state after it, of what is free, and of v."""
        free, sizes = self.world.system.free, self.world.system.sizes
        alone, rubbed = self.told(parameter), self.rubbed
        rub, heavier = (
            float(parameter is one)
            for one in (SpaceParameter.FRICTION, SpaceParameter.DENSITY)
        )
        after, force = np.where(free, dx, 0.0), np.zeros((0, 3))
        if rubbed is not None:
            force = np.zeros_like(rubbed.force)
        for _ in range(CORRECTIONS):
            by, step = (dx, after), np.zeros_like(after)
            left = alone + self.changed(by, dv)
            if rubbed is not None:
                left = left + rubbed.pushed(by, force)
            step[free] = self._factor.solve(left[free])
            if rubbed is not None:
                by = dx, after + step
                beyond = rubbed.law(by, self.moved(by), force, rub).ravel()
                X, S = self._answers
                more = np.linalg.solve(S, -beyond)
                step[free] += X @ more
                force = force + more.reshape(-1, 3)
            after = after + step
            if np.abs(step * sizes).max() <= ROUNDING * np.abs(after * sizes).max():
                moves = self.moved((dx, after))
                v = np.where(free, 2.0 * moves / self.h - dv, 0.0)
                if rubbed is not None:
                    v = rubbed.landed(after, v, force, rub, heavier)
                return after, v
        raise NotConvergedError(
            f"sensitivities: {CORRECTIONS} corrections leave the derivative of a step "
            "beyond rounding: choose a smaller h",
            best=after,
        )


def _whole(world: SpaceWorld, values: Floats) -> csr_array:
    """(3 n + m, 3 n + m) the Hessian of all unknowns, of its lower entries."""
    rod, count = world.rod, len(world.inertia)
    groups = (
        edge_places(rod),
        pair_places(rod, rod.bends),
        pair_places(rod, world.system.way.edges),
    )
    each = [triangle_places(places) for places in groups]
    rows, cols = (np.concatenate([one[k] for one in each]) for k in (0, 1))
    off = rows != cols
    at = np.concatenate([rows, cols[off]]), np.concatenate([cols, rows[off]])
    return csr_array((np.concatenate([values, values[off]]), at), shape=(count, count))


def refuse_without_tangents(world: SpaceWorld, options: StepOptions) -> None:
    """Only what the derivative above knows of."""
    if options.integrator is not Integrator.NEWMARK or options.accuracy > 0.0:
        raise ValueError(
            "steps: sensitivities are those of the integrator newmark with accuracy 0: "
            "choose them"
        )
    rod = world.rod
    if len(rod.hinges):
        raise ValueError(
            "sensitivities in space know no hinges about an axis: let rods turn about "
            "balls, or rods of the plane stay in it with dimension 2"
        )
    if world.dry is not None:
        raise ValueError(
            "sensitivities in space know no friction along tendons or in hinges: set "
            "it to 0"
        )
    swings = rod.held_frames & ~rod.held[rod.edges].all(axis=(1, 2))
    for k in np.flatnonzero(swings).tolist():
        raise ValueError(
            f"sensitivities: the frame of edge {k} is held, but not its nodes: hold "
            "both, or neither"
        )
    if world.touching is not None and (
        world.touching.bodies or world.touching.rims is not None
    ):
        raise ValueError(
            "sensitivities in space know contact of round rods with a plane only: "
            "leave bodies and rims out"
        )
    if world.fluid is not None:
        raise ValueError("sensitivities in space know no fluid: leave it out")
    if len(world.along.ends):
        raise ValueError(
            "sensitivities in space know no loads that are spread or turn: leave them "
            "out"
        )
    if world.schedule is not None or world.natural is not None:
        raise ValueError(
            "sensitivities in space know no limbs and no natural curvature in time: "
            "leave them out"
        )


def space_tangents(
    world: SpaceWorld,
    options: StepOptions,
    parameters: Sequence[SpaceParameter],
    duration: float,
) -> Iterator[SpaceTangents]:
    """Yield the motion at the start and after every step, with its derivatives.

    The start does not change with the parameters.

    Raises
    ------
    ValueError
        where the world has what this has no derivative of
    NotConvergedError
        where a step cannot be made whole
    """
    refuse_without_tangents(world, options)
    now, free = at_start(world, options), world.system.free
    dx = np.zeros((len(parameters), len(free)))
    dv = np.zeros_like(dx)
    yield _told(now, dx, dv)
    for _ in range(ceil(duration / options.h - 1e-6)):
        effort = Effort()
        after = made(world, options, now, options.h, effort)
        if after is None:
            raise NotConvergedError(
                f"sensitivities: at t = {now.time:g} s no step of {options.h:g} s "
                "converges: choose a smaller h",
                best=now,
            )
        step = _MadeStep(world, now, after, options.h, effort.end)
        for p, parameter in enumerate(parameters):
            dx[p], dv[p] = step.solved(dx[p], dv[p], parameter)
        now = after
        yield _told(now, dx, dv)


def _told(now: SpaceMoving, dx: Floats, dv: Floats) -> SpaceTangents:
    n, shape = now.state.x.size, (len(dx), *now.state.x.shape)
    v = now.v[:n].reshape(shape[1:])
    places, speeds = (by[:, :n].reshape(shape).copy() for by in (dx, dv))
    return SpaceTangents(now.time, now.state.x, v, places, speeds)
