"""Places, tables and other numbers that entries of a rod file have in common."""

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from pipeline.config.models import Coordinate, Point, numbers


def endless(duration: float | None) -> float:
    """How long a load acts, s."""
    return np.inf if duration is None else duration


def _of_some_length(axis: Point) -> Point:
    if not np.linalg.norm(axis) > 0.0:
        raise ValueError(f"is {list(axis)}, of no length: give its direction")
    return axis


Place = Annotated[tuple[Coordinate, Coordinate, Coordinate | None], numbers(3, 2)]
Way = Annotated[
    tuple[Coordinate, Coordinate, Coordinate, Coordinate | None], numbers(4, 3)
]
Places = Annotated[list[Place], Field(min_length=2)]
FromZero = Annotated[Coordinate, Field(ge=0.0)]
Pair = Annotated[tuple[Coordinate, Coordinate], numbers(2)]
Axis = Annotated[Point, AfterValidator(_of_some_length)]
Moves = Annotated[list[Way], Field(min_length=1)]
Turns = Annotated[list[Pair], Field(min_length=1)]
