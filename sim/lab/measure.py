"""One view of a part, as a structured-light scanner measures it."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Bools, Floats, Ints
from sim.lab.part import Part
from sim.lab.rays import NOTHING, Hits, Scene
from sim.lab.scanner import VirtualLab
from sim.lab.views import View, worthwhile

FADING_DEG = 15.0  # before the limit, returns become fewer
EDGE_MM = 3.0  # a larger step in depth between neighbours is an edge
OUTLIER = -3
MIXED = -4


@dataclass(frozen=True, eq=False)
class ScannedView:
    """The points of one view, and what they are; a real scan has points only."""

    points: Floats  # (n, 3) mm, in the part's frame, the view's misplacement included
    solid: Ints  # (n,) number of the ball, BAR, OUTLIER or MIXED
    camera: Floats  # (3,) mm


def measure(
    scene: Scene, part: Part, view: View, lab: VirtualLab, rng: np.random.Generator
) -> ScannedView:
    """One view with all that makes it differ from the part."""
    pixels = worthwhile(part, view)
    directions = view.directions(pixels)
    hits = scene.cast(view.camera, directions)
    mixed = _mixed(hits, pixels, lab, rng)
    seen = _seen(scene, hits, view, directions, lab, rng)
    distance = hits.distance + _depth_error(hits, pixels, directions, lab, rng)
    distance[mixed.ray] = mixed.distance
    solid = hits.solid.copy()
    solid[mixed.ray] = MIXED
    points = view.camera + distance[seen, None] * directions[seen]
    solid = solid[seen]
    stray = _outliers(part, len(points), lab, rng)
    points = np.concatenate([points, stray])
    solid = np.concatenate([solid, np.full(len(stray), OUTLIER)])
    return ScannedView(_misplaced(points, part, lab, rng), solid, view.camera)


def _seen(
    scene: Scene,
    hits: Hits,
    view: View,
    directions: Floats,
    lab: VirtualLab,
    rng: np.random.Generator,
) -> Bools:
    """Rays that return a point: lit, flat enough for camera and lamp, not lost."""
    seen: Bools = hits.solid != NOTHING
    met = np.flatnonzero(seen)
    points = view.camera + hits.distance[met, None] * directions[met]
    light = points - view.projector
    light /= np.linalg.norm(light, axis=1, keepdims=True)
    cosines = [
        -np.einsum("ij,ij->i", hits.normal[met], ray)
        for ray in (directions[met], light)
    ]
    steepest = np.rad2deg(np.arccos(np.clip(np.minimum(*cosines), -1.0, 1.0)))
    returned = np.clip((lab.incidence_limit_deg - steepest) / FADING_DEG, 0.0, 1.0)
    chance = (1.0 - lab.drop_out) * returned
    kept = rng.random(len(met)) < chance
    kept[kept] = scene.lit(points[kept], view.projector)
    seen[met] = kept
    return seen


def _depth_error(
    hits: Hits,
    pixels: Ints,
    directions: Floats,
    lab: VirtualLab,
    rng: np.random.Generator,
) -> Floats:
    """Noise of constant size along the normal, and the ripple that fringes leave."""
    slope = -np.einsum("ij,ij->i", hits.normal, directions)
    noise = lab.noise_mm * rng.standard_normal(len(slope)) / np.maximum(slope, 0.05)
    across = pixels[:, 0] * lab.pitch_mm
    phase = rng.uniform(0.0, 2.0 * np.pi)
    ripple = np.sin(2.0 * np.pi * across / lab.ripple_period_mm + phase)
    error: Floats = noise + lab.ripple_mm * ripple
    return error


@dataclass(frozen=True, eq=False)
class _Mixed:
    ray: Ints
    distance: Floats


def _mixed(
    hits: Hits, pixels: Ints, lab: VirtualLab, rng: np.random.Generator
) -> _Mixed:
    """Pixels that see an edge: their depth lies between its front and its back."""
    low = pixels.min(axis=0)
    size = pixels.max(axis=0) - low + 1
    image = np.full(tuple(size), np.inf)
    image[tuple((pixels - low).T)] = hits.distance
    behind = np.full_like(image, -np.inf)
    finite = np.where(np.isfinite(image), image, -np.inf)
    behind[:-1] = np.maximum(behind[:-1], finite[1:])
    behind[1:] = np.maximum(behind[1:], finite[:-1])
    behind[:, :-1] = np.maximum(behind[:, :-1], finite[:, 1:])
    behind[:, 1:] = np.maximum(behind[:, 1:], finite[:, :-1])
    back = behind[tuple((pixels - low).T)]
    edge = np.flatnonzero((back - hits.distance > EDGE_MM) & np.isfinite(back))
    edge = edge[rng.random(len(edge)) < lab.mixed_pixels]
    share = rng.random(len(edge))
    front = hits.distance[edge]
    return _Mixed(edge, front + share * (back[edge] - front))


def _outliers(
    part: Part, many: int, lab: VirtualLab, rng: np.random.Generator
) -> Floats:
    """Points anywhere in the box around the part."""
    margin = 5.0 * part.radius
    low, high = part.balls.min(axis=0) - margin, part.balls.max(axis=0) + margin
    return rng.uniform(low, high, (round(lab.outliers * many), 3))


def _misplaced(
    points: Floats, part: Part, lab: VirtualLab, rng: np.random.Generator
) -> Floats:
    """A view's points after its imperfect registration with the others."""
    turn = np.deg2rad(lab.registration_deg) * rng.standard_normal(3)
    shift = lab.registration_mm * rng.standard_normal(3)
    turned = Rotation.from_rotvec(turn).apply(points - part.centre)
    moved: Floats = turned + part.centre + shift
    return moved
