"""Ends that move and turn in time: two held nodes, carried by tables.

The velocity of both is set before each step to the mean one that takes them to their
places at its end: so they are there at every step, to rounding. What their own kinetic
energy gains by that is given by the support.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats
from sim.rod.contact.ground import Ground, gaps

MOST = 90.0  # degrees in a step, in which the node goes straight from place to place


@dataclass(frozen=True, eq=False)
class TurningEnd:
    """A held node that turns about another held node, from where the rod has them.

    Attributes
    ----------
    times : s, rising
    angles : rad, to the left, 0 first; evenly from one time to the next, and kept after
        the last
    moves : rows of time, s, and the way of both nodes along x and y, m, likewise
    """

    node: int
    about: int
    times: list[float]
    angles: list[float]
    moves: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0),)

    def __post_init__(self) -> None:
        if len(self.times) != len(self.angles) or len(self.times) == 0:
            raise ValueError("turns: give an angle for each time, one or more")
        angles = np.degrees(np.array(self.angles, float))
        refuse_table("turns", np.array(self.times, float), angles[:, None], "degrees")
        rows = np.array(self.moves, float)
        if rows.ndim != 2 or rows.shape[1] != 3:
            raise ValueError("moves: give rows of time, x and y, one or more")
        refuse_table("moves", rows[:, 0], rows[:, 1:], "m")

    def refuse_unheld(self, held: Bools) -> None:
        """A ValueError unless both nodes are held."""
        for node in (self.node, self.about):
            if not (0 <= node < len(held) and held[node].all()):
                raise ValueError(f"turns: node {node} is not held: hold it")

    def refuse_in_ground(self, nodes: Floats, ground: Ground) -> None:
        """A ValueError if either of both comes to be below the ground; (n, 2) nodes."""
        knots = np.union1d(self.times, np.array(self.moves)[:, 0])
        times = np.interp(
            np.arange(0.0, len(knots), 0.01), np.arange(len(knots)), knots
        )
        for time in times.tolist():
            low = float(gaps(ground, self.places(nodes, time)).min())
            if low < -1e-6 * float(np.ptp(nodes, axis=0).max()):
                raise ValueError(
                    "ground: a clamp that moves or turns, or the held edge behind "
                    f"it, is {-low:.3g} m below it at {time:.3g} s: lift it"
                )

    def refuse_far(self, h: float) -> None:
        """A ValueError if it turns by more than `MOST` in any step of h seconds."""
        refuse_far(self.times, self.angles, h)

    def places(self, nodes: Floats, time: float) -> Floats:
        """(2, 2) m, where both are at a time, `about` first; nodes (n, 2) at first."""
        angle, (t, x, y) = (
            np.interp(time, self.times, self.angles),
            np.array(self.moves).T,
        )
        c, s = np.cos(angle), np.sin(angle)
        at = nodes[self.about] + [np.interp(time, t, x), np.interp(time, t, y)]
        arm = nodes[self.node] - nodes[self.about]
        return np.array([at, at + np.array([[c, -s], [s, c]]) @ arm])


def refuse_far(times: Sequence[float], angles: Sequence[float], h: float) -> None:
    """A ValueError if a table turns by more than `MOST` in any step of h seconds."""
    begin = np.concatenate([times, np.subtract(times, h)])
    far = np.interp(begin + h, times, angles) - np.interp(begin, times, angles)
    most = float(np.degrees(np.abs(far).max()))
    if most > MOST * (1.0 + 1e-9):
        raise ValueError(
            f"turns: it turns by {most:g} degrees in a step of {h:g} s: "
            f"choose h so that it is {MOST:g} at most"
        )


def refuse_table(name: str, times: Floats, values: Floats, unit: str) -> None:
    """A ValueError unless finite `values` (k, m) begin with 0 and times (k,) rise."""
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        raise ValueError(f"{name}: give finite numbers")
    for k in np.flatnonzero(np.diff(times) <= 0.0).tolist():
        raise ValueError(
            f"{name}: {times[k + 1]:g} s comes after {times[k]:g} s: let times rise"
        )
    if values[0].any() or times[0] < 0.0:
        told = " and ".join(f"{value:g} {unit}" for value in values[0])
        raise ValueError(
            f"{name}: they begin at {times[0]:g} s with {told}: begin at 0 s or "
            "later with 0, where the rod is drawn"
        )
