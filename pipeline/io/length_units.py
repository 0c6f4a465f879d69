"""Units of length: stated by the user, sometimes declared by a file, never guessed."""

import re
from enum import Enum

UNIT = re.compile(  # unit: mm; or of a column: x [mm], X(in), x/cm, x_m
    r"(?:\bunits?\b\W*|(?<![a-z0-9])(?P<column>x)\s*[\[(/_]\s*)"
    r"(?P<plain>mm|cm|m|inch|inches|(?(column)in|mm)|millimet|centimet|met)"
    r"(?:ers?|res?)?\b",
    re.IGNORECASE,
)

LONG = {"met": "m", "millimet": "mm", "centimet": "cm", "in": "inch", "inches": "inch"}


class Unit(Enum):
    """The unit of length of a file: no format states it reliably."""

    MM = "mm"
    CM = "cm"
    M = "m"
    INCH = "inch"

    @property
    def mm(self) -> float:
        """Length of one unit in mm."""
        return {"mm": 1.0, "cm": 10.0, "m": 1000.0, "inch": 25.4}[self.value]


def unit_named(name: str | None) -> Unit:
    """The unit called mm, cm, m or inch."""
    units = ", ".join(unit.value for unit in Unit)
    if name is None:
        raise ValueError(
            f"E-UNIT the file does not state its unit: give --unit, one of {units}"
        )
    try:
        return Unit(name)
    except ValueError:
        raise ValueError(f"E-UNIT unit {name!r} is unknown: give {units}") from None


def declared_unit(comments: tuple[str, ...]) -> Unit | None:
    """The unit that a header comment such as `unit mm` names."""
    for comment in comments:
        match = UNIT.search(comment)
        if match:
            name = match["plain"].lower()
            return Unit(LONG.get(name, name))
    return None
