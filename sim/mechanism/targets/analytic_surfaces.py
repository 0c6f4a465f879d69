"""Surfaces as targets: plane, sphere, cylinder, circle, ellipsoid, Fourier surfaces.

Where the nearest point is not unique (the centre of a sphere, the axis of a cylinder
or circle) a fixed direction is taken: the one that `_across` names.

On the ellipsoid the nearest point solves one equation in one unknown.

Irregular surfaces are Fourier expansions ([dJ23], Methods, Simulations). Nearest points
on such a surface F(x) = 0 have no closed form. The nearest point x of p solves, with
the Lagrange multiplier mu,

    x + mu grad F(x) = p,     F(x) = 0

by Newton's method from the nearest of many samples. Where that does not lead to a
point at least as near as the sample, that is projected onto the surface. As p
moves, x moves along the two tangents T by

    dx = T (T^T (I + mu Hess F) T)^-1 T^T dp.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from scipy.spatial import cKDTree

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from sim.core.options import Checked, Positive, Requirement
from sim.mechanism.targets.target_interface import Wireframe, cells, lattice, polylines

Vector = Sequence[float]


def is_vector(values: object) -> bool:
    """Whether they are three finite numbers."""
    array = np.asarray(values, dtype=np.float64)
    return array.shape == (3,) and bool(np.isfinite(array).all())


def _are_finite(values: Sequence[float]) -> bool:
    array = np.asarray(values, dtype=np.float64)
    return array.ndim == 1 and bool(np.isfinite(array).all())


Place = Annotated[Vector, Requirement("three finite numbers", is_vector)]
Direction = Annotated[
    Place, Requirement("a direction", lambda values: bool(np.any(values)))
]
Numbers = Annotated[Sequence[float], Requirement("finite numbers", _are_finite)]


@dataclass(frozen=True)
class CheckedTarget(Checked):
    """A target whose numbers are checked when it is made."""

    of: ClassVar[str] = "target"


def unit(values: Vector) -> Floats:
    """The direction of three numbers."""
    array = np.asarray(values, dtype=np.float64)
    return np.asarray(array / float(np.linalg.norm(array)))


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
class Plane(CheckedTarget):
    """The plane through `centre` at right angles to `normal`.

    Attributes
    ----------
    centre : any point of it
    normal : its direction
    """

    centre: Place = (0.0, 0.0, 0.0)
    normal: Direction = (0.0, 0.0, 1.0)

    def closest(self, points: Floats) -> Floats:
        n = unit(self.normal)
        goals: Floats = points - ((points - self.centre) @ n)[:, None] * n
        return goals

    def wireframe(self, around: Floats) -> Wireframe:
        a = _across(unit(self.normal))
        b = np.cross(unit(self.normal), a)
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
class Sphere(CheckedTarget):
    """The surface at distance `radius` from `centre`.

    Attributes
    ----------
    radius : in the unit of the nodes
    centre : x, y, z
    """

    radius: Positive
    centre: Place = (0.0, 0.0, 0.0)

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
class Cylinder(CheckedTarget):
    """The surface at distance `radius` from the line through `centre` along `axis`.

    Attributes
    ----------
    radius : in the unit of the nodes
    centre : any point of its axis
    axis : its direction
    """

    radius: Positive
    centre: Place = (0.0, 0.0, 0.0)
    axis: Direction = (0.0, 0.0, 1.0)

    def closest(self, points: Floats) -> Floats:
        axis = unit(self.axis)
        d = points - self.centre
        along = (d @ axis)[:, None] * axis
        return np.asarray(
            self.centre + along + self.radius * _outward(d - along, _across(axis))
        )

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        """(n, 3, 3) dg/dr: along the axis as the nodes, around it as of a circle."""
        axis = unit(self.axis)
        circle = Circle(self.radius, self.centre, self.axis)
        return axis[:, None] * axis + circle.slopes(points, goals)

    def wireframe(self, around: Floats) -> Wireframe:
        """Cover what a sheet `around` covers when it is wrapped without stretching."""
        axis = unit(self.axis)
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
class Circle(CheckedTarget):
    """The line at distance `radius` from `centre` in the plane normal to `normal`.

    Attributes
    ----------
    radius : in the unit of the nodes
    centre : x, y, z
    normal : direction square to its plane
    """

    radius: Positive
    centre: Place = (0.0, 0.0, 0.0)
    normal: Direction = (0.0, 0.0, 1.0)

    def closest(self, points: Floats) -> Floats:
        n = unit(self.normal)
        d = points - self.centre
        flat = d - (d @ n)[:, None] * n
        return np.asarray(self.centre + self.radius * _outward(flat, _across(n)))

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        n = unit(self.normal)
        d = points - self.centre
        e = np.cross(n, goals - self.centre) / self.radius
        flat = d - (d @ n)[:, None] * n
        return _turned(flat, self.radius, e[:, :, None] * e[:, None, :])

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        n = unit(self.normal)
        e = _across(n)
        angle = np.linspace(0.0, 2.0 * np.pi, 97)[:, None]
        ring = np.cos(angle) * e + np.sin(angle) * np.cross(n, e)
        return polylines([np.asarray(self.centre) + self.radius * ring])


FOCAL_ELLIPSOID = 1e-6  # of 1 + t / a_i^2, where nearest points jump to another side


@kernel
def closest_on_ellipsoid(points: Floats, a: Floats) -> Floats:
    """Nearest points of sum (x_i / a_i)^2 = 1.

    The nearest point of p is x_i = a_i^2 p_i / (t + a_i^2), with t the largest root of

        F(t) = sum (a_i p_i / (t + a_i^2))^2 - 1.

    F falls and is convex right of -min a_i^2, so that Newton's method rises to the root
    from t = max (a_i |p_i| - a_i^2), where F >= 0, without overshooting. A point in a
    plane of symmetry near the centre has F < 0 there: t stays, and the coordinate of
    the shortest axis makes up what is missing, on the positive side.

    Parameters
    ----------
    points : (n, 3)
    a : (3,) semi-axes
    """
    x, t = np.empty((len(points), 3)), np.full(len(points), -np.inf)
    shortest = np.argmin(a)
    for j in range(len(points)):
        for i in range(3):
            t[j] = np.maximum(t[j], a[i] * abs(points[j, i]) - a[i] ** 2)
    _rise_to_roots(points, a, t)
    for j in range(len(points)):
        missing = 1.0
        for i in range(3):
            shifted = t[j] + a[i] ** 2
            x[j, i] = 0.0 if shifted <= 0.0 else a[i] ** 2 * points[j, i] / shifted
            missing -= (x[j, i] / a[i]) ** 2
        if t[j] + a[shortest] ** 2 <= 0.0 and missing > 0.0:
            x[j, shortest] = a[shortest] * np.sqrt(missing)
    return x


@kernel
def _rise_to_roots(points: Floats, a: Floats, t: Floats) -> None:
    """Newton's method for F, of all points until each has arrived."""
    least, arrived = a.min() ** 2, False
    term, share = np.empty(3), np.empty(3)
    for _ in range(100):
        if arrived:
            break
        arrived = True
        for j in range(len(points)):
            for i in range(3):
                term[i] = share[i] = 0.0
                if points[j, i] != 0.0:
                    shifted = t[j] + a[i] ** 2
                    term[i] = a[i] * points[j, i] / shifted
                    share[i] = term[i] ** 2 / shifted
            slope = share[0] + share[1] + share[2]
            if slope > 0.0:
                F = term[0] ** 2 + term[1] ** 2 + term[2] ** 2 - 1.0
                step = max(0.5 * (F / slope), 0.0)
                t[j] += step
                arrived &= step <= 4e-16 * (abs(t[j]) + least)


