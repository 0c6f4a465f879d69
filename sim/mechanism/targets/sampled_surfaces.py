"""Point clouds and meshes as targets, and a smooth surface through their points.

A scanned object is such a target ([dJ23], Methods, Simulations). Goals on the smooth
surface do not jump from point to point. Each point p_i has the quadric that fits its
neighbourhood best in the sense of weighted least squares, with d = x - p_i

    q_i(x) = c_i + g_i.d + 1/2 d.C_i d,      |g_i| = 1,

a height over the tangent plane. The surface is where their weighted mean vanishes,

    F(x) = sum_i w_i q_i / sum_i w_i,        w_i = exp(-|d|^2 / h^2)

(moving least squares: Levin 2004; the mean of local quadrics as a level set: Ohtake et
al., ACM Trans. Graph. 22, 2003). F is smooth, its gradient and curvature are exact:
with u_i = w_i / sum w and a_i = grad log w_i - sum_j u_j grad log w_j

    grad F = sum_i u_i (grad q_i + q_i a_i)
    Hess F = sum_i u_i (C_i + grad q_i a_i^T + a_i grad q_i^T + (q_i - F) a_i a_i^T).

The nearest point g of r is where r - g is normal to F = 0; as r moves, g moves by

    dg = T (T^T (I + mu Hess F) T)^-1 T^T dr,     mu = (r - g).grad F / |grad F|^2,

T the two tangents. The sign of a quadric is that of the one nearest, so that normals
need no common side. Beyond the rim of the points, and in holes, the surface goes on as
the quadrics next to it do.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from sim.contact.coulomb import contact_tangents
from sim.core.arrays import Bools, Floats, Ints, triangle_sides
from sim.core.numba_kernels import kernel
from sim.core.options import NotConvergedError
from sim.mechanism.targets.target_interface import Target, Wireframe, shown

NEIGHBOURS = 30  # points that a quadric is fitted to
WIDTH = 0.39  # h over the radius that holds them, in the median
LEAST = 12  # of them, for its six numbers
SEEN = 30.0  # exponent beyond that of the nearest point from which weights are nothing
AROUND = 0.5  # of h, that a nearest point may move before points are looked for again
LOOKS = 200  # for points
SPARSE = 2.0  # of h, to the nearest point, from which there is none
AT_ONCE = 20_000  # points whose quadrics are fitted together
JUDGED = 5_000  # points that tell how far the surface is from them


@dataclass(frozen=True, eq=False)
class Quadrics:
    """One for each point.

    Attributes
    ----------
    at, c, g, C : (p, 3), (p,), (p, 3) and (p, 3, 3), see above
    """

    at: Floats
    c: Floats
    g: Floats
    C: Floats


@dataclass(frozen=True, eq=False)
class SmoothCloud:
    """The surface of a cloud.

    Attributes
    ----------
    width : h, the points' unit
    """

    quadrics: Quadrics
    width: float

    @classmethod
    def of(
        cls,
        points: Floats,
        normals: Floats | None = None,
        neighbours: int = NEIGHBOURS,
    ) -> "SmoothCloud":
        """Through points (p, 3), where noise does not forbid it.

        Parameters
        ----------
        normals : (p, 3), those of the planes that fit best unless given
        neighbours : that a quadric is fitted to; more smooth more, and noise out
        """
        if neighbours < LEAST:
            raise ValueError(
                f"neighbours of the target is {neighbours}: give at least {LEAST}"
            )
        if len(points) <= neighbours:
            raise ValueError(
                f"the target has {len(points)} points: a smooth surface needs more "
                f"than {neighbours}; give more, or choose `method: projection`"
            )
        found = cKDTree(points).query(points, k=neighbours + 1)
        far: Floats = np.asarray(found[0], dtype=np.float64)
        near: Ints = np.asarray(found[1], dtype=np.int64)
        if not far[:, -1].min() > 0.0:
            i = int(far[:, -1].argmin())
            raise ValueError(
                f"point {i} of the target occurs more than {neighbours} times: "
                "remove copies"
            )
        parts = np.array_split(np.arange(len(points)), -(-len(points) // AT_ONCE))
        fits = [_fit(points, near[part], far[part], normals) for part in parts]
        c, g, C = (np.concatenate(each) for each in zip(*fits, strict=True))
        return cls(Quadrics(points, c, g, C), WIDTH * float(np.median(far[:, -1])))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.quadrics.at)

    def closest(self, points: Floats) -> Floats:
        """The nearest point of the surface, in the valley of the nearest point given.

        Where Newton's method finds none, what is next to that point.

        Raises
        ------
        NotConvergedError
            where there is none either: the points are not those of a surface.
        """
        first: Ints = np.asarray(self._tree.query(points)[1], dtype=np.int64)
        x = self.quadrics.at[first].copy()
        waiting = np.arange(len(points))
        for _ in range(LOOKS):
            if not len(waiting):
                break
            begun = x[waiting]
            settled, _ = self._near(begun, points[waiting], first[waiting])
            x[waiting] = begun
            waiting = waiting[~settled]
        if len(waiting):
            next_to = self.quadrics.at[first[waiting]]
            x[waiting] = next_to
            begun = x[waiting]
            settled, _ = self._near(begun, next_to, first[waiting])
            if not settled.all():
                raise NotConvergedError(
                    "the target points do not form a surface near "
                    f"{next_to[~settled][0].tolist()}: remove outliers",
                    best=x,
                )
            x[waiting] = begun
        return x

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        """(n, 3, 3) dg/dr of the nearest points `goals` of `points` (n, 3)."""
        first = np.asarray(self._tree.query(points)[1], dtype=np.int64)
        return self._near(goals.copy(), points, first)[1]

    def is_beyond(self, goals: Floats) -> Bools:
        """(n,) which goals are where no point is close: in a hole, or past the rim."""
        return np.asarray(self._tree.query(goals)[0]) > SPARSE * self.width

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        return shown(self.quadrics.at)

    @cached_property
    def misfit(self) -> tuple[float, float]:
        """Root mean square and largest distance of the points from the surface."""
        step = -(-len(self.quadrics.at) // JUDGED)
        at = self.quadrics.at[::step]
        away = np.linalg.norm(self.closest(at) - at, axis=1)
        return float(np.sqrt(np.mean(away**2))), float(away.max())

    def _looked_up(self, x: Floats) -> tuple[Ints, Ints]:
        """The points whose weight counts close to each x: where they begin, which."""
        nearest, _ = self._tree.query(x)
        reach = np.sqrt(nearest**2 + SEEN * self.width**2) + AROUND * self.width
        found = self._tree.query_ball_point(x, reach, return_sorted=True)
        start = np.cumsum([0, *map(len, found)])
        return start, np.concatenate([np.asarray(f, dtype=np.int64) for f in found])

    def _near(self, x: Floats, points: Floats, first: Ints) -> tuple[Bools, Floats]:
        """Move x to the nearest points; which have come to rest, and dg/dr there."""
        start, near = self._looked_up(x)
        q, side = self.quadrics, self.quadrics.g[first]
        settled, slopes = np.empty(len(x), dtype=np.bool_), np.empty((len(x), 3, 3))
        _settle(
            q.at, q.c, q.g, q.C, self.width, start, near, side, points, x, slopes,
            settled,
        )  # fmt: skip
        return settled, slopes


def _fit(
    points: Floats, near: Ints, far: Floats, normals: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """c, g and C of the quadrics of the points near[:, 0]."""
    d = points[near] - points[near[:, 0]][:, None]
    weight = np.square(1.0 - np.square(far / (1.01 * far[:, -1:])))
    middle = np.einsum("pk,pki->pi", weight, d) / weight.sum(axis=1)[:, None]
    off = d - middle[:, None]
    frames = np.linalg.eigh(np.einsum("pk,pki,pkj->pij", weight, off, off))[1]
    n = frames[:, :, 0] if normals is None else normals[near[:, 0]]
    n = n / np.linalg.norm(n, axis=1, keepdims=True)
    T = contact_tangents(n)
    u, v = np.einsum("pij,pkj->ipk", T, d)
    powers = np.stack([np.ones_like(u), u, v, 0.5 * u * u, u * v, 0.5 * v * v], -1)
    size = far[:, -1] ** np.array([[0], [1], [1], [2], [2], [2]])
    scaled = powers / size.T[:, None]
    left = np.einsum("pk,pki,pkj->pij", weight, scaled, scaled) + 1e-9 * np.eye(6)
    height = np.einsum("pki,pi->pk", d, n)
    right = np.einsum("pk,pki,pk->pi", weight, scaled, height)
    k = np.linalg.solve(left, right[..., None])[..., 0] / size.T
    K = k[:, [[3, 4], [4, 5]]]
    g = n - np.einsum("pi,pij->pj", k[:, 1:3], T)
    length = np.linalg.norm(g, axis=1)
    C = -np.einsum("pai,pab,pbj->pij", T, K, T)
    return -k[:, 0] / length, g / length[:, None], C / length[:, None, None]


@kernel
def _level(
    at: Floats, c: Floats, g: Floats, C: Floats, width: float, near: Ints, side: Floats,
    x: Floats, gradient: Floats, hessian: Floats,
) -> float:  # fmt: skip
    """F at x, its gradient and its curvature."""
    own = np.empty((len(near), 8))  # of each quadric: w, q, grad q, grad log w
    total = value = 0.0
    least = _squares(at, near, x, own)
    gradient[:] = 0.0
    for e in range(len(near)):
        i = near[e]
        sign = _facing(g[i], side)
        weight, q = np.exp((least - own[e, 0]) / width**2), c[i]
        for a in range(3):
            bent = 0.0
            for b in range(3):
                bent += C[i, a, b] * (x[b] - at[i, b])
            q += (g[i, a] + 0.5 * bent) * (x[a] - at[i, a])
            own[e, 2 + a] = sign * (g[i, a] + bent)
            own[e, 5 + a] = -2.0 * (x[a] - at[i, a]) / width**2
            gradient[a] += weight * own[e, 5 + a]
        own[e, 0], own[e, 1] = weight, sign * q
        total += weight
        value += weight * sign * q
    value /= total
    for e in range(len(near)):
        for a in range(3):
            own[e, 5 + a] -= gradient[a] / total
    _blended(C, g, near, side, own, total, value, gradient, hessian)
    return value


@kernel
def _squares(at: Floats, near: Ints, x: Floats, own: Floats) -> float:
    """Squared distances of the quadrics' points from x, into own[:, 0]; the least."""
    least = np.inf
    for e in range(len(near)):
        square = 0.0
        for a in range(3):
            square += (x[a] - at[near[e], a]) ** 2
        own[e, 0] = square
        least = min(least, square)
    return least


