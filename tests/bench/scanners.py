"""Four virtual scanners with different physics, and the scenes they look at.

The scanners share no code with the detection of spheres nor with other virtual scans:
an error that both have in common would stay hidden. A scene is a list of solids given
by their signed distances; the first solids are the spheres. Lengths are mm, z is up,
and the table's top is z = 0. Magnitudes are those of data sheets of each kind of
scanner; the docstrings state them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Field = Callable[[Floats], Floats]
Rng = np.random.Generator

TOUCH = 1e-3  # a ray ends this near to a surface
UP = np.array([0.0, 0.0, 1.0])
LEAST_CAP, LEAST_POINTS = 0.15, 60  # of a sphere that counts as visible


@dataclass(frozen=True, eq=False)
class Solid:
    """A body by its signed distance, or a lower bound of it that has the same zeros."""

    centre: Floats
    reach: float  # the body is within this distance of `centre`
    distance: Field


@dataclass(frozen=True, eq=False)
class Scene:
    """Solids, of which the first are the spheres."""

    solids: list[Solid]
    centres: Floats
    radius: float
    middle: Floats  # where scanners aim at
    width: float


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scanner delivers, and the truth about it.

    Parameters
    ----------
    points : the delivered points
    caps, counts : share of each sphere's surface that has delivered points, and their
        number, with the points at their places without any error
    registration_mm : the registration error of views that the user states
    """

    points: Floats
    caps: Floats
    counts: Floats
    view: Ints | None = None
    origins: Floats | None = None
    registration_mm: float = 0.0
    fused: bool = False


# Solids


