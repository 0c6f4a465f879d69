"""The radius that all balls of several views have, adjusted along with everything else.

A radius that is stated wrongly moves the views: each slides along its line of sight
until its caps fit, and the radius that a ball tells in views so placed is the stated
one again. So it must be an unknown beside all centres and motions. With it the heights
of `analysis.spheres.views` follow

    e = u . (dc_i - K_i tau_v) + dR

Where neighbouring points share errors it hardly tells the radius: how a matching window
smooths a steep surface looks like a slide and a larger ball. What balls tell in views
that stay where the scanner put them is then better (`unmoved_radius`).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from analysis.spheres.judge import SphereCandidate
from analysis.spheres.thresholds import SHARED, VIEWS
from analysis.spheres.views import (
    Placement,
    lever,
    misplacement,
    noise,
    normal_equations,
    solved,
)
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
    reach = _reach(accepted, pivot)
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


def unmoved_radius(
    accepted: list[SphereCandidate],
    sums: list[tuple[Floats, Floats]],
    placed: Placement,
    shared: float,
) -> tuple[float, float]:
    """Radius and its sd, mm, that balls tell in views where the scanner put them.

    What views are misplaced by at that radius is learnt as `place` learns it: it raises
    all balls in common.

    Parameters
    ----------
    accepted : balls, fitted with the stated radius
    sums : the blocks A (v, 4, 4), g (v, 4) of each in views as placed
    shared : how many times the variance of what points tell is
    """
    rise, variance, gain = [], [], []
    for c, (A, g) in zip(accepted, sums, strict=True):
        raised = A[:, :, :3] @ lever(c, placed.pivot)  # (v, 4, 6) by a motion of a view
        back = g.sum(axis=0) - np.einsum("vaj,vj->a", raised, placed.motions)
        inverse = np.linalg.inv(A.sum(axis=0))[3]
        rise.append(inverse @ back)
        variance.append(inverse[3] * noise(c, A) * shared)
        gain.append(inverse @ raised.transpose(1, 0, 2).reshape(4, -1))
    weight = 1.0 / np.array(variance)
    larger = float(weight @ rise / weight.sum())
    moved = (weight @ np.array(gain) / weight.sum()).reshape(-1, 6)
    at = [(A, g - larger * A[:, :, 3]) for A, g in sums]
    H, right = normal_equations(accepted, at, placed.pivot)
    sd = misplacement(
        H, right, 3 * len(sums), placed.motions, _reach(accepted, placed.pivot)
    )
    square = 1.0 / weight.sum() + ((moved * sd) ** 2).sum()
    return accepted[0].fit.radius + larger, float(np.sqrt(square))


def shared_radius(
    joint: tuple[float, float], unmoved: tuple[float, float]
) -> tuple[float, float]:
    """Radius and its sd, mm, where neighbouring points share errors.

    How heights change over the incidence is then hardly a measure of the radius, and
    views that may slide along their lines of sight leave it nothing else: what
    `joint_radius` tells counts only as far as views that may not slide agree with it.
    """
    (a, sd_a), (b, sd_b) = joint, unmoved
    if abs(a - b) > SHARED.certain * np.hypot(sd_a, sd_b):
        return unmoved
    weights = np.array([sd_a, sd_b]) ** -2.0
    return float(weights @ [a, b] / weights.sum()), float(weights.sum() ** -0.5)


def mean_radius(accepted: list[SphereCandidate]) -> float:
    """Of the free radii of balls, weighted as their sd say, mm."""
    weight = np.array([c.fit.free_radius_sd for c in accepted]) ** -2.0
    return float(weight @ [c.fit.free_radius for c in accepted] / weight.sum())


def _reach(accepted: list[SphereCandidate], pivot: Floats) -> float:
    return max(float(np.linalg.norm(c.fit.centre - pivot)) for c in accepted)
