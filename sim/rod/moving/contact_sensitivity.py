"""How what rubs on a plane in a step changes with the parameters of its rod.

The law of contact holds at the end of a step to rounding, and so does its derivative,
as long as contacts stay what they are. With the gap g, the way s of a skin along the
plane, and forces (f_n, f_t), a change keeps

    dg = 0,   and   ds = 0 (sticking)   or   d(f_t + mu f_n s / |s|) = 0 (sliding).

A skin is a radius off its axis, so that both ways and forces follow the edge's tangent.
"""

import numpy as np

from sim.arrays import Floats
from sim.linear.sparse import Factor
from sim.rod.moving.account import SpaceEnd
from sim.rod.moving.pushing import WITHIN, sticking
from sim.rod.moving.space_world import SpaceWorld

SINGULAR = 1e-10  # of the largest singular value: shared loads
GROUND = -1  # what stands for the plane in place of an edge


class RubbedStep:
    """What pushes the skins of a step that was made, on a plane."""

    def __init__(
        self, world: SpaceWorld, start: Floats, end: SpaceEnd, h: float
    ) -> None:
        pushed, touching = end.found.pushed, world.touching
        assert pushed is not None
        assert touching is not None
        assert end.rows is not None
        k = np.flatnonzero(pushed.pushing)
        contacts = pushed.contacts
        self.world, self.end, self.mu = world, end, touching.friction
        self.edge = contacts.edge[k, 0]
        self.tail, self.head = world.rod.edges[self.edge].T
        _refuse_events(world, start, contacts.edge[k, 1], contacts.share[k, 0], self)
        self.frame, self.force = contacts.frame[k], pushed.force[k]
        self.rows, self.last = pushed.rows.some(k), end.rows.some(k)
        self.kick, self.h = end.kick.reshape(-1, 3)[k], h
        self.middle = 0.5 * (start + end.after.x)
        normal = self.frame[:, :1]
        far = -touching.radius[self.edge][:, None, None]
        self.arm = far * np.cross(normal, self.frame)
        self.sticks = sticking(self.force, self.mu)
        self.way = self.rows.along(end.found.moves)[:, 1:]

    def _turned(self, x: Floats, by: Floats) -> tuple[Floats, ...]:
        """Tangents (c, 3) and lengths (c,) at nodes x, and their changes."""
        u = by[: x.size].reshape(-1, 3)
        e, de = x[self.head] - x[self.tail], u[self.head] - u[self.tail]
        size = np.linalg.norm(e, axis=1)[:, None]
        t = e / size
        longer = np.sum(t * de, axis=1)[:, None]
        return t, size, (de - longer * t) / size, longer

    def _along_changed(self, x: Floats, by: Floats, moves: Floats) -> Floats:
        """(c, 3) how ways along the frames change as rows at nodes x do."""
        t, size, dt, longer = self._turned(x, by)
        m = moves[: x.size].reshape(-1, 3)
        bent = np.cross(self.arm, (dt - t * longer / size)[:, None]) / size[:, None]
        found = np.sum(bent * (m[self.head] - m[self.tail])[:, None], axis=2)
        spun = moves[x.size + self.edge][:, None]
        return np.asarray(found + np.sum(self.arm * dt[:, None], axis=2) * spun)

    def _push_changed(self, x: Floats, by: Floats, force: Floats) -> Floats:
        """(3 n + m,) how J^T of forces (c, 3) changes as rows at nodes x do."""
        t, size, dt, longer = self._turned(x, by)
        arm = np.einsum("crk,cr->ck", self.arm, force)
        bent = np.cross(arm, dt - t * longer / size) / size
        total = np.zeros(len(by))
        ends = total[: x.size].reshape(-1, 3)
        np.add.at(ends, self.head, bent)
        np.add.at(ends, self.tail, -bent)
        np.add.at(total, x.size + self.edge, np.sum(arm * dt, axis=1))
        return total

    def pushed(self, by: tuple[Floats, Floats], force: Floats) -> Floats:
        """(3 n + m,) change of what contacts do, as states and forces (c, 3) change."""
        half = 0.5 * (by[0] + by[1])
        own = self._push_changed(self.middle, half, self.force)
        return np.asarray(own + self.rows.push(force, len(half)))

    def _sliding(self, way: Floats, force: Floats) -> Floats:
        """(c, 2) change of f_t + mu f_n s / |s| with ways (c, 2) and forces (c, 3)."""
        far = np.maximum(np.linalg.norm(self.way, axis=1), 1e-300)[:, None]
        ahead = self.way / far
        across = way - ahead * np.sum(ahead * way, axis=1)[:, None]
        turned = self.force[:, :1] * across / far + force[:, :1] * ahead
        return np.asarray(force[:, 1:] + self.mu * turned)

    def law(
        self, by: tuple[Floats, Floats], moved: Floats, force: Floats, rub: float
    ) -> Floats:
        """(c, 3) what the changed law leaves.

        Parameters
        ----------
        moved : (3 n + m,) changes of the moves of the step
        rub : relative change of friction
        """
        half = 0.5 * (by[0] + by[1])
        found = self.rows.along(moved)
        found += self._along_changed(self.middle, half, self.end.found.moves)
        far = np.maximum(np.linalg.norm(self.way, axis=1), 1e-300)[:, None]
        more = rub * self.mu * self.force[:, :1] * self.way / far
        slides = self._sliding(found[:, 1:], force) + more
        found[:, 1:] = np.where(self.sticks[:, None], found[:, 1:], slides)
        found[:, 0] = self.rows.along(by[1])[:, 0]
        return found

    def answers(self, factor: Factor) -> tuple[Floats, Floats]:
        """Changes (f, 3 c) of free unknowns by unit forces, and what they leave of the
        law (3 c, 3 c)."""
        J = self.rows.columns(self.world.system.number)
        X = np.column_stack([factor.solve(np.ascontiguousarray(own)) for own in J.T])
        S, c = (J.T @ X).reshape(-1, 3, J.shape[1]), len(self.edge)
        for j, unit in enumerate(np.eye(3 * c)):
            slides = self._sliding(S[:, 1:, j], unit.reshape(c, 3))
            S[:, 1:, j] = np.where(self.sticks[:, None], S[:, 1:, j], slides)
        return X, S.reshape(3 * c, 3 * c)

    def landed(
        self, after: Floats, dv: Floats, force: Floats, rub: float, heavier: float
    ) -> Floats:
        """(3 n + m,) changes of velocities after impulses, of those before them.

        Parameters
        ----------
        after : (3 n + m,) change of the state at the end
        force : (c, 3) changes of forces
        rub, heavier : relative changes of friction and of masses
        """
        system, c, end = self.world.system, len(self.edge), self.end
        light, x = system.free / self.world.inertia, end.after.x
        base = dv + light * self._push_changed(x, after, self.kick)
        base -= heavier * light * self.last.push(self.kick, len(dv))
        left = self.last.along(base) + self._along_changed(x, after, end.v)
        both, more = self.h * self.force + self.kick, self.h * force
        way = self.last.along(end.v)[:, 1:]
        J = self.last.columns(system.number)
        W = (J.T @ (light[system.free][:, None] * J)).reshape(c, 3, 3 * c)
        heavy = 1.0 / float(np.trace(W.reshape(3 * c, 3 * c)) / (3 * c))
        rows, asked, unit = heavy * W, -heavy * left, np.eye(3 * c).reshape(c, 3, 3 * c)
        for k in np.flatnonzero(~sticking(both, self.mu)).tolist():
            if not both[k, 0] > 0.0:
                rows[k], asked[k] = unit[k], -more[k]
                continue
            far = float(np.linalg.norm(way[k]))
            ahead, push = way[k] / far, self.mu * both[k, 0]
            across = push / far * (np.eye(2) - np.outer(ahead, ahead))
            lean = self.mu * ahead
            rows[k, 1:] = unit[k, 1:] + np.outer(lean, unit[k, 0]) + across @ W[k, 1:]
            asked[k, 1:] = -more[k, 1:] - lean * more[k, 0] - across @ left[k, 1:]
            asked[k, 1:] -= rub * push * ahead
        matrix, right = rows.reshape(3 * c, 3 * c), asked.ravel()
        kick = np.linalg.lstsq(matrix, right, rcond=SINGULAR)[0].astype(np.float64)
        return np.asarray(base + light * self.last.push(kick, len(dv)))


def _refuse_events(
    world: SpaceWorld, start: Floats, other: Floats, share: Floats, step: RubbedStep
) -> None:
    """A skin that lands, or touches anything but the plane, has no derivative here."""
    for k in np.flatnonzero(other != GROUND).tolist():
        raise ValueError(
            f"sensitivities: edge {step.edge[k]} touches another edge: in space they "
            "know contact with a plane only: keep rods apart"
        )
    touching = world.touching
    assert touching is not None
    assert touching.ground is not None
    up = np.array(touching.ground.normal) / np.linalg.norm(touching.ground.normal)
    node = np.where(share > 0.5, step.head, step.tail)
    above = start[node] @ up - touching.ground.height - touching.radius[step.edge]
    for k in np.flatnonzero(above > WITHIN * touching.radius.min()).tolist():
        raise ValueError(
            f"sensitivities: node {node[k]} lands, where a motion has no derivative: "
            "let it begin on the ground, or end before"
        )
