"""A second virtual scanner with other errors; it imports nothing of `sim.virtual_lab`.

A stereo pair matches windows: the error of the disparity is correlated over a window
and has a part of low frequency, edges and balls are smoothed, pixels fly between front
and back, patches are lost. Balls are printed in layers with a seam, and are not round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates, uniform_filter
from scipy.spatial import KDTree

from sim.core.arrays import Bools, Floats, Ints

FAR = 1e9  # mm: nothing was hit
BALL, OTHER = 0, -1


@dataclass(frozen=True)
class StereoScanner:
    """What the errors are; lengths in mm, windows in pixels."""

    pitch: float = 0.5  # between pixels at the object
    distance: float = 600.0
    baseline: float = 150.0
    noise: float = 0.05  # sd of the depth
    window: int = 5  # over which it is correlated
    low: float = 0.15  # share of the noise that is of low frequency
    low_window: float = 30.0
    smoothing: float = 0.7
    steepest: float = 70.0  # degrees
    flying: float = 0.3  # share of the pixels at an edge
    lost: float = 0.03  # share of the surface, in patches
    layer: float = 0.2
    layer_depth: float = 0.02
    seam: float = 0.1  # height
    ellipticity: float = 0.005
    scale_sd: float = 0.001
    registration: float = 0.03  # sd of a view's misplacement
    turn: float = 1e-4  # sd of its misrotation, radians
    views: int = 6


class Rod(NamedTuple):
    """A capsule: a cylinder with round ends."""

    start: Floats
    end: Floats
    radius: float


@dataclass(frozen=True, eq=False)
class Scene:
    """Balls, and what else is in view; mm."""

    centres: Floats  # (n, 3)
    radius: float
    rods: Sequence[Rod] = ()


@dataclass(frozen=True, eq=False)
class StereoScan:
    """Points with the view that saw them, and what is true.

    Parameters
    ----------
    centres : (n, 3) as a scanner of the same scale without other errors would see them
    body : (m,) ball of each point, -1 for anything else
    places : (v, 3) of the camera
    """

    points: Floats
    view: Ints
    body: Ints
    centres: Floats
    places: Floats


class _Camera(NamedTuple):
    place: Floats
    axes: Floats  # (3, 3): right, down, forward, as rows
    focal: float  # pixels
    half: int  # of the image, pixels


def scanned(
    scene: Scene, scanner: StereoScanner, rng: np.random.Generator
) -> StereoScan:
    """The scene as the scanner sees it from all sides but below."""
    scale = 1.0 + scanner.scale_sd * rng.normal()
    prints = rng.normal(size=(len(scene.centres), 2, 3))  # axis and seam of each ball
    parts, places = [], []
    for v in range(scanner.views):
        camera = _looking(scene, scanner, v, rng)
        parts.append(_view(scene, scanner, camera, prints, rng))
        places.append(camera.place)
    points = scale * np.concatenate([points for points, _ in parts])
    view = np.repeat(np.arange(len(parts)), [len(points) for points, _ in parts])
    body = np.concatenate([body for _, body in parts])
    return StereoScan(points, view, body, scale * scene.centres, np.array(places))


def _looking(
    scene: Scene, scanner: StereoScanner, number: int, rng: np.random.Generator
) -> _Camera:
    """A camera above the horizon, in turn around the scene."""
    middle = scene.centres.mean(axis=0)
    reach = np.linalg.norm(scene.centres - middle, axis=1).max() + 4 * scene.radius
    angle = 2 * np.pi * (number + rng.uniform(-0.2, 0.2)) / scanner.views
    up = np.radians(rng.uniform(15.0, 65.0))
    out = np.array([np.cos(angle) * np.cos(up), np.sin(angle) * np.cos(up), np.sin(up)])
    right = np.cross([0.0, 0.0, 1.0], out)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(right, out), -out])
    focal, half = scanner.distance / scanner.pitch, int(1.2 * reach / scanner.pitch)
    return _Camera(middle + scanner.distance * out, axes, focal, half)


def _view(
    scene: Scene,
    scanner: StereoScanner,
    camera: _Camera,
    prints: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Ints]:
    depth, body = _depths(scene, camera)
    second = camera._replace(
        place=camera.place + scanner.baseline * camera.axes[0],
        half=camera.half + int(1.5 * scanner.baseline / scanner.pitch),
    )
    hit = (depth < FAR) & _seen(depth, camera, _depths(scene, second)[0], second)
    hit &= _patches(depth.shape, scanner.lost, rng) & _faces(depth, scanner)
    printed = depth + _printing(depth, body, scene, scanner, camera, prints)
    measured = _matched(printed, hit, scanner, camera, rng)
    points = _places(measured, camera)[hit]
    turn, shift = scanner.turn * rng.normal(size=3), rng.normal(size=3)
    moved = points + np.cross(turn, points) + scanner.registration * shift
    return moved, body[hit]


def _rays(camera: _Camera) -> Floats:
    """(h, w, 3) directions of the pixels, of depth one."""
    at = np.arange(-camera.half, camera.half + 1) / camera.focal
    x, y = np.meshgrid(at, at)
    return np.stack([x, y, np.ones_like(x)], axis=2) @ camera.axes


def _places(depth: Floats, camera: _Camera) -> Floats:
    return camera.place + depth[..., None] * _rays(camera)


def _depths(scene: Scene, camera: _Camera) -> tuple[Floats, Ints]:
    """Depth of the nearest surface in each pixel, and the ball that it belongs to."""
    rays = _rays(camera)
    depth = np.full(rays.shape[:2], FAR)
    body = np.full(rays.shape[:2], OTHER)
    for number, centre in enumerate(scene.centres):
        _nearer(
            depth, body, number, camera, rays, centre, scene.radius, (centre, centre)
        )
    for rod in scene.rods:
        middle = (rod.start + rod.end) / 2
        _nearer(
            depth, body, OTHER, camera, rays, middle, rod.radius, (rod.start, rod.end)
        )
    return depth, body


def _nearer(
    depth: Floats,
    body: Ints,
    number: int,
    camera: _Camera,
    rays: Floats,
    middle: Floats,
    radius: float,
    ends: tuple[Floats, Floats],
) -> None:
    """Enter a capsule into the pixels that it may cover."""
    reach = radius + float(np.linalg.norm(ends[1] - ends[0])) / 2
    x, y, z = camera.axes @ (middle - camera.place)
    span = camera.focal * reach / (z - reach) + 2
    low = np.array([camera.focal * y / z - span, camera.focal * x / z - span])
    first = np.clip(low.astype(int) + camera.half, 0, 2 * camera.half + 1)
    last = np.clip((low + 2 * span).astype(int) + camera.half + 1, 0, None)
    part = np.s_[first[0] : last[0], first[1] : last[1]]
    found = _capsule(camera.place, rays[part], ends, radius)
    nearer = found < depth[part]
    depth[part][nearer], body[part][nearer] = found[nearer], number


def _capsule(
    place: Floats, rays: Floats, ends: tuple[Floats, Floats], radius: float
) -> Floats:
    """Depth along each ray at which it meets two balls or the cylinder between them."""
    found = np.minimum(*(_ball(place, rays, end, radius) for end in ends))
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return found
    axis = along / length
    ray, start = rays - (rays @ axis)[..., None] * axis, place - ends[0]
    across = start - (start @ axis) * axis
    t = _root((ray**2).sum(axis=2), ray @ across, float(across @ across) - radius**2)
    at = start @ axis + t * (rays @ axis)
    return np.where((at > 0) & (at < length), np.minimum(found, t), found)


def _ball(place: Floats, rays: Floats, centre: Floats, radius: float) -> Floats:
    start = place - centre
    return _root((rays**2).sum(axis=2), rays @ start, float(start @ start) - radius**2)


def _root(a: Floats, b: Floats, c: float) -> Floats:
    """The smaller root of a t^2 + 2 b t + c."""
    inside = b**2 - a * c
    found: Floats = np.where(
        inside > 0, (-b - np.sqrt(np.maximum(inside, 0.0))) / a, FAR
    )
    return found


def _seen(depth: Floats, camera: _Camera, other: Floats, second: _Camera) -> Bools:
    """Which pixels the second camera sees as well."""
    x, y, z = np.moveaxis((_places(depth, camera) - second.place) @ second.axes.T, 2, 0)
    at = [second.focal * y / z + second.half, second.focal * x / z + second.half]
    there = map_coordinates(other, at, order=0, cval=0.0)
    seen: Bools = np.abs(there - z) < 4.0
    return seen


def _patches(shape: tuple[int, ...], lost: float, rng: np.random.Generator) -> Bools:
    """All but a share of the picture, lost in patches."""
    field = gaussian_filter(rng.normal(size=shape), 8.0)
    kept: Bools = field > np.quantile(field, lost)
    return kept


def _faces(depth: Floats, scanner: StereoScanner) -> Bools:
    """Which pixels see a surface that is not too steep."""
    down, right = np.gradient(depth)
    steep = np.hypot(down, right) / scanner.pitch
    return np.asarray(steep < np.tan(np.radians(scanner.steepest)))


def _printing(
    depth: Floats,
    body: Ints,
    scene: Scene,
    scanner: StereoScanner,
    camera: _Camera,
    prints: Floats,
) -> Floats:
    """How much farther the printed surface is than the ideal one."""
    behind = np.zeros_like(depth)
    on = body >= BALL
    out = _places(depth, camera)[on] - scene.centres[body[on]]
    normal = out / scene.radius
    pair = prints / np.linalg.norm(prints, axis=2, keepdims=True)
    up = (normal * pair[body[on], 0]).sum(axis=1)
    side = np.cross(pair[:, 0], pair[:, 1])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    across = (out * side[body[on]]).sum(axis=1)
    front = (normal * np.cross(side, pair[:, 0])[body[on]]).sum(axis=1) > 0
    high = scanner.ellipticity * scene.radius * (up**2 - 1 / 3)
    high += scanner.layer_depth * np.sin(2 * np.pi * up * scene.radius / scanner.layer)
    high += scanner.seam * np.exp(-((across / 0.4) ** 2)) * front
    cosine = -(normal * _rays(camera)[on]).sum(axis=1)
    behind[on] = -high / np.maximum(cosine, 0.3)
    return behind


def _matched(
    depth: Floats,
    hit: Bools,
    scanner: StereoScanner,
    camera: _Camera,
    rng: np.random.Generator,
) -> Floats:
    """The depth after matching windows of two pictures."""
    stretch = camera.focal * scanner.baseline
    disparity = np.where(hit, stretch / depth, 0.0)
    weight = gaussian_filter(hit.astype(float), scanner.smoothing)
    smooth = gaussian_filter(disparity, scanner.smoothing) / np.maximum(weight, 1e-9)
    edge = np.abs(smooth - disparity) > 0.15  # averaged over front and back
    fly = rng.random(depth.shape) < scanner.flying
    disparity = np.where(edge & ~fly, disparity, smooth)
    sd = scanner.noise * stretch / scanner.distance**2
    noise = uniform_filter(rng.normal(size=depth.shape), scanner.window)
    wave = gaussian_filter(rng.normal(size=depth.shape), scanner.low_window / 2)
    disparity += sd * noise / noise.std() + scanner.low * sd * wave / wave.std()
    return stretch / np.maximum(disparity, 1e-9)


def bent_tube(
    middle: Floats, bend: float, radius: float, degrees: float = 150.0
) -> list[Rod]:
    """A tube that is bent upright, as many short ones."""
    angle = np.radians(np.linspace(-degrees / 2, degrees / 2, 61))
    arc = middle + bend * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    return [Rod(a, b, radius) for a, b in pairwise(arc)]


def bars(rng: np.random.Generator, centres: Floats, many: int, R: float) -> list[Rod]:
    """Bars with round ends, 3 R or more clear of the balls and of each other."""
    found: list[Rod] = []
    taken, reach = centres, float(np.abs(centres).max())
    while len(found) < many:
        start, way = rng.uniform(-reach, reach, 3), rng.normal(size=3)
        end = start + rng.uniform(0.7, 3.7) * R * way / np.linalg.norm(way)
        axis = start + np.linspace(0, 1, 7)[:, None] * (end - start)
        above = axis[:, 2].min() > centres[:, 2].min() - R
        if above and KDTree(taken).query(axis)[0].min() > 3.0 * R:
            found.append(Rod(start, end, R))
            taken = np.vstack([taken, axis])
    return found


def mechanism(
    rng: np.random.Generator, balls: int = 12, side: float = 110.0, radius: float = 6.0
) -> Scene:
    """Balls apart from each other, each joined to its nearest by a rod."""
    centres: list[Floats] = []
    while len(centres) < balls:
        new = rng.uniform(-side / 2, side / 2, 3)
        if all(np.linalg.norm(new - old) > 4.2 * radius for old in centres):
            centres.append(new)
    at = np.array(centres)
    apart = np.linalg.norm(at[:, None] - at[None], axis=2) + FAR * np.eye(balls)
    nearest = apart.argmin(axis=1)
    rods = [Rod(at[i], at[j], 0.4 * radius) for i, j in enumerate(nearest)]
    return Scene(at, radius, rods)
