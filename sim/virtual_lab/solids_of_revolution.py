"""Solids of revolution, of which printed parts are made.

A rod's end is either clamped: a sleeve with a round seat in which the sphere of another
piece turns, a clearance away; or fused: the same sleeve, printed in one piece with its
sphere. No mesh is made here.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sim.core.arrays import Floats
from sim.virtual_lab.lab_settings import Sizes


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


def sphere(radius: float, sides: int) -> Solid:
    """A sphere about the origin, `sides` / 2 steps from pole to pole."""
    angle = np.pi * np.arange(sides // 2 + 1) / (sides // 2)
    outline = np.column_stack([-np.cos(angle), np.sin(angle)])
    outline[[0, -1], 1] = 0.0
    return Solid(radius * outline)


def bar(start: Floats, end: Floats, radius: float) -> Solid:
    """A round bar between two points."""
    length = float(np.linalg.norm(end - start))
    outline = np.array([[0, 0], [0, radius], [length, radius], [length, 0]])
    return Solid(outline).between(start, end)


SEAT = 8  # steps of the curve of a seat


@dataclass(frozen=True)
class PrintedRod:
    """A rod between the centres of two spheres.

    Attributes
    ----------
    clamped : whether each end is, else it is fused
    """

    length: float
    clamped: tuple[bool, bool]

    def inside(self, end: int, sizes: Sizes) -> float:
        """From the centre of the sphere to the rim of the end's sleeve."""
        seat = sizes.seat_mm if self.clamped[end] else sizes.ball_radius_mm
        return float(np.sqrt(seat**2 - sizes.clamp_radius_mm**2))

    def outside(self, sizes: Sizes) -> float:
        """From the centre of the sphere to the far end of the sleeve."""
        whole = sizes.ball_radius_mm + sizes.clamp_length_mm
        return min(whole, 0.5 * self.length)

    def fits(self, sizes: Sizes) -> bool:
        """Whether something is left between the spheres."""
        return 0.5 * self.length > sizes.seat_mm + 1e-6

    def profile(self, sizes: Sizes) -> Floats:
        """(k, 2) outline from the first sphere's centre at z = 0 to the second's."""
        low = self._end(0, sizes)
        high = self._end(1, sizes) * [-1.0, 1.0] + [self.length, 0.0]
        return np.concatenate([low, high[::-1]])

    def _end(self, end: int, sizes: Sizes) -> Floats:
        rim = np.array([self.inside(end, sizes), sizes.clamp_radius_mm])
        curve = np.array([[rim[0], 0.0], rim])
        if self.clamped[end]:
            curve = _arc(sizes.seat_mm, 0.0, sizes.clamp_radius_mm)
        out = self.outside(sizes)
        step = [[out, sizes.clamp_radius_mm], [out, sizes.rod_radius_mm]]
        return np.concatenate([curve, step])

    def solid(self, start: Floats, end: Floats, sizes: Sizes) -> Solid:
        """The rod with its sleeves, from sphere centre to sphere centre."""
        return Solid(self.profile(sizes)).between(start, end)


def _arc(radius: float, low: float, high: float) -> Floats:
    """(SEAT + 1, 2) points of a sphere of `radius`, `low` to `high` off the axis."""
    angles = np.linspace(np.arcsin(low / radius), np.arcsin(high / radius), SEAT + 1)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def bare_rod(rod: PrintedRod, sizes: Sizes) -> Solid:
    """The rod without sleeves, where clamps are printed by themselves.

    It ends where the seat would be, so that a clamp fits on from either end.
    """
    arc = _arc(sizes.seat_mm, 0.0, sizes.rod_radius_mm)
    far = arc * [-1.0, 1.0] + [rod.length, 0.0]
    return Solid(np.concatenate([arc, far[::-1]]))


def clamp(sizes: Sizes) -> Solid:
    """A sleeve by itself: a bore for the rod, and a seat for the sphere."""
    bore = sizes.rod_radius_mm + sizes.clearance_mm
    if not bore < sizes.clamp_radius_mm:
        raise ValueError(
            f"clamp_radius_mm {sizes.clamp_radius_mm} leaves no wall around a bore of "
            f"radius {bore:g}: increase it, or set clamps to joined"
        )
    out = sizes.ball_radius_mm + sizes.clamp_length_mm
    seat = _arc(sizes.seat_mm, bore, sizes.clamp_radius_mm)
    back = np.array([[out, sizes.clamp_radius_mm], [out, bore]])
    return Solid(np.concatenate([seat, back, seat[:1]]))