@dataclass(frozen=True)
class Ellipsoid(CheckedTarget):
    """Semi-axes along x, y, z about `centre`.

    Attributes
    ----------
    semi_axes : along x, y and z, in the unit of the nodes
    centre : x, y, z
    """

    semi_axes: Annotated[
        Place,
        Requirement("positive", lambda values: bool(np.greater(values, 0.0).all())),
    ]
    centre: Place = (0.0, 0.0, 0.0)

    def closest(self, points: Floats) -> Floats:
        a, centre = np.asarray(self.semi_axes), np.asarray(self.centre)
        return centre + closest_on_ellipsoid(points - centre, a)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        """(n, 3, 3) dg/dr, from r = g + t N with N = (g_i / a_i^2), N.dg = 0:

        A^-1 - A^-1 N (A^-1 N)^T / (N.A^-1 N),   A = diag(1 + t / a_i^2)
        """
        squares = np.square(self.semi_axes)
        N = (goals - self.centre) / squares
        t = np.sum((points - goals) * N, axis=1) / np.sum(N * N, axis=1)
        stretch = 1.0 / np.maximum(1.0 + t[:, None] / squares, FOCAL_ELLIPSOID)
        v = stretch * N
        found: Floats = stretch[:, :, None] * np.eye(3)
        found -= v[:, :, None] * v[:, None, :] / np.sum(v * N, axis=1)[:, None, None]
        return found

    def wireframe(self, around: Floats) -> Wireframe:
        """Meridians about the z axis, from the pole on the side of `around`.

        They end where a sheet laid over the pole without stretching would end.
        """
        a, centre = np.asarray(self.semi_axes), np.asarray(self.centre)
        d = around - centre
        side = 1.0 if d[:, 2].mean() >= 0.0 else -1.0
        reach = float(np.linalg.norm(d[:, :2] - d[:, :2].mean(axis=0), axis=1).max())
        end = min(reach / float(a.mean()), 0.9 * np.pi)
        rings = max(2, round(end / 0.4))
        return lattice(
            lambda s, t: centre + a * [1.0, 1.0, side] * on_sphere(s, t),
            (end / rings, end),
            (0.0, 2.0 * np.pi),
            (rings - 1, 12),
        )