@kernel
def _facing(normal: Floats, side: Floats) -> float:
    """The sign with which a quadric counts, so that all face the same side."""
    along = normal[0] * side[0] + normal[1] * side[1] + normal[2] * side[2]
    return 1.0 if along >= 0.0 else -1.0


@kernel
def _blended(
    C: Floats, g: Floats, near: Ints, side: Floats, own: Floats,
    total: float, value: float, gradient: Floats, hessian: Floats,
) -> None:  # fmt: skip
    """Gradient and curvature of the weighted mean of the quadrics."""
    gradient[:] = 0.0
    hessian[:] = 0.0
    for e in range(len(near)):
        i, share = near[e], own[e, 0] / total
        sign = _facing(g[i], side)
        for a in range(3):
            gradient[a] += share * (own[e, 2 + a] + own[e, 1] * own[e, 5 + a])
            for b in range(3):
                hessian[a, b] += share * (
                    sign * C[i, a, b]
                    + own[e, 2 + a] * own[e, 5 + b]
                    + own[e, 5 + a] * own[e, 2 + b]
                    + (own[e, 1] - value) * own[e, 5 + a] * own[e, 5 + b]
                )


@kernel
def _tangents(gradient: Floats) -> Floats:
    """(2, 3) the tangents T."""
    n = gradient / np.sqrt(np.dot(gradient, gradient))
    k = np.argmin(np.abs(n))
    T = np.empty((2, 3))
    T[0] = -n[k] * n
    T[0, k] += 1.0
    T[0] /= np.sqrt(np.dot(T[0], T[0]))
    T[1] = np.cross(n, T[0])
    return T


