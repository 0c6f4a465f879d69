"""Rigid bodies that rods touch: spheres, bars, plates, height fields, meshes.

A body says how far points are from its surface, and which way is out there. Within it
the distance is negative, so that what has gone too far comes back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.cones import contact_tangents
from sim.contact.distance import closest_on_triangle
from sim.convergence import NotConvergedError
from sim.kernels import kernel
from sim.limits import refuse_unless_count, refuse_unless_positive

FEET = 60  # iterations to the closest points of a height field
DRAWN = 400  # places of a line on a height field
CLOSE = 1e-13  # of the distance over which a foot was sought


class Body(Protocol):
    """What rods may touch.

    Attributes
    ----------
    pieces : of an edge, in each of which it is closest to the body in one place
    """

    @property
    def pieces(self) -> int: ...

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """(k,) m from the surface to points (k, 3), and (k, 3) the way out."""
        ...

    def lines(self, x: Floats) -> Floats:
        """(q, 2, 3) lines on it, to be drawn beside nodes x (n, 3)."""
        ...


def _refuse_unless_place(values: Floats, what: str) -> None:
    if np.shape(values) != (3,) or not np.isfinite(values).all():
        raise ValueError(f"{what} is {values}: give three finite numbers, m")


@dataclass(frozen=True)
class SphereBody:
    """m."""

    centre: tuple[float, float, float]
    radius: float
    pieces: int = 1

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "radius", of="sphere")
        _refuse_unless_place(np.array(self.centre, dtype=np.float64), "sphere: centre")

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        return _from_places(x, np.array(self.centre)[None, :], self.radius)

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """As `Body.lines`: three circles."""
        around = [_circle(np.array(self.centre), self.radius, a) for a in np.eye(3)]
        return np.concatenate(around)


@dataclass(frozen=True)
class BarBody:
    """A round cylinder between two points, its ends round; m."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float
    pieces: int = 1

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "radius", of="bar")
        for name in ("start", "end"):
            place = np.array(getattr(self, name), dtype=np.float64)
            _refuse_unless_place(place, f"bar: {name}")
        if self.start == self.end:
            raise ValueError(f"bar: it starts and ends at {self.start}: make a sphere")

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        start, along = np.array(self.start), np.subtract(self.end, self.start)
        share = np.clip((x - start) @ along / (along @ along), 0.0, 1.0)
        return _from_places(x, start + share[:, None] * along, self.radius)

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """As `Body.lines`: three circles, and lines from the first to the last."""
        start, along = np.array(self.start), np.subtract(self.end, self.start)
        around = [
            _circle(start + s * along, self.radius, along / np.linalg.norm(along))
            for s in (0.0, 0.5, 1.0)
        ]
        beside = np.stack([around[0][::6, 0], around[2][::6, 0]], axis=1)
        return np.concatenate([*around, beside])


@dataclass(frozen=True)
class PlateBody:
    """A box along the axes; m.

    Attributes
    ----------
    centre, size : m, `size` from face to face
    """

    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    pieces: int = 1

    def __post_init__(self) -> None:
        for name in ("centre", "size"):
            place = np.array(getattr(self, name), dtype=np.float64)
            _refuse_unless_place(place, f"plate: {name}")
        if not min(self.size) > 0.0:
            raise ValueError(f"plate: size is {self.size}: give positive numbers, m")

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        p, half = x - np.array(self.centre), 0.5 * np.array(self.size)
        apart = p - np.clip(p, -half, half)
        far = np.linalg.norm(apart, axis=1)
        deep = np.abs(p) - half
        face = np.eye(3)[deep.argmax(axis=1)] * np.where(p < 0.0, -1.0, 1.0)
        out = np.where(far[:, None] > 0.0, apart, face)
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return np.where(far > 0.0, far, deep.max(axis=1)), out

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """As `Body.lines`: its twelve edges."""
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
class HeightField:
    """All that is below the surface w = f(u, v).

    The closest point is exact where the surface bends less than the way to it: rods
    must be thinner than its hollows are narrow.

    Attributes
    ----------
    surface : of u and v (k,): f, its slopes by u and v, its second slopes by u u, u v
        and v v, (6, k)
    pieces : of an edge, each with at most one place where it is closest
    axes : (3, 3) directions of u, v and w
    """

    surface: Surface
    pieces: int = 4
    axes: Floats | None = None

    def __post_init__(self) -> None:
        refuse_unless_count(self, "pieces", of="height field")
        turn = self._turn
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3)):
            raise ValueError(
                "height field: axes are not three unit vectors across each other"
            )

    @property
    def _turn(self) -> Floats:
        return np.eye(3) if self.axes is None else np.asarray(self.axes)

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        p = x @ self._turn.T
        foot = self._feet(p)
        f, fu, fv, *_ = self.surface(foot[:, 0], foot[:, 1])
        up = np.column_stack([-fu, -fv, np.ones(len(f))])
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        apart = p - np.column_stack([foot, f])
        return np.sum(apart * up, axis=1), up @ self._turn

    def lines(self, x: Floats) -> Floats:
        """As `Body.lines`: one along u, below the middle of the nodes."""
        p = x @ self._turn.T
        away = 0.25 * float(np.ptp(p, axis=0).max())
        u = np.linspace(p[:, 0].min() - away, p[:, 0].max() + away, DRAWN)
        v = np.full(DRAWN, p[:, 1].mean())
        at = np.column_stack([u, v, self.surface(u, v)[0]]) @ self._turn
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


