"""The shape of a finished run of any solver, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.store.arrays import read_arrays
from pipeline.store.files import read_json
from pipeline.store.runs import REMEDY
from pipeline.terminal.errors import InputError, one_line
from sim.arrays import Floats, Ints, among
from sim.morph.structure.faces import body_faces

POSITIONS = ("r", "x")  # names of the array that holds (steps, n, 2 or 3) positions
FOLDS = "folds.csv"  # a row for each crease of a folded sheet
UP = np.array([0.0, 0.0, 1.0])  # unless a run says otherwise
PIECES = 6  # of a plane as it is drawn, along each side
LINES = ("bars", "edges", "body_edges")  # names of arrays (q, 2) of lines between nodes


@dataclass(frozen=True, eq=False)
class MovingShape:
    """Nodes that move, and what is between and around them.

    Parameters
    ----------
    r : (steps, n, 3) positions; a shape in a vertical plane has a depth of zero
    links : (q, 2) nodes of lines
    faces : (t, 3) nodes of triangles
    goals : (steps, n, 3) where leading nodes are drawn to, or None
    fixed : (q, 2, 3) ends of lines that stay: the target's wireframe, or the ground
    inner : (q, 2) nodes of lines within panels, which are no creases and no links
    axes : (3, 3) directions of x, y and z as they are drawn, where up is z
    on_planes : whether the lines that stay are planes under all that moves
    view : elevation and azimuth of the figures of rods in space, degrees, else None
    folds : (q, 2) nodes of creases that fold at the end, mountains and valleys
    missing : (q, 2) nodes of creases that are not where they were asked to fold to, by
        what holds them
    creases : (q, 3) nodes of creases of a sheet and their numbers, as in folds.csv
    """

    r: Floats
    links: Ints
    faces: Ints
    goals: Floats | None
    fixed: Floats
    missing: Mapping[str, Ints] = field(default_factory=dict)
    folds: Mapping[str, Ints] = field(default_factory=dict)
    inner: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    axes: Floats = field(default_factory=lambda: np.eye(3))
    on_planes: bool = False
    view: tuple[float, float] | None = None
    creases: Ints = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))

    def __post_init__(self) -> None:
        many = np.count_nonzero(np.isfinite(self.r).all(axis=2), axis=1)
        if not len(many) or not many.min():
            raise ValueError("a step has no node")
        for nodes in (self.links, self.faces, self.inner, self.creases[:, :2]):
            if nodes.size and not 0 <= nodes.min() <= nodes.max() < self.r.shape[1]:
                raise ValueError(f"of {self.r.shape[1]} nodes one is {nodes.max()}")

    @property
    def flat(self) -> bool:
        """Whether nothing leaves the vertical plane."""
        return bool(np.ptp(self.r[..., 1]) == 0.0)


def read_moving_shape(directory: Path) -> MovingShape | None:
    """The moving shape of a finished run; None if it has none."""
    if not (directory / "steps.npz").is_file():
        return None
    arrays = read_arrays(directory / "steps.npz")
    try:
        return _moving(directory, arrays)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            f"{directory} holds no shape that moves ({one_line(error)}): {REMEDY}"
        ) from error


def _moving(directory: Path, arrays: Mapping[str, Any]) -> MovingShape | None:
    """The moving shape in the arrays of a run; None if they have none."""
    moving = [n for n in POSITIONS if n in arrays and arrays[n].ndim == 3]
    if not moving or arrays[moving[0]].shape[2] not in (2, 3):
        return None
    from analysis.figures.space_rods import VIEW, upright  # imports what draws

    up = arrays.get("up", UP)
    r = upright(in_space(arrays[moving[0]]), up)
    goals = arrays.get("g")
    links, faces = _connections(directory, arrays, r[0])
    inner = _within_panels(arrays)
    links = links[~among(links, inner)]
    if goals is not None and goals.shape != r.shape:
        goals = None
    missing: dict[str, Ints] = {}
    folds: dict[str, Ints] = {}
    creases = np.empty((0, 3), dtype=np.int64)
    if "crease_lines" in arrays and (directory / FOLDS).is_file():
        from pipeline.results.drawn_folds import drawn_folds  # imports pandas

        creases = arrays["crease_lines"]
        missing, folds = drawn_folds(directory / FOLDS, creases)
    fixed, axes = _fixed_lines(arrays), upright(np.eye(3), up)
    if "ground_lines" in arrays:
        fixed = upright(arrays["ground_lines"], up)
    on_planes = "ground_plane" in arrays
    if on_planes:
        planes = np.atleast_2d(arrays["ground_plane"])
        drawn = [plane_lines(upright(p[:3], up), float(p[3]), r) for p in planes]
        fixed = np.concatenate([fixed, *drawn])
    view = VIEW if "directors" in arrays else None
    return MovingShape(
        *(r, links, faces, goals, fixed, missing, folds),
        *(inner, axes, on_planes, view, creases),
    )


def plane_lines(normal: Floats, height: float, r: Floats) -> Floats:
    """(q, 2, 3) lines on the points x with normal . x = height, below all that moves.

    Parameters
    ----------
    r : (..., 3) places
    """
    normal = normal / np.linalg.norm(normal)
    across = np.linalg.svd(normal[None])[2][1:]
    places = r[np.isfinite(r).all(axis=-1)] @ across.T
    low, high = places.min(axis=0), places.max(axis=0)
    away = 0.1 * float((high - low).max())
    a, b = np.linspace(low - away, high + away, PIECES + 1).T
    pairs = [[[x, b[0]], [x, b[-1]]] for x in a] + [[[a[0], y], [a[-1], y]] for y in b]
    lines: Floats = np.array(pairs) @ across + height * normal
    return lines


def in_space(r: Floats) -> Floats:
    """Positions (..., 3); those in a vertical plane get a depth of zero."""
    if r.shape[-1] == 3:
        return r.astype(np.float64)
    depth = np.zeros(r.shape[:-1])
    return np.stack([r[..., 0], depth, r[..., 1]], axis=-1)


def _connections(
    directory: Path, arrays: Mapping[str, Any], r: Floats
) -> tuple[Ints, Ints]:
    """Lines (q, 2) and triangles (t, 3) between nodes."""
    path = directory / "structure.json"
    bodies = read_json(path).get("bodies", []) if path.is_file() else []
    links = [b for b in bodies if len(b) == 2]
    around = [face for b in bodies if len(b) > 2 for face in body_faces(r, b)]
    faces = [[f[0], f[k], f[k + 1]] for f in around for k in range(1, len(f) - 1)]
    for name in LINES:
        if name in arrays and arrays[name].ndim == 2:
            links += arrays[name][:, :2].tolist()
    if "triangles" in arrays:
        faces += arrays["triangles"].tolist()
    return (
        np.array(links, dtype=np.int64).reshape(-1, 2),
        np.array(faces, dtype=np.int64).reshape(-1, 3),
    )


def _within_panels(arrays: Mapping[str, Any]) -> Ints:
    """(q, 2) sides that two triangles of one panel share, each once."""
    if "triangle_panel" not in arrays:
        return np.empty((0, 2), dtype=np.int64)
    corner, panel = arrays["triangles"], arrays["triangle_panel"]
    pairs = np.sort(corner[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    of = np.column_stack([np.repeat(panel, 3), pairs])
    sides, many = np.unique(of, axis=0, return_counts=True)
    inner: Ints = sides[many > 1, 1:]
    return inner


def _fixed_lines(arrays: Mapping[str, Any]) -> Floats:
    """(q, 2, 3) ends of lines that stay: the target's wireframe, or the ground."""
    if "target_edges" in arrays and len(arrays["target_edges"]):
        vertices = np.asarray(arrays["target_vertices"], dtype=np.float64)
        wire: Floats = in_space(vertices)[arrays["target_edges"]]
        return wire
    ground = arrays.get("ground")
    if ground is not None and ground.ndim == 2 and len(ground) > 1:
        line = in_space(np.asarray(ground, dtype=np.float64))
        return np.stack([line[:-1], line[1:]], axis=1)
    return np.empty((0, 2, 3))
