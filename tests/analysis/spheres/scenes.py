"""Virtual scans with known truth: balls, rods, clamps and a target, ray-cast exactly.

A random tree mechanism is seen by structured-light views: a point needs a line of
sight to camera and projector. Noise is sigma / cos(incidence) along the ray, which is
sigma along the normal. Besides noise there are mixed pixels at edges, outliers,
fringe ripple and a rigid misplacement of each view.
"""

from dataclasses import dataclass

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel

BALL, ROD, CLAMP = 6.0, 2.5, 4.2  # radii, mm
CLAMP_END = 9.0  # from the ball's centre, mm
ATTACHED, TARGET, OUTLIER, MIXED = -1, -2, -3, -4  # labels of points on no ball


@dataclass(frozen=True)
class Scanner:
    """The views and what goes wrong in them; lengths in mm, angles in degrees."""

    views: int = 8
    pixels: tuple[int, int] = (400, 300)
    sigma: float = 0.05
    standoff: float = 420.0
    baseline: float = 140.0
    max_incidence: float = 72.0
    mixed: float = 0.3  # share of edge pixels between foreground and background
    outliers: float = 0.002  # share of points
    ripple: float = 0.0  # amplitude along the normal
    shift: float = 0.0  # sd of a view's translation
    turn: float = 0.0  # sd of a view's rotation


@dataclass(frozen=True, eq=False)
class Parts:
    """What stands in front of the scanner."""

    centres: Floats  # (m, 3) of the balls
    radius: float
    rods: Floats  # (k, 7) end, end, radius: rods and clamps
    target: str  # "none", "plane", "cylinder", "bowl"
    base: Floats  # (3,) point of the target below the middle


@dataclass(frozen=True, eq=False)
class VirtualScan:
    """A scan and its truth."""

    points: Floats  # (n, 3) mm
    view: Ints  # (n,)
    label: Ints  # (n,) number of the ball, or what else the point lies on
    normal: Floats  # (n, 3) true outward normal
    parts: Parts
    cap: Floats  # (m,) share of each ball that can be measured
    sigma: float

    def bound(self, ball: int) -> Floats:
        """Cramer-Rao bound of a centre: (sum u u^T / sigma^2)^-1 over its points."""
        u = self.normal[self.label == ball]
        return np.asarray(np.linalg.inv(u.T @ u) * self.sigma**2)


def tree(
    rng: np.random.Generator, balls: int, target: str = "plane", radius: float = BALL
) -> Parts:
    """A random tree of links, triangles and tetrahedra with rods and clamps."""
    nodes = [np.zeros(3)]
    edges: list[tuple[int, int]] = []
    while len(nodes) < balls:
        body = [int(rng.integers(len(nodes)))]
        for _ in range(min(int(rng.integers(1, 4)), balls - len(nodes))):
            way = rng.normal(size=3)
            at = nodes[body[0]] + rng.uniform(30, 60) * way / np.linalg.norm(way)
            nodes.append(at)
            body.append(len(nodes) - 1)
        edges += [(i, j) for i in body for j in body if i < j]
    r = np.array(nodes) - np.mean(nodes, axis=0)
    k = radius / BALL
    rods = []
    for i, j in edges:
        way = (r[j] - r[i]) / np.linalg.norm(r[j] - r[i])
        rods.append([*r[i], *r[j], ROD * k])
        rods.append([*r[i], *(r[i] + CLAMP_END * k * way), CLAMP * k])
        rods.append([*r[j], *(r[j] - CLAMP_END * k * way), CLAMP * k])
    base = np.array([0.0, 0.0, r[:, 2].min() - 30.0])
    return Parts(r, radius, np.array(rods).reshape(-1, 7), target, base)


def scan(rng: np.random.Generator, parts: Parts, scanner: Scanner) -> VirtualScan:
    """Look at the parts from all views."""
    rows = [_view(rng, parts, scanner, v) for v in range(scanner.views)]
    points, normal, label, view = (
        np.concatenate([row[k] for row in rows]) for k in range(4)
    )
    noise = rng.random(len(points)) < scanner.outliers
    low, high = points.min(axis=0) - 20, points.max(axis=0) + 20
    points[noise] = rng.uniform(low, high, (int(noise.sum()), 3))
    label[noise] = OUTLIER
    cap = _caps(parts, scanner)
    return VirtualScan(points, view, label, normal, parts, cap, scanner.sigma)