def unit(v: Floats) -> Floats:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def turn(degrees: float) -> Floats:
    """Rotation about z."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def axes_along(u: Floats) -> Floats:
    """Three axes as rows; the first along `u`, the second horizontal."""
    u = unit(u)
    side = unit(np.cross(UP if abs(u[2]) < 0.99 else [1.0, 0.0, 0.0], u))
    return np.array([u, side, np.cross(u, side)])


def outside(q: Floats) -> Floats:
    """Distance of a box from what its coordinates exceed its half sizes by."""
    return np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(axis=-1), 0)


def sphere(c: Floats, r: float) -> Solid:
    return Solid(c, r + 0.1, lambda p: np.linalg.norm(p - c, axis=1) - r)


def rope(knots: Floats, r: float) -> Solid:
    """Round segments from knot to knot; one segment is a strut or a phalanx."""

    def distance(p: Floats) -> Floats:
        best = np.full(len(p), np.inf)
        for a, b in pairwise(knots):
            h = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            off = p - a - h[:, None] * (b - a)
            best = np.minimum(best, np.linalg.norm(off, axis=1))
        return best - r

    c = (knots.min(axis=0) + knots.max(axis=0)) / 2
    return Solid(c, np.linalg.norm(knots - c, axis=1).max() + r + 0.1, distance)


def tube(a: Floats, b: Floats, r: float, wall: float) -> Solid:
    """A tube with flat ends; a full cylinder if the wall is its radius."""
    c, u, half = (a + b) / 2, unit(b - a), np.linalg.norm(b - a) / 2

    def distance(p: Floats) -> Floats:
        z = (p - c) @ u
        rho = np.linalg.norm(p - c - z[:, None] * u, axis=1)
        q = [np.abs(rho - r + wall / 2) - wall / 2, np.abs(z) - half]
        return outside(np.stack(q, axis=1))

    return Solid(c, np.hypot(half, r) + 0.1, distance)


def slab(c: Floats, axes: Floats, half: Floats, rounding: float = 0.3) -> Solid:
    """A box with round edges; its axes are rows."""
    inner, reach = half - rounding, np.linalg.norm(half) + 0.1
    return Solid(c, reach, lambda p: outside(abs((p - c) @ axes.T) - inner) - rounding)


def nut(c: Floats, flats: Floats, across: float) -> Solid:
    """A hexagonal nut that lies flat; height and bore as of ISO 4032 in the mean."""
    half = across * np.array([0.5, 0.27])

    def distance(p: Floats) -> Floats:
        sides = np.abs((p - c) @ flats.T).max(axis=1) - half[0]
        hole = 0.33 * across - np.linalg.norm((p - c)[:, :2], axis=1)
        return np.maximum(np.maximum(sides, hole), np.abs((p - c)[:, 2]) - half[1])

    return Solid(c, 0.7 * across, distance)


def union(solids: list[Solid], p: Floats) -> Floats:
    """Signed distance from all solids together."""
    best = np.full(len(p), np.inf)
    for solid in solids:
        near = np.linalg.norm(p - solid.centre, axis=1) - solid.reach < best
        best[near] = np.minimum(best[near], solid.distance(p[near]))
    return best


def gradient(distance: Field, p: Floats) -> Floats:
    e = 1e-3 * np.eye(3)
    return unit(np.stack([distance(p + d) - distance(p - d) for d in e], axis=1))


# Scenes


def sheet(rng: Rng, r: float) -> Floats:
    """Four by six nodes of a shell that bends along x."""
    i, j = np.divmod(np.arange(24), 6)
    x, y = 5 * r * (j - 2.5), 5 * r * (i - 1.5)
    rise = rng.uniform(2, 5) * r * (1 - (x / x.max()) ** 2)
    return np.stack([x, y, rise], axis=1)


def tower(rng: Rng, r: float) -> Floats:
    """Six twisted squares above each other."""
    level, k = np.divmod(np.arange(24), 4)
    angle = np.pi / 2 * k + rng.uniform(0.1, 0.4) * level
    ring = rng.uniform(3.2, 3.7) * r * (1 + 0.1 * np.sin(level))
    x, y = ring * np.cos(angle), ring * np.sin(angle)
    return np.stack([x, y, 4.6 * r * level], axis=1)


def gripper(rng: Rng, r: float) -> Floats:
    """Five bent fingers of five nodes, the lowest of which form a ring."""
    fingers = []
    for k in range(5):
        bend = np.append(0, rng.uniform(0.1, 0.6, 4).cumsum())
        out = 4.5 * r + 4.8 * r * np.cumsum(np.sin(bend))
        rise = 4.8 * r * np.cumsum(np.cos(bend))
        fingers.append(np.stack([out, 0 * out, rise], axis=1) @ turn(72 * k).T)
    return np.concatenate(fingers)


def hand(rng: Rng, at: Floats, r: float) -> list[Solid]:
    """A palm and four fingers of three phalanges that reach for the mechanism."""
    s, (inward, side, _) = r / 8, axes_along(-at)
    palm = at + 45 * s * UP
    solids = [slab(palm, axes_along(-at), s * np.array([35.0, 38, 12]), 8 * s)]
    for k in range(4):
        bend = rng.uniform(0.1, 0.5, 3).cumsum()[:, None]
        bones = s * np.array([[38], [24], [20]])
        bones = bones * (np.cos(bend) * inward - np.sin(bend) * UP)
        knuckle = palm + s * (35 * inward + (19 * k - 28) * side)
        knots = knuckle + np.vstack([np.zeros(3), bones.cumsum(axis=0)])
        solids.append(rope(knots, r * rng.uniform(0.92, 1.15)))
    return solids


def tubes(rng: Rng, at: Floats, r: float) -> list[Solid]:
    """One upright and two that lie on the table."""
    solids = []
    for k in range(3):
        size = r * rng.uniform(0.8, 1.2)
        way = 3 * r * turn(rng.uniform(0, 360))[0] if k else 3 * r * UP
        c = at + 3.5 * r * turn(120 * k)[0] + (size if k else 3 * r) * UP
        solids.append(tube(c - way, c + way, size, 0.25 * size))
    return solids


def nuts(rng: Rng, at: Floats, r: float) -> list[Solid]:
    """Five nuts about as wide as a sphere, lying on the table."""
    solids = []
    for k, across in enumerate(r * rng.uniform(1.7, 2.3, 5)):
        flats = np.array([turn(a)[0] for a in rng.uniform(0, 60) + np.arange(3) * 60])
        c = at + 3.2 * r * turn(72 * k)[0] + 0.27 * across * UP
        solids.append(nut(c, flats, across))
    return solids


def cable(rng: Rng, at: Floats, r: float) -> list[Solid]:
    """Two loops of a cable that lies in waves."""
    a = np.linspace(0, 4 * np.pi, 45)
    wide = r * (3.5 + 0.05 * a + 0.5 * np.sin(1.5 * a + rng.uniform(0, 6)))
    size = r * rng.uniform(0.3, 0.5)
    rise = size + r * (1 + np.sin(0.7 * a + rng.uniform(0, 6)))
    knots = np.stack([wide * np.cos(a), wide * np.sin(a), rise], axis=1)
    return [rope(at + knots, size)]


def mug(rng: Rng, at: Floats, _: float) -> list[Solid]:
    """A mug of 0.3 l with its handle, 95 mm high."""
    a = np.linspace(-1.3, 1.3, 7)
    arc = np.stack([38 + 26 * np.cos(a), 0 * a, 50 + 28 * np.sin(a)], axis=1)
    handle = rope(at + arc @ turn(rng.uniform(0, 360)).T, 5.0)
    return [tube(at, at + 95 * UP, 41, 4), tube(at, at + 5 * UP, 40, 40), handle]


Thing = Callable[[Rng, Floats, float], list[Solid]]


def mechanism(
    rng: Rng,
    shape: Callable[[Rng, float], Floats],
    radius: float,
    things: Sequence[Thing],
    *,
    sockets: int = 0,
    wall: bool = False,
    table: bool = False,
) -> Scene:
    """Spheres at the nodes of a frame of struts and plates.

    Parameters
    ----------
    sockets : number of spheres of which a cup leaves a cap of 0.2 to 0.25 free
    wall : whether a wall touches the four outermost spheres on one side
    """
    nodes = rng.normal(shape(rng, radius), 0.2 * radius)
    nodes[:, 2] += radius - nodes[:, 2].min()
    far = np.argsort(nodes[:, 1])[-4:]
    nodes[far, 1] = nodes[far, 1].max() if wall else nodes[far, 1]
    solids = [sphere(c, radius) for c in nodes]
    thick = radius * rng.uniform(0.3, 0.5)
    near = np.linalg.norm(nodes[:, None] - nodes, axis=2) < 6 * radius
    for i, j in np.argwhere(np.triu(near, 1) & (rng.random(near.shape) < 0.95)):
        a, b = nodes[i], nodes[j]
        half = np.array([np.linalg.norm(b - a) / 2, 1.1 * radius, 0.17 * radius])
        plate = slab((a + b) / 2, axes_along(b - a), half)
        solids.append(plate if rng.random() < 0.15 else rope(np.array([a, b]), thick))
    for c in nodes[rng.permutation(len(nodes))[:sockets]]:
        free = unit(unit(c - nodes.mean(axis=0)) + 0.6 * UP) * radius
        lip = c + rng.uniform(0.5, 0.6) * free
        solids.append(tube(c - 1.2 * free, lip, 1.4 * radius, 1.4 * radius))
    if wall:
        size = np.ptp(nodes[far], axis=0) / 2 + [2 * radius, 1.5, radius]
        c = nodes[far].min(axis=0) + np.ptp(nodes[far], axis=0) / 2
        solids.append(slab(c + (radius + 1.5) * np.eye(3)[1], np.eye(3), size))
    extent = np.linalg.norm(nodes[:, :2], axis=1).max() + radius
    width = max(2 * extent, nodes[:, 2].max()) + 2 * radius
    for k, thing in enumerate(things):
        away = extent + (50 if thing is mug else 5.5 * radius)
        angle = 360 / len(things) * (k + rng.uniform(0.1, 0.6))
        solids += thing(rng, away * turn(angle)[:, 0], radius)
        width = max(width, 2 * away + 4 * radius)
    if table:
        solids.append(slab(-10 * UP, np.eye(3), np.array([width / 2, width / 2, 10])))
    return Scene(solids, nodes, radius, UP * nodes[:, 2].max() / 2, width)


# Light


def first_hits(solids: list[Solid], start: Floats, ray: Floats) -> tuple[Floats, Ints]:
    """Distance along each ray to the first surface, inf without, and its solid."""
    depth, which = np.full(len(ray), np.inf), np.full(len(ray), -1)
    starts = np.broadcast_to(start, ray.shape)
    for k, solid in enumerate(solids):
        to = solid.centre - start
        along = np.einsum("...j,...j->...", to, ray)
        square = solid.reach**2 - (to**2).sum(axis=-1) + along**2
        half = np.sqrt(np.maximum(square, 0))
        i = np.flatnonzero((square > 0) & (along > -half) & (along - half < depth))
        t, end = np.maximum(along - half, 0)[i], np.minimum(along + half, depth)[i]
        live = np.arange(len(i))
        while len(live):
            d = solid.distance(starts[i[live]] + t[live, None] * ray[i[live]])
            hit = live[d < TOUCH]
            depth[i[hit]], which[i[hit]] = t[hit], k
            t[live] += np.maximum(d, TOUCH)
            live = live[(d >= TOUCH) & (t[live] < end[live])]
    return depth, which


def lit(scene: Scene, source: Floats, ray: Floats) -> tuple[Ints, Floats, Ints, Floats]:
    """Rays that hit a surface below 80 degrees; their points, solids, normals."""
    depth, which = first_hits(scene.solids, source, ray)
    hit = np.flatnonzero(which >= 0)
    p, which = source + depth[hit, None] * ray[hit], which[hit]
    n = np.zeros_like(p)
    for k in np.unique(which):
        n[which == k] = gradient(scene.solids[k].distance, p[which == k])
    ok = np.einsum("ij,ij->i", n, -ray[hit]) > np.cos(np.radians(80))
    return hit[ok], p[ok], which[ok], n[ok]


def sees(scene: Scene, eye: Floats, p: Floats, n: Floats) -> npt.NDArray[np.bool_]:
    """Which points are visible from `eye` at less than 80 degrees."""
    ray = unit(eye - p)
    depth, _ = first_hits(scene.solids, p + 0.05 * n, ray)
    return np.isinf(depth) & (np.einsum("ij,ij->i", n, ray) > np.cos(np.radians(80)))


def place(scene: Scene, azimuth: float, elevation: float, distance: float) -> Floats:
    """A place about the scene, angles in degrees."""
    e = np.radians(elevation)
    return scene.middle + distance * (np.cos(e) * turn(azimuth)[:, 0] + np.sin(e) * UP)


def pixels(scene: Scene, origin: Floats, pitch: float) -> tuple[Floats, Ints, Ints]:
    """Rays of a camera aimed at the scene; `pitch` apart there; rows and columns."""
    axes = axes_along(scene.middle - origin)
    s = np.arange(-scene.width / 2, scene.width / 2, pitch)
    row, column = np.divmod(np.arange(len(s) ** 2), len(s))
    aim = scene.middle + s[column, None] * axes[1] + s[row, None] * axes[2]
    return unit(aim - origin), row, column


def waves(rng: Rng, low: float, high: float) -> Field:
    """A random field of variance 1 with wavelengths from `low` to `high`."""
    k = 2 * np.pi * unit(rng.normal(size=(60, 3))) / rng.uniform(low, high, (60, 1))
    phase = rng.uniform(0, 2 * np.pi, 60)
    return lambda p: np.cos(p @ k.T + phase).sum(axis=1) / np.sqrt(30)


def moved(rng: Rng, scene: Scene, p: Floats, sd: float) -> Floats:
    """A view at a wrong place: `sd` along each axis, about half that by turning."""
    turning = np.cross(rng.normal(0, sd / scene.width, 3), p - scene.middle)
    return p + rng.normal(0, sd, 3) + turning


def share(directions: Floats) -> float:
    """Share of a sphere that has points: their closing by 12 degrees.

    Discs about all points are joined, and what is within 12 degrees of the outside of
    their union is taken off again. Half a spacing more is left about the outer points,
    as of a quarter of the sphere.
    """
    i = np.arange(2000) + 0.5
    z, a = 1 - i / 1000, np.pi * (1 + np.sqrt(5)) * i
    probes = unit(np.stack([np.cos(a), np.sin(a), z / np.sqrt(1 - z**2)], axis=1))
    disc = np.radians(12) + np.sqrt(np.pi / max(len(directions), 1)) / 2
    out = ~(probes @ directions.T > np.cos(disc)).any(axis=1)
    eroded = (probes @ probes[out].T > np.cos(np.radians(12))).any(axis=1)
    return float(1 - eroded.mean())


Part = tuple[Floats, Floats, Ints]


def scan_of(scene: Scene, parts: list[Part], **more: Any) -> Scan:
    """A scan of parts: the places of points without errors, with them, and solids."""
    exact, points, which = map(np.concatenate, zip(*parts, strict=True))
    on = [unit(exact[which == k] - c) for k, c in enumerate(scene.centres)]
    caps, counts = np.array([[share(d), len(d)] for d in on]).T
    return Scan(points, caps, counts, **more)


# Scanners


def laser_line(rng: Rng, scene: Scene, pitch: float, noise: float, off: float) -> Scan:
    """A laser sheet through the axis of a turntable of 450 steps, and a camera.

    The angle between both is 30 degrees; a point needs both. A row is what one step
    shows. The stripe's centre is wrong by what neighbouring pixels share and by
    speckle, more on oblique surfaces; 0.3 % of the points are reflections. The axis is
    `off` from where it is assumed, which shifts each row in its own direction.
    """
    laser, camera = place(scene, 0, 35, 400), place(scene, 30, 35, 400)
    reach = scene.middle[2] + scene.width / 2
    fan = unit(scene.middle + np.arange(-reach, reach, pitch)[:, None] * UP - laser)
    kernel = np.exp(-0.5 * (np.arange(-6, 7) / 2) ** 2)
    kernel /= np.linalg.norm(kernel)
    shift = off * turn(rng.uniform(0, 360))[0]
    parts = []
    for k in range(450):
        back = turn(-0.8 * k)
        hit, p, which, n = lit(scene, back @ laser, fan @ back.T)
        shared = np.convolve(rng.normal(size=len(fan) + 12), kernel, mode="valid")[hit]
        ray = fan[hit] @ back.T
        along = noise * (0.7 * shared + 0.7 * rng.normal(size=len(hit)))
        along /= np.sqrt(np.einsum("ij,ij->i", n, -ray))
        along += (rng.random(len(hit)) < 0.003) * rng.uniform(-2, 2, len(hit))
        keep = np.linalg.norm(p[:, :2], axis=1) < scene.width / 2
        keep[keep] = sees(scene, back @ camera, p[keep], n[keep])
        found = p + along[:, None] * ray + back @ shift
        parts.append((p[keep], found[keep], which[keep]))
    return scan_of(scene, parts)


def time_of_flight(
    rng: Rng, scene: Scene, pitch: float, noise: float, stations: int = 1
) -> Scan:
    """A scanner on a tripod 2.5 m away, with a beam of 3 mm there.

    The range is the mean over the beam, weighted at random, so that beams on an edge
    give mixed pixels between the front and the background; the scanner's own filter
    removes half of those. Noise along the beam grows with incidence, to fourfold.
    Stations are registered to 0.3 mm.
    """
    origins = np.array([place(scene, 120 * k + 20, 25, 2500) for k in range(stations)])
    parts, view = [], []
    for k, origin in enumerate(origins):
        ray = pixels(scene, origin, pitch)[0]
        hit, p, which, n = lit(scene, origin, ray)
        ray, depths = ray[hit], [np.linalg.norm(p - origin, axis=1)]
        _, side, up = axes_along(scene.middle - origin)
        for across in (side, -side, up, -up):
            beside = unit(ray + 0.35 * 3 / 2500 * across)
            depths.append(first_hits(scene.solids, origin, beside)[0])
        weight = rng.exponential(size=(5, len(ray))) * np.isfinite(depths)
        mean = (weight * np.nan_to_num(depths, posinf=0)).sum(axis=0) / weight.sum(
            axis=0
        )
        mixed = np.abs(mean - depths[0]) > 3
        sd = noise / np.maximum(np.einsum("ij,ij->i", n, -ray), 0.25)
        found = origin + (mean + sd * rng.normal(size=len(ray)))[:, None] * ray
        found = moved(rng, scene, found, 0.3 if stations > 1 else 0)
        keep = ~mixed | (rng.random(len(ray)) < 0.5)
        parts.append((p[keep], found[keep], np.where(mixed, -1, which)[keep]))
        view.append(np.full(keep.sum(), k))
    return scan_of(scene, parts, view=np.concatenate(view), origins=origins)


def photogrammetry(rng: Rng, scene: Scene, pitch: float, noise: float) -> Scan:
    """Vertices of a mesh fused from photographs of three rings of eight cameras.

    A vertex needs three cameras. The surface is where the distance, blurred by half a
    pitch, is zero: edges are round and corners filled. Bumps as large as the noise are
    8 to 25 mm wide. The octree is finer in some places, and the noise differs by up to
    a factor of 2. There are 40 holes and 12 floating fragments.
    """
    parts, camera = [], []
    for k in range(24):
        origin = place(scene, 45 * k + 15 * (k // 8), (12, 35, 60)[k // 8], 500)
        parts.append(lit(scene, origin, pixels(scene, origin, 0.8 * pitch)[0])[1:3])
        camera.append(np.full(len(parts[-1][0]), k))
    p, which = map(np.concatenate, zip(*parts, strict=True))
    fine = waves(rng, 40, 80)(np.round(p / 8) * 8) > 0.3
    size = pitch * np.where(fine, 0.7, 1.2)
    cells = np.column_stack([np.floor(p / size[:, None]), fine]).astype(int)
    _, first, cell = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([cell.ravel(), np.concatenate(camera)]), axis=1)
    first = first[np.bincount(pairs[0]) >= 3]
    for c in p[rng.choice(first, 40)]:
        first = first[np.linalg.norm(p[first] - c, axis=1) > rng.uniform(1.5, 4)]
    p = q = p[first]
    spread = np.sqrt(3) * pitch / 2 * np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for _ in range(2):
        sides = [[union(scene.solids, q + s * o) for o in spread] for s in (1, -1)]
        n = unit(np.transpose(sides[0] - np.array(sides[1])) @ spread)
        q = q - np.mean(sides, axis=(0, 1))[:, None] * n
    grain = 0.7 * waves(rng, 2 * pitch, 4 * pitch)(q) + 0.7 * rng.normal(size=len(q))
    grain *= 2 ** np.clip(waves(rng, 30, 80)(q), -0.5, 0.5)
    q = q + noise * (waves(rng, 8, 25)(q) + grain)[:, None] * n
    loose = [fragment(rng, scene, q, pitch) for _ in range(12)]
    return scan_of(scene, [(p, q, which[first]), *loose], fused=True)


def fragment(rng: Rng, scene: Scene, p: Floats, pitch: float) -> Part:
    """A crumpled piece of surface that floats up to 15 mm from a vertex."""
    size = rng.uniform(0.5, 1.2) * scene.radius
    piece = rng.uniform(-size, size, (int((2 * size / pitch) ** 2), 3)) * [1, 1, 0]
    piece[:, 2] = 0.15 * size * waves(rng, size, 3 * size)(piece)
    away = rng.uniform(3, 15) * unit(rng.normal(size=3))
    piece = piece @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + rng.choice(p) + away
    piece = piece[union(scene.solids, piece) > 0]  # no camera sees into solids
    return piece, piece, np.full(len(piece), -1)


def structured_light(
    rng: Rng, scene: Scene, pitch: float, noise: float, spray: float, views: int
) -> Scan:
    """Views by camera and projector of a sprayed print, merged into one cloud.

    The spray is `spray` thick, to a third different from solid to solid and in patches
    of some mm; its grain stays on the surface and is the same in all views. A third of
    the spheres is 1.4 to 2 times as rough as the others. Stripes that the camera could
    not decode are missing. Views are registered to 0.02 mm.
    """
    count = len(scene.solids)
    layer = spray * np.clip(rng.normal(1, 0.33, count), 0.2, 2)
    rough = np.where(rng.random(count) < 0.33, rng.uniform(1.4, 2.0, count), 1) * noise
    patches, grain = waves(rng, 3, 8), waves(rng, 0.3, 0.9)
    parts = []
    for k in range(views):
        angle, elevation = 360 * k / views + rng.normal(0, 5), (25, 50)[k % 2]
        origin = place(scene, angle, elevation, 450)
        ray, row, column = pixels(scene, origin, pitch)
        lost = np.zeros(len(ray), bool)
        for _ in range(8):
            at, begin = rng.integers(0, row.max(), 2)
            band = np.abs(column - at) < rng.integers(2, 5)
            lost |= band & (row > begin) & (row < begin + rng.integers(50, 250))
        hit, p, which, n = lit(scene, origin, ray[~lost])
        keep = sees(scene, place(scene, angle + 20, elevation, 450), p, n)
        p, which, n, ray = p[keep], which[keep], n[keep], ray[~lost][hit[keep]]
        out = layer[which] * (1 + 0.33 * patches(p)) + 0.4 * rough[which] * grain(p)
        along = rough[which] * rng.normal(size=len(p))
        along /= np.sqrt(np.einsum("ij,ij->i", n, -ray))
        found = p + out[:, None] * n + along[:, None] * ray
        parts.append((p, moved(rng, scene, found, 0.02), which))
    return scan_of(scene, parts, registration_mm=0.02)
