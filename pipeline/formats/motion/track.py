"""What a file of markers holds, in its own unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from pipeline.terminal.errors import InputError
from sim.arrays import Floats

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}  # of each unit that a file may state


@dataclass(frozen=True, eq=False)
class Track:
    """Markers in time as a file has them.

    Attributes
    ----------
    time : (f,) s
    names : of the m markers
    places : (f, m, 3) in `unit`, nan where a marker was lost
    unit : a key of METRES
    """

    time: Floats
    names: tuple[str, ...]
    places: Floats
    unit: str


def known_unit(word: str | None) -> TypeGuard[str]:
    """Whether a unit that a file states is one of lengths."""
    return word in METRES


def frame_numbers(path: Path, row: Sequence[str], count: int) -> list[float]:
    """A frame as numbers; empty cells, which mean a lost marker, as nan."""
    cells = [cell.strip() for cell in row]
    cells += [""] * (count - len(cells))
    if any(cells[count:]):
        raise InputError(f"{path}, frame {cells[0]}: more coordinates than markers")
    try:
        return [float(cell) if cell else float("nan") for cell in cells[:count]]
    except ValueError as error:
        raise InputError(f"{path}, frame {cells[0]}: {error}: correct it") from error


def text_lines(path: Path, kind: str) -> list[str]:
    """Its lines; refused where it is no text."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text: is it {kind}?") from error
