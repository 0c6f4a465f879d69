"""A finished run of any solver step by step: its shape and its numbers."""

import csv
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.figures.panel_3d import VIEW, body_faces, upright
from analysis.figures.run_picture import START, Drawing, side_strain
from pipeline.runs.atomic_files import read_json
from pipeline.runs.checkpoints import read_arrays
from pipeline.runs.run_directory import REMEDY, node_names
from pipeline.terminal import InputError, one_line
from sim.core.arrays import Floats, Ints, among

POSITIONS = ("r", "x")  # names of the array that holds (steps, n, 2 or 3) positions
FOLDS = "folds.csv"  # a row for each crease of a folded sheet
UP = np.array([0.0, 0.0, 1.0])  # unless a run says otherwise
PIECES = 6  # of a plane in a picture, along each side
MOST_ARROWS, ARROW = 12, 0.15  # of loads, and how long as a part of the size
NEAR = 2.0  # times as large as the shape, a target that is shown as a whole
THIN = 1e-6  # of its size: a shape that is in a plane
IN_PLANE = ((0.0, 0.0), (0.0, -90.0), (90.0, -90.0))  # views along x, y and z
LINES = ("bars", "edges", "body_edges")  # names of arrays (q, 2) of lines between nodes


@dataclass(frozen=True, eq=False, kw_only=True)
class MovingShape(Drawing):
    """Nodes that move, and what is between and around them, as they end.

    Parameters
    ----------
    r : (steps, n, 3) positions; a shape in a vertical plane has a depth of zero
    goals : (steps, m, 3) goals of the leading nodes, or None
    film_view : elevation and azimuth of the figures of rods in space, degrees, else
        None
    """

    r: Floats
    goals: Floats | None = None
    film_view: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        many = np.count_nonzero(np.isfinite(self.r).all(axis=2), axis=1)
        if not len(many) or not many.min():
            raise ValueError("a step has no nodes")
        for nodes in (self.links, self.faces, self.inner, self.creases[:, :2]):
            if nodes.size and not 0 <= nodes.min() <= nodes.max() < self.r.shape[1]:
                raise ValueError(f"no node {nodes.max()}: only {self.r.shape[1]} exist")


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
            f"{directory} has no moving shape ({one_line(error)}): {REMEDY}"
        ) from error