SHORT = 1e-5  # of a radius, displacement of differences


@dataclass(frozen=True)
class FourierCylinder(CheckedTarget):
    """A cylinder about the z axis through `centre` whose radius varies with the angle.

    r(phi) = radius + sum_k cosines_k cos k phi + sines_k sin k phi,  k = 1, 2, ...
    """

    radius: Positive
    cosines: Numbers
    sines: Numbers
    centre: Place = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.cosines) != len(self.sines):
            raise ValueError(
                f"cosines and sines of the target must be equally many, not "
                f"{len(self.cosines)} and {len(self.sines)}"
            )
        if self.profile(np.linspace(0.0, 2.0 * np.pi, 720))[0].min() <= 0.0:
            raise ValueError("the target has a negative radius: give smaller cosines")

    def profile(self, phi: Floats) -> tuple[Floats, Floats]:
        """r and dr/dphi at the angles phi (p,)."""
        k = np.arange(1, len(self.cosines) + 1)
        a, b = np.asarray(self.cosines), np.asarray(self.sines)
        c, s = np.cos(np.outer(phi, k)), np.sin(np.outer(phi, k))
        return self.radius + c @ a + s @ b, -s @ (k * a) + c @ (k * b)

    def _level(self, x: Floats) -> tuple[Floats, Floats]:
        """F = rho - r(phi); grad F = e_rho - r'(phi)/rho e_phi."""
        d = x - self.centre
        rho = np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-12)
        cos, sin = d[:, 0] / rho, d[:, 1] / rho
        r, slope = self.profile(np.arctan2(sin, cos))
        turn = slope / rho
        grad = np.stack([cos + turn * sin, sin - turn * cos, np.zeros(len(x))], -1)
        return rho - r, grad

    def _ring(self, phi: Floats) -> Floats:
        r = self.profile(phi)[0]
        ring: Floats = np.column_stack([r * np.cos(phi), r * np.sin(phi), 0.0 * phi])
        return ring + self.centre

    @cached_property
    def _samples(self) -> Floats:
        angles = np.linspace(0.0, 2.0 * np.pi, 721)[:-1]
        return self._ring(angles)

    def closest(self, points: Floats) -> Floats:
        _, near = cKDTree(self._samples[:, :2]).query(points[:, :2])
        starts = self._samples[near]
        starts[:, 2] = points[:, 2]
        return closest_on_level_set(points, starts, self._level)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        return level_set_slopes(points, goals, self._level, SHORT * self.radius)

    def wireframe(self, around: Floats) -> Wireframe:
        z = around[:, 2]
        middle, half = 0.5 * (z.min() + z.max()), 0.5 * np.ptp(z) + 0.2 * self.radius
        up = np.array([0.0, 0.0, 1.0])
        level = middle - self.centre[2]
        return lattice(
            lambda s, t: self._ring(s) + (level + t)[:, None] * up,
            (0.0, 2.0 * np.pi),
            (-float(half), float(half)),
            (24, cells(2.0 * float(half), 0.5 * self.radius)),
        )


