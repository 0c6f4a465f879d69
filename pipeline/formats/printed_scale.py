"""How long a unit of a case is as printed, where nobody says."""

from pathlib import Path

from pipeline.scans.reading.units import unit_named
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError

SCALE_HELP = "mm of the print per unit of the case; the structure's unit if not given"


def scale_mm(given: float | None, simulated: Path) -> float:
    """What is given, else mm per unit that the structure of a run was written in."""
    if given is not None:
        return given
    unit = unit_of(simulated)
    if not unit:
        raise InputError(
            f"{simulated}/structure.json names no unit: say --scale-mm, mm of the "
            "print per unit of the case (40 where a link of length 1 is 40 mm)"
        )
    return unit_named(unit).mm


def unit_of(simulated: Path) -> str:
    """The unit that the structure of a run was written in, "" where it names none."""
    path = simulated / "structure.json"
    return str(read_json(path).get("unit", "")) if path.is_file() else ""
