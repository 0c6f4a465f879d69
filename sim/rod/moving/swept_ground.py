"""The ground of the plane in space: its curve z = f(x), level along y."""

from collections.abc import Callable

import numpy as np
from scipy.interpolate import PchipInterpolator

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
