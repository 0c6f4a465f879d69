"""Clouds of balls whose points err alike in x, y and z, and files they are cut into.

No scanner is behind them but in the split "scanner": points lie all over the balls.
"""

import numpy as np

from sim.core.arrays import Floats, Ints

RADIUS = 4.0  # mm
STEEPEST = 0.31  # cosine at which a scanner's view ends: 72 degrees
SIDES = np.array([[1, 0, 0.4], [-1, 0, 0.4], [0, 1, 0.4], [0, -1, 0.4]], dtype=float)


def isotropic(
    rng: np.random.Generator,
    sd_mm: float,
    files: int,
    split: str,
    balls: int = 10,
    each: int = 3000,
) -> tuple[Floats, Floats, Ints]:
    """Balls of radius 4 mm in a cube of 120 mm, seen in one to four files.

    Parameters
    ----------
    sd_mm : of an error along each axis, independent from point to point
    split : "side" of each ball, side of the "scene", at "random", or by what a
        "scanner" 400 mm away sees of the balls in each file, as densely as its rays are
    each : points on a ball

    Returns
    -------
    (balls, 3) centres, (n, 3) points, mm, and (n,) number of the file
    """
    centres = _apart(rng, balls)
    u = rng.normal(size=(balls, (6 if split == "scanner" else 1) * each, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    x = centres[:, None] + RADIUS * u
    ways = SIDES[:files] / np.linalg.norm(SIDES[0])
    seen = np.ones(u.shape[:2], dtype=bool)
    if split == "scanner":
        number = rng.integers(files, size=seen.shape)
        d = 400.0 * ways[number] - x
        cos = np.einsum("bki,bki->bk", d, u) / np.linalg.norm(d, axis=2)
        seen = cos > np.maximum(STEEPEST, rng.random(seen.shape))
    elif split == "random":
        number = rng.integers(files, size=seen.shape)
    else:
        number = np.argmax((x if split == "scene" else u) @ ways.T, axis=2)
    x += sd_mm * rng.normal(size=x.shape)
    return centres, x[seen], number[seen]


def _apart(rng: np.random.Generator, balls: int) -> Floats:
    """(balls, 3) centres four radii apart or more, mm."""
    centres = np.empty((0, 3))
    while len(centres) < balls:
        more = rng.uniform(-60.0, 60.0, 3)
        if (np.linalg.norm(centres - more, axis=1) > 4 * RADIUS).all():
            centres = np.vstack([centres, more])
    return centres
