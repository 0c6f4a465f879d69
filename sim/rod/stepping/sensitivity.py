"""How a motion changes with the parameters of its rod, exactly, step by step.

The equation of a step, `sim.rod.stepping.newmark`, holds at every accepted step to
rounding, and so does its derivative: with X = dx/dp, V = dv/dp at the ends of the step

    dr(V1; X0, V0, p) = G^T dP,    G V1 + d(push) = 0

where G are the directions in which contacts hold (sticking: both; sliding: the normal,
with the friction of the normal impulse) and P their impulses. The states of the
contacts are those that the step found. With the matrix A of Newton's iteration,
factorised at the end of the step, this is solved for all parameters at once; as A is
symmetric and the derivative is not quite, the correction is repeated until nothing but
rounding is left.

Where a step is cut, because a node lands in it or because Newton fails, its parts have
lengths that depend on the parameters, and the velocity jumps: the motion has no
derivative that this could follow, and it is refused from there on. With a larger
`landing` no step is cut; then the derivative is that of the motion as it is computed,
whose landings keep their steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.convergence import NotConvergedError
from sim.rod.actuation.actuation import actuate
from sim.rod.contact.coulomb import FORTH, OPEN, STICK, ContactRule
from sim.rod.contact.ground import GroundPlane
from sim.rod.energy.blocks import BlockMatrix, empty, factorise
from sim.rod.energy.elastic import (
    Actuated,
    Rates,
    Strains,
    gradients,
    join,
    passive,
    unstrained,
)
from sim.rod.energy.stiffness import add_mass, add_stiffness
from sim.rod.energy.tangent import Directions, gradient_tangents, solve_each
from sim.rod.stepping.along_tangent import add_drag_tangent, force_tangents
from sim.rod.stepping.equilibrium import settle
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.parameters import Parameter, limb_tangents
from sim.rod.stepping.simulate import Loop
from sim.rod.stepping.world import NodeLoad, World

GAMMA = 0.5  # Newmark's rule
ROUNDING = 1e-13  # last correction, relative to the tangents
CORRECTIONS = 40
POLISH = 4  # Newton steps after which an equilibrium is one to rounding


class Tangents(NamedTuple):
    """The motion at one time, and how it changes with P parameters.

    Attributes
    ----------
    x, v : (n, 2) m, m/s
    dx, dv : (P, n, 2) their derivatives
    """

    time: float
    x: Floats
    v: Floats
    dx: Floats
    dv: Floats


class Fitted(NamedTuple):
    """The parameters differentiated by, and the modulus E that the rod has, Pa."""

    parameters: Sequence[Parameter]
    modulus: float


def refuse_what_has_no_tangent(world: World, options: StepOptions) -> None:
    """Only what the derivative above knows of."""
    if options.integrator is not Integrator.NEWMARK:
        raise ValueError(
            "steps: sensitivities are those of the integrator newmark: choose it"
        )
    if options.contact is not ContactRule.EXACT:
        raise ValueError("steps: sensitivities are those of contact exact")
    if world.turning:
        raise ValueError("sensitivities know no ends that turn: leave turns out")
    if world.touching is not None:
        raise ValueError(
            "touching: contacts of edges have no sensitivities: leave it out"
        )
    if options.accuracy > 0.0:
        raise ValueError(
            f"steps: accuracy is {options.accuracy:g}: the lengths of adapted steps "
            "depend on the parameters, set it to 0"
        )
    if world.damping.rayleigh:
        raise ValueError("damping: sensitivities are those of rayleigh false")
    if world.ground is not None and not isinstance(world.ground, GroundPlane):
        raise ValueError(
            f"ground: a {type(world.ground).__name__} is curved: sensitivities know "
            "planes only"
        )


def tangents(
    world: World,
    options: StepOptions,
    fitted: Fitted,
    duration: float,
    dx: Floats | None = None,
) -> Iterator[Tangents]:
    """Yield the motion at the start and after every step, with its derivatives.

    Parameters
    ----------
    duration : s
    dx : (P, n, 2) how the start depends on the parameters, not at all unless given
    """
    refuse_what_has_no_tangent(world, options)
    loop = Loop(world, options, None)
    follower = _Follower(loop, fitted, dx)
    yield follower.now()
    while loop.time < duration - 1e-6 * options.h:
        state = loop.state
        before = state.x.copy(), state.v.copy(), _copied(state.strain)
        time, pulse = loop.time, loop.state.pulse.copy()
        if not loop.run_to(loop.step + 1, duration):
            raise loop.failure()
        if loop.work.report.substeps != 1.0:
            raise NotConvergedError(
                f"the step at t = {time:g} s was cut, since a node lands or Newton "
                "fails in it: the motion has no derivative there; end the series "
                "before it, or let nodes land with larger gaps (landing, contact_gap)",
                best=follower.now(),
            )
        if not np.array_equal(pulse, loop.state.pulse):
            follower.restart(before[0], time)
        follower.step(*before)
        yield follower.now()


def _copied(strain: Strains) -> Strains:
    return Strains(*(part.copy() for part in strain))


class _Follower:
    """Derivatives of the state of a loop."""

    def __init__(self, loop: Loop, fitted: Fitted, dx: Floats | None) -> None:
        self.loop, self.fitted = loop, fitted
        n, P = len(loop.state.x), len(fitted.parameters)
        self.dx = np.zeros((P, n, 2)) if dx is None else dx
        self.dv = np.zeros((P, n, 2))
        self.matrix = empty(loop.setting.pattern)
        self.space = np.zeros((n, 2))
        self.actuated = passive(loop.world.rod)
        self.restart(loop.state.x, loop.time)

    def now(self) -> Tangents:
        state = self.loop.state
        return Tangents(
            self.loop.time, state.x.copy(), state.v.copy(), self.dx, self.dv
        )

    def restart(self, x: Floats, time: float) -> None:
        """The forces at x, where the limbs are told something new, and their change."""
        change = self.change(0.0, time)
        self.dgradient, _ = self.forces(x, self.dx, x, self.dx, change, 0.0)

    def change(self, h: float, time: float) -> Directions:
        """What the parameters change at a time; h = 0: without damping."""
        pulse, (parameters, modulus) = self.loop.state.pulse, self.fitted
        law = self.loop.setting.law
        actuate(time, pulse, law, self.actuated)
        join(self.loop.setting.element, self.actuated)
        return Directions(
            _where(parameters, Parameter.MODULUS, 1.0 / modulus),
            *limb_tangents(time, pulse, law, parameters),
            _where(parameters, Parameter.BETA, 1.0 / h if h > 0.0 else 0.0),
        )

    def forces(
        self, x0: Floats, dx0: Floats, x1: Floats, dx1: Floats, change: Directions,
        viscous: float,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Changes of elastic and damping forces; viscous is beta / h."""
        elastic, damping = np.empty_like(dx1), np.empty_like(dx1)
        gradient_tangents(
            x0, x1, dx0, dx1, self.loop.setting.element, self.actuated, viscous,
            change, elastic, damping,
        )  # fmt: skip
        return elastic, damping

    def step(self, x0: Floats, v0: Floats, strain: Strains) -> None:
        """Follow the step that the loop has just made from x0, v0 and its strains."""
        loop, h = self.loop, float(self.loop.state.clock.last_step)
        setting, x1 = loop.setting, loop.state.x
        dx0, dv0 = self.dx, self.dv
        change, viscous = self.change(h, loop.time), setting.beta / h
        mean = _mean(x1, x0), _mean(loop.state.v, v0)
        self._factorise(x1, mean[0], strain, h)
        holds = _Contacts(self, dx0 + h * (1.0 - GAMMA) * dv0, h)
        mass, free = setting.element.mass[:, None], ~setting.held
        dv = dv0.copy()
        scale = max(float(np.abs(dv).max()), float(np.abs(dx0).max()) / h)
        for _ in range(CORRECTIONS):
            dx1 = dx0 + h * _mean(dv, dv0)
            elastic, damping = self.forces(x0, dx0, x1, dx1, change, viscous)
            rate = _mean(dv, dv0)
            force = damping + GAMMA * elastic + (1.0 - GAMMA) * self.dgradient
            force += setting.alpha * mass * rate
            dmean = _mean(dx1, dx0), rate
            taken = force_tangents(setting, loop.time - h, h, mean, dmean)
            z = -(mass * (dv - dv0) + h * force + taken) * free
            move = holds.solve(z, dv)
            dv = dv + move
            scale = max(scale, float(np.abs(dv).max()))
            if float(np.abs(move).max()) <= ROUNDING * scale:
                break
        else:
            raise NotConvergedError(
                f"the derivatives at t = {loop.time:g} s do not converge: choose a "
                "smaller h",
                best=self.now(),
            )
        self.dx, self.dv = dx0 + h * _mean(dv, dv0), dv
        self.dgradient = self.forces(x0, dx0, x1, self.dx, change, viscous)[0]

    def _factorise(self, x: Floats, middle: Floats, strain: Strains, h: float) -> None:
        """The matrix of Newton's iteration at the end of the step."""
        setting, matrix = self.loop.setting, self.matrix
        matrix.diagonal[:], matrix.lower[:] = 0.0, 0.0
        scale = 1.0 + h * GAMMA * setting.alpha
        add_mass(setting.pattern, matrix, setting.element.mass, setting.held, scale)
        rates = Rates(GAMMA, setting.beta / h)
        add_stiffness(
            x, setting.element, self.actuated, rates, strain, setting.pattern,
            h * h * GAMMA, matrix,
        )  # fmt: skip
        add_drag_tangent(setting, middle, h * GAMMA, matrix)
        factorise(setting.pattern, matrix)

    def solve(self, r: Floats) -> Floats:
        """A^-1 r for each of r (P, n, 2), in place."""
        solve_each(self.loop.setting.pattern, self.matrix, self.space, r)
        return r


