"""Where camera and projector stand, and which pixels are worth a ray."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Bools, Floats, Ints
from sim.lab.part import Part
from sim.lab.scanner import VirtualLab

CELL = 8  # pixels a side: rays are left out where a cell sees nothing but background
STEP_MM = 2.0  # between the points of a bar that mark cells


@dataclass(frozen=True, eq=False)
class View:
    """A camera with square pixels, and a projector beside it."""

    camera: Floats  # (3,) mm
    projector: Floats  # (3,) mm
    axes: Floats  # (3, 3) rows: right, up, forward
    pitch: float  # of the pixels at unit depth
    size: int  # pixels from the middle of the image to its edge

    def directions(self, pixels: Ints) -> Floats:
        """(r, 3) unit vectors through `pixels` (r, 2)."""
        plane = (pixels - self.size) * self.pitch
        rays = plane @ self.axes[:2] + self.axes[2]
        unit: Floats = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        return unit


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
    pixels: Ints = (corner[:, None] + inside).reshape(-1, 2)
    return pixels


def _samples(part: Part) -> tuple[Floats, Floats]:
    """Spheres, centres and radii, that together hold all solids."""
    length = np.linalg.norm(part.ends - part.starts, axis=1)
    many = np.ceil(length / STEP_MM).astype(np.int64) + 1
    bar = np.repeat(np.arange(len(many)), many)
    first = np.repeat(np.cumsum(many) - many, many)
    share = (np.arange(many.sum()) - first) / np.repeat(many - 1, many)
    along = part.starts[bar] + share[:, None] * (part.ends - part.starts)[bar]
    radii = [np.full(len(part.balls), part.radius), part.radii[bar]]
    return np.concatenate([part.balls, along]), np.concatenate(radii)


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
    filled: Bools = marks.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0
    return filled
