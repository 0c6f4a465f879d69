"""Targets with a closed form: plane, sphere, cylinder, circle.

Where the nearest point is not unique (the centre of a sphere, the axis of a cylinder
or circle) a fixed direction is taken: the one that `_across` names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import is_positive
from sim.morph.targets.lattice import cells, lattice, polylines
from sim.morph.targets.protocol import Wireframe

Vector = Sequence[float]


def vector(name: str, values: Vector) -> Floats:
    """Three finite numbers as an array."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{name} of the target is {values}: give three finite numbers")
    return array


def unit(name: str, values: Vector) -> Floats:
    """The direction of three numbers."""
    array = vector(name, values)
    size = float(np.linalg.norm(array))
    if size == 0.0:
        raise ValueError(f"{name} of the target is {values}: give a direction")
    return array / size


def positive(name: str, value: float) -> None:
    if not is_positive(value):
        raise ValueError(f"{name} of the target is {value}: it must be positive")


def _across(axis: Floats) -> Floats:
    """A fixed unit vector at right angles to `axis`."""
    e = np.eye(3)[np.argmin(np.abs(axis))]
    normal: Floats = e - (e @ axis) * axis
    return normal / np.linalg.norm(normal)


def _outward(d: Floats, fallback: Floats) -> Floats:
    """Unit vectors along `d` (n, 3); `fallback` where d is zero."""
    size = np.linalg.norm(d, axis=1, keepdims=True)
    safe = np.where(size > 0.0, size, 1.0)
    return np.where(size > 0.0, d / safe, fallback)


def _turned(d: Floats, radius: float, across: Floats) -> Floats:
    """(n, 3, 3) dg/dr around a centre: radius / |d| of the motions `across` alone.

    Parameters
    ----------
    d : (n, 3) from the centre or the axis
    across : (n, 3, 3) projections
    """
    size = np.linalg.norm(d, axis=1)
    share = radius / np.maximum(size, 1e-6 * radius)
    turned: Floats = share[:, None, None] * across
    return turned


@dataclass(frozen=True)
class Plane:
    """The plane through `centre` at right angles to `normal`."""

    centre: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        vector("centre", self.centre)
        unit("normal", self.normal)

    def closest(self, points: Floats) -> Floats:
        n = unit("normal", self.normal)
        goals: Floats = points - ((points - self.centre) @ n)[:, None] * n
        return goals

    def wireframe(self, around: Floats) -> Wireframe:
        a = _across(unit("normal", self.normal))
        b = np.cross(unit("normal", self.normal), a)
        near = self.closest(around)
        u, v = near @ a, near @ b
        height = near[0] - u[0] * a - v[0] * b
        spacing = max(float(np.ptp(u)), float(np.ptp(v))) / 6.0
        return lattice(
            lambda s, t: height + s[:, None] * a + t[:, None] * b,
            (u.min(), u.max()),
            (v.min(), v.max()),
            (cells(float(np.ptp(u)), spacing), cells(float(np.ptp(v)), spacing)),
        )


@dataclass(frozen=True)
class Sphere:
    """The surface at distance `radius` from `centre`."""

    radius: float
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        vector("centre", self.centre)

    def closest(self, points: Floats) -> Floats:
        centre = np.asarray(self.centre, dtype=np.float64)
        top = np.array([0.0, 0.0, 1.0])
        return centre + self.radius * _outward(points - centre, top)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        u = (goals - self.centre) / self.radius
        across = np.eye(3) - u[:, :, None] * u[:, None, :]
        return _turned(points - self.centre, self.radius, across)

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        centre = np.asarray(self.centre, dtype=np.float64)
        return lattice(
            lambda s, t: centre + self.radius * on_sphere(s, t),
            (0.1 * np.pi, 0.9 * np.pi),
            (0.0, 2.0 * np.pi),
            (6, 12),
        )


def on_sphere(polar: Floats, around: Floats) -> Floats:
    """(p, 3) points of the unit sphere about the z axis."""
    return np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)],
        axis=-1,
    )


@dataclass(frozen=True)
class Cylinder:
    """The surface at distance `radius` from the line through `centre` along `axis`."""

    radius: float
    centre: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        vector("centre", self.centre)
        unit("axis", self.axis)

    def closest(self, points: Floats) -> Floats:
        axis = unit("axis", self.axis)
        d = points - self.centre
        along = (d @ axis)[:, None] * axis
        goals: Floats = (
            self.centre + along + self.radius * _outward(d - along, _across(axis))
        )
        return goals

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        """(n, 3, 3) dg/dr: along the axis as the nodes, around it as of a circle."""
        axis = unit("axis", self.axis)
        circle = Circle(self.radius, self.centre, self.axis)
        return axis[:, None] * axis + circle.slopes(points, goals)

    def wireframe(self, around: Floats) -> Wireframe:
        """Cover what a sheet `around` covers when it is wrapped without stretching."""
        axis = unit("axis", self.axis)
        centre = np.asarray(self.centre, dtype=np.float64)
        d = around - centre
        d -= (d @ axis)[:, None] * axis
        middle = d.mean(axis=0)
        e = _outward(middle[None], _across(axis))[0]
        f = np.cross(axis, e)
        angle = np.clip((d @ f) / self.radius, -0.9 * np.pi, 0.9 * np.pi)
        along = (around - centre) @ axis
        spacing = 0.75 * self.radius
        return lattice(
            lambda s, t: (
                centre
                + s[:, None] * axis
                + self.radius * (np.cos(t)[:, None] * e + np.sin(t)[:, None] * f)
            ),
            (along.min(), along.max()),
            (angle.min(), angle.max()),
            (
                cells(float(np.ptp(along)), spacing),
                cells(float(np.ptp(angle)) * self.radius, spacing),
            ),
        )


@dataclass(frozen=True)
class Circle:
    """The line at distance `radius` from `centre` in the plane normal to `normal`."""

    radius: float
    centre: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        vector("centre", self.centre)
        unit("normal", self.normal)

    def closest(self, points: Floats) -> Floats:
        n = unit("normal", self.normal)
        d = points - self.centre
        flat = d - (d @ n)[:, None] * n
        goals: Floats = self.centre + self.radius * _outward(flat, _across(n))
        return goals

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        n = unit("normal", self.normal)
        d = points - self.centre
        e = np.cross(n, goals - self.centre) / self.radius
        flat = d - (d @ n)[:, None] * n
        return _turned(flat, self.radius, e[:, :, None] * e[:, None, :])

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        n = unit("normal", self.normal)
        e = _across(n)
        angle = np.linspace(0.0, 2.0 * np.pi, 97)[:, None]
        ring = np.cos(angle) * e + np.sin(angle) * np.cross(n, e)
        return polylines([np.asarray(self.centre) + self.radius * ring])
