"""Period and damping of something that rings down, one definition for all series.

Heights are taken about their own running mean over one period, which follows what
creeps; each extremum is placed by the parabola through the three samples around it.
Half periods are the times between successive extrema, and half waves their differences
in height: with ten of each

    T    = 2 (t_10 - t_0) / 10
    zeta = d / sqrt(pi^2 + d^2),   d = -slope of ln(half wave) over their number

so that neither the place of rest nor a slow drift enters. Other definitions (crossings
of the final rest, the release as the first extremum) move T by about 1 %: measured and
simulated series must go through this one alike.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats

HALVES = 10  # half periods that are looked at
ROUNDS = 4  # of period and running mean
EVEN = 1e-6  # relative difference of time steps up to which they are the same
QUIET = 0.25  # of a period after the release, before which no extremum counts
SLOWEST = 8.0  # samples a period, at least


@dataclass(frozen=True)
class Ringing:
    """How something rings.

    Parameters
    ----------
    period : s
    damping_ratio : of critical damping
    first_extremum : s, the time of the first one
    """

    period: float
    damping_ratio: float
    first_extremum: float


def ringing(time: Floats, height: Floats, halves: int = HALVES) -> Ringing:
    """Period and damping ratio of a height from its release on.

    Parameters
    ----------
    time, height : (n,) evenly sampled, the first one the release
    halves : half periods that are looked at

    Raises
    ------
    ValueError
        where the series is uneven, or shows fewer extrema than asked for
    """
    step = np.diff(time)
    if len(step) < 4 or np.ptp(step) > EVEN * abs(float(step.mean())) + 1e-9:
        raise ValueError("ringing wants at least 5 heights at even times")
    period = _first_guess(time, height)
    for _ in range(ROUNDS):
        when, high = _extrema(time, height - running_mean(time, height, period))
        counted = when > time[0] + QUIET * period
        when, high = when[counted], high[counted]
        if len(when) <= halves:
            raise ValueError(
                f"{len(when)} extrema after the release, {halves + 1} are needed: give "
                "a longer series"
            )
        period = 2.0 * float(when[halves] - when[0]) / halves
        if period < SLOWEST * step[0]:
            raise ValueError(
                f"a period of {period:.3g} s is sampled every {step[0]:.3g} s: too few "
                "samples to tell its extrema from noise"
            )
    waves = np.abs(np.diff(high[: halves + 1]))
    decay = -float(np.polyfit(np.arange(halves), np.log(waves), 1)[0])
    ratio = decay / float(np.hypot(np.pi, decay))
    return Ringing(period, ratio, float(when[0]))


def running_mean(time: Floats, height: Floats, width: float) -> Floats:
    """(n,) mean over `width` about each time, shorter at the ends; exact for lines.

    Parameters
    ----------
    width : s
    """
    step = np.diff(time)
    area = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]) * step)])
    low = np.clip(time - width / 2, time[0], time[-1])
    high = np.clip(time + width / 2, time[0], time[-1])
    reach = np.minimum(time - low, high - time)
    whole = reach >= 0.5 * width * (1 - 1e-9)
    below, above = (np.interp(at, time, area) for at in (low, high))
    mean: Floats = (above - below) / (high - low)
    # At the ends, the line through the nearest means goes on.
    if whole.sum() >= 2:
        mean = np.where(whole, mean, np.interp(time, time[whole], mean[whole]))
    return mean


def _first_guess(time: Floats, height: Floats) -> float:
    """The strongest period in the spectrum of the height without its line."""
    flat = height - np.polyval(np.polyfit(time, height, 1), time)
    tapered = flat * np.hanning(len(flat))
    size = np.abs(np.fft.rfft(tapered, 8 * len(flat)))
    frequency = np.fft.rfftfreq(8 * len(flat), float(time[1] - time[0]))
    lowest = 2.0 / float(time[-1] - time[0])
    size[frequency < lowest] = 0.0
    return 1.0 / float(frequency[int(np.argmax(size))])


def _extrema(time: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Times and heights of the extrema between the samples."""
    turn = (z[1:-1] - z[:-2]) * (z[2:] - z[1:-1]) <= 0
    k = np.flatnonzero(turn) + 1
    a, b, c = z[k - 1], z[k], z[k + 1]
    bend = a - 2 * b + c
    curved = bend != 0
    share = 0.5 * (a - c)[curved] / bend[curved]
    k, step = k[curved], float(time[1] - time[0])
    return time[k] + share * step, b[curved] - 0.25 * (a - c)[curved] * share
