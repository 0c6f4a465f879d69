"""The radius that balls have in a mesh which software fused of many views.

Fusing averages signed distances along lines of sight, smooths and decimates: all balls
of a mesh come out too large or too small by about the same. Centres are fitted with
that common radius; what is not known of it shifts all of them together, and by what
radii scatter each ball shifts along the middle of its cap.
"""

import numpy as np
from scipy.linalg import block_diag

from analysis.spheres.judge import SphereCandidate
from analysis.spheres.picks import FusionBias
from analysis.spheres.scatter import excess_sd
from analysis.spheres.thresholds import FUSED
from sim.arrays import Floats


def fusion_bias(accepted: list[SphereCandidate], stated_mm: float) -> FusionBias | None:
    """The common radius of the spheres of a mesh; None where no ball tells one, or
    two tell other ones.

    The mean of the free radii near their median with weights 1 / (sd^2 + t^2), where t
    is the median of the sd: no ball decides alone. Its sd is that of the scatter, but
    at least that of balls which err by t.

    Parameters
    ----------
    stated_mm : radius that was given
    """
    told = np.array([(c.fit.free_radius, c.fit.free_radius_sd) for c in accepted])
    told = told.reshape(-1, 2)
    told = told[np.isfinite(told).all(axis=1)]
    if not len(told):
        return None
    radius, sd = told.T
    middle, typical = np.median(radius), np.median(sd)
    near = np.abs(radius - middle) < FUSED.near * middle
    if not near.any():
        return None
    weight = near / (sd**2 + typical**2)
    weight /= weight.sum()
    mean = float(weight @ radius)
    shares = float(weight @ weight)  # one over how many balls count
    scatter = float(weight @ (radius - mean) ** 2) / max(1.0 - shares, 1e-9)
    sd_mm = float(np.sqrt(shares * max(scatter, typical**2)))
    return FusionBias(stated_mm, mean, sd_mm)


def of_radii(accepted: list[SphereCandidate], bias: FusionBias, times: float) -> Floats:
    """(3 m, 3 m) covariance of the centres by what is not known of their radii.

    All balls share what is not known of the mean, and each has what its radius
    scatters beyond its sd.

    Parameters
    ----------
    times : the variances by points that are counted already
    """
    slides = [c.fit.slide for c in accepted]
    every = np.concatenate(slides)
    told = np.array([(c.fit.free_radius, c.fit.free_radius_sd) for c in accepted])
    radii, sds = told[np.isfinite(told).all(axis=1)].T
    own = excess_sd(radii, np.sqrt(times) * sds) if len(radii) > 1 else 0.0
    each = block_diag(*[np.outer(slide, slide) for slide in slides])
    return np.asarray(bias.sd_mm**2 * np.outer(every, every) + own**2 * each)
