"""A ball bar in a scan: two spheres whose distance is calibrated give the scale."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sim.arrays import Floats, Ints

REACH = 3.0  # standard uncertainties within which a length is the bar's


@dataclass(frozen=True)
class CalibratedBar:
    """A calibrated distance between two balls, mm, and its standard uncertainty."""

    length_mm: float
    u_mm: float

    def __post_init__(self) -> None:
        if not (0 < self.length_mm < np.inf and 0 < self.u_mm < np.inf):
            raise ValueError(
                f"a ball bar of {self.length_mm} mm +- {self.u_mm} mm is none: give "
                "ball_bar_mm and ball_bar_u_mm, both positive"
            )


@dataclass(frozen=True)
class ScaleByBar:
    """True over scanned length.

    Parameters
    ----------
    spheres : the two of the bar, by their row
    factor, u : of lengths, with its standard uncertainty
    permitted : whether the scale that was stated allows it
    """

    spheres: tuple[int, int]
    factor: float
    u: float
    permitted: bool = True


@dataclass(frozen=True)
class PairForBar:
    """Two spheres that may be a bar's.

    Parameters
    ----------
    length_mm, u_mm : their distance, its standard uncertainty with that of the bar
    off_mm, allowed_mm : how far from the bar's length, and how far it may be
    """

    spheres: tuple[int, int]
    length_mm: float
    u_mm: float
    off_mm: float
    allowed_mm: float


def pairs_for_bar(
    bar: CalibratedBar,
    centres_mm: Floats,
    covariance_mm2: Floats,
    loose: Ints,
    scale_sd: float,
    form_sd_mm: float = 0.0,
) -> Iterator[PairForBar]:
    """The pairs of loose spheres beside a bar.

    Parameters
    ----------
    centres_mm : (m, 3) of all spheres
    covariance_mm2 : (3m, 3m) of all centres together
    loose : rows of the spheres that are not the structure's
    scale_sd : relative, what the scanner's scale may be off
    form_sd_mm : of each centre along each axis, beyond its covariance
    """
    for i, j in combinations(map(int, loose), 2):
        apart = centres_mm[j] - centres_mm[i]
        length = float(np.linalg.norm(apart))
        gradient = np.zeros(covariance_mm2.shape[0])
        gradient[3 * j : 3 * j + 3] = apart / length
        gradient[3 * i : 3 * i + 3] = -apart / length
        variance = gradient @ covariance_mm2 @ gradient
        u = float(np.sqrt(variance + 2 * form_sd_mm**2 + bar.u_mm**2))
        allowed = REACH * float(np.hypot(u, scale_sd * length))
        off = abs(length - bar.length_mm)
        yield PairForBar((i, j), length, u, off, allowed)


def bars_of(bar: CalibratedBar, pairs: Iterable[PairForBar]) -> list[ScaleByBar]:
    """Those of the pairs that are as far apart as the bar is long."""
    return [
        ScaleByBar(p.spheres, bar.length_mm / p.length_mm, p.u_mm / p.length_mm)
        for p in pairs
        if p.off_mm <= p.allowed_mm
    ]


def nearest_told(
    bar: CalibratedBar, pairs: Sequence[PairForBar], scale_sd: float
) -> str:
    """Of pairs that are all too long or too short, how far the nearest is off."""
    if not pairs or bars_of(bar, pairs):
        return ""
    near = min(pairs, key=lambda pair: pair.off_mm)
    return (
        f": the nearest are {near.length_mm:.3f} mm, {near.off_mm:.3f} mm off, where "
        f"{near.allowed_mm:.3f} mm is allowed (three standard uncertainties, of scale "
        f"{100 * scale_sd:g} %): correct the bar's length, or state the scanner's scale"
    )


def with_stated(by_bar: ScaleByBar, stated_sd: float | None) -> ScaleByBar:
    """The scale by the bar and by what was stated of the scanner, weighed together.

    A statement that the bar contradicts by more than `REACH` is left out, and so is
    one that nobody made.
    """
    if stated_sd is None:
        return by_bar
    variance = by_bar.u**2 + stated_sd**2
    if abs(by_bar.factor - 1.0) > REACH * np.sqrt(variance):
        return ScaleByBar(by_bar.spheres, by_bar.factor, by_bar.u, permitted=False)
    factor = 1.0 + (by_bar.factor - 1.0) * stated_sd**2 / variance
    u = by_bar.u * stated_sd / np.sqrt(variance)
    return ScaleByBar(by_bar.spheres, float(factor), float(u))
