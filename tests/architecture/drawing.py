"""The picture of docs/architecture.md, drawn from the imports.

A row for each room and a column for each room that is imported: a mark left of the
diagonal is an import that runs down the list, one right of it would run up. The file's
description says the same in words, so that a test can tell whether it is today's.
"""

from pathlib import Path
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.architecture.rooms import Arrow, arrows

FOLDERS = ("pipeline", "sim/morph", "analysis", "sim")
DOWN, UP, DIAGONAL = "#0072b2", "#d55e00", "#dddddd"


def _depths(found: set[Arrow]) -> dict[str, int]:
    """How many rooms stand below each, by the longest way down."""
    rooms = {room for arrow in found for room in arrow}
    depth = dict.fromkeys(rooms, 0)
    for _ in rooms:
        for a, b in found:
            if (b, a) not in found:
                depth[a] = max(depth[a], depth[b] + 1)
    return depth


def storeys(found: set[Arrow]) -> list[str]:
    """Rooms from the lowest to the highest."""
    depth = _depths(found)
    return sorted(depth, key=lambda room: (depth[room], room))


def _matrix(axes: Axes, folder: str) -> None:
    found = arrows(folder)
    rooms = storeys(found)
    place = {room: i for i, room in enumerate(rooms)}
    for i in range(len(rooms)):
        axes.plot(i, i, "s", color=DIAGONAL, markersize=9)
    for importer, imported in sorted(found):
        x, y = place[imported], place[importer]
        axes.plot(x, y, "o", color=DOWN if x < y else UP, markersize=5)
    axes.set_title(f"{folder}: {len(found)} pairs", fontsize=9, loc="left")
    axes.set_xticks(range(len(rooms)), rooms, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(rooms)), rooms, fontsize=7)
    axes.set_aspect("equal")
    axes.grid(visible=True, color="#f0f0f0")
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def picture() -> Figure:
    """One matrix a folder: who imports (rows) whom (columns)."""
    figure = Figure(figsize=(10.0, 10.0), layout="constrained")
    for axes, folder in zip(figure.subplots(2, 2).flat, FOLDERS, strict=True):
        _matrix(axes, folder)
    figure.supxlabel("is imported", fontsize=8)
    figure.supylabel("imports", fontsize=8)
    return figure


def said() -> str:
    """The arrows that the picture shows, in words: its description."""
    lines = []
    for folder in FOLDERS:
        found = sorted(arrows(folder))
        for room in sorted({importer for importer, _ in found}):
            imported = ", ".join(b for a, b in found if a == room)
            lines.append(f"{folder}/{room} imports {imported}.")
    return " ".join(lines)


def said_in(path: Path) -> str:
    """The description that a picture was written with."""
    found = ElementTree.parse(path).find(
        ".//{http://purl.org/dc/elements/1.1/}description"
    )
    return "" if found is None else found.text or ""


def draw(path: Path) -> None:
    """Write the picture; the same imports give the same file."""
    with matplotlib.rc_context({"svg.hashsalt": "rooms", "svg.fonttype": "none"}):
        picture().savefig(path, metadata={"Date": None, "Description": said()})
