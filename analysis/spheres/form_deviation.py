"""The form of spheres: errors of degree 2, which a shift of the centre cannot absorb.

Errors of long range are a field on the surface of a sphere. Its part of degree 0 is the
radius. Its part of degree 1 shifts the centre and is invisible on one sphere. Visible
are the radii of all spheres and the five surface harmonics of degree 2. With heights
e, weights w of the biweight and rows b of (u, 1, degree 2)

    q = (A^-1 sum w e b)[4:],   A = sum w b b^T

and its covariance C from sums over small cells, m spheres with the common mean q' have
the ratio

    sum (q - q')^T C^-1 (q - q') / 5 (m - 1),   q' = (sum C^-1)^-1 sum C^-1 q

which is one in the mean if errors do not reach beyond a cell, else their ratio of
variances. The mean is common, since a common shift changes no shape.

On a surface that is no sphere, degree 2 is its form. With principal curvatures k and
k' it rises above a sphere of radius R by (1 - k R) s^2 / 2 at a distance s along the
first.
"""

import numpy as np

from analysis.spheres.cells_on_a_sphere import cells, even_directions
from analysis.spheres.centre_fit import Fit, heights
from analysis.spheres.thresholds import BIWEIGHT, JUDGE, SHARED
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel

UNKNOWNS = 9  # centre, radius and the five of degree 2
DEGREE_2 = 5
ROUND = np.zeros(2)
# of the gate, in rounds: from all that rises to what lies on one tube
WIDTHS = (16, 8, 4, 2, 1, 1, 1)
# axes of tubes that are tried: all, those that are fitted, the share of a sphere that
# one may hide, and how far off its wall points tell of it, in radii
WAYS = even_directions(500)
TRIES, HIDES, COARSE = 4, 0.02, 0.2
CLOSE = 0.6  # of the gate, within which points are on a wall and not about it
REWEIGHTED = 10  # times, of least squares towards least absolute deviations
SINGULAR = 1e-10  # eigenvalue over the largest of what does not turn an axis


def form_ratios(fits: list[Fit], points: list[Floats]) -> Floats:
    """(m,) the ratio of each sphere that shows enough cells; their mean is that of all.

    Parameters
    ----------
    fits : of spheres
    points : of each (k, 3) that it uses where it saw them, less its centre, mm
    """
    found = []
    for fit, x in zip(fits, points, strict=True):
        e = fit.height[fit.used]
        weight = (1.0 - (e / (BIWEIGHT.tukey * fit.scale)) ** 2) ** 2
        found.append(_degree_2(x, e, weight))
    if sum(one is not None for one in found) < 2:
        return np.empty(0)
    q = np.array([one[0] for one in found if one is not None])
    bread = np.linalg.inv([one[1] for one in found if one is not None])
    q -= np.linalg.solve(bread.sum(axis=0), np.einsum("mij,mj->i", bread, q))
    squares = np.einsum("mi,mij,mj->m", q, bread, q)
    return np.asarray(squares / DEGREE_2 * len(q) / (len(q) - 1))


def lengthwise(fit: Fit, x: Floats, facing: Bools) -> Floats:
    """(2,) difference of the principal curvatures times the radius, and its sd.

    Both are those in the middle of what is seen: an error that grows towards the rim
    of a small cap all around bends both alike. Of a sphere it is 0, of a cylinder 1, of
    a tube's round end in between. What rises above the sphere counts as far as it
    faces the centre. Zeros where too few cells are seen.

    Parameters
    ----------
    fit : of a sphere
    x : (k, 3) all points around it, less its centre, mm
    facing : (k,) whether their normal is radial
    """
    e = fit.height
    own = facing & (np.abs(e) < JUDGE.rise * fit.radius)
    found = _degree_2(x[own], e[own], np.ones(int(own.sum())))
    if found is None:
        return ROUND
    (xy, yz, xz, difference, zz), C = found
    Q = np.diag([difference - zz, -difference - zz, 2 * zz])
    Q[0, 1], Q[1, 2], Q[0, 2] = xy / 2, yz / 2, xz / 2
    across = np.linalg.svd(x[own].mean(axis=0)[None])[2][1:]  # of its middle
    _, axes = np.linalg.eigh(across @ (Q + np.triu(Q, 1).T) @ across.T)
    low, high = _harmonics(axes.T @ across)[:, 4:]
    weights = 2 / fit.radius * (high - low)
    return np.array([weights @ found[0], np.sqrt(weights @ C @ weights)])


