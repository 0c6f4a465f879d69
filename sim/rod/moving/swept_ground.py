"""Grounds in space: the curve z = f(x) of the plane, level along y, and tables."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.interpolate import PchipInterpolator, RectBivariateSpline

from sim.arrays import Floats
from sim.rod.contact.ground import Terrain, Wave
from sim.rod.moving.bodies import HeightField

Curve = Callable[[Floats], tuple[Floats, Floats, Floats]]


def swept(ground: Wave | Terrain) -> HeightField:
    """A height field; its offset is 0, as skins touch it."""
    if ground.offset != 0.0:
        raise ValueError(
            f"ground: offset is {ground.offset:g} m: in space skins touch it: leave it "
            "at 0"
        )
    curve = _wave(ground) if isinstance(ground, Wave) else _through(ground)

    def surface(u: Floats, v: Floats) -> Floats:
        f, slope, bend = curve(u)
        none = 0.0 * v
        return np.array([f, slope, none, bend, none, none])

    return HeightField(surface)


def _wave(wave: Wave) -> Curve:
    k = 2.0 * np.pi / wave.wavelength

    def curve(u: Floats) -> tuple[Floats, Floats, Floats]:
        angle = k * (u + wave.start)
        f, slope = wave.amplitude * np.sin(angle), k * wave.amplitude * np.cos(angle)
        return f, slope, -k * k * f

    return curve


def _through(terrain: Terrain) -> Curve:
    x, y = np.asarray(terrain.points, dtype=np.float64).T
    pieces = PchipInterpolator(x, y)

    def curve(u: Floats) -> tuple[Floats, Floats, Floats]:
        inside = np.clip(u, x[0], x[-1])
        on = inside == u
        return pieces(inside), on * pieces(inside, 1), on * pieces(inside, 2)

    return curve


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
            f"ground: heights z of {len(z)} rows for {len(x)} x and {len(y)} y: give a "
            "row for each x, of one height for each y, at 4 or more of both"
        )
    for name, values in (("x", x), ("y", y)):
        if (np.diff(values) <= 0.0).any():
            raise ValueError(f"ground: heights: {name} must rise from place to place")
    at = unit * np.array(x), unit * np.array(y)
    spline = RectBivariateSpline(at[0], at[1], unit * np.array(z))

    def surface(u: Floats, v: Floats) -> Floats:
        p, q = (np.clip(w, own[0], own[-1]) for w, own in zip((u, v), at, strict=True))
        orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        found = [spline.ev(p, q, i, j) for i, j in orders]
        on = [((p == u) | (i == 0)) & ((q == v) | (j == 0)) for i, j in orders]
        return np.asarray(np.array(found) * on)

    return HeightField(surface)