@dataclass(frozen=True, eq=False)
class MeshBody:
    """A body, or a ground, of triangles.

    Its side is told by the normals of faces, edges and corners, of corners weighted by
    angles (Baerentzen and Aanaes, IEEE TVCG 11, 2005), so that a mesh is closed, or
    what it meets stays above it.

    Attributes
    ----------
    corners : (n, 3) m
    faces : (t, 3) corners, counterclockwise from outside
    pieces : of an edge, each with at most one place where it is closest
    """

    corners: Floats
    faces: Ints
    pieces: int = 2

    def __post_init__(self) -> None:
        refuse_unless_count(self, "pieces", of="mesh")
        _refuse_bad_mesh(self.corners, self.faces)

    @cached_property
    def _triangles(self) -> Floats:
        return np.ascontiguousarray(self.corners[self.faces], dtype=np.float64)

    @cached_property
    def _normals(self) -> Floats:
        """(t, 8, 3) by the corners that are closest, as bits: face, edges, corners."""
        y = self._triangles
        face = np.cross(y[:, 1] - y[:, 0], y[:, 2] - y[:, 0])
        face /= np.linalg.norm(face, axis=1, keepdims=True)
        found = np.empty((len(y), 8, 3))
        found[:, 7] = face
        at = np.zeros_like(self.corners, dtype=np.float64)
        beside: dict[tuple[int, int], Floats] = {}
        for k in range(3):
            i, j = self.faces[:, k], self.faces[:, (k + 1) % 3]
            a, b = y[:, (k + 1) % 3] - y[:, k], y[:, (k + 2) % 3] - y[:, k]
            angle = np.arctan2(
                np.linalg.norm(np.cross(a, b), axis=1), np.sum(a * b, axis=1)
            )
            np.add.at(at, i, angle[:, None] * face)
            pairs = np.sort(np.column_stack([i, j])).tolist()
            for pair, n in zip(map(tuple, pairs), face, strict=True):
                beside[pair] = beside.get(pair, 0.0) + n
        for k, bits in enumerate((3, 6, 5)):
            pairs = np.sort(self.faces[:, [k, (k + 1) % 3]]).tolist()
            found[:, bits] = [beside[tuple(pair)] for pair in pairs]
        for k in range(3):
            found[:, 1 << k] = at[self.faces[:, k]]
        found[:, 0] = face
        return found

    def distance(self, x: Floats) -> tuple[Floats, Floats]:
        """As `Body.distance`."""
        x = np.ascontiguousarray(x)
        face, bits = np.empty((2, len(x)), dtype=np.int64)
        foot = np.empty_like(x)
        _closest_faces(x, self._triangles, face, bits, foot)
        side = self._normals[face, bits]
        apart = x - foot
        far = np.linalg.norm(apart, axis=1)
        sign = np.where(np.sum(apart * side, axis=1) < 0.0, -1.0, 1.0)
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        out = sign[:, None] * apart / np.maximum(far, 1e-300)[:, None]
        return sign * far, np.where(far[:, None] > 1e-12, out, side)

    def lines(self, x: Floats) -> Floats:  # noqa: ARG002
        """As `Body.lines`: the edges of all faces."""
        pairs = np.sort(np.concatenate([self.faces[:, [k, k - 1]] for k in range(3)]))
        return np.asarray(self.corners[np.unique(pairs, axis=0)], dtype=np.float64)


@kernel
def _closest_faces(
    x: Floats, triangles: Floats, face: Ints, bits: Ints, foot: Floats
) -> None:
    """face, bits (k,), foot (k, 3) <- the closest triangle and point of it."""
    y = np.empty((4, 3))
    for k in range(len(x)):
        best = np.inf
        for t in range(len(triangles)):
            away = 0.0
            for a in range(3):
                low = min(triangles[t, 0, a], triangles[t, 1, a], triangles[t, 2, a])
                high = max(triangles[t, 0, a], triangles[t, 1, a], triangles[t, 2, a])
                out = max(low - x[k, a], x[k, a] - high, 0.0)
                away += out * out
            if away >= best:
                continue
            for a in range(3):
                y[0, a] = x[k, a]
                for i in range(3):
                    y[1 + i, a] = triangles[t, i, a]
            u, v, w, zone = closest_on_triangle(y)
            far = 0.0
            for a in range(3):
                far += (u * y[1, a] + v * y[2, a] + w * y[3, a] - y[0, a]) ** 2
            if far < best:
                best, face[k], bits[k] = far, t, zone
                for a in range(3):
                    foot[k, a] = u * y[1, a] + v * y[2, a] + w * y[3, a]


def _refuse_bad_mesh(corners: Floats, faces: Ints) -> None:
    if corners.ndim != 2 or corners.shape[1] != 3 or not np.isfinite(corners).all():
        raise ValueError("mesh: give finite corners, rows of x y z")
    if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
        raise ValueError(f"mesh: faces of shape {faces.shape}: give rows of 3 corners")
    if faces.min() < 0 or faces.max() >= len(corners):
        raise ValueError(
            f"mesh: a face names corner {faces.max()}, but corners are numbered 0 to "
            f"{len(corners) - 1}"
        )
    y = corners[faces]
    area = np.linalg.norm(np.cross(y[:, 1] - y[:, 0], y[:, 2] - y[:, 0]), axis=1)
    size = np.linalg.norm(y[:, [1, 2, 0]] - y, axis=2).max(axis=1)
    for k in np.flatnonzero(area <= 1e-9 * size**2).tolist():
        raise ValueError(f"mesh: face {k} has no area: leave it out")
    seen: set[tuple[int, int]] = set()
    for k, face in enumerate(faces.tolist()):
        for i in range(3):
            way = face[i], face[(i + 1) % 3]
            if way in seen:
                raise ValueError(
                    f"mesh: two faces run from corner {way[0]} to {way[1]}, one of "
                    f"them face {k}: turn it over, or part the mesh"
                )
            seen.add(way)
