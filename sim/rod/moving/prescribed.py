"""Rigid motions that are prescribed in time, by tables of turns and ways.

Each turns about an axis that keeps its direction, through a point that is moved.
Between two times of a table it goes evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.rod.moving.bodies import Body
from sim.rod.stepping.turning import refuse_table


@dataclass(frozen=True, eq=False)
class PrescribedMotion:
    """A rigid motion.

    Attributes
    ----------
    about : (3,) m, a point of the axis at first
    axis : of any length
    times, angles : s, rising, and rad by the right hand, 0 first
    moves : rows of time, s, and the way along x, y and z, m, 0 first
    """

    about: Sequence[float] | Floats
    axis: Sequence[float] | Floats = (0.0, 0.0, 1.0)
    times: Sequence[float] = (0.0,)
    angles: Sequence[float] = (0.0,)
    moves: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0, 0.0),)

    def __post_init__(self) -> None:
        angles = np.degrees(np.array(self.angles, dtype=np.float64))
        refuse_table("turns", np.array(self.times), angles[:, None], "degrees")
        rows = np.array(self.moves, dtype=np.float64)
        refuse_table("moves", rows[:, 0], rows[:, 1:], "m")

    @property
    def finely(self) -> Floats:
        """Times of both tables, and a hundred from each to the next, s."""
        knots = np.union1d(self.times, np.array(self.moves)[:, 0])
        k = np.arange(len(knots))
        return np.asarray(np.interp(np.arange(0.0, len(knots), 0.01), k, knots))

    @property
    def _unit(self) -> Floats:
        a = np.array(self.axis, dtype=np.float64)
        return np.asarray(a / np.linalg.norm(a))

    def angle(self, time: float) -> float:
        """rad"""
        return float(np.interp(time, self.times, self.angles))

    def centre(self, time: float) -> Floats:
        """(3,) m, where `about` has come to."""
        rows = np.array(self.moves).T
        shift = [np.interp(time, rows[0], way) for way in rows[1:]]
        return np.asarray(np.array(self.about) + shift)

    def turned(self, arms: Floats, time: float, sign: float = 1.0) -> Floats:
        """(k, 3) directions after the turn, or with -1 before it."""
        a, angle = self._unit, sign * self.angle(time)
        c, s = np.cos(angle), np.sin(angle)
        along = (1.0 - c) * (arms @ a)[:, None] * a
        return np.asarray(c * arms + s * np.cross(a, arms) + along)

    def placed(self, x: Floats, time: float) -> Floats:
        """(k, 3) m, where points x have come to."""
        turned = self.turned(x - np.array(self.about), time)
        return np.asarray(turned + self.centre(time))

    def back(self, x: Floats, time: float) -> Floats:
        """(k, 3) m, where what is at x has been at first."""
        turned = self.turned(x - self.centre(time), time, -1.0)
        return np.asarray(turned + np.array(self.about))

    def slides(self, time: float, h: float) -> Floats:
        """(2, 2, 3) s and r: in a step of h seconds a point goes by s + r x p.

        With p half way between its places at both ends, along the chord; and by its
        velocity at the end, times h, with p there.
        """
        turn = self.angle(time + h) - self.angle(time)
        before, after = self.centre(time), self.centre(time + h)
        r = np.outer([2.0 * np.tan(0.5 * turn), turn], self._unit)
        return np.stack(
            [after - before - np.cross(r, [0.5 * (before + after), after]), r], axis=1
        )


@dataclass(frozen=True, eq=False)
class DrivenBody:
    """A rigid body on its way, where it is at a time; `body` is as it is at first."""

    body: Body
    motion: PrescribedMotion
    time: float = 0.0

    @property
    def pieces(self) -> int:
        """As `Body.pieces`."""
        return self.body.pieces

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        far, out = self.body.distance(self.motion.back(x, self.time))
        return far, self.motion.turned(out, self.time)

    def lines(self, x: Floats) -> Floats:
        """As `Body.lines`."""
        lines = self.body.lines(self.motion.back(x, self.time))
        return self.motion.placed(lines.reshape(-1, 3), self.time).reshape(lines.shape)

    def at(self, time: float) -> "DrivenBody":
        """The same at another time."""
        return replace(self, time=time)

    def farthest(self, x: Floats, h: float) -> float:
        """m, how far it would take any of points x (n, 3) in h seconds."""
        way = self.carried(x, self.time + h) - x
        return float(np.linalg.norm(way, axis=1).max())

    def carried(self, x: Floats, time: float) -> Floats:
        """(k, 3) m, where points x would come to with it until a time."""
        return self.motion.placed(self.motion.back(x, self.time), time)
