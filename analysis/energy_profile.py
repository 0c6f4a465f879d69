"""Rests on a path of which energy and force are known at points.

Between two points the energy is the cubic with these values and slopes (Hermite), and
rests are where its slope vanishes: at a minimum the structure stays without its driver,
at a maximum is the top of a barrier. The error falls as the fourth power of the
distance of points. Minima and maxima are those along the path: a structure that falls
aside is not seen here.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats

NOTHING = 1e-9  # force, relative to the largest, that counts as none


class Rest(NamedTuple):
    """A place where nothing needs to be held; `stable` along the path."""

    moved: float
    energy: float
    stable: bool


def rests(q: Floats, energy: Floats, force: Floats) -> list[Rest]:
    """Rests in the order of the path.

    Parameters
    ----------
    q, energy, force : (s,) places, energies, and slopes of the energy
    """
    none = NOTHING * float(np.abs(force).max(initial=0.0))
    found: list[Rest] = []
    for i in range(len(q)):
        if abs(force[i]) <= none:
            before, after = force[max(i - 1, 0)], force[min(i + 1, len(q) - 1)]
            way = np.sign(q[-1] - q[0])
            found.append(
                Rest(float(q[i]), float(energy[i]), way * (after - before) > 0)
            )
        elif (
            i + 1 < len(q) and abs(force[i + 1]) > none and force[i] * force[i + 1] < 0
        ):
            found.append(_between(q[i : i + 2], energy[i : i + 2], force[i : i + 2]))
    return found


def _between(q: Floats, energy: Floats, force: Floats) -> Rest:
    """The rest between two points with forces of opposite sign."""
    h = float(q[1] - q[0])
    d = float(energy[1] - energy[0])
    a, b = h * float(force[0]), h * float(force[1])
    cubic = np.array([a + b - 2.0 * d, 3.0 * d - 2.0 * a - b, a, float(energy[0])])
    roots = np.roots(np.polyder(cubic))
    inside = [
        r.real for r in roots if abs(r.imag) < 1e-9 and -1e-9 <= r.real <= 1 + 1e-9
    ]
    t = inside[0] if inside else a / (a - b)
    stable = bool(force[0] * h < 0.0)
    return Rest(float(q[0]) + t * h, float(np.polyval(cubic, t)), stable)


def barriers(along_path: list[Rest]) -> list[float]:
    """Energy of the top between each two stable rests that follow each other."""
    stable = [i for i, rest in enumerate(along_path) if rest.stable]
    return [
        max(rest.energy for rest in along_path[i : j + 1]) for i, j in pairwise(stable)
    ]