def place_of(scanner: Scanner, v: int) -> Floats:
    """Where the camera of a view stands."""
    return _pose(scanner, v)[0]


def _pose(scanner: Scanner, v: int) -> tuple[Floats, Floats]:
    """Camera and projector of a view; both look at the origin."""
    azimuth = 2 * np.pi * v / scanner.views + 0.1
    elevation = np.deg2rad(25 + 40 * ((v * 0.618) % 1))
    out = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    eye = scanner.standoff * (
        np.cos(elevation) * out + np.sin(elevation) * np.array([0.0, 0.0, 1.0])
    )
    return eye, eye + scanner.baseline * np.array([-out[1], out[0], 0.0])


def _view(
    rng: np.random.Generator, parts: Parts, scanner: Scanner, v: int
) -> tuple[Floats, Floats, Ints, Ints]:
    eye, projector = _pose(scanner, v)
    columns, rows = scanner.pixels
    reach = np.linalg.norm(parts.centres, axis=1).max() + 20
    forward = -eye / scanner.standoff
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    u, w = np.meshgrid(
        (np.arange(columns) + 0.5) / columns * 2 - 1,
        ((np.arange(rows) + 0.5) / rows * 2 - 1) * rows / columns,
    )
    spread = reach / scanner.standoff * columns / rows
    d = forward + spread * (u[..., None] * right + w[..., None] * up)
    d = (d / np.linalg.norm(d, axis=2, keepdims=True)).reshape(-1, 3)
    t, label, n = _cast(parts, np.broadcast_to(eye, d.shape), d)
    cos = -np.einsum("ij,ij->i", n, d)
    seen = _lit(parts, eye, projector, d, t, n, scanner)
    t_image = np.where(np.isfinite(t), t, 0.0).reshape(rows, columns)
    label_image = label.reshape(rows, columns)
    noise = rng.normal(0, scanner.sigma, len(t))
    fringe = np.arange(len(t)) % columns + 0.3 * (np.arange(len(t)) // columns)
    noise += scanner.ripple * np.sin(2 * np.pi * fringe / 7.0 + rng.uniform(0, 6))
    t = t + noise / np.maximum(cos, 0.05)
    ahead = np.zeros_like(seen).reshape(rows, columns)
    ahead[:, 1:-1] = (np.abs(t_image[:, 2:] - t_image[:, :-2]) > 2.0) & (
        label_image[:, 2:] != label_image[:, :-2]
    )
    edge = ahead.ravel() & seen & (rng.random(len(t)) < scanner.mixed)
    far = np.where(edge)[0]
    side = t_image.ravel()[far + rng.choice([-1, 1], len(far))]
    t[far] += rng.random(len(far)) * (np.where(side > 0, side, t[far]) - t[far])
    label = np.where(edge, MIXED, label)
    x = eye + t[seen, None] * d[seen]
    turn = rng.normal(0, np.deg2rad(scanner.turn), 3)
    x = x + rng.normal(0, scanner.shift, 3) + np.cross(turn, x)
    return x, n[seen], label[seen], np.full(int(seen.sum()), v)


def _lit(
    parts: Parts,
    eye: Floats,
    projector: Floats,
    d: Floats,
    t: Floats,
    n: Floats,
    scanner: Scanner,
) -> Bools:
    """Which hits are seen at a fair angle and reached by the projector."""
    least = np.cos(np.deg2rad(scanner.max_incidence))
    seen = np.isfinite(t) & (np.einsum("ij,ij->i", n, d) < -least)
    x = eye + t[seen, None] * d[seen]
    to = x - projector
    length = np.linalg.norm(to, axis=1)
    to /= length[:, None]
    first, _, _ = _cast(parts, np.broadcast_to(projector, to.shape), to)
    facing = np.einsum("ij,ij->i", n[seen], to) < -0.2
    seen[seen] = (np.abs(first - length) < 1e-6 * length) & facing
    return seen


def _caps(parts: Parts, scanner: Scanner) -> Floats:
    """Share of 400 even directions on each ball that some view measures."""
    k = np.arange(400) + 0.5
    z = 1 - k / 200
    a = np.pi * (1 + 5**0.5) * k
    s = np.sqrt(1 - z * z)
    u = np.column_stack([s * np.cos(a), s * np.sin(a), z])
    x = (parts.centres[:, None] + parts.radius * u).reshape(-1, 3)
    n = np.tile(u, (len(parts.centres), 1))
    any_view = np.zeros(len(x), dtype=bool)
    for v in range(scanner.views):
        eye, projector = _pose(scanner, v)
        t = np.linalg.norm(x - eye, axis=1)
        d = (x - eye) / t[:, None]
        first, _, _ = _cast(parts, np.broadcast_to(eye, d.shape), d)
        direct = np.abs(first - t) < 1e-6 * t
        lit = _lit(parts, eye, projector, d, np.where(direct, t, np.inf), n, scanner)
        any_view |= lit
    return any_view.reshape(-1, 400).mean(axis=1)


def _cast(parts: Parts, o: Floats, d: Floats) -> tuple[Floats, Ints, Floats]:
    """First hit of each ray: distance, label, outward normal."""
    kinds = ["none", "plane", "cylinder", "bowl"]
    return _first_hits(
        np.ascontiguousarray(o), np.ascontiguousarray(d), parts.centres, parts.radius,
        parts.rods, kinds.index(parts.target), parts.base,
    )  # fmt: skip


@kernel
def _first_hits(
    o: Floats,
    d: Floats,
    centres: Floats,
    R: float,
    rods: Floats,
    target: int,
    base: Floats,
) -> tuple[Floats, Ints, Floats]:
    t = np.full(len(o), np.inf)
    label = np.full(len(o), TARGET, np.int64)
    n = np.zeros((len(o), 3))
    round_it = np.empty((len(rods), 4))  # spheres around the rods
    for k in range(len(rods)):
        square = 0.0
        for a in range(3):
            round_it[k, a] = 0.5 * (rods[k, a] + rods[k, 3 + a])
            square += 0.25 * (rods[k, a] - rods[k, 3 + a]) ** 2
        round_it[k, 3] = square + rods[k, 6] ** 2
    for p in range(len(o)):
        o0, o1, o2 = o[p, 0], o[p, 1], o[p, 2]
        d0, d1, d2 = d[p, 0], d[p, 1], d[p, 2]
        for k in range(len(centres)):
            x, y, z = centres[k, 0] - o0, centres[k, 1] - o1, centres[k, 2] - o2
            along = x * d0 + y * d1 + z * d2
            gap = x * x + y * y + z * z - along**2
            if gap < R * R:
                hit = along - np.sqrt(R * R - gap)
                if 0 < hit < t[p]:
                    t[p], label[p] = hit, k
        for k in range(len(rods)):
            x, y, z = round_it[k, 0] - o0, round_it[k, 1] - o1, round_it[k, 2] - o2
            along = x * d0 + y * d1 + z * d2
            if x * x + y * y + z * z - along**2 > round_it[k, 3]:
                continue
            hit = _rod_hit(o[p], d[p], rods[k])
            if 0 < hit < t[p]:
                t[p], label[p] = hit, -10 - k
        hit = _target_hit(o[p], d[p], target, base)
        if 0 < hit < t[p]:
            t[p], label[p] = hit, TARGET
        if t[p] < np.inf:
            at = o[p] + t[p] * d[p]
            if label[p] >= 0:
                n[p] = (at - centres[label[p]]) / R
            elif label[p] <= -10:
                n[p] = _rod_normal(at, rods[-10 - label[p]])
                label[p] = ATTACHED
            else:
                n[p] = _target_normal(at, target, base)
            if n[p, 0] * d[p, 0] + n[p, 1] * d[p, 1] + n[p, 2] * d[p, 2] > 0:
                n[p] = -n[p]
    return t, label, n


@kernel
def _rod_hit(o: Floats, d: Floats, rod: Floats) -> float:
    """First hit of a closed cylinder; inf where there is none."""
    axis = rod[3:6] - rod[:3]
    length = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    r = rod[6]
    axis = axis / length
    to = rod[:3] - o
    da = d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]
    ta = to[0] * axis[0] + to[1] * axis[1] + to[2] * axis[2]
    dp, tp = d - da * axis, to - ta * axis
    a = dp[0] ** 2 + dp[1] ** 2 + dp[2] ** 2
    b = dp[0] * tp[0] + dp[1] * tp[1] + dp[2] * tp[2]
    c = tp[0] ** 2 + tp[1] ** 2 + tp[2] ** 2 - r * r
    best = np.inf
    if a > 1e-15 and b * b > a * c:
        hit = (b - np.sqrt(b * b - a * c)) / a
        z = hit * da - ta
        if hit > 0 and 0 <= z <= length:
            best = hit
    if abs(da) > 1e-12:
        for end in (0.0, length):
            hit = (ta + end) / da
            q = hit * dp - tp
            if 0 < hit < best and q[0] ** 2 + q[1] ** 2 + q[2] ** 2 < r * r:
                best = hit
    return best