@kernel
def _inverse(B: Floats) -> Floats:
    """Of a symmetric matrix (2, 2)."""
    adjugate = np.array([[B[1, 1], -B[0, 1]], [-B[0, 1], B[0, 0]]])
    return np.asarray(adjugate / (B[0, 0] * B[1, 1] - B[0, 1] ** 2))


@kernel
def _settle(
    at: Floats, c: Floats, g: Floats, C: Floats, width: float, start: Ints, near: Ints,
    sides: Floats, points: Floats, goals: Floats, slopes: Floats, settled: Bools,
) -> None:  # fmt: skip
    """Newton's method for the nearest point, downhill where distance is not convex.

    B (2, 2) is the curvature of the distance along the tangents.
    """
    gradient, hessian = np.empty(3), np.empty((3, 3))
    T, B = np.empty((2, 3)), np.eye(2)
    for p in range(len(points)):
        x, seen = goals[p], near[start[p] : start[p + 1]]
        settled[p], begun = False, x.copy()
        for _ in range(60):
            F = _level(at, c, g, C, width, seen, sides[p], x, gradient, hessian)
            to_point, square = points[p] - x, np.dot(gradient, gradient)
            mu, T = np.dot(to_point, gradient) / square, _tangents(gradient)
            B = np.eye(2) + mu * np.dot(T, np.dot(hessian, T.T))
            half, skew = 0.5 * (B[0, 0] + B[1, 1]), 0.5 * (B[0, 0] - B[1, 1])
            lift = max(0.1 - half + np.sqrt(skew**2 + B[0, 1] ** 2), 0.0)
            apart = to_point + mu * F / square * np.dot(hessian, gradient)
            along = np.dot(_inverse(B + lift * np.eye(2)), np.dot(T, apart))
            step = np.dot(along, T) - F / square * gradient
            size = np.sqrt(np.dot(step, step))
            x += min(1.0, AROUND * width / max(size, 1e-300)) * step
            if np.sum((x - begun) ** 2) > (AROUND * width) ** 2:
                break
            if size <= 1e-8 * width:  # squared next
                settled[p] = True
                break
        slopes[p] = np.dot(T.T, np.dot(_inverse(B), T))


