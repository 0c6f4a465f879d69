"""Rigid bodies that rods touch: spheres, bars, plates, height fields, fixed or driven.

`distance` of a body gives (k,) how far points (k, 3) are from its surface, m, and (k,
3) the way out there; within it the distance is negative. `lines` gives (q, 2, 3) lines
on it near nodes x (n, 3), for pictures. An edge has so many `pieces`, in each of which
one place is closest to the body.

Grounds are height fields: `swept` from the curve z = f(x) of the plane, level along y,
or `tabled`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.interpolate import RectBivariateSpline

from sim.contact.coulomb import contact_tangents
from sim.core.arrays import Floats
from sim.core.options import (
    Checked,
    Count,
    NotConvergedError,
    Positive,
    Requirement,
    is_finite,
)
from sim.rods.plane.ground import Terrain, Wave, fill_curve
from sim.rods.prescribed_motion import PrescribedMotion

FEET = 60  # iterations to the closest points of a height field
LINE_POINTS = 400  # of a line on a height field
CLOSE = 1e-13  # of the distance over which a foot was sought


Place = Annotated[
    tuple[float, float, float],
    Requirement(
        "three finite numbers", lambda at: len(at) == 3 and all(map(is_finite, at))
    ),
]
Sides = Annotated[
    Place, Requirement("three positive numbers", lambda sides: min(sides) > 0.0)
]


@dataclass(frozen=True)
class SphereBody(Checked):
    """m."""

    of = "sphere"
    centre: Place
    radius: Positive
    pieces: int = 1

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """From the surface, and the way out."""
        return _from_places(x, np.array(self.centre)[None, :], self.radius)

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """Three circles."""
        around = [_circle(np.array(self.centre), self.radius, a) for a in np.eye(3)]
        return np.concatenate(around)


@dataclass(frozen=True)
class BarBody(Checked):
    """A round cylinder between two points, its ends round; m."""

    of = "bar"
    start: Place
    end: Place
    radius: Positive
    pieces: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start == self.end:
            raise ValueError(f"bar: both ends are at {self.start}: use a sphere")

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """From the surface, and the way out."""
        start, along = np.array(self.start), np.subtract(self.end, self.start)
        share = np.clip((x - start) @ along / (along @ along), 0.0, 1.0)
        return _from_places(x, start + share[:, None] * along, self.radius)

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """Three circles, and lines from the first to the last."""
        start, along = np.array(self.start), np.subtract(self.end, self.start)
        around = [
            _circle(start + s * along, self.radius, along / np.linalg.norm(along))
            for s in (0.0, 0.5, 1.0)
        ]
        along_it = np.stack([around[0][::6, 0], around[2][::6, 0]], axis=1)
        return np.concatenate([*around, along_it])


@dataclass(frozen=True)
class PlateBody(Checked):
    """A box along the axes; m.

    Attributes
    ----------
    centre, size : m, `size` from face to face
    """

    of = "plate"
    centre: Place
    size: Sides
    pieces: int = 1

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """From the surface, and the way out."""
        p, half = x - np.array(self.centre), 0.5 * np.array(self.size)
        apart = p - np.clip(p, -half, half)
        far = np.linalg.norm(apart, axis=1)
        deep = np.abs(p) - half
        face = np.eye(3)[deep.argmax(axis=1)] * np.where(p < 0.0, -1.0, 1.0)
        out = np.where(far[:, None] > 0.0, apart, face)
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return np.where(far > 0.0, far, deep.max(axis=1)), out

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """Its twelve edges."""
        corners = np.indices((2, 2, 2)).reshape(3, 8).T
        at = np.array(self.centre) + (corners - 0.5) * self.size
        near = np.abs(corners[:, None] - corners).sum(axis=2) == 1
        return np.asarray(at[np.argwhere(np.triu(near))])


def _circle(centre: Floats, radius: float, axis: Floats) -> Floats:
    """(24, 2, 3) lines."""
    one, other = contact_tangents(axis[None, :])[0]
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
    at = centre + radius * (np.cos(angle) * one + np.sin(angle) * other)
    return np.stack([at[:-1], at[1:]], axis=1)


def _from_places(x: Floats, places: Floats, radius: float) -> tuple[Floats, Floats]:
    """Distances of points from a skin about the nearest places of an axis."""
    apart = x - places
    far = np.maximum(np.linalg.norm(apart, axis=1), 1e-300)
    return far - radius, apart / far[:, None]


Surface = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class HeightField(Checked):
    """All that is below the surface z = f(x, y).

    The closest point is exact where the surface bends less than the way to it: rods
    must be thinner than its hollows are narrow.

    Attributes
    ----------
    surface : of x and y (k,): f, its slopes by x and y, its second slopes by x x, x y
        and y y, (6, k)
    pieces : of an edge, each with at most one place where it is closest
    """

    of = "height field"
    surface: Surface
    pieces: Count = 4

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """From the surface, and the way out."""
        foot = self._feet(x)
        f, fu, fv, *_ = self.surface(foot[:, 0], foot[:, 1])
        up = np.column_stack([-fu, -fv, np.ones(len(f))])
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        apart = x - np.column_stack([foot, f])
        return np.sum(apart * up, axis=1), up

    def lines(self, x: Floats) -> Floats:
        """One along x, below the middle of the nodes."""
        away = 0.25 * float(np.ptp(x, axis=0).max())
        u = np.linspace(x[:, 0].min() - away, x[:, 0].max() + away, LINE_POINTS)
        v = np.full(LINE_POINTS, x[:, 1].mean())
        at = np.column_stack([u, v, self.surface(u, v)[0]])
        return np.stack([at[:-1], at[1:]], axis=1)

    def _feet(self, p: Floats) -> Floats:
        """(k, 2) u and v of the closest points, by Newton's method that descends."""
        foot = p[:, :2].copy()
        least = CLOSE * (1.0 + np.abs(p).max(initial=0.0))
        left = np.arange(len(p))
        for _ in range(FEET):
            step = self._towards(p[left], foot[left])
            foot[left] += step
            left = left[np.abs(step).max(axis=1) > least]
            if not len(left):
                return foot
        raise NotConvergedError(
            f"height field: no closest point to {p[left[0]]} m is found: give a "
            "smoother field",
            best=foot,
        )

    def _towards(self, p: Floats, foot: Floats) -> Floats:
        """(k, 2) steps to closer points, shortened until they are closer."""
        f, fu, fv, fuu, fuv, fvv = self.surface(foot[:, 0], foot[:, 1])
        over = f - p[:, 2]
        g = foot - p[:, :2] + over[:, None] * np.column_stack([fu, fv])
        flat = np.array([1.0 + fu * fu, fu * fv, 1.0 + fv * fv])
        a, b, c = flat + over * np.array([fuu, fuv, fvv])
        bent = (a > 0.0) & (a * c - b * b > 0.0)
        a, b, c = np.where(bent, [a, b, c], flat)
        step = -np.column_stack([c * g[:, 0] - b * g[:, 1], a * g[:, 1] - b * g[:, 0]])
        step /= (a * c - b * b)[:, None]
        before = np.sum((foot - p[:, :2]) ** 2, axis=1) + over**2
        for _ in range(30):
            to = foot + step
            after = np.sum((to - p[:, :2]) ** 2, axis=1)
            after += (self.surface(to[:, 0], to[:, 1])[0] - p[:, 2]) ** 2
            far = after > before * (1.0 + 1e-12)
            if not far.any():
                break
            step[far] *= 0.5
        return step