def _moving(directory: Path, arrays: Mapping[str, Any]) -> MovingShape | None:
    """The moving shape in the arrays of a run; None if they have none."""
    moving = [n for n in POSITIONS if n in arrays and arrays[n].ndim == 3]
    if not moving or arrays[moving[0]].shape[2] not in (2, 3):
        return None
    up = arrays.get("up", UP)
    r = upright(in_space(arrays[moving[0]]), up)
    goals = arrays.get("g")
    links, faces, diagonals = _connections(directory, arrays, r[0])
    inner = _within_panels(arrays)
    more: dict[str, Any] = {"dotted": not {"crease_lines", "nodes"} & {*arrays}}
    if "crease_lines" in arrays and (directory / FOLDS).is_file():
        from pipeline.report.folded_creases import crease_groups

        lines = arrays["crease_lines"]
        missing, folds = crease_groups(directory / FOLDS, lines)
        more |= {"creases": lines, "missing": missing, "folds": folds}
    if "triangle_panel" in arrays:
        more["strain"] = float(side_strain(r[0], r[-1], faces).max(initial=0.0))
    fixed = _fixed_lines(arrays)
    if "ground_lines" in arrays:
        fixed = upright(arrays["ground_lines"], up)
    seen = r[np.isfinite(r).all(axis=-1)].reshape(-1, 3)
    if "ground_plane" in arrays:  # lies under all that moves
        planes = np.atleast_2d(arrays["ground_plane"])
        outlines = [plane_lines(upright(p[:3], up), float(p[3]), r) for p in planes]
        fixed = np.concatenate([fixed, *outlines])
    target = len(fixed) and "target_edges" in arrays
    if "ground_plane" in arrays or (target and np.ptp(fixed) <= NEAR * np.ptp(seen)):
        seen = np.concatenate([seen, fixed.reshape(-1, 3)])
    goals = goals if goals is not None and goals.shape == r.shape else None
    begin = next(iter(step_numbers(directory).get("step", ())), 0.0)  # 1 of statics
    numbered = range(r.shape[1] * (directory / "structure.json").is_file())
    if goals is not None:
        off = np.abs(goals - r).max(axis=(0, 2))  # followers are their own goals
        goals = goals[:, off > THIN * np.ptp(seen)]
    aims = np.empty((0, 3)) if goals is None or len(fixed) else goals[-1]
    nodes = arrays["nodes" if "nodes" in arrays else moving[0]][-1]
    more["held"] = upright(in_space(nodes[arrays.get("held", [])]), up)
    length = ARROW * float(np.ptp(seen, axis=0).max())
    more["loads"] = upright(in_space(_loads(arrays, nodes, length)), up)
    seen = np.concatenate([seen, aims, *more["loads"]])
    low, high = seen.min(axis=0, initial=np.inf), seen.max(axis=0, initial=-np.inf)
    box = np.array([low, high])
    span = np.ptp(np.concatenate([box, fixed.reshape(-1, 3)]), axis=0)
    thin = np.flatnonzero(span <= THIN * span.max())
    if len(thin) == 1:
        more["view"] = IN_PLANE[thin[0]]
    return MovingShape(
        first=r[0],
        last=r[-1],
        links=links[~among(links, inner)],
        faces=faces,
        fixed=fixed,
        box=box,
        flat=bool(np.ptp(r[..., 1]) == 0.0),
        inner=np.concatenate([inner, diagonals]),
        axes=upright(np.eye(3), up),
        r=r,
        goals=goals,
        aims=aims,
        doubled=_doubled(r[-1], links),
        names=node_names(directory) or [str(node) for node in numbered],
        began=f"at step {begin:g}" if begin > 0 else "at the start",
        film_view=VIEW if "directors" in arrays else None,
        **more,
    )


def _doubled(r: Floats, links: Ints) -> Ints:
    """(q, 2) nodes of links whose ends are where another's are."""
    size = float(np.ptp(r[np.isfinite(r).all(axis=1)], axis=0).max())
    at = np.round(np.nan_to_num(r[links]) / (THIN * size or 1.0))
    ends = [tuple(sorted(map(tuple, pair))) for pair in at.tolist()]
    return links[[ends.count(pair) > 1 for pair in ends]] if ends else links


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
    whole = r.shape[-1] == 3
    return r.astype(np.float64) if whole else np.insert(r, 1, 0.0, axis=-1)


