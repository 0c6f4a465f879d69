"""Solids of revolution: what curve is swept about which axis. No mesh is made here."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sim.arrays import Floats


@dataclass(frozen=True, eq=False)
class Solid:
    """What a curve sweeps about an axis.

    Attributes
    ----------
    outline : (k, 2) place along the axis and distance from it, mm. It begins and ends
        on the axis, going up outside; of a ring it is closed, and goes round
        counterclockwise, seen with the axis below and its start to the right
    rotation, shift : (3, 3), (3,) where it is: a point x at rotation x + shift
    """

    outline: Floats
    rotation: Floats = field(default_factory=partial(np.eye, 3))
    shift: Floats = field(default_factory=partial(np.zeros, 3))

    def at(self, shift: Floats) -> "Solid":
        """The same solid, not turned, with the start of its axis at `shift` (3,)."""
        return Solid(self.outline, self.rotation, shift)

    def between(self, start: Floats, end: Floats) -> "Solid":
        """The same solid, its axis on the line from start to end (3,)."""
        axis = (end - start) / np.linalg.norm(end - start)
        least = np.eye(3)[np.abs(axis).argmin()]
        u = np.cross(axis, least)
        u /= np.linalg.norm(u)
        return Solid(self.outline, np.column_stack([u, np.cross(axis, u), axis]), start)


def ball(radius: float, sides: int) -> Solid:
    """A ball about the origin whose circles of latitude are `sides` / 2 steps apart."""
    angle = np.pi * np.arange(sides // 2 + 1) / (sides // 2)
    outline = np.column_stack([-np.cos(angle), np.sin(angle)])
    outline[[0, -1], 1] = 0.0
    return Solid(radius * outline)


def bar(start: Floats, end: Floats, radius: float) -> Solid:
    """A round bar between two points."""
    length = float(np.linalg.norm(end - start))
    outline = np.array([[0, 0], [0, radius], [length, radius], [length, 0]])
    return Solid(outline).between(start, end)
