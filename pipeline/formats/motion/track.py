"""What a file of markers holds, in its own unit."""

from dataclasses import dataclass

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
