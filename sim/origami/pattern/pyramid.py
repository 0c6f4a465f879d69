"""A shallow pyramid of triangular panels, which snaps from one side to the other."""

import numpy as np

from sim.origami.pattern.pattern import CreasePattern


def pyramid(sides: int, *, radius: float, height: float) -> CreasePattern:
    """Triangles around an apex, vertex 0; the others are the corners of the base.

    Parameters
    ----------
    radius, height : of the corners from the axis, of the apex above them, m
    """
    if sides < 3:
        raise ValueError(f"a pyramid has 3 sides or more, not {sides}")
    for name, value in (("radius", radius), ("height", height)):
        if not 0.0 < value < np.inf:
            raise ValueError(f"{name} of the pyramid must be positive, not {value}")
    angle = 2.0 * np.pi / sides * np.arange(sides)
    base = radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    panels = [(0, i + 1, (i + 1) % sides + 1) for i in range(sides)]
    return CreasePattern(np.vstack([[0.0, 0.0, height], base]), panels)
