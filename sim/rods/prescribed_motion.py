"""Rigid motions by tables of turns and ways: of ends, clamps and bodies.

`PrescribedMotion` turns about an axis that keeps its direction, through a point that is
moved. Between two times of a table it goes evenly, and after the last it stays. A
`TurningEdge` is carried by one, in the plane as in space with z = 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats

MOST = 90.0  # degrees in a step, in which the node goes straight from place to place
UP = (0.0, 0.0, 1.0)


def refuse_table(name: str, times: Floats, values: Floats, unit: str) -> None:
    """A ValueError unless finite `values` (k, m) begin with 0 and times (k,) rise."""
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        raise ValueError(f"{name}: give finite numbers")
    for k in np.flatnonzero(np.diff(times) <= 0.0).tolist():
        raise ValueError(
            f"{name}: {times[k + 1]:g} s follows {times[k]:g} s: times must increase"
        )
    if values[0].any() or times[0] < 0.0:
        first = " and ".join(f"{value:g} {unit}" for value in values[0])
        raise ValueError(
            f"{name}: the first row is {first} at {times[0]:g} s: begin with the value "
            "0 (undeformed shape) at a time of 0 s or later"
        )


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
    axis: Sequence[float] | Floats = UP
    times: Sequence[float] = (0.0,)
    angles: Sequence[float] = (0.0,)
    moves: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0, 0.0),)

    def __post_init__(self) -> None:
        if len(self.times) != len(self.angles) or len(self.times) == 0:
            raise ValueError("turns: give one or more times, and an angle for each")
        angles = np.degrees(np.array(self.angles, dtype=np.float64))
        refuse_table("turns", np.array(self.times), angles[:, None], "degrees")
        rows = np.array(self.moves, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise ValueError("moves: give one or more rows of time, x, y and z")
        refuse_table("moves", rows[:, 0], rows[:, 1:], "m")

    def refuse_far(self, h: float) -> None:
        """A ValueError if it turns by more than `MOST` in any step of h seconds."""
        begin = np.concatenate([self.times, np.subtract(self.times, h)])
        ends = [np.interp(at, self.times, self.angles) for at in (begin + h, begin)]
        most = float(np.degrees(np.abs(ends[0] - ends[1]).max()))
        if most > MOST * (1.0 + 1e-9):
            raise ValueError(
                f"turns: the end turns by {most:g} degrees in a step of {h:g} s, above "
                f"the limit of {MOST:g}: reduce the time step h"
            )

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


class TurningEdge(NamedTuple):
    """A held edge and its way, from where the rod has it."""

    edge: int
    motion: PrescribedMotion

    def refuse_unless(self, held: bool) -> None:
        """A ValueError unless both nodes, and in space the frame, are held."""
        if not held:
            raise ValueError(f"turns: edge {self.edge} is not held: clamp it")