@kernel
def _rod_normal(x: Floats, rod: Floats) -> Floats:
    axis = rod[3:6] - rod[:3]
    length = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    axis = axis / length
    q = x - rod[:3]
    z = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    if z < 1e-6 or z > length - 1e-6:
        return axis
    q = q - z * axis
    return q / rod[6]


CURVED = 150.0  # radius of the cylinder and of the bowl
HALF = 130.0  # half width of the target


@kernel
def _target_hit(o: Floats, d: Floats, target: int, base: Floats) -> float:
    """First hit of the open target: plane z = 0, cylinder along x, or bowl at base."""
    if target == 0:
        return np.inf
    p = o - base
    if target == 1:
        hit = -p[2] / d[2] if d[2] != 0.0 else np.inf
        x = p + hit * d
        inside = abs(x[0]) < HALF and abs(x[1]) < HALF
        return hit if inside else np.inf
    first = 1 if target == 2 else 0
    sign = 1.0 if target == 2 else -1.0  # convex cylinder below, hollow bowl above
    p[2] += sign * CURVED
    a, b, c = 0.0, 0.0, -CURVED * CURVED
    for k in range(first, 3):
        a += d[k] * d[k]
        b += d[k] * p[k]
        c += p[k] * p[k]
    if b * b <= a * c:
        return np.inf
    root = np.sqrt(b * b - a * c)
    for side in (-1.0, 1.0):
        hit = (-b + side * root) / a
        x = p + hit * d
        depth = -sign * x[2] + CURVED
        if hit > 0 and abs(x[0]) < HALF and abs(x[1]) < HALF and depth < 0.6 * CURVED:
            return hit
    return np.inf


