"""Markers that stand still, in place of spheres: photogrammetry, motion capture."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from analysis.spheres.detections import FittedSphere, Picks
from pipeline.io.measured_motions import read_motion
from pipeline.runs.atomic_files import write_arrays, write_table
from pipeline.scans.sphere_tables import write_tables
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.core.options import Checked, Positive

MM = 1e3
FEWEST = 4  # frames, whose scatter has a covariance of full rank


@dataclass(frozen=True)
class StillMarkers(Checked):
    """When markers stood still, and how well the system measures them.

    Parameters
    ----------
    sd_mm : of a place along each axis, that all frames share
    start_s, end_s : the frames that count; all where left out
    """

    sd_mm: Positive
    start_s: float = -np.inf
    end_s: float = np.inf
    radius_mm: Positive = 1.0  # of a marker, as pictures show it

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.start_s < self.end_s:
            raise ValueError(f"no frame is between {self.start_s} and {self.end_s} s")


def run_step(config: StillMarkers, path: Path, out: Path) -> dict[str, object]:
    """Write the tables of an ingest, a sphere a marker, and which marker each is.

    A covariance holds the scatter of the frames that see the marker, not divided by
    their number, since neighbouring frames share errors, and the stated one. A marker
    of fewer than FEWEST frames has the scatter that all have in common.
    """
    motion = read_motion(path)
    among = (motion.time >= config.start_s) & (motion.time <= config.end_s)
    if not among.any():
        raise InputError(
            f"{path} has no frame from {config.start_s:g} to {config.end_s:g} s: "
            f"choose times within {motion.time[0]:g} to {motion.time[-1]:g} s"
        )
    still = replace(motion, time=motion.time[among], places=motion.places[among])
    places = [MM * still.marker(name) for name in motion.names]
    squares = np.array([(x - x.mean(0)).T @ (x - x.mean(0)) for x in places])
    common = squares.sum(axis=0) / max(sum(len(x) - 1 for x in places), 1)
    spheres = tuple(
        _sphere(x, own / (len(x) - 1) if len(x) >= FEWEST else common, config)
        for x, own in zip(places, squares, strict=True)
    )
    whole = block_diag(*[one.covariance for one in spheres])
    picks = Picks(spheres, (), np.asarray(whole, np.float64), np.nan)
    out.mkdir(parents=True, exist_ok=True)
    write_tables(out, picks, synthetic=False)
    both = {"centres_mm": picks.centres, "covariance_mm2": picks.covariance}
    write_arrays(out / "covariance.npz", **both)
    frames = int(among.sum())
    lost = {n: frames - len(x) for n, x in zip(motion.names, places, strict=True)}
    rows = [(k, name, count) for k, (name, count) in enumerate(lost.items())]
    markers = pd.DataFrame(rows, columns=["sphere", "marker", "frames_lost"])
    write_table(out / "markers.csv", markers)
    return {
        "markers": len(spheres),
        "frames": frames,
        "frames_lost": ", ".join(f"{name} in {k}" for name, k in lost.items() if k),
        "largest_scatter_mm": max(one.rms for one in spheres),
    }


def _sphere(places_mm: Floats, scatter: Floats, config: StillMarkers) -> FittedSphere:
    """A marker as the mean of its places (k, 3), which scatter by (3, 3) mm^2."""
    return FittedSphere(
        centre=places_mm.mean(axis=0),
        covariance=scatter + config.sd_mm**2 * np.eye(3),
        radius=config.radius_mm,
        rms=float(np.sqrt(np.trace(scatter))),
        points=len(places_mm),
        free_radius=config.radius_mm,
        free_radius_sd=0.0,
        cap=1.0,
        views=1,
    )
