"""Patches of balls: what their mean heights must not tell."""

import numpy as np

from analysis.spheres.detections import PickOptions
from analysis.spheres.joint_adjustment import polish
from analysis.spheres.spheres_of_one_radius import search
from analysis.spheres.variance_components import patches
from tests.analysis.spheres.scenes import seen_around

OPTIONS = PickOptions(radius_mm=6.0)
FAR = 1e6 * np.vstack([np.eye(3), -np.eye(3)])  # where `seen_around` is seen from


def test_independent_errors_leave_no_profile_over_the_incidence(rng):
    """Points that fall behind a steep surface lie at its limb, however they are cut."""
    points, view = seen_around(rng, noise=0.3)
    accepted, _ = search(points, 6.0, OPTIONS)
    found = polish(accepted, points, view, FAR, OPTIONS).accepted
    cut = patches(
        found, [points[c.points] for c in found], [view[c.points] for c in found], FAR
    )
    cos = cut.cos[np.arange(len(cut.sphere)), cut.share.argmax(axis=1)]
    for steep in (cos < 0.4, cos > 0.8):
        weight = 1.0 / cut.white[steep]
        mean = np.average(cut.height[steep], weights=weight)
        assert abs(mean) < 3.0 / np.sqrt(weight.sum())