@dataclass(frozen=True)
class FourierBlob(CheckedTarget):
    """A closed surface about `centre`, an "organic" shape.

    In the direction u (|u| = 1) its distance from the centre is

        r(u) = radius + sum_j amplitudes_j cos(waves_j . u + phases_j),

    a Fourier expansion over the coordinates of u, which has no poles.
    """

    radius: Positive
    amplitudes: Numbers
    waves: Annotated[
        Sequence[Vector],
        Requirement("of three finite numbers each", lambda k: all(map(is_vector, k))),
    ]
    phases: Numbers
    centre: Place = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = len(self.amplitudes), len(self.waves), len(self.phases)
        if len(set(counts)) > 1:
            raise ValueError(
                f"the target has {counts[0]} amplitudes, {counts[1]} waves and "
                f"{counts[2]} phases: give as many of each"
            )
        total = np.abs(self.amplitudes).sum()
        if self.radius <= total:
            raise ValueError(
                f"amplitudes of the target add up to {total:g}, more than its radius "
                f"{self.radius:g}: give smaller ones"
            )

    def _level(self, x: Floats) -> tuple[Floats, Floats]:
        """F = |d| - r(d / |d|)."""
        d = x - self.centre
        size = np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
        u = d / size
        a, K = np.asarray(self.amplitudes), np.asarray(self.waves, dtype=float)
        angle = u @ K.T + np.asarray(self.phases)
        r = self.radius + np.cos(angle) @ a
        slope = -(np.sin(angle) * a) @ K
        slope -= np.einsum("pi,pi->p", slope, u)[:, None] * u
        return size[:, 0] - r, u - slope / size

    def _shell(self, u: Floats) -> Floats:
        """Points of the surface in the directions u."""
        F = self._level(np.asarray(self.centre) + u)[0]
        return np.asarray(self.centre + (1.0 - F)[:, None] * u)

    @cached_property
    def _samples(self) -> Floats:
        i = np.arange(5000) + 0.5
        polar, around = np.arccos(1.0 - i / 2500.0), np.pi * (1.0 + 5.0**0.5) * i
        return self._shell(on_sphere(polar, around))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._samples)

    def closest(self, points: Floats) -> Floats:
        _, near = self._tree.query(points)
        return closest_on_level_set(points, self._samples[near], self._level)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        return level_set_slopes(points, goals, self._level, SHORT * self.radius)

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        return lattice(
            lambda s, t: self._shell(on_sphere(s, t)),
            (0.1 * np.pi, 0.9 * np.pi),
            (0.0, 2.0 * np.pi),
            (8, 16),
        )


FOCAL_LEVEL_SET = 1e-6  # of I + mu Hess F, where nearest points jump to another side

