"""A rod set down on its ground."""

import numpy as np

from sim.rod.contact.ground import Ground, gaps, surface
from sim.rod.rod.rod import Rod, moved


def standing(rod: Rod, ground: Ground, x: float) -> Rod:
    """The rod turned with the slope at x and set down there."""
    slope = surface(ground.relief, x)[1]
    turned = moved(rod, by=np.zeros(2), angle=float(np.arctan(slope)))
    placed = moved(turned, by=np.array([x, surface(ground.relief, x)[0]]))
    for _ in range(50):  # the gap is a distance, a lift is vertical
        lift = -float(gaps(ground, placed.nodes).min()) * np.sqrt(1.0 + slope**2)
        if lift == 0.0:
            break
        placed = moved(placed, by=np.array([0.0, lift]))
    return moved(placed, by=np.array([0.0, 1e-12]))
