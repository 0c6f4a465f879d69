"""Where the scanner stood for each view, as files with poses say it."""

from collections.abc import Sequence

import numpy as np

from analysis.spheres.picks import Picks
from pipeline.scans.reading.cloud import Cloud
from sim.arrays import Floats, Ints

POSED = ("e57", "ptx")  # formats whose scans come with the scanner's pose
NEAR = 4.0  # rms from the surface of a sphere up to which points are on it
BEHIND = 0.05  # share of a view's points on spheres that may look away from its place


def stated_places(clouds: Sequence[Cloud]) -> Floats | None:
    """(v, 3) the scanner's place for each view, mm; None unless every file says it."""
    if any(cloud.format not in POSED or cloud.viewpoint is None for cloud in clouds):
        return None
    return np.array([cloud.viewpoint for cloud in clouds], dtype=np.float64)


def contradicted(
    places: Floats, points: Floats, view: Ints | None, picks: Picks
) -> list[int]:
    """The views that saw spheres from behind, were their places right.

    Parameters
    ----------
    places : (v, 3) mm
    points : (n, 3) mm
    view : (n,) of each point; None of one view
    """
    number = np.zeros(len(points), np.int64) if view is None else view
    on, away = np.zeros(len(places)), np.zeros(len(places))
    for sphere in picks.spheres:
        box = np.abs(points - sphere.centre).max(axis=1) < 1.1 * sphere.radius
        d, of = points[box] - sphere.centre, number[box]
        near = np.abs(np.linalg.norm(d, axis=1) - sphere.radius) < NEAR * sphere.rms
        d, of, x = d[near], of[near], points[box][near]
        behind = np.einsum("ij,ij->i", d, places[of] - x) < 0.0
        on += np.bincount(of, minlength=len(places))
        away += np.bincount(of[behind], minlength=len(places))
    return [int(v) for v in np.flatnonzero(away > BEHIND * np.maximum(on, 1.0))]
