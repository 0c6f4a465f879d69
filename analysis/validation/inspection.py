"""What a quality department reads of a scan: form of balls, lengths, conformity.

Lengths between centres with their uncertainty by component; form as the range of radial
residuals, the probing form error of VDI/VDE 2634 and ISO 10360-13.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from sim.arrays import Floats, Ints

K = 2.0  # coverage factor
GATE = 4.0  # robust scales beyond which a point is of something else
SHARE = 0.95  # of the points, in the range that ISO 10360-13 calls D95 %
FEWEST = 20  # kept points that tell a form
MAD = 1.4826


class Conformity(Enum):
    """The answers of ISO 14253-1."""

    CONFORMS = "conforms"
    FAILS = "does not conform"
    UNDECIDED = "not decided"


@dataclass(frozen=True)
class BallForm:
    """Form of one ball from the points on it.

    Parameters
    ----------
    points : within `GATE` robust scales of the surface
    whole_mm, most_mm : range of their radial residuals, and of the middle 95 %
    farthest_mm : largest of them, either way
    """

    points: int
    whole_mm: float
    most_mm: float
    farthest_mm: float


@dataclass(frozen=True)
class Tolerance:
    """Limits of the distance between two spheres, mm."""

    pair: tuple[int, int]
    lower_mm: float
    upper_mm: float


@dataclass(frozen=True)
class InspectedLength:
    """A distance between two spheres.

    Parameters
    ----------
    parts_mm : standard uncertainty by component
    tolerance : what is asked of it, if anything
    """

    pair: tuple[int, int]
    length_mm: float
    parts_mm: Mapping[str, float]
    tolerance: Tolerance | None = None

    @property
    def U_mm(self) -> float:
        """Expanded by `K`."""
        return K * float(np.sqrt(np.sum(np.square(list(self.parts_mm.values())))))

    @property
    def conformity(self) -> Conformity | None:
        """By limits drawn in by U to conform, and out by U to fail [ISO 14253-1]."""
        if self.tolerance is None:
            return None
        low, high = self.tolerance.lower_mm, self.tolerance.upper_mm
        if low + self.U_mm <= self.length_mm <= high - self.U_mm:
            return Conformity.CONFORMS
        if not low - self.U_mm <= self.length_mm <= high + self.U_mm:
            return Conformity.FAILS
        return Conformity.UNDECIDED


def ball_form(points: Floats, centre: Floats, radius: float) -> BallForm | None:
    """The form of a ball; None where fewer than `FEWEST` of its points are there.

    Parameters
    ----------
    points : (n, 3) of the scan, mm
    centre, radius : of the ball as fitted, mm
    """
    near = points[np.abs(points - centre).max(axis=1) < 1.2 * radius]
    e = np.linalg.norm(near - centre, axis=1) - radius
    e = e[np.abs(e) < 0.1 * radius]
    if len(e) < FEWEST:
        return None
    middle = np.median(e)
    e = e[np.abs(e - middle) <= GATE * MAD * np.median(np.abs(e - middle))]
    if len(e) < FEWEST:
        return None
    low, high = np.quantile(e, [(1 - SHARE) / 2, (1 + SHARE) / 2])
    farthest = float(np.abs(e).max())
    return BallForm(len(e), float(np.ptp(e)), float(high - low), farthest)


def inspected_lengths(
    centres_mm: Floats,
    covariance_mm2: Floats,
    pairs: Ints,
    of_length: Mapping[str, float],
    of_centre_mm: Mapping[str, float],
    tolerances: Sequence[Tolerance] = (),
    factor: float = 1.0,
) -> list[InspectedLength]:
    """Distances of pairs of spheres, with their standard uncertainty by component.

    Parameters
    ----------
    covariance_mm2 : (3m, 3m) of all centres together, as "sphere centres"
    pairs : (p, 2)
    of_length : relative standard uncertainties by component, such as of the scale
    of_centre_mm : standard uncertainties of each centre and axis by component
    factor : true over scanned length
    """
    asked = {tuple(sorted(one.pair)): one for one in tolerances}
    found = []
    for i, j in pairs.tolist():
        apart = centres_mm[j] - centres_mm[i]
        scanned = float(np.linalg.norm(apart))
        unit = apart / scanned
        a, b = slice(3 * i, 3 * i + 3), slice(3 * j, 3 * j + 3)
        whole = covariance_mm2
        both = whole[a, a] + whole[b, b] - whole[a, b] - whole[b, a]
        parts = {"sphere centres": float(np.sqrt(unit @ both @ unit))}
        parts |= {name: factor * scanned * u for name, u in of_length.items()}
        parts |= {name: float(np.sqrt(2.0)) * u for name, u in of_centre_mm.items()}
        asked_here = asked.get((min(i, j), max(i, j)))
        found.append(InspectedLength((i, j), factor * scanned, parts, asked_here))
    return found


def shown_pairs(centres_mm: Floats, most: int, tolerances: Sequence[Tolerance]) -> Ints:
    """(p, 2) the pairs that have a tolerance, then the longest and shortest others."""
    m = len(centres_mm)
    i, j = np.triu_indices(m, 1)
    length = np.linalg.norm(centres_mm[i] - centres_mm[j], axis=1)
    order = np.argsort(length)
    if len(order) > most:
        order = np.concatenate([order[: most - most // 2], order[-(most // 2) :]])
    asked = [(min(one.pair), max(one.pair)) for one in tolerances]
    rest = [(int(i[p]), int(j[p])) for p in order]
    pairs = list(dict.fromkeys([*asked, *rest]))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