def _loads(arrays: Mapping[str, Any], x: Floats, length: float) -> Floats:
    """(2, q, d) where forces act at the end, and the tips of arrows of a length.

    Parameters
    ----------
    x : (n, d) nodes
    """
    at, force, d = x, arrays.get("force", np.zeros_like(x)), x.shape[1]
    if len(ends := arrays.get("load_ends", ())):
        way, own = np.diff(x[ends], axis=1)[:, 0], arrays["load_force"]
        left = np.stack([-way[:, 1], way[:, 0]], axis=1)
        if d == 3:
            long = np.linalg.norm(way, axis=1, keepdims=True)
            left = long * arrays["directors"][-1][arrays["load_edge"]]
        turned = own[:, [d]] * way + own[:, [d + 1]] * left
        force = np.append(force, own[:, :d] + turned, axis=0)
        at = np.append(at, x[ends[:, 1]], axis=0)
    size = np.linalg.norm(force, axis=1, keepdims=True)
    acts = np.flatnonzero(size)
    acts = acts[:: len(acts) // MOST_ARROWS + 1]
    return np.stack([at[acts], at[acts] + length / size[acts] * force[acts]])


def _connections(
    directory: Path, arrays: Mapping[str, Any], r: Floats
) -> tuple[Ints, Ints, Ints]:
    """Lines (q, 2), triangles (t, 3), and sides of these across flat bodies (p, 2)."""
    path = directory / "structure.json"
    bodies = read_json(path).get("bodies", []) if path.is_file() else []
    links = [b for b in bodies if len(b) == 2]
    around = [face for b in bodies if len(b) > 2 for face in body_faces(r, b)]
    faces = [[f[0], f[k], f[k + 1]] for f in around for k in range(1, len(f) - 1)]
    across = [[f[0], f[k]] for f in around for k in range(2, len(f) - 1)]
    for name in LINES:
        if name in arrays and arrays[name].ndim == 2:
            links += arrays[name][:, :2].tolist()
    if "triangles" in arrays:
        faces += arrays["triangles"].tolist()
    return (
        np.array(links, dtype=np.int64).reshape(-1, 2),
        np.array(faces, dtype=np.int64).reshape(-1, 3),
        np.array(across, dtype=np.int64).reshape(-1, 2),
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
    if len(arrays.get("target_edges", ())):
        wire: Floats = in_space(arrays["target_vertices"])[arrays["target_edges"]]
        return wire
    line = in_space(arrays.get("ground", np.empty((0, 2))))
    return np.stack([line[:-1], line[1:]], axis=1)


def step_numbers(directory: Path) -> dict[str, Floats]:
    """(steps,) each column of steps.csv that holds numbers; an empty cell is NaN.

    Parameters
    ----------
    directory : of a finished run; one without steps.csv has no numbers
    """
    path = directory / "steps.csv"
    if not path.is_file():
        return {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = list(zip(*rows, strict=True))
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path} is not a table of steps ({one_line(error)}): {REMEDY}"
        ) from error
    found = {}
    for name, cells in zip(names, columns, strict=False):
        with suppress(ValueError):  # words
            found[name] = np.array([float(cell or "nan") for cell in cells])
    return found


PREFERRED = (
    "E", "S", "strain_energy", "contact_energy", "largest_rise", "largest_fold_deg",
    "clearance", "fold_missing_deg",
)  # fmt: skip
ENERGIES = ("strain_energy", "contact_energy")
CENTRE = ("x_c", "y_c", "z_c")
STILL = 1e-3  # a coordinate that moves by less of the one that moves most stands still
ROUNDED = 1e-12  # of the shape, by which a centre that stays moves all the same
OWN_STEP = "step of its start"
AXES = ("share", "time", "field", "step", OWN_STEP)


def chosen_columns(directory: Path, size: float = 0.0) -> dict[str, Floats]:
    """Time or step, and the two numbers of steps.csv that tell most.

    Of several starts, E of each by its own steps, and the start that each step is of.
    A centre that moves by rounding is left out, as is an energy below the work, J,
    of the largest force that its solver left unbalanced, N, on a way as long as the
    shape is large.

    Parameters
    ----------
    size : of the shape, m
    """
    table = step_numbers(directory)
    if not table:
        return {}
    if START in table:
        start = table[START]
        own = [np.count_nonzero(start[:i] == one) for i, one in enumerate(start)]
        own[-1] -= 1  # the lowest end once more
        return {OWN_STEP: np.array(own, float), "E": table["E"], START: start}
    along = next((name for name in AXES if name in table), next(iter(table)))
    floor = size * np.nan_to_num(table.get("residual", np.zeros(1))).max()
    others = [
        name
        for name, values in table.items()
        if name not in AXES and _says(values, floor if name in ENERGIES else 0.0)
    ]
    moved = {name: np.ptp(table[name]) for name in CENTRE if name in others}
    others = [name for name in others if moved.get(name, size) >= ROUNDED * size]
    moved = {name: way for name, way in moved.items() if name in others}
    seen = [name for name in moved if moved[name] >= STILL * max(moved.values())]
    most = sorted(sorted(seen, key=lambda name: float(moved[name]))[-2:])
    known = [name for name in (*PREFERRED, *most) if name in others]
    varied = [
        name for name in others if np.nanmax(table[name]) > np.nanmin(table[name])
    ]
    return {name: table[name] for name in [along, *(known or varied or others)[:2]]}


def _says(values: Floats, floor: float) -> bool:
    """Whether a column has a number that is not zero, nor below a floor."""
    return bool((np.isfinite(values) & (np.abs(values) > floor)).any())