LevelSet = Callable[[Floats], tuple[Floats, Floats]]  # (p, 3) -> F (p,), grad F (p, 3)


def closest_on_level_set(points: Floats, starts: Floats, surface: LevelSet) -> Floats:
    """(p, 3) nearest points.

    Parameters
    ----------
    points : (p, 3)
    starts : (p, 3) a sample of the surface near each
    surface : values and gradients of F
    """
    x = starts.copy()
    scale = np.linalg.norm(points - starts, axis=1)
    reach = 0.5 * np.maximum(scale, 1e-3 * (1.0 + np.abs(starts).max()))
    F, g = surface(x)
    mu = np.einsum("pi,pi->p", points - x, g) / np.einsum("pi,pi->p", g, g)
    for _ in range(40):
        step, dmu = _newton_step(points, x, mu, F, g, surface)
        size = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, reach / np.maximum(size, 1e-300))[:, None]
        x, mu = x + step, mu + dmu
        F, g = surface(x)
        if size.max(initial=0.0) <= 1e-9 * (1.0 + np.abs(x).max()):  # squared next
            break
    onto = _onto(starts, surface)
    distance = np.linalg.norm(x - points, axis=1)
    worse = ~(distance <= np.linalg.norm(onto - points, axis=1) * (1.0 + 1e-12))
    off = ~(np.abs(F) <= 1e-9 * (1.0 + np.linalg.norm(g, axis=1)))
    x[worse | off] = onto[worse | off]
    return x


def level_set_slopes(
    points: Floats, goals: Floats, surface: LevelSet, h: float
) -> Floats:
    """(p, 3, 3) derivative of the nearest points `goals` in `points`.

    Parameters
    ----------
    h : displacement of the differences that Hess F is taken from
    """
    g = surface(goals)[1]
    square = np.einsum("pi,pi->p", g, g)
    mu = np.einsum("pi,pi->p", points - goals, g) / square
    normal = g[:, :, None] * g[:, None, :] / square[:, None, None]
    along = np.eye(3) - normal
    bent = np.eye(3) + mu[:, None, None] * _hessian(goals, surface, h)
    values, V = np.linalg.eigh(along @ bent @ along + normal)
    inverse = (V / np.maximum(values, FOCAL_LEVEL_SET)[:, None, :]) @ V.transpose(
        0, 2, 1
    )
    return np.asarray(inverse - normal)


def _hessian(x: Floats, surface: LevelSet, h: float) -> Floats:
    """(p, 3, 3) Hess F, symmetric."""
    shifts = h * np.concatenate([np.eye(3), -np.eye(3)])
    g = surface((x + shifts[:, None]).reshape(-1, 3))[1].reshape(2, 3, -1, 3)
    H: Floats = (g[0] - g[1]).transpose(1, 2, 0) / (4.0 * h)
    return H + H.transpose(0, 2, 1)


def _newton_step(
    points: Floats, x: Floats, mu: Floats, F: Floats, g: Floats, surface: LevelSet
) -> tuple[Floats, Floats]:
    K = np.zeros((len(x), 4, 4))
    K[:, :3, :3] = mu[:, None, None] * _hessian(x, surface, 1e-6) + np.eye(3)
    K[:, :3, 3] = K[:, 3, :3] = g
    right = np.concatenate([points - x - mu[:, None] * g, -F[:, None]], axis=1)
    singular = np.abs(np.linalg.det(K)) < 1e-12
    K[singular] = np.eye(4)
    solved = np.linalg.solve(K, right[..., None])[..., 0]
    return solved[:, :3], solved[:, 3]


def _onto(x: Floats, surface: LevelSet) -> Floats:
    """Project points that are almost on the surface onto it."""
    for _ in range(20):
        F, g = surface(x)
        before, x = x, x - (F / np.einsum("pi,pi->p", g, g))[:, None] * g
        if np.array_equal(x, before):
            break
    return x