def swept(ground: Wave | Terrain) -> HeightField:
    """A height field; its offset is 0, as skins touch it."""
    if ground.offset != 0.0:
        raise ValueError(
            f"ground: offset is {ground.offset:g} m, but in 3D the surface of a rod "
            "touches the ground: set it to 0"
        )
    relief = ground.relief

    def surface(u: Floats, v: Floats) -> Floats:
        f, slope, bent = np.empty((3, len(u)))
        fill_curve(relief, np.ascontiguousarray(u), f, slope, bent)
        none = 0.0 * v
        return np.array([f, slope, none, bent, none, none])

    return HeightField(surface)


def tabled(
    x: Sequence[float], y: Sequence[float], z: Sequence[Sequence[float]], unit: float
) -> HeightField:
    """A height field through a table, smooth (bicubic); level beyond its ends.

    Parameters
    ----------
    x, y : (p,), (q,) rising, 4 or more of each
    z : (p, q) heights
    unit : of all of them, m

    Raises
    ------
    ValueError
        where the table is none
    """
    if min(len(x), len(y)) < 4 or [len(row) for row in z] != [len(y)] * len(x):
        raise ValueError(
            f"ground: heights z has {len(z)} rows for {len(x)} x and {len(y)} y: give "
            "one row per x and one column per y, 4 or more of each"
        )
    for name, values in (("x", x), ("y", y)):
        if (np.diff(values) <= 0.0).any():
            raise ValueError(f"ground: heights: {name} must increase")
    at = unit * np.array(x), unit * np.array(y)
    spline = RectBivariateSpline(at[0], at[1], unit * np.array(z))

    def surface(u: Floats, v: Floats) -> Floats:
        p, q = (np.clip(w, own[0], own[-1]) for w, own in zip((u, v), at, strict=True))
        orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        found = [spline.ev(p, q, i, j) for i, j in orders]
        on = [((p == u) | (i == 0)) & ((q == v) | (j == 0)) for i, j in orders]
        return np.asarray(np.array(found) * on)

    return HeightField(surface)


@dataclass(frozen=True, eq=False)
class DrivenBody:
    """A rigid body on its way, where it is at a time; `body` is as it is at first."""

    body: "Body"
    motion: PrescribedMotion
    time: float = 0.0

    @property
    def pieces(self) -> int:
        """Those of the body."""
        return self.body.pieces

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """From the surface, and the way out."""
        far, out = self.body.distance(self.motion.back(x, self.time))
        return far, self.motion.turned(out, self.time)

    def lines(self, x: Floats) -> Floats:
        """Those of the body, where it is."""
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


Body = SphereBody | BarBody | PlateBody | HeightField | DrivenBody
