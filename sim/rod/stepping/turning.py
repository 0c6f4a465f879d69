"""Ends that turn in time: a held node is carried about another by a table of angles.

The velocity of the node is set before each step to the mean one that takes it to its
place at the end: so it is there at every step, to rounding. What its own kinetic energy
gains by that is given by the support.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats

MOST = 90.0  # degrees in a step, in which the node goes straight from place to place


@dataclass(frozen=True, eq=False)
class TurningEnd:
    """A held node that turns about another held node, from where the rod has it.

    Attributes
    ----------
    times : s, rising
    angles : rad, to the left, 0 first; evenly from one time to the next, and kept after
        the last
    """

    node: int
    about: int
    times: list[float]
    angles: list[float]

    def __post_init__(self) -> None:
        times, angles = np.array(self.times, float), np.array(self.angles, float)
        if len(times) != len(angles) or len(times) == 0:
            raise ValueError("turns: give an angle for each time, one or more")
        if not (np.isfinite(times).all() and np.isfinite(angles).all()):
            raise ValueError("turns: give finite times and angles")
        for k in np.flatnonzero(np.diff(times) <= 0.0).tolist():
            raise ValueError(
                f"turns: {times[k + 1]:g} s comes after {times[k]:g} s: let times rise"
            )
        if angles[0] != 0.0 or times[0] < 0.0:
            raise ValueError(
                f"turns: they begin at {times[0]:g} s with {np.degrees(angles[0]):g} "
                "degrees: begin at 0 s or later with 0, the direction that is drawn"
            )

    def refuse_unheld(self, held: Bools) -> None:
        """A ValueError unless both nodes are held."""
        for node in (self.node, self.about):
            if not (0 <= node < len(held) and held[node].all()):
                raise ValueError(f"turns: node {node} is not held: hold it")

    def refuse_far(self, h: float) -> None:
        """A ValueError if it turns by more than `MOST` in any step of h seconds."""
        begin = np.concatenate([self.times, np.subtract(self.times, h)])
        far = np.interp(begin + h, self.times, self.angles)
        far -= np.interp(begin, self.times, self.angles)
        most = float(np.degrees(np.abs(far).max()))
        if most > MOST * (1.0 + 1e-9):
            raise ValueError(
                f"turns: an end turns by {most:g} degrees in a step of {h:g} s: "
                f"choose h so that it is {MOST:g} at most"
            )

    def place(self, nodes: Floats, time: float) -> Floats:
        """(2,) m, where the node is at a time; nodes (n, 2) as at the start."""
        angle = np.interp(time, self.times, self.angles)
        c, s = np.cos(angle), np.sin(angle)
        arm = nodes[self.node] - nodes[self.about]
        return np.asarray(nodes[self.about] + np.array([[c, -s], [s, c]]) @ arm)
