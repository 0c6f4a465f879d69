"""Frames of markers as cameras give them: refused where times or places cannot be."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pipeline.terminal.errors import InputError
from sim.arrays import Floats

FASTEST = 100.0  # m/s2, which no marker on rubber exceeds; 20 in shipped records
LOOSE = 1e-3  # m, by which a marker may be lost at any rate of frames


def refuse_gaps(path: Path, time: Floats, shortest: float, longest: float) -> None:
    """Each time once, in order, and no two too far apart or too close.

    Parameters
    ----------
    time : (n,) s
    shortest, longest : of what may lie between two, in frames
    """
    steps = np.diff(time)
    frame = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    odd = (steps <= 0.0) | (steps < shortest * frame) | (steps > longest * frame)
    if odd.any():
        k = int(np.argmax(odd))
        remedy = "give each time once, in order"
        if steps[k] > 0.0:
            remedy = f"others are {frame:g} s apart: fill the gap, or begin after it"
        raise InputError(
            f"{path}, row {k + 3}: time_s goes from {time[k]:g} to {time[k + 1]:g}: "
            f"{remedy}"
        )


def refuse_stray(path: Path, time: Floats, places: Mapping[str, Floats]) -> None:
    """No marker may leave its way for a frame, or jump.

    Parameters
    ----------
    time : (n,) s, even
    places : (n, 3) of each marker, m
    """
    most = max(0.5 * FASTEST * float(np.median(np.diff(time))) ** 2, LOOSE)
    for name, r in places.items():
        away = np.linalg.norm(np.diff(r, n=2, axis=0), axis=1) / 2.0
        k, off = _stray(away)
        if away.max() > most:
            raise InputError(
                f"{path}, row {k + 2}: {name} is {off:.3g} m away from where its "
                f"neighbours lead at {time[k]:g} s: correct this sample, by those "
                "about it where it is lost"
            )


def _stray(away: Floats) -> tuple[int, float]:
    """The sample that is off most, and by how much, m.

    One in the middle is half as far off in the triples before and after its own; the
    first and the last are in one triple alone, at its end.

    Parameters
    ----------
    away : (n - 2,) m, of the middle one of each three from the mean of the others
    """
    k = int(np.argmax(away))
    for end, beside, sample in ((0, 1, 0), (len(away) - 1, -2, len(away) + 1)):
        if k == end and away[beside] < 0.25 * away[k]:
            return sample, 2.0 * float(away[k])
    return k + 1, float(away[k])