@kernel
def _target_normal(x: Floats, target: int, base: Floats) -> Floats:
    n = np.zeros(3)
    if target == 1:
        n[2] = 1.0
        return n
    p = x - base
    p[2] += CURVED if target == 2 else -CURVED
    for k in range(1 if target == 2 else 0, 3):
        n[k] = p[k] / CURVED
    return n


SIX_CENTRES = np.array(
    [[0, 0, 0], [30, 5, 0], [10, 35, 8], [45, 40, -12], [-25, 20, 15], [5, -30, 4]],
    dtype=np.float64,
)


def seen_around(
    rng: np.random.Generator, *, noise: float, off: float = 0.0
) -> tuple[Floats, Ints]:
    """Caps of balls of 6 mm from six sides, and their views, misplaced by `off`.

    A scanner errs along its line of sight, more on steep surfaces.
    """
    towards = np.vstack([np.eye(3), -np.eye(3)])
    points, view = [], []
    for v, axis in enumerate(towards):
        u = rng.standard_normal((len(SIX_CENTRES), 1600, 3))
        u /= np.linalg.norm(u, axis=2, keepdims=True)
        keep = u @ axis > 0.3
        centre = np.broadcast_to(SIX_CENTRES[:, None], u.shape)[keep]
        u = u[keep]
        along = noise * rng.standard_normal((len(u), 1)) / (u @ axis)[:, None]
        points.append(centre + 6.0 * u + along * axis + off * rng.standard_normal(3))
        view.append(np.full(int(keep.sum()), v))
    return np.concatenate(points), np.concatenate(view)
