"""Find the spheres of known radius in a point cloud, without a hand."""

import numpy as np

from analysis.spheres.picks import PickOptions, Picks
from sim.arrays import Floats, Ints


def find_spheres(
    points: Floats, options: PickOptions, view: Ints | None = None
) -> Picks:
    """Return the spheres of a scan with covariances, and the rejected candidates.

    Parameters
    ----------
    points : (n, 3) scan points, mm, finite, in any order
    options : the radius and what makes a sphere acceptable
    view : (n,) number of the view that saw each point; None for a merged cloud.
        With two or more views the centres and one rigid motion a view are
        adjusted together.
    """
    _check(points, view)
    return Picks((), (), np.zeros((0, 0)), np.nan)


def _check(points: Floats, view: Ints | None) -> None:
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape (n, 3), not {points.shape}")
    if view is not None and view.shape != points.shape[:1]:
        raise ValueError(
            f"view must name one view a point: {len(points)} points, "
            f"but shape {view.shape}"
        )
    if not np.isfinite(points).all():
        bad = int((~np.isfinite(points).all(axis=1)).sum())
        raise ValueError(
            f"{bad} of {len(points)} points are not finite: drop them first"
        )
