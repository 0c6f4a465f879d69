"""One view of a part, as a structured-light scanner measures it.

`views_around` says where camera and projector stand, and `worthwhile` which pixels are
worth a ray. What rays meet on the part is a `Scene`; the caller casts them.
`measure` adds the scanner's errors.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from sim.core.arrays import Bools, Floats, Ints
from sim.virtual_lab.assembled_part import Part
from sim.virtual_lab.lab_settings import VirtualLab

CELL = 8  # pixels a side: rays are left out where a cell sees nothing but background
STEP_MM = 2.0  # between the points of a bar that mark cells


@dataclass(frozen=True, eq=False)
class View:
    """A camera with square pixels, and a projector next to it."""

    camera: Floats  # (3,) mm
    projector: Floats  # (3,) mm
    axes: Floats  # (3, 3) rows: right, up, forward
    pitch: float  # of the pixels at unit depth
    size: int  # pixels from the middle of the image to its edge

    def directions(self, pixels: Ints) -> Floats:
        """(r, 3) unit vectors through `pixels` (r, 2)."""
        plane = (pixels - self.size) * self.pitch
        rays = plane @ self.axes[:2] + self.axes[2]
        return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))


def views_around(part: Part, lab: VirtualLab, rng: np.random.Generator) -> list[View]:
    """Views from all sides, evenly spread over a sphere around the part.

    Directions follow a spiral whose points are equally spaced in height.
    """
    distance = max(lab.distance_mm, 2.5 * part.reach)
    height = 1.0 - (2.0 * np.arange(lab.views) + 1.0) / lab.views
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(lab.views)
    ring = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])
    from_part = Rotation.from_quat(rng.standard_normal(4)).apply(spiral)
    return [_view(part, direction, distance, lab) for direction in from_part]


def _view(part: Part, direction: Floats, distance: float, lab: VirtualLab) -> View:
    forward = -direction
    right = np.cross(forward, np.eye(3)[np.abs(forward).argmin()])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(right, forward), forward])
    camera = part.centre + distance * direction
    angle = np.deg2rad(lab.triangulation_deg)
    aside = np.cos(angle) * direction + np.sin(angle) * right
    pitch = lab.pitch_mm / distance
    widest = part.reach / np.sqrt(distance**2 - part.reach**2)
    size = int(np.ceil(widest / pitch)) + CELL
    return View(camera, part.centre + distance * aside, axes, pitch, size)


def worthwhile(part: Part, view: View) -> Ints:
    """(r, 2) pixels of all cells that may see a solid."""
    centres, radii = _samples(part)
    local = (centres - view.camera) @ view.axes.T
    depth = local[:, 2]
    where = local[:, :2] / (depth[:, None] * view.pitch) + view.size
    extent = (radii + STEP_MM) / (depth * view.pitch) + 1.0
    cells = _marked(where / CELL, extent / CELL, 2 * view.size // CELL + 1)
    corner = CELL * np.argwhere(cells)
    inside = np.stack(np.divmod(np.arange(CELL * CELL), CELL), axis=1)
    return np.asarray((corner[:, None] + inside).reshape(-1, 2))


def _samples(part: Part) -> tuple[Floats, Floats]:
    """Spheres, centres and radii, that together hold all solids."""
    length = np.linalg.norm(part.ends - part.starts, axis=1)
    many = np.ceil(length / STEP_MM).astype(np.int64) + 1
    bar = np.repeat(np.arange(len(many)), many)
    first = np.repeat(np.cumsum(many) - many, many)
    share = (np.arange(many.sum()) - first) / np.repeat(many - 1, many)
    along = part.starts[bar] + share[:, None] * (part.ends - part.starts)[bar]
    radii = [np.full(len(part.spheres), part.radius), part.radii[bar]]
    return np.concatenate([part.spheres, along]), np.concatenate(radii)


def _marked(where: Floats, extent: Floats, cells: int) -> Bools:
    """Cells that a square of half side `extent` (n,) around `where` (n, 2) touches."""
    marks = np.zeros((cells + 1, cells + 1), dtype=np.int64)
    low = np.clip(np.floor(where - extent[:, None]).astype(np.int64), 0, cells)
    high = np.clip(np.floor(where + extent[:, None]).astype(np.int64) + 1, 0, cells)
    # Each square adds 1 at two corners and -1 at the others; sums fill it.
    np.add.at(marks, (low[:, 0], low[:, 1]), 1)
    np.add.at(marks, (high[:, 0], high[:, 1]), 1)
    np.add.at(marks, (low[:, 0], high[:, 1]), -1)
    np.add.at(marks, (high[:, 0], low[:, 1]), -1)
    return np.asarray(marks.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0)


NOTHING, BAR = -2, -1


@dataclass(frozen=True, eq=False)
class Hits:
    """The first surface along each ray."""

    distance: Floats  # (r,) inf where there is nothing
    solid: Ints  # (r,) number of the sphere, BAR or NOTHING
    normal: Floats  # (r, 3) outward unit normal of the surface


class Scene(Protocol):
    """A part into which rays can be cast."""

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """The first surface along rays from `origin` (3,), unit `directions` (r, 3)."""
        ...

    def lit(self, points: Floats, lamp: Floats) -> Bools:
        """Whether each of `points` (r, 3) is seen from `lamp` (3,)."""
        ...


FADING_DEG = 15.0  # before the limit, returns become fewer
EDGE_MM = 3.0  # a larger step in depth between neighbours is an edge
OUTLIER = -3
MIXED = -4


@dataclass(frozen=True, eq=False)
class ScannedView:
    """The points of one view, and what they are; a real scan has points only."""

    points: Floats  # (n, 3) mm, in the part's frame, the view's misplacement included
    solid: Ints  # (n,) number of the sphere, BAR, OUTLIER or MIXED
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
    margin = 5.0 * part.radius
    low, high = part.spheres.min(axis=0) - margin, part.spheres.max(axis=0) + margin
    stray = rng.uniform(low, high, (round(lab.outliers * len(points)), 3))
    points = np.concatenate([points, stray])
    solid = np.concatenate([solid, np.full(len(stray), OUTLIER)])
    turn = np.deg2rad(lab.registration_deg) * rng.standard_normal(3)
    shift = lab.registration_mm * rng.standard_normal(3)
    turned = Rotation.from_rotvec(turn).apply(points - part.centre)
    return ScannedView(turned + part.centre + shift, solid, view.camera)


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
    share = np.clip((lab.incidence_limit_deg - steepest) / FADING_DEG, 0.0, 1.0)
    chance = (1.0 - lab.drop_out) * share
    returned = rng.random(len(met)) < chance
    returned[returned] = scene.lit(points[returned], view.projector)
    seen[met] = returned
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
    return np.asarray(noise + lab.ripple_mm * ripple)


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