@dataclass(frozen=True, eq=False)
class CloudTarget:
    """The nearest of many points.

    The goals jump from point to point, so that a morph comes to rest on them with an
    error of the order of their spacing. With normals a goal is the foot on the plane
    through the nearest point instead, and jumps from plane to plane. Newton's steps
    follow the smooth surface of the points.

    Attributes
    ----------
    points : (p, 3)
    normals : (p, 3) or None
    norm : 2, or 1 for the sum of the distances along x, y and z ([dJ23], Discussion)
    neighbours : that each place of the smooth surface is fitted to
    """

    points: Floats
    normals: Floats | None = None
    norm: int = 2
    neighbours: int = NEIGHBOURS

    def __post_init__(self) -> None:
        if self.points.ndim != 2 or self.points.shape[1:] != (3,):
            raise ValueError(
                f"the point cloud has shape {self.points.shape}: give (p, 3) points"
            )
        if len(self.points) == 0:
            raise ValueError("the target has no points: is it a point cloud?")
        if not np.isfinite(self.points).all():
            raise ValueError("the target has points that are not finite: drop them")
        if self.normals is not None and self.normals.shape != self.points.shape:
            raise ValueError(
                f"normals of the target have shape {self.normals.shape}, not "
                f"{self.points.shape}: give one per point"
            )
        if self.norm not in (1, 2):
            raise ValueError(f"norm of the target is {self.norm}: choose 1 or 2")
        if self.normals is not None and self.norm == 1:
            raise ValueError("norm 1 does not use normals: leave them out")

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.points)

    @cached_property
    def smooth(self) -> Target:
        """The surface of the points; in the 1-norm there is none."""
        if self.norm == 1:
            return self
        return SmoothCloud.of(self.points, self.normals, self.neighbours)

    def closest(self, points: Floats) -> Floats:
        _, near = self._tree.query(points, p=self.norm)
        goals: Floats = self.points[near]
        if self.normals is None:
            return goals
        n = self.normals[near]
        height = np.einsum("pi,pi->p", points - goals, n)
        return np.asarray(points - height[:, None] * n)

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        return shown(self.points)


def normals_of(points: Floats, neighbours: int = 12) -> Floats:
    """(p, 3) unit normals of the planes that fit the neighbours of each point best."""
    if len(points) <= neighbours:
        raise ValueError(
            f"{len(points)} points are too few for normals from {neighbours} "
            "neighbours: give more points, or fewer neighbours"
        )
    _, near = cKDTree(points).query(points, k=neighbours + 1)
    local = points[near] - points[near].mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.einsum("pki,pkj->pij", local, local))
    return np.asarray(vectors[:, :, 0])


FEWEST, MOST = 200, 20_000  # points that the rounded surface goes through, about