def on_wall(fit: Fit, x: Floats, rising: Ints) -> int:
    """Points on a tube of the sphere's radius R that ends in it, less those it hides.

    A point of the tube around the unit vector a, at r from the sphere's centre, has
    x . a = (r^2 - R^2)^1/2, which is linear in a, by least absolute deviations, as few
    points of other things near a strip of its wall would turn it; from there its
    distance from the axis is brought to R by Gauss-Newton's steps. Points of the
    sphere that would lie inside the tube speak against it, one by one: of a tube's end
    there are none. So do those in the outer part of the gate, where in loud noise a
    ring that crosses the wall has as many as in the inner.

    Parameters
    ----------
    x : (k, 3) all points around it, less its centre, mm
    rising : which of them rise above the sphere
    """
    if len(rising) < 3:
        return 0
    R, y, gate = fit.radius, x[rising], BIWEIGHT.tukey * fit.scale
    height = np.sqrt(np.maximum((y**2).sum(axis=1) - R * R, 0.0))
    axis = _least_absolute(y, height, gate)
    axis = _fitted(axis / np.linalg.norm(axis), y, R, gate, WIDTHS)
    along, _, across = _about(axis, y)
    off = np.abs(across - R)[along > 0.0]
    along, _, across = _about(axis, x[np.abs(fit.height) < gate])
    hidden = ((across < R - gate) & (along > 0.0)).sum()
    return int(2 * (off < CLOSE * gate).sum() - (off < gate).sum() - hidden)


def _least_absolute(A: Floats, b: Floats, least: float) -> Floats:
    """(3,) x of the smallest sum of |A x - b|, of which less than `least` is alike."""
    weight: Floats = np.ones(len(b))
    x = np.zeros(3)
    for _ in range(REWEIGHTED):
        x[:] = np.linalg.lstsq(weight[:, None] * A, weight * b)[0]
        weight = np.maximum(np.abs(A @ x - b), least) ** -0.5
    return x


def free_ways(fit: Fit, x: Floats) -> Floats:
    """(m, 3) ways along which a tube of its radius would hide nothing of a sphere.

    Parameters
    ----------
    x : (k, 3) all points around it, less its centre, mm
    """
    gate = BIWEIGHT.tukey * fit.scale
    own = x[np.abs(fit.height) < gate]
    return WAYS[_inside(WAYS, own, fit.radius - gate, 200) <= HIDES]


def far_wall(fit: Fit, x: Floats, ways: Floats, others: list[Fit]) -> int:
    """Points on a tube of the sphere's radius R in line with it, as far as it reaches.

    Its wall may be hidden where it ends, and show farther on. Points within it or
    around it speak against it from there on, which ends it; those of the sphere that
    it would hide do so three times, as a sphere's rim is seen past few gaps. Of another
    sphere, its near half hidden, the ring around its middle is as a wall: what is on
    another sphere ends a tube, unless a wall is seen between both. Where noise is loud,
    all that is near is within the gate, and the result is 0.

    Parameters
    ----------
    x : (k, 3) all points up to `JUDGE.far` radii along it, less its centre, mm
    ways : (m, 3) of `free_ways`
    others : spheres that no other rule refuses, it may be among them
    """
    R, gate = fit.radius, BIWEIGHT.tukey * fit.scale
    if gate > JUDGE.sharp * R:
        return 0
    height = heights(x, np.array([0.0, 0.0, 0.0, R]))
    own, outside = x[np.abs(height) < gate], x[height > gate]
    free = np.ones(len(outside), dtype=bool)
    for other in others:
        away, wide = other.centre - fit.centre, BIWEIGHT.tukey * other.scale
        if _two_spheres(x, away, R, max(gate, wide)):
            free &= np.abs(heights(outside, np.append(away, R))) > wide
    if free.sum() < 3:
        return 0
    best = 0
    for axis in ways[np.argsort(-_on_tubes(ways, outside[free], R, 400))[:TRIES]]:
        axis = _fitted(axis, outside[free], R, gate, WIDTHS[1:])
        along, _, across = _about(axis, outside)
        met = (along > 0.0) & (across < R + WIDTHS[1] * gate)
        on = ((np.abs(across - R) < gate) & free)[met][np.argsort(along[met])]
        most = np.cumsum(np.where(on, 1, -1)).max(initial=0)
        along, _, across = _about(axis, own)
        best = max(best, most - 3 * ((across < R - gate) & (along > 0.0)).sum())
    return int(best)


def _two_spheres(x: Floats, away: Floats, R: float, gate: float) -> bool:
    """Whether points (k, 3) between centres at zero and `away` are of solid spheres.

    Nearer to them than to a tube around both, in squares of at most the gate; where
    nothing is seen between them too.
    """
    apart = np.linalg.norm(away)
    if not JUDGE.solid * R < apart < (JUDGE.far + 2.0) * R:
        return False
    spheres, tube = _left(x, away, float(apart), R, gate)
    return spheres <= tube


