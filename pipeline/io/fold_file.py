"""Crease patterns from FOLD, CP, SVG and DXF files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pipeline.config.config_files import checked
from pipeline.config.value_types import Coordinate, Rows
from pipeline.io.crease_lines import cp_entries, svg_entries, svg_metres
from pipeline.io.dxf_file import dxf_creases
from pipeline.io.yaml_and_json import read_entries, read_text
from sim.origami.pattern.fold_format import Unassigned, read_pattern
from sim.origami.pattern.pattern import CreasePattern

Edge = Annotated[list[int], Field(min_length=2, max_length=2)]


class FoldFrame(BaseModel):
    """A frame, or what a file says of its own; null where a program left it open."""

    model_config = ConfigDict(extra="ignore", strict=True)

    vertices_coords: list[list[Coordinate]] | None = None
    edges_vertices: Rows[Edge]
    edges_assignment: Rows[str | None]
    edges_foldAngle: Rows[float | None]  # noqa: N815 - as the format writes it
    faces_vertices: list[list[int]] | None = None
    frame_unit: str = "unit"
    frame_classes: Rows[str]
    frame_inherit: bool = False
    frame_parent: int = 0


class FoldFile(FoldFrame):
    """A file with its further frames."""

    file_frames: Rows[FoldFrame]


JOIN = "(J, yellow)"
NUMBERED = re.compile(r"edge \d+-\d+ of the FOLD file")  # by what only FOLD numbers
PLACE = re.compile(r"at \(([-+.e\d]+), ([-+.e\d]+)\)")  # as patterns tell them
DRAWINGS: dict[str, Callable[[str], dict[str, Any]]] = {
    ".cp": cp_entries,
    ".svg": svg_entries,
}


def fold_file(
    path: str,
    scale: float | None = None,
    unassigned: str = Unassigned.REFUSE.value,
    frame: int | None = None,
) -> CreasePattern:
    """The crease pattern of a FOLD, CP, SVG or DXF file.

    Parameters
    ----------
    scale : m per unit of the file; where none is given, that of the paper in an SVG
        file, else see `sim.origami.pattern.fold_format`
    unassigned : "refuse" or "flat", for creases without angle and assignment
    frame : number of the frame of a FOLD file, 0 for its own entries
    """
    suffix = Path(path).suffix.lower()
    entries: Mapping[str, Any]
    try:
        if suffix == ".dxf":
            entries = dxf_creases(path)
        elif suffix in DRAWINGS:
            entries = DRAWINGS[suffix](read_text(path, "drawing"))
        else:
            entries = read_entries(path, "FOLD file", "named entries")
            checked(FoldFile, entries, path)
        if scale is None and suffix == ".svg":
            scale = svg_metres(read_text(path, "drawing"))
        found = read_pattern(
            entries,
            scale=scale,
            unassigned=Unassigned(unassigned),
            frame=frame,
        )
        if found.unit and suffix == ".svg":
            found = replace(found, unit=(found.unit[0], -found.unit[1]))
        return found
    except (TypeError, ValueError, AttributeError) as error:
        message = _with_places_of_drawing(path, str(error))
        raise ValueError(
            message if message.startswith(path) else f"{path}: {message}"
        ) from None


def _with_places_of_drawing(path: str, message: str) -> str:
    """A refusal with the coordinates of an SVG file, y downwards.

    It names a line of a drawing by its ends, and an unassigned one by its colour.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (*DRAWINGS, ".dxf"):
        message = NUMBERED.sub(f"the line of the {suffix[1:].upper()} file", message)
        message = message.replace(
            "assign it M or V", "draw it red or blue (magenta: unassigned)"
        )
    if suffix == ".cp" and JOIN in message:
        return f"{message}; CP has no J lines: save a sheet with holes as FOLD or SVG"
    if suffix != ".svg":
        return message
    return PLACE.sub(lambda at: f"at ({at[1]}, {0.0 - float(at[2]):.6g})", message)
