"""Crease patterns from FOLD, CP, SVG and DXF files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.config.checking import checked
from pipeline.formats.crease_lines import cp_entries, svg_entries
from pipeline.formats.dxf_file import dxf_creases
from pipeline.formats.fold_entries import FoldFile
from pipeline.formats.json_file import read_entries, read_text
from sim.origami.pattern.fold_format import Unassigned, read_pattern
from sim.origami.pattern.pattern import CreasePattern

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
    scale : m per unit of the file; see `sim.origami.pattern.fold_format` for none
    unassigned : "refuse" or "flat", for creases without angle and assignment
    frame : number of the frame of a FOLD file, 0 for its own entries
    """
    try:
        return read_pattern(
            _entries_of(path),
            scale=scale,
            unassigned=Unassigned(unassigned),
            frame=frame,
        )
    except (TypeError, ValueError, AttributeError) as error:
        said = str(error)
        raise ValueError(said if said.startswith(path) else f"{path}: {said}") from None


def _entries_of(path: str) -> Mapping[str, Any]:
    suffix = Path(path).suffix.lower()
    if suffix == ".dxf":
        return dxf_creases(path)
    if suffix in DRAWINGS:
        return DRAWINGS[suffix](read_text(path, "drawing"))
    entries = read_entries(path, "FOLD file", "named entries")
    checked(FoldFile, entries, path)
    return entries
