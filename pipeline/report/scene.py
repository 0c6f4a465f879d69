"""What pages are made of: templates, scripts, and scenes in three dimensions.

Positions are sent as 16-bit steps of the box that holds them all, and long runs as a
selection of their steps, so that a page stays small whatever a run holds.
"""

import base64
import gzip
import json
import math
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.figures.run_picture import shown_lines
from pipeline.report.moving_shape import chosen_columns, read_moving_shape
from pipeline.terminal import InputError
from sim.core.arrays import Floats, Ints

TEMPLATES = Path(__file__).with_name("templates")
LIBRARY = Path("package_data") / "plotly.min.js"


def environment(href: Callable[[Path], str]) -> Environment:
    """What fills the templates; a name without a value is an error.

    Parameters
    ----------
    href : the address of a file as a page has it
    """
    found = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    found.filters["href"] = href
    return found


@cache
def packed_plotly() -> str:
    """plotly.js (MIT) of the plotly package: gzip in base64, for report.js."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        raise InputError("the package plotly is missing: delete .venv and run make")
    script = (Path(found.origin).parent / LIBRARY).read_bytes()
    return base64.b64encode(gzip.compress(script, mtime=0)).decode()


def as_script(value: Any) -> str:
    """JSON that may stand inside a script element; what is not finite is null."""
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


MOST_STEPS = 120
MOST_COORDINATES = 900_000  # of one scene
MOST_FACES = 30_000
LEVELS = 65_535


def scene_of(directory: Path, most: int = MOST_COORDINATES) -> dict[str, Any] | None:
    """The moving shape of a finished run; None if it has none.

    Parameters
    ----------
    directory : of a run, with steps.npz and steps.csv
    most : coordinates that are sent, at least those of two steps
    """
    shape = read_moving_shape(directory)
    if shape is None:
        return None
    shown = chosen_steps(len(shape.r), shape.r[0].size, most)
    scene: dict[str, Any] = {
        "frames": shown.tolist(),
        "steps": packed(shape.r[shown]),
        "nodes": shape.r.shape[1],
        "flat": shape.flat,
        "view": [0.0, -90.0] if shape.flat else shape.view,
        "links": packed_integers(shown_lines(shape)),
        "dots": shape.dotted,
        "names": list(shape.names),
        "faces": packed_integers(shape.faces[:MOST_FACES]),
    }
    scene |= _numbers(directory, shown, scene["steps"]["side"])
    if shape.missing:
        scene["missing"] = [
            {"name": name, "links": packed_integers(links)}
            for name, links in shape.missing.items()
        ]
    if shape.goals is not None and shape.goals.size:
        scene["goals"] = packed(shape.goals[shown])
    if len(shape.fixed):
        scene["fixed"] = packed(shape.fixed)
    return scene


def chosen_steps(steps: int, coordinates: int, most: int = MOST_COORDINATES) -> Ints:
    """Which steps are sent: all, or as many as fit, first and last among them."""
    many = max(2, min(MOST_STEPS, most // max(coordinates, 1)))
    return np.unique(np.round(np.linspace(0, steps - 1, min(steps, many))).astype(int))


def packed_integers(x: Ints) -> str:
    """Node numbers as 32-bit integers."""
    return base64.b64encode(x.astype("<u4").tobytes()).decode("ascii")


def packed_numbers(x: Floats) -> dict[str, Any]:
    """Numbers (n,) as 16-bit steps between the least and the greatest."""
    low, high = float(x.min()), float(x.max())
    side = (high - low) or 1.0
    levels = np.round((x - low) * (LEVELS / side)).astype("<u2")
    data = base64.b64encode(levels.tobytes()).decode("ascii")
    return {"data": data, "low": low, "side": side}


def packed(x: Floats) -> dict[str, Any]:
    """Positions (..., 3) as 16-bit steps of their box."""
    finite = x[np.isfinite(x).all(axis=-1)].reshape(-1, 3)
    low = finite.min(axis=0) if len(finite) else np.zeros(3)
    side = float(np.ptp(finite, axis=0).max()) if len(finite) else 1.0
    side = side or 1.0
    levels = np.round((np.nan_to_num(x) - low) * (LEVELS / side)).clip(0, LEVELS)
    return {
        "data": base64.b64encode(levels.astype("<u2").tobytes()).decode("ascii"),
        "low": low.tolist(),
        "side": side,
        "count": int(np.prod(x.shape[:-1])),
    }


def _numbers(directory: Path, shown: Ints, size: float) -> dict[str, Any]:
    """The axis of the numbers that follow the slider, and these numbers.

    Parameters
    ----------
    shown : the steps that are sent
    size : of the shape, m
    """
    columns = {
        name: [float(v) for v in column[shown[shown < len(column)]]]
        for name, column in chosen_columns(directory, size).items()
    }
    along, *names = columns or [""]
    return {"along": along, "shown": names, "columns": columns}


def finished_scene(directory: Path, most: int = MOST_COORDINATES) -> str:
    """The moving shape of a finished run, to stand in a page; "" if it has none."""
    scene = scene_of(directory, most)
    return "" if scene is None else as_script(scene)
