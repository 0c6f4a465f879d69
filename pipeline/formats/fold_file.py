"""Crease patterns from FOLD files."""

from pipeline.formats.json_file import read_entries
from sim.origami.pattern.fold_format import Unassigned, read_pattern
from sim.origami.pattern.pattern import CreasePattern


def fold_file(
    path: str, scale: float = 1.0, unassigned: str = Unassigned.REFUSE.value
) -> CreasePattern:
    """The crease pattern in a FOLD file.

    Parameters
    ----------
    scale : m per unit of the file
    unassigned : "refuse" or "flat", for creases without angle and assignment
    """
    content = read_entries(path, "FOLD file", "named entries")
    try:
        return read_pattern(content, scale=scale, unassigned=Unassigned(unassigned))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
