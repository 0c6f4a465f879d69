"""Markers that stand still, in place of spheres: photogrammetry, motion capture."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag

from analysis.spheres.picks import FittedSphere, Picks
from pipeline.formats.motion.markers import read_motion
from pipeline.scans.picks import write_tables
from pipeline.store.files import replacing, write_text
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

MM = 1e3


@dataclass(frozen=True)
class StillMarkers:
    """When markers stood still, and how well the system measures them.

    Parameters
    ----------
    sd_mm : of a place along each axis, that all frames share
    start_s, end_s : the frames that count; all where left out
    """

    sd_mm: float
    start_s: float = -np.inf
    end_s: float = np.inf
    radius_mm: float = 1.0  # of a marker, as pictures show it

    def __post_init__(self) -> None:
        for name in ("sd_mm", "radius_mm"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if not self.start_s < self.end_s:
            raise ValueError(f"no frame lies from {self.start_s} to {self.end_s} s")


def run_step(config: StillMarkers, path: Path, out: Path) -> dict[str, object]:
    """Write the tables of an ingest, a sphere a marker, and which marker each is.

    A covariance holds the scatter of the frames, not divided by their number, since
    neighbouring frames share errors, and the stated one.
    """
    motion = read_motion(path)
    among = (motion.time >= config.start_s) & (motion.time <= config.end_s)
    if not among.any():
        raise InputError(
            f"{path} has no frame from {config.start_s:g} to {config.end_s:g} s: it "
            f"goes from {motion.time[0]:g} to {motion.time[-1]:g} s"
        )
    still = replace(motion, time=motion.time[among], places=motion.places[among])
    spheres = tuple(_sphere(MM * still.marker(name), config) for name in motion.names)
    whole = block_diag(*[one.covariance for one in spheres])
    picks = Picks(spheres, (), np.asarray(whole, np.float64), np.nan)
    out.mkdir(parents=True, exist_ok=True)
    write_tables(out, picks, synthetic=False)
    with replacing(out / "covariance.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, centres_mm=picks.centres, covariance_mm2=picks.covariance)
    rows = [f"{number},{name}\n" for number, name in enumerate(motion.names)]
    write_text(out / "markers.csv", "sphere,marker\n" + "".join(rows))
    worst = max(one.rms for one in spheres)
    return {
        "markers": len(spheres),
        "frames": int(among.sum()),
        "largest_scatter_mm": worst,
    }


def _sphere(places_mm: Floats, config: StillMarkers) -> FittedSphere:
    """A marker as its mean place (frames, 3)."""
    centre = places_mm.mean(axis=0)
    apart = places_mm - centre
    scatter = apart.T @ apart / max(len(places_mm) - 1, 1)
    return FittedSphere(
        centre=centre,
        covariance=scatter + config.sd_mm**2 * np.eye(3),
        radius=config.radius_mm,
        rms=float(np.sqrt(np.trace(scatter))),
        points=len(places_mm),
        free_radius=config.radius_mm,
        free_radius_sd=0.0,
        cap=1.0,
        views=1,
    )
