"""Crease patterns from FOLD, CP, SVG and DXF files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.config.checking import checked
from pipeline.formats.crease_lines import cp_entries, svg_entries
from pipeline.formats.dxf_file import dxf_creases
from pipeline.formats.fold_entries import FoldFile
from pipeline.formats.json_file import read_entries, read_text
from pipeline.formats.svg_size import svg_metres
from sim.origami.pattern.fold_format import Unassigned, read_pattern
from sim.origami.pattern.pattern import CreasePattern

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
    """The crease pattern in a FOLD file, or drawn in a CP, SVG or DXF file.

    Parameters
    ----------
    scale : m per unit of the file; where none is given, that of the paper in an SVG
        file, else see `sim.origami.pattern.fold_format`
    unassigned : "refuse" or "flat", for creases without angle and assignment
    frame : number of the frame of a FOLD file, 0 for its own entries
    """
    try:
        entries = _entries_of(path)
        if scale is None and Path(path).suffix.lower() == ".svg":
            scale = svg_metres(read_text(path, "drawing"))
        found = read_pattern(
            entries,
            scale=scale,
            unassigned=Unassigned(unassigned),
            frame=frame,
        )
        if found.drawn and Path(path).suffix.lower() == ".svg":
            found = replace(found, drawn=(found.drawn[0], -found.drawn[1]))
        return found
    except (TypeError, ValueError, AttributeError) as error:
        said = _as_drawn(path, str(error))
        raise ValueError(said if said.startswith(path) else f"{path}: {said}") from None


def _as_drawn(path: str, said: str) -> str:
    """A refusal with the places of an SVG file as it has them, y downwards.

    A line of a drawing is named by its ends alone, an unassigned one by its colour.
    A CP file has no kind of line that ties a hole to the sheet.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (*DRAWINGS, ".dxf"):
        said = NUMBERED.sub(f"the line of the {suffix[1:].upper()} file", said)
        said = said.replace(
            "assign it M or V", "draw it red or blue (magenta says none)"
        )
    if suffix == ".cp" and JOIN in said:
        return f"{said}; CP has no such line: save a sheet with holes as FOLD or SVG"
    if suffix != ".svg":
        return said
    return PLACE.sub(lambda at: f"at ({at[1]}, {0.0 - float(at[2]):.6g})", said)


def _entries_of(path: str) -> Mapping[str, Any]:
    suffix = Path(path).suffix.lower()
    if suffix == ".dxf":
        return dxf_creases(path)
    if suffix in DRAWINGS:
        return DRAWINGS[suffix](read_text(path, "drawing"))
    entries = read_entries(path, "FOLD file", "named entries")
    checked(FoldFile, entries, path)
    return entries