@kernel
def _left(
    x: Floats, away: Floats, apart: float, R: float, gate: float
) -> tuple[float, float]:
    """Sums of squares, of at most the gate, of how far points (k, 3) between centres at
    zero and `away` lie off the nearer of both spheres, and off a tube around both."""
    along, _, off_axis = _about(away / apart, x)
    spheres, tube = 0.0, 0.0
    for p in range(len(x)):
        if 0.0 < along[p] < apart:
            one, other = 0.0, 0.0
            for a in range(3):
                one += x[p, a] ** 2
                other += (x[p, a] - away[a]) ** 2
            off = np.sqrt(min(one, other)) - R
            spheres += min(abs(off), gate) ** 2
            tube += min(abs(off_axis[p] - R), gate) ** 2
    return spheres, tube


def _on_tubes(ways: Floats, x: Floats, R: float, most: int) -> Floats:
    """(m,) points roughly on half a tube along each way (m, 3), less twice those in it.

    Of some of x (k, 3), and as far along it as that is largest.
    """
    some = x[:: 1 + len(x) // most]
    along = some @ ways.T
    across = np.sqrt(np.maximum((some**2).sum(axis=1)[:, None] - along**2, 0.0)) / R
    count = np.where(across < 1 - COARSE, -2, across < 1 + COARSE)
    count[along <= 0.0] = 0
    in_turn = np.take_along_axis(count, np.argsort(along, axis=0), axis=0)
    return np.asarray(np.cumsum(in_turn, axis=0).max(axis=0, initial=0), np.float64)


def _inside(ways: Floats, x: Floats, radius: float, most: int) -> Floats:
    """(m,) share of some of x (k, 3) in half a cylinder along each way (m, 3)."""
    some = x[:: 1 + len(x) // most]
    along = some @ ways.T
    inside = (some**2).sum(axis=1)[:, None] - along**2 < radius**2
    return np.asarray((inside & (along > 0.0)).mean(axis=0))


def _fitted(
    axis: Floats, x: Floats, R: float, gate: float, widths: tuple[int, ...]
) -> Floats:
    """The unit axis of a tube of radius R through zero, from gates wide to narrow."""
    for width in widths:
        A, b = _off_wall(axis, x, R, width * gate)
        axis = axis + np.linalg.pinv(A, rcond=SINGULAR, hermitian=True) @ b
        axis /= np.linalg.norm(axis)
    return axis


@kernel
def _off_wall(axis: Floats, x: Floats, R: float, gate: float) -> tuple[Floats, Floats]:
    """Normal equations (3, 3), (3,) of the turn of an axis that takes its tube's wall
    to the points that lie about there; along the axis they are singular."""
    A, b, row = np.zeros((3, 3)), np.zeros(3), np.empty(3)
    along, out, across = _about(axis, x)
    for p in range(len(x)):
        if along[p] > 0.0 and abs(across[p] - R) < gate:
            for i in range(3):
                row[i] = along[p] / across[p] * out[p, i]
            for i in range(3):
                b[i] += row[i] * (across[p] - R)
                for j in range(3):
                    A[i, j] += row[i] * row[j]
    return A, b


@kernel
def _about(axis: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """How far x (k, 3) lie along a unit vector, off it (k, 3), and how far off it."""
    along, out, across = np.empty(len(x)), np.empty((len(x), 3)), np.empty(len(x))
    for p in range(len(x)):
        along[p] = x[p, 0] * axis[0] + x[p, 1] * axis[1] + x[p, 2] * axis[2]
        for i in range(3):
            out[p, i] = x[p, i] - along[p] * axis[i]
        square = out[p, 0] ** 2 + out[p, 1] ** 2 + out[p, 2] ** 2
        across[p] = max(np.sqrt(square), 1e-300)
    return along, out, across


def _degree_2(x: Floats, e: Floats, w: Floats) -> tuple[Floats, Floats] | None:
    """The five of degree 2 in heights e (k,) of weights w, and their covariance."""
    b = _harmonics(x / np.linalg.norm(x, axis=1)[:, None])
    wb = w[:, None] * b
    A = wb.T @ b
    if np.linalg.eigvalsh(A)[0] <= 1e-9 * A[3, 3]:
        return None
    found = np.linalg.solve(A, wb.T @ e)
    score = wb * (e - b @ found)[:, None]
    cell = cells(x, np.zeros(3), BIWEIGHT.clusters)
    number = 6 * BIWEIGHT.clusters**2
    sums = np.array([np.bincount(cell, column, number) for column in score.T]).T
    seen = int((np.bincount(cell, minlength=number) > 0).sum())
    if seen < SHARED.cells * UNKNOWNS:
        return None
    bread = np.linalg.inv(A)
    C = (bread @ (sums.T @ sums) @ bread)[4:, 4:] * (seen / (seen - UNKNOWNS))
    return np.asarray(found[4:], np.float64), np.asarray(C, np.float64)


def _harmonics(u: Floats) -> Floats:
    """(k, 9) rows of degree 1, 0 and 2 at unit vectors u (k, 3)."""
    x, y, z = u.T
    two = [x * y, y * z, x * z, x * x - y * y, 3 * z * z - 1]
    return np.column_stack([x, y, z, np.ones(len(u)), *two])
