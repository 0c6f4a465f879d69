"""What a finished run came to, as a person is told it."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PICTURE, PAGE = "picture.png", "run.html"  # made after a run, to look at
FIRST = ("E", "S")  # what this project compares, where a solver has it
ABOUT = (  # say how, not what
    "residual",
    "complementarity",
    "residual_share",
    "contact_gap",
    "edge_gap",
    "gap",
    "out_of_balance",
    "balance",
    "time",
)
LEAST_SHORT = 1.0  # degrees
SAID = {"fold_why": "because", "doubled_nodes": "warning"}
STEPS = ("steps", "iterations", "samples")
PATTERN = "pattern.fold"  # the sheet of a run that has one
KINDS = {"M": "mountain", "V": "valley", "F": "flat", "J": "join", "B": "border"}


def told(record: Mapping[str, Any]) -> list[str]:
    """Lines: E and S or the first numbers of another solver, steps, stop rule, time.

    Parameters
    ----------
    record : run.json of a finished run
    """
    result = dict(record.get("result") or {})
    stop = result.pop("stop", "")
    steps = [f"{result.pop(k)} {k}" for k in STEPS if k in result]
    numbers = [f"{k} = {short(result[k])}" for k in FIRST if k in result]
    ended = [*steps[:1], f"{record.get('wall_s', 0.0):.1f} s"]
    lines = [f"{', '.join(numbers)}" if numbers else _others(result)]
    lines.append(f"stopped by: {stop or 'its end'}, after {', '.join(ended)}")
    if "start_moved" in result:
        moved = short(result["start_moved"])
        lines.append(f"start: a node moved by {moved} to fit the constraints")
    for name in ("fold", "fold_why", "warning", "doubled_nodes"):
        if result.get(name):
            lines.append(
                f"{SAID.get(name, name)}: {result[name]}{_short(name, result)}"
            )
    return lines


def told_sheet(directory: Path) -> list[str]:
    """A line of how many panels and edges of each kind a run's sheet has, or none."""
    path = directory / PATTERN
    if not path.is_file():
        return []
    sheet = json.loads(path.read_text(encoding="utf-8"))
    many = Counter(sheet["edges_assignment"])
    kinds = [f"{many[letter]} {kind}" for letter, kind in KINDS.items() if many[letter]]
    panels = len(sheet["faces_vertices"])
    return [f"sheet: {', '.join([f'{panels} panels', *kinds])}"]


def _short(name: str, result: Mapping[str, Any]) -> str:
    """How far the softest crease stays behind what is asked of it."""
    degrees = float(result.get("fold_missing_deg") or 0.0)
    if name != "fold" or not degrees >= LEAST_SHORT:
        return ""
    return f", one crease {degrees:.0f} degrees short of what was asked"


def short(value: Any) -> str:
    """Five digits of a number; anything else as it is."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _others(result: Mapping[str, Any]) -> str:
    """The first numbers of a solver that has neither E nor S."""
    numbers = [
        (k, v) for k, v in result.items() if isinstance(v, float) and k not in ABOUT
    ]
    return ", ".join(f"{k} = {short(v)}" for k, v in numbers[:4]) or "no numbers"


def shown_path(directory: Path) -> Path:
    """A path as it is typed from here."""
    here = Path.cwd()
    path = directory if directory.is_absolute() else here / directory
    return path.relative_to(here) if path.is_relative_to(here) else path
