"""When a held tip was let go, and where it then came to rest."""

import numpy as np

from sim.arrays import Floats

FASTEST_HELD = 0.03  # m/s, above which a tip falls
FASTEST_RISE = 0.1  # m/s, which no hand lifts a tip at just before it lets go
RESTING = 0.6  # s, at the end of a record


def release_frame(time: Floats, height: Floats) -> int:
    """The first frame from which the tip falls faster than `FASTEST_HELD`.

    Parameters
    ----------
    time, height : (n,) s, m

    Raises
    ------
    ValueError
        where it never does, or does from the first frame on
    """
    falling = np.diff(height) < -FASTEST_HELD * np.diff(time)
    if not falling.any():
        raise ValueError(
            f"the tip never falls faster than {FASTEST_HELD:g} m/s: is its height "
            "upwards, in m, and time in s?"
        )
    frame = int(np.argmax(falling))
    if frame == 0:
        raise ValueError(
            "the tip falls from the first frame on: begin while it is still held"
        )
    if (np.diff(height[: frame + 1]) > FASTEST_RISE * np.diff(time[: frame + 1])).any():
        raise ValueError(
            "the tip rises fast before it falls: is its height upwards, and is one "
            "release recorded?"
        )
    return frame


def resting(time: Floats) -> np.ndarray:
    """(n,) which frames are those of the rest at the end."""
    return np.asarray(time > time[-1] - RESTING)
