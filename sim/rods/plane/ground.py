"""The ground, any height field y = f(x): a plane, a wave, or a table of points.

    t = (1, f') / sqrt(1 + f'^2)     n = (-f', 1) / sqrt(1 + f'^2)
    gap = (y - f(x)) / sqrt(1 + f'^2) - offset

The gap is the distance from the ground, to first order in the gap itself. `offset` is
half the thickness of the limbs; [Hu20] has none, and names that as the reason why its
robot rolls less far than the real one.

`set_on_ground` sets a rod down on its ground.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel, pointed
from sim.core.options import Checked, Finite, Positive, within
from sim.rods.plane.rod import Rod, moved


class Relief(NamedTuple):
    """f(x) = height + slope x + amplitude sin(wavenumber x + phase) + table(x).

    knots, coefficients : (k,), (4, k - 1) cubic pieces of the table, may be empty;
        beyond its ends the table is level
    offset : m
    """

    height: float = 0.0
    slope: float = 0.0
    amplitude: float = 0.0
    wavenumber: float = 0.0
    phase: float = 0.0
    knots: Floats = np.empty(0)
    coefficients: Floats = np.empty((4, 0))
    offset: float = 0.0


@dataclass(frozen=True)
class GroundPlane(Checked):
    """A plane that rises by `angle` degrees towards +x through (0, height)."""

    of = "ground"
    angle: Annotated[Finite, within(-80.0, 80.0, "from -80 to 80 degrees")] = 0.0
    height: Finite = 0.0
    offset: Finite = 0.0

    @property
    def relief(self) -> Relief:
        slope = float(np.tan(np.radians(self.angle)))
        return Relief(self.height, slope, offset=self.offset)


@dataclass(frozen=True)
class Wave(Checked):
    """f(x) = amplitude sin(2 pi (x + start) / wavelength): Fig. 5b, c of [Hu20].

    x = 0 is at the crest for start = wavelength / 4, in the trough for 3/4.
    """

    of = "ground"
    amplitude: Finite = 6.5e-3  # m
    wavelength: Positive = 0.2  # m
    start: Finite = 0.0  # m
    offset: Finite = 0.0

    @property
    def relief(self) -> Relief:
        k = 2.0 * np.pi / self.wavelength
        wave = self.amplitude, k, k * self.start
        return Relief(0.0, 0.0, *wave, offset=self.offset)


@dataclass(frozen=True, eq=False)
class Terrain(Checked):
    """A smooth curve without overshoot through the points (x, y), x ascending."""

    of = "ground"
    points: list[list[float]]
    offset: Finite = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            points = np.array(self.points, dtype=np.float64)
        except (TypeError, ValueError):
            points = np.empty(0)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
            raise ValueError("ground: a terrain needs 2 or more points [x, y]")
        for k in np.flatnonzero(~np.isfinite(points).all(axis=1)):
            raise ValueError(
                f"ground: point {k} is at {points[k]}: give finite coordinates"
            )
        for k in np.flatnonzero(np.diff(points[:, 0]) <= 0.0):
            raise ValueError(
                f"ground: point {k + 1} at x = {points[k + 1, 0]:g} is not to the "
                f"right of point {k} at x = {points[k, 0]:g}: sort the points by x"
            )

    @property
    def relief(self) -> Relief:
        from scipy.interpolate import PchipInterpolator  # slow to import

        x, y = np.asarray(self.points, dtype=np.float64).T
        curve = PchipInterpolator(x, y)
        c = np.ascontiguousarray(curve.c)
        return Relief(knots=x.copy(), coefficients=c, offset=self.offset)


Ground = GroundPlane | Wave | Terrain


@kernel
def surface(relief: Relief, x: float) -> tuple[float, float]:
    """f(x) and f'(x)."""
    f = relief.height + relief.slope * x
    slope = relief.slope
    if relief.amplitude != 0.0:
        angle = relief.wavenumber * x + relief.phase
        f += relief.amplitude * np.sin(angle)
        slope += relief.amplitude * relief.wavenumber * np.cos(angle)
    knots = relief.knots
    if len(knots) > 1:
        inside = min(max(x, knots[0]), knots[-1])
        k = min(
            max(np.searchsorted(knots, inside, side="right") - 1, 0), len(knots) - 2
        )
        c = relief.coefficients[:, k]
        d = inside - knots[k]
        f += ((c[0] * d + c[1]) * d + c[2]) * d + c[3]
        if inside == x:
            slope += (3.0 * c[0] * d + 2.0 * c[1]) * d + c[2]
    return f, slope


@kernel
def bend(relief: Relief, x: float) -> float:
    """f''(x), 1/m."""
    second = 0.0
    if relief.amplitude != 0.0:
        angle = relief.wavenumber * x + relief.phase
        second -= relief.amplitude * relief.wavenumber**2 * np.sin(angle)
    knots = relief.knots
    if len(knots) > 1 and knots[0] <= x <= knots[-1]:
        k = min(int(np.searchsorted(knots, x, side="right")) - 1, len(knots) - 2)
        c = relief.coefficients[:, k]
        second += 6.0 * c[0] * (x - knots[k]) + 2.0 * c[1]
    return float(second)


@kernel
def fill_curve(
    relief: Relief, x: Floats, f: Floats, slope: Floats, bent: Floats
) -> None:
    """f, f' and f'' (k,) at places x."""
    for i in range(len(x)):
        f[i], slope[i] = surface(relief, x[i])
        bent[i] = bend(relief, x[i])


@kernel
def gap(relief: Relief, x: float, y: float) -> float:
    """Distance of (x, y) above the ground, less the offset, m."""
    f, slope = surface(relief, x)
    return float((y - f) / np.sqrt(1.0 + slope * slope) - relief.offset)


def gaps(ground: Ground, x: Floats) -> Floats:
    """(n,) the gap of each of the nodes x (n, 2)."""
    found = np.empty(len(x))
    _find_gaps(pointed(ground.relief), np.ascontiguousarray(x), found)
    return found


@kernel
def _find_gaps(relief: Relief, x: Floats, found: Floats) -> None:
    for i in range(len(x)):
        found[i] = gap(relief, x[i, 0], x[i, 1])


def set_on_ground(rod: Rod, ground: Ground, x: float) -> Rod:
    """The rod turned with the slope at x and set down there."""
    slope = surface(pointed(ground.relief), x)[1]
    turned = moved(rod, by=np.zeros(2), angle=float(np.arctan(slope)))
    placed = moved(turned, by=np.array([x, surface(pointed(ground.relief), x)[0]]))
    for _ in range(50):  # the gap is a distance, a lift is vertical
        lift = -float(gaps(ground, placed.nodes).min()) * np.sqrt(1.0 + slope**2)
        if lift == 0.0:
            break
        placed = moved(placed, by=np.array([0.0, lift]))
    return moved(placed, by=np.array([0.0, 1e-12]))
