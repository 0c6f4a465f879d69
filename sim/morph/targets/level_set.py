"""Nearest points of surfaces F(x) = 0 without a closed form.

The nearest point x of p solves, with the Lagrange multiplier mu,

    x + mu grad F(x) = p,     F(x) = 0

by Newton's method from the nearest of many samples. Where that does not lead to a
point at least as near as the sample, the sample itself is drawn onto the surface. As p
moves, x moves along the two tangents T by

    dx = T (T^T (I + mu Hess F) T)^-1 T^T dp.
"""

from collections.abc import Callable

import numpy as np

from sim.arrays import Floats

FOCAL = 1e-6  # of I + mu Hess F, where nearest points jump to another side

LevelSet = Callable[[Floats], tuple[Floats, Floats]]  # (p, 3) -> F (p,), grad F (p, 3)


def closest_on_level_set(points: Floats, starts: Floats, surface: LevelSet) -> Floats:
    """(p, 3) nearest points.

    Parameters
    ----------
    points : (p, 3)
    starts : (p, 3) a sample of the surface near each
    surface : values and gradients of F
    """
    x = starts.copy()
    scale = np.linalg.norm(points - starts, axis=1)
    reach = 0.5 * np.maximum(scale, 1e-3 * (1.0 + np.abs(starts).max()))
    F, g = surface(x)
    mu = np.einsum("pi,pi->p", points - x, g) / np.einsum("pi,pi->p", g, g)
    for _ in range(40):
        step, dmu = _newton_step(points, x, mu, F, g, surface)
        size = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, reach / np.maximum(size, 1e-300))[:, None]
        x, mu = x + step, mu + dmu
        F, g = surface(x)
        if size.max(initial=0.0) <= 1e-9 * (1.0 + np.abs(x).max()):  # squared next
            break
    onto = _onto(starts, surface)
    distance = np.linalg.norm(x - points, axis=1)
    worse = ~(distance <= np.linalg.norm(onto - points, axis=1) * (1.0 + 1e-12))
    off = ~(np.abs(F) <= 1e-9 * (1.0 + np.linalg.norm(g, axis=1)))
    x[worse | off] = onto[worse | off]
    return x


def level_set_slopes(
    points: Floats, goals: Floats, surface: LevelSet, h: float
) -> Floats:
    """(p, 3, 3) derivative of the nearest points `goals` in `points`.

    Parameters
    ----------
    h : displacement of the differences that Hess F is taken from
    """
    g = surface(goals)[1]
    square = np.einsum("pi,pi->p", g, g)
    mu = np.einsum("pi,pi->p", points - goals, g) / square
    normal = g[:, :, None] * g[:, None, :] / square[:, None, None]
    along = np.eye(3) - normal
    bent = np.eye(3) + mu[:, None, None] * _hessian(goals, surface, h)
    values, V = np.linalg.eigh(along @ bent @ along + normal)
    inverse = (V / np.maximum(values, FOCAL)[:, None, :]) @ V.transpose(0, 2, 1)
    slopes: Floats = inverse - normal
    return slopes


def _hessian(x: Floats, surface: LevelSet, h: float) -> Floats:
    """(p, 3, 3) Hess F, symmetric."""
    ahead = [surface(x + h * e)[1] - surface(x - h * e)[1] for e in np.eye(3)]
    H: Floats = np.stack(ahead, axis=-1) / (4.0 * h)
    return H + H.transpose(0, 2, 1)


def _newton_step(
    points: Floats, x: Floats, mu: Floats, F: Floats, g: Floats, surface: LevelSet
) -> tuple[Floats, Floats]:
    K = np.zeros((len(x), 4, 4))
    K[:, :3, :3] = mu[:, None, None] * _hessian(x, surface, 1e-6) + np.eye(3)
    K[:, :3, 3] = K[:, 3, :3] = g
    right = np.concatenate([points - x - mu[:, None] * g, -F[:, None]], axis=1)
    singular = np.abs(np.linalg.det(K)) < 1e-12
    K[singular] = np.eye(4)
    solved = np.linalg.solve(K, right[..., None])[..., 0]
    return solved[:, :3], solved[:, 3]


def _onto(x: Floats, surface: LevelSet) -> Floats:
    """Draw points that are almost on the surface onto it."""
    for _ in range(20):
        F, g = surface(x)
        x = x - (F / np.einsum("pi,pi->p", g, g))[:, None] * g
    return x
