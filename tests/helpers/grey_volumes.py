"""Synthetic volumes of computed tomography: balls in air, blurred, with noise."""

import numpy as np
from scipy.special import erf

from sim.arrays import Floats


def scanned_volume(
    rng: np.random.Generator,
    centres: Floats,
    radius: float,
    voxel: float,
    size: tuple[int, int, int],
    noise: float = 0.05,
    blur: float = 0.8,
) -> Floats:
    """(a, b, c) grey values, zero in air and one inside.

    Parameters
    ----------
    centres : (m, 3) mm along the axes of the volume from the middle of its first voxel
    voxel : side, mm
    noise : sd of a grey value, independent from voxel to voxel
    blur : sd of the blur, voxels
    """
    values = np.zeros(size)
    axes = np.ogrid[tuple(slice(0, n) for n in size)]
    for centre in centres:
        from_it = (voxel * axis - c for axis, c in zip(axes, centre, strict=True))
        depth = radius - np.sqrt(sum(d**2 for d in from_it))
        inside = 0.5 * (1.0 + erf(depth / (np.sqrt(2.0) * blur * voxel)))
        np.maximum(values, inside, out=values)
    return values + noise * rng.normal(size=size)
