"""Whether the mirror image of a scan would fit where the scan itself does not."""

import numpy as np

from analysis.alignment import fit_rigid_motion
from sim.arrays import Floats

MIRROR = np.diag([1.0, 1.0, -1.0])  # any one will do, for it may turn besides
FAR_BETTER = 0.3  # of the distance as scanned, from which on it is said
FEWEST = 4  # nodes; three fit their mirror image exactly


def mirror_remark(simulated_mm: Floats, scanned_mm: Floats) -> str:
    """What to say where a mirror image fits far better, or nothing.

    Parameters
    ----------
    simulated_mm, scanned_mm : (n, 3) the same nodes
    """
    if len(simulated_mm) < FEWEST:
        return ""
    as_scanned = _rms(simulated_mm, scanned_mm)
    mirrored = _rms(simulated_mm, scanned_mm @ MIRROR)
    if not mirrored < FAR_BETTER * as_scanned:
        return ""
    return (
        f"its mirror image fits far better, node rms {mirrored:.3g} mm in place of "
        f"{as_scanned:.3g}: are axes swapped, or signs turned, in the scanner's export?"
    )


def _rms(x: Floats, y: Floats) -> float:
    """Root mean square distance (mm) of points that are laid on each other."""
    apart = fit_rigid_motion(x, y)(x) - y
    return float(np.sqrt(np.square(apart).sum(axis=1).mean()))
