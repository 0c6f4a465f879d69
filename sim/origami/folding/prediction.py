"""Where a sheet will be after the next increment, if it goes on as it went so far."""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel

MOST_POINTS = 4  # positions from which the next is foretold,
OF_LARGE = 10  # and of large sheets, whose iterations cost more


@kernel
def extrapolated_move(times: Floats, places: Floats, t: float) -> Floats:
    """(n, 3) move from the last place to where the sheet will probably be at t.

    A polynomial goes through the last places: through as many as would have foretold
    the last one best.

    Parameters
    ----------
    times : (k,) load factor or part of the stage, ascending
    places : (k, n, 3) node positions then, m
    """
    k = len(times)
    best, least = min(k, 2), np.inf
    for count in range(1, k if k > 2 else 0):
        guess = _extrapolated(times, places, k - 1 - count, k - 1, times[k - 1])
        miss = ((guess - places[k - 1]) ** 2).sum()
        if miss < least:
            best, least = count, miss
    move: Floats = _extrapolated(times, places, k - best, k, t) - places[k - 1]
    return move


@kernel
def _extrapolated(
    times: Floats, places: Floats, low: int, high: int, t: float
) -> Floats:
    """The polynomial through the places from `low` to before `high`, at t."""
    total: Floats = np.zeros_like(places[0])
    for i in range(low, high):
        weight = 1.0
        for j in range(low, high):
            if j != i:
                weight *= (t - times[j]) / (times[i] - times[j])
        total += weight * places[i]
    return total


def remembered(
    times: Floats, places: Floats, t: float, x: Floats, most: int = MOST_POINTS
) -> tuple[Floats, Floats]:
    """The last places with one more; the oldest forgotten where there are `most`."""
    return np.append(times, t)[-most:], np.concatenate([places, x[None]])[-most:]


def foretold_stresses(stresses: Floats, times: Floats, t: float) -> Floats:
    """(b + h,) at the load factor or part t, as positions are foretold.

    Parameters
    ----------
    stresses : (k, b + h) of the last equilibria
    times : (l,) of those in the same stage, which end with the last of `stresses`
    """
    known = stresses[-len(times) :]
    move = extrapolated_move(times[-len(known) :], known[:, :, None].copy(), t)
    return np.asarray(known[-1] + move[:, 0])
