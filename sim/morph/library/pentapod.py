"""The pentapod of Fig. 2a of [dJ23]: six degrees of freedom of the whole, one of shape.

The paper shows it in a picture only; this one is our own. A hub carries five radial
lines and an axis. A slider on the axis is linked to an outer node on each line, so that
all outer nodes move in and out together: in a plane, at the radius sqrt(l^2 - h^2) when
the slider is at the height h.
"""

import numpy as np

from sim.limits import is_positive
from sim.morph.structure.constraints import ConstraintTable, dist
from sim.morph.structure.joints import line_point, rigid
from sim.morph.structure.structure import Structure


def pentapod(*, hub: float = 0.5, reach: float = 1.2, height: float = 1.0) -> Structure:
    """Thirteen nodes; the five outer ones lead.

    Parameters
    ----------
    hub : radius of the hub, whose nodes give the radial lines their directions
    reach : initial distance of the outer nodes from the axis
    height : initial height of the slider over the hub
    """
    for name, value in (("hub", hub), ("reach", reach), ("height", height)):
        if not is_positive(value):
            raise ValueError(f"{name} of the pentapod is {value}: it must be positive")
    angle = 2.0 * np.pi / 5.0 * np.arange(5)
    star = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(5)])
    up = np.array([[0.0, 0.0, 1.0]])
    r0 = np.vstack([np.zeros((1, 3)), hub * star, hub * up, height * up, reach * star])
    centre, axis, slider = 0, 6, 7
    ring, outer = range(1, 6), range(8, 13)
    constraints = rigid(r0, (centre, *ring, axis))
    constraints += line_point((centre, axis), slider)
    for inner, node in zip(ring, outer, strict=True):
        constraints += line_point((centre, inner), node)
        constraints.append(dist(r0, slider, node))
    links = [(slider, node) for node in outer]
    bodies = ((centre, *ring, axis), *links)
    return Structure(r0, ConstraintTable.of(constraints), np.array(outer), bodies)
