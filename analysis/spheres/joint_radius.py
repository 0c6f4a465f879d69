"""The radius that all balls of several views have, adjusted along with everything else.

A radius that is stated wrongly moves the views: each slides along its line of sight
until its caps fit, and the radius that a ball tells in views so placed is the stated
one again. So it must be an unknown beside all centres and motions. With it the heights
of `analysis.spheres.views` follow

    e = u . (dc_i - K_i tau_v) + dR
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from analysis.spheres.judge import SphereCandidate
from analysis.spheres.thresholds import VIEWS
from analysis.spheres.views import Placement, lever, noise, normal_equations, solved
from sim.arrays import Floats

Sums = Callable[[SphereCandidate, Placement], tuple[Floats, Floats]]


def joint_radius(
    accepted: list[SphereCandidate], placed: Placement, sums: Sums
) -> tuple[float, float]:
    """Radius and its standard deviation, mm, whatever radius was stated.

    Views are believed where the scanner put them, to `VIEWS.misplaced_mm`.

    Parameters
    ----------
    accepted : balls, fitted with the stated radius
    placed : the views, placed with it
    sums : the blocks A (v, 4, 4), g (v, 4) of a ball, see `analysis.spheres.views`
    """
    pivot, own = placed.pivot, 3 * len(accepted)
    reach = max(float(np.linalg.norm(c.fit.centre - pivot)) for c in accepted)
    misplaced = np.repeat([VIEWS.misplaced_mm, VIEWS.misplaced_mm / reach], 3)
    weight = misplaced**-2.0
    prior = np.tile(weight, len(placed.motions))
    for _ in range(VIEWS.rounds):
        H, right = _with_radius(accepted, [sums(c, placed) for c in accepted], pivot)
        H[own + 1 :, own + 1 :] += np.diag(prior)
        right[own + 1 :] -= prior * placed.motions.ravel()
        inverse, rise = solved(H, right, own + 1, weight)
        accepted = [
            _moved(c, rise[3 * i : 3 * i + 3], rise[own])
            for i, c in enumerate(accepted)
        ]
        tau = rise[own + 1 :].reshape(-1, 6)
        placed = replace(placed, motions=placed.motions + tau)
    return accepted[0].fit.radius, float(np.sqrt(inverse[own, own]))


def _with_radius(
    accepted: list[SphereCandidate], sums: list[tuple[Floats, Floats]], pivot: Floats
) -> tuple[Floats, Floats]:
    """Normal equations of the centres (3 m), the radius, and the motions (6 v)."""
    own = 3 * len(accepted)
    H, right = normal_equations(accepted, sums, pivot)
    H = np.insert(np.insert(H, own, 0.0, axis=0), own, 0.0, axis=1)
    right = np.insert(right, own, 0.0)
    for i, (c, (A, g)) in enumerate(zip(accepted, sums, strict=True)):
        phi, K = noise(c, A), lever(c, pivot)
        H[own, 3 * i : 3 * i + 3] = A[:, :3, 3].sum(axis=0) / phi
        H[own, own + 1 :] -= (A[:, :3, 3] @ K).ravel() / phi
        H[own, own] += A[:, 3, 3].sum() / phi
        right[own] += g[:, 3].sum() / phi
    H[:, own] = H[own]
    return H, right


def _moved(c: SphereCandidate, by: Floats, larger: float) -> SphereCandidate:
    fit = replace(c.fit, centre=c.fit.centre + by, radius=c.fit.radius + float(larger))
    return replace(c, fit=fit)