@dataclass(frozen=True, eq=False)
class MeshTarget:
    """The nearest point of triangles, exact to rounding.

    Attributes
    ----------
    vertices : (v, 3)
    triangles : (t, 3) numbers of vertices
    """

    vertices: Floats
    triangles: Ints

    def __post_init__(self) -> None:
        if len(self.triangles) == 0:
            raise ValueError("the target has no triangles: give a mesh")
        if not np.isfinite(self.vertices).all():
            raise ValueError("the target has vertices that are not finite: drop them")
        if self.triangles.min() < 0 or self.triangles.max() >= len(self.vertices):
            last = len(self.vertices) - 1
            raise ValueError(f"a triangle has a vertex outside 0 to {last}: correct it")
        across = np.cross(*np.diff(self._corners, axis=1).swapaxes(0, 1))
        if not np.linalg.norm(across, axis=1).any():
            raise ValueError("no triangle of the target has an area: give a surface")

    @cached_property
    def _corners(self) -> Floats:
        return np.asarray(self.vertices[self.triangles])

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._corners.mean(axis=1))

    @cached_property
    def _reach(self) -> float:
        """Largest distance of a corner from the middle of its triangle."""
        middle = self._corners.mean(axis=1, keepdims=True)
        return float(np.linalg.norm(self._corners - middle, axis=2).max())

    def closest(self, points: Floats) -> Floats:
        """Try every triangle whose middle is near enough to hold the nearest point."""
        some = min(8, len(self.triangles))
        _, near = self._tree.query(points, k=some)
        near = near.reshape(len(points), some)
        flat = np.repeat(points, some, axis=0)
        first = closest_on_triangles(flat, self._corners[near.ravel()])
        distance = np.linalg.norm(first - flat, axis=1).reshape(len(points), some)
        best = first.reshape(len(points), some, 3)
        rows = np.arange(len(points))
        goals: Floats = best[rows, distance.argmin(axis=1)]
        radius = distance.min(axis=1) + self._reach
        lists = self._tree.query_ball_point(points, radius)
        owner = np.repeat(rows, [len(found) for found in lists])
        every = np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
        feet = closest_on_triangles(points[owner], self._corners[every])
        distance = np.linalg.norm(feet - points[owner], axis=1)
        order = np.lexsort((distance, owner))
        firsts = order[np.searchsorted(owner[order], rows)]
        goals[owner[firsts]] = feet[firsts]
        return goals

    @cached_property
    def rounded(self) -> SmoothCloud | None:
        """The smooth surface of its vertices, and of points between where they are far
        apart; None where these are no surface."""
        points = spread_points(self._corners)
        return SmoothCloud.of(points) if len(points) > NEIGHBOURS else None

    def wireframe(self, around: Floats) -> Wireframe:
        """The sides of the triangles."""
        del around
        return Wireframe(self.vertices, triangle_sides(self.triangles)[0])


def spread_points(corners: Floats) -> Floats:
    """(p, 3) points of triangles (t, 3, 3), about as far apart as corners mostly are.

    Triangles are cut in halves across their longest side until that is no longer than
    1.5 times the median one, and one corner remains of each cube of half of it.
    """
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = 0.5 * float(np.linalg.norm(across, axis=1).sum())
    spacing = float(np.median(lengths))
    spacing = float(np.clip(spacing, np.sqrt(area / MOST), np.sqrt(area / FEWEST)))
    if spacing == 0.0:
        return np.zeros((0, 3))
    done: list[Floats] = []
    while len(corners):
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        short = lengths.max(axis=1) <= 1.5 * spacing
        done.append(corners[short].reshape(-1, 3))
        first = lengths[~short].argmax(axis=1)[:, None] + np.arange(3)
        a, b, c = np.take_along_axis(
            corners[~short], (first % 3)[:, :, None], axis=1
        ).transpose(1, 0, 2)
        middle = 0.5 * (a + b)
        corners = np.concatenate(
            [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        )
    points = np.concatenate(done)
    cubes = np.floor(points / (0.5 * spacing))
    return points[np.sort(np.unique(cubes, axis=0, return_index=True)[1])]


def closest_on_triangles(p: Floats, corners: Floats) -> Floats:
    """(q, 3) the point of each triangle nearest to each p.

    The foot on the plane if it is inside, else the nearest of the feet on the sides.

    Parameters
    ----------
    p : (q, 3)
    corners : (q, 3, 3)
    """
    best = np.full_like(p, np.inf)
    least = np.full(len(p), np.inf)
    for i in range(3):
        a, d = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        size = np.maximum(np.einsum("qi,qi->q", d, d), 1e-300)
        t = np.clip(np.einsum("qi,qi->q", p - a, d) / size, 0.0, 1.0)
        foot = a + t[:, None] * d
        distance = np.linalg.norm(foot - p, axis=1)
        best[distance < least] = foot[distance < least]
        least = np.minimum(distance, least)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    size = np.einsum("qi,qi->q", n, n)
    flat = size > 0.0
    safe = np.where(flat, size, 1.0)
    height = np.einsum("qi,qi->q", p - a, n) / safe
    foot = p - height[:, None] * n
    inside = flat.copy()
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("qi,qi->q", np.cross(v - u, foot - u), n) >= 0.0
    best[inside] = foot[inside]
    return best
