"""What scanned poses cannot tell of a mechanism, by name."""

import numpy as np

from analysis.as_built.model import Model
from sim.arrays import Floats

NOTHING = 1e-10  # of the scaled information in a direction that nothing was said of
PLAY = 1e-6  # share of the rows' information that must be left for play
SHARE = 0.3  # of the largest part of a null direction that gets an unknown named
NAMED = 6


def refuse_null_directions(model: Model, N: Floats) -> None:
    """Refuse unknowns that the information N (u, u) leaves open, by name."""
    own = np.diag(N)
    unseen = np.flatnonzero(own <= 0.0)
    if len(unseen):
        raise ValueError(
            f"no scan shows {listed([model.names[i] for i in unseen])} with all its "
            "nodes: scan a pose in which their spheres are seen"
        )
    unit = 1.0 / np.sqrt(own)
    value, vector = np.linalg.eigh(unit[:, None] * N * unit)
    if value[0] > NOTHING:
        return
    part = np.abs(unit * vector[:, 0])
    named = np.flatnonzero(part > SHARE * part.max())
    raise ValueError(
        f"{listed([model.names[i] for i in named])} cannot be told apart in these "
        "poses: scan other poses, or free fewer of them"
    )


def refuse_play(model: Model, F: Floats, plain: Floats) -> None:
    """Refuse variances that the deviations leave no rows for, as those of one pose do.

    Parameters
    ----------
    F, plain : (k, k) information on the variances, with and without the deviations
    """
    unit = 1.0 / np.sqrt(np.diag(plain))
    left, vector = np.linalg.eigh(unit[:, None] * F * unit)
    if left[0] > PLAY:
        return
    what = [f"{role.value} play" for role in model.play]
    what += ["scatter of the centres"] * model.scatter
    part = np.abs(vector[:, left <= PLAY]).max(axis=1)
    named = [what[k] for k in np.flatnonzero(part > SHARE * part.max())]
    raise ValueError(
        f"{' and '.join(named)} cannot be told: every length is measured once, or the "
        "two look alike; scan two poses or more (four tell play to a fifth), or leave "
        "it out"
    )


def listed(names: list[str]) -> str:
    """The first names, and how many more."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
