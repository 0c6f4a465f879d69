"""One step of a motion in space that was made, and the derivative of its equation.

What is left of a step of Newmark's rule, `sim.rod.moving.step_equation`, is linear in
what changes with a parameter. It is solved with the matrix of Newton's iteration, and
corrected until nothing but rounding is left, since that matrix is not quite the
derivative.
"""

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.linear.sparse import Factor
from sim.rod.moving.account import SpaceEnd
from sim.rod.moving.contact_sensitivity import RubbedStep
from sim.rod.moving.pulled import tendon_slopes, tensions_at
from sim.rod.moving.softened import softened_at_end
from sim.rod.moving.space_parameters import SpaceParameter
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.state_tangent import StateTangent, around
from sim.rod.moving.trial import SpaceMoving
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import turns
from sim.rod.space.places import edge_places, pair_places, triangle_places

ROUNDING = 1e-12  # last correction, relative to the derivative
CORRECTIONS = 60


class StepTangent:
    """One step that was made, and the derivative of its equation."""

    def __init__(
        self, world: SpaceWorld, before: SpaceMoving, after: SpaceMoving, h: float,
        end: SpaceEnd | None,
    ) -> None:  # fmt: skip
        self.rubbed: RubbedStep | None = None
        if end and end.found.pushed and end.found.pushed.pushing.any():
            self.rubbed = RubbedStep(world, before.state.x, end, h)
        self.world, self.h, self.part = world, h, world.system.part
        self.ends = StateTangent(world, before.state), StateTangent(world, after.state)
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