def _mean(after: Floats, before: Floats) -> Floats:
    """Of a step, as its equation takes it."""
    return GAMMA * after + (1.0 - GAMMA) * before


def _where(
    parameters: Sequence[Parameter], which: Parameter, derivative: float
) -> Floats:
    return np.array([derivative if p is which else 0.0 for p in parameters])


class _Contacts:
    """The conditions of the contacts of a step, differentiated.

    Parameters
    ----------
    ahead : (P, n, 2) change of x0 + h (1 - gamma) v0, where a step without velocity
        along the normal ends
    """

    def __init__(self, follower: _Follower, ahead: Floats, h: float) -> None:
        self.follower = follower
        loop = follower.loop
        who = np.flatnonzero(loop.state.contact != OPEN)
        self.row = np.zeros((0, *ahead.shape[1:]))
        if len(who) == 0:
            return
        slope = loop.setting.relief.slope
        t = np.array([1.0, slope]) / np.hypot(1.0, slope)
        n = np.array([-t[1], t[0]])
        rows, pushes, wanted = _directions(loop, who, n, t)
        self.row, push = np.array(rows), np.array(pushes)
        self.column = follower.solve(push.copy())
        self.W = np.tensordot(self.row, self.column, axes=([1, 2], [1, 2]))
        closing = loop.scheme.closing / max(h, loop.scheme.length) * np.array(wanted)
        self.velocity = -closing * np.tensordot(
            ahead, self.row, axes=([1, 2], [1, 2])
        )  # (P, c)
        self.size = push
        self.impulse = np.zeros_like(self.velocity)

    def solve(self, r: Floats, dv: Floats) -> Floats:
        """The correction of dv that the residual -r and the contacts ask for."""
        if len(self.row) == 0:
            return self.follower.solve(r)
        r = r + np.tensordot(self.impulse, self.size, axes=1)
        z = self.follower.solve(r)
        over = np.tensordot(dv + z, self.row, axes=([1, 2], [1, 2]))
        more = np.linalg.solve(self.W, (self.velocity - over).T).T
        self.impulse += more
        moved: Floats = z + np.tensordot(more, self.column, axes=1)
        return moved


def _directions(
    loop: Loop, who: Ints, n: Floats, t: Floats
) -> tuple[list[Floats], list[Floats], list[float]]:
    """What each contact holds, by which impulse, and whether it closes a gap."""
    rows, pushes, closes = [], [], []
    for node in who.tolist():
        state = int(loop.state.contact[node])

        def at(direction: Floats, node: int = node) -> Floats:
            whole = np.zeros_like(loop.state.x)
            whole[node] = direction
            return whole

        friction = 0.0
        if state != STICK:
            friction = -loop.setting.mu if state == FORTH else loop.setting.mu
        rows.append(at(n))
        pushes.append(at(n + friction * t))
        closes.append(1.0)
        if state == STICK:
            rows.append(at(t))
            pushes.append(at(t))
            closes.append(0.0)
    return rows, pushes, closes


def hung(world: World, load: NodeLoad, fitted: Fitted) -> tuple[World, Floats]:
    """The world at rest under a load that is then gone, and how that shape changes.

    Returns
    -------
    the world without the load, its rod in the equilibrium
    dx : (P, n, 2)
    """
    if world.ground is not None:
        raise ValueError(
            "released_from: where a rod settles on a ground depends on the way: "
            "leave the ground out, or start from the shape of the rod at rest"
        )
    if world.distributed_loads or world.follower_forces:
        raise ValueError(
            "released_from: a rod hangs by its weight and one load: leave out loads "
            "that are spread or turn, or start from the shape at rest"
        )
    loaded = replace(world, load=load, schedule=None)
    x = settle(loaded).x
    loop = Loop(replace(world, load=None, schedule=None), StepOptions(), None)
    follower = _Follower(loop, fitted, None)
    force = loop.setting.element.mass[:, None] * loop.setting.gravity
    force[load.nodes] += load.force
    for _ in range(POLISH):
        _factorise_stiffness(loop, x, follower.matrix)
        slope, damping = np.zeros_like(x), np.zeros_like(x)
        element, none = loop.setting.element, unstrained(world.rod)
        gradients(
            x, element, follower.actuated, 0.0, none, unstrained(world.rod), slope,
            damping,
        )  # fmt: skip
        x = x + follower.solve(((force - slope) * ~loop.setting.held)[None])[0]
    still = np.zeros_like(follower.dx)
    change, _ = follower.forces(x, still, x, still, follower.change(0.0, 0.0), 0.0)
    dx = follower.solve(-change * ~loop.setting.held)
    rod = replace(world.rod, nodes=x)
    return replace(world, rod=rod, load=None), dx


def _factorise_stiffness(loop: Loop, x: Floats, matrix: BlockMatrix) -> None:
    setting = loop.setting
    actuated: Actuated = passive(loop.world.rod)
    matrix.diagonal[:], matrix.lower[:] = 0.0, 0.0
    add_mass(setting.pattern, matrix, setting.element.mass, setting.held, 0.0)
    add_stiffness(
        x, setting.element, actuated, Rates(1.0, 0.0), unstrained(loop.world.rod),
        setting.pattern, 1.0, matrix,
    )  # fmt: skip
    factorise(setting.pattern, matrix)
