"""Whether an equilibrium is a minimum of the energy, and the way down if it is not.

With the contacts held as they are (sliding: their normal, sticking: both coordinates),
the matrix K + s M is positive definite exactly if no motion lowers the energy faster
than its shift s lets it: the inertia of the factor, Nocedal and Wright (2006), 3.4. At
a saddle the least shift that makes it so is that of the motion that falls fastest.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.rod.actuation.actuation import actuate
from sim.rod.contact.coulomb import OPEN, STICK
from sim.rod.contact.ground import bend, surface
from sim.rod.energy.blocks import BlockMatrix, empty, factorise
from sim.rod.energy.elastic import Rates, join, passive, unstrained
from sim.rod.energy.stiffness import HELD, add_mass, add_stiffness
from sim.rod.energy.tangent import solve_each
from sim.rod.stepping.simulate import Loop

NEUTRAL = 1e-6  # shift that no falling motion needs, over that of the outer forces
ITERATIONS = 60  # of the inverse iteration


class Falling(NamedTuple):
    """A motion from a saddle.

    Attributes
    ----------
    mode : (n, 2) its largest component is 1
    rate : 1/s, at which it grows
    """

    mode: Floats
    rate: float


def convex_matrix(
    loop: Loop, shift: float, *, at_rest: bool = False
) -> BlockMatrix | None:
    """The factor of K + shift M where the loop is; None if not positive definite.

    At rest, where they are in balance, forces of contacts count on curved ground.
    """
    setting, state, rod = loop.setting, loop.state, loop.world.rod
    matrix, actuated = empty(setting.pattern), passive(rod)
    actuate(state.clock.time, state.pulse, setting.law, actuated)
    join(setting.element, actuated)
    add_mass(setting.pattern, matrix, rod.mass, setting.held, shift)
    add_stiffness(
        state.x, setting.element, actuated, Rates(1.0, 0.0), unstrained(rod),
        setting.pattern, 1.0, matrix,
    )  # fmt: skip
    _hold_contacts(loop, matrix, at_rest=at_rest)
    return matrix if factorise(setting.pattern, matrix) else None


def _hold_contacts(loop: Loop, matrix: BlockMatrix, *, at_rest: bool) -> None:
    """Let contacts move along the ground only, or not at all where they stick.

    Along ground of curvature k one that is pushed with N lowers or raises the rest by
    N k / 2 times the square of its way: a crest is no place to stay on.
    """
    setting, state = loop.setting, loop.state
    for i in np.flatnonzero(state.contact != OPEN).tolist():
        slope = surface(setting.relief, state.x[i, 0])[1]
        n = np.array([-slope, 1.0]) / np.hypot(1.0, slope)
        block = _stiff(matrix) * np.array([n[0] ** 2, n[0] * n[1], n[1] ** 2])
        curved = bend(setting.relief, state.x[i, 0]) / np.hypot(1.0, slope) ** 3
        along = np.array([n[1] ** 2, -n[0] * n[1], n[0] ** 2])
        if at_rest:
            block += float(loop.reaction[i] @ n) * curved * along
        if state.contact[i] == STICK and setting.mu > 0.0:
            block = _stiff(matrix) * np.array([1.0, 0.0, 1.0])
        matrix.diagonal[setting.pattern.place[i]] += block


def _stiff(matrix: BlockMatrix) -> float:
    """Far above any stiffness, yet leaving digits of what it is added to."""
    values = matrix.diagonal[matrix.diagonal < 0.1 * HELD]
    return 1e6 * float(np.abs(values).max())


def neutral(loop: Loop, outer: float) -> float:
    """The shift, 1/s^2, up to which a motion neither falls nor resists."""
    size = float(np.ptp(loop.state.x, axis=0).max())
    return NEUTRAL * outer / (float(loop.world.rod.mass.sum()) * size)


def falling_mode(loop: Loop, outer: float) -> Falling | None:
    """The motion that falls fastest from an equilibrium of the loop; none at a minimum.

    Parameters
    ----------
    outer : N, sum of the outer forces
    """
    rod, shift = loop.world.rod, neutral(loop, outer)
    factor = convex_matrix(loop, shift, at_rest=True)
    if factor is not None:
        return None
    while factor is None:
        shift *= 2.0
        factor = convex_matrix(loop, shift, at_rest=True)
    mode = np.random.default_rng(0).standard_normal((1, *loop.state.x.shape))
    space, mass = np.zeros_like(loop.state.x), rod.mass[:, None]
    for _ in range(ITERATIONS):
        mode = mode * mass
        solve_each(loop.setting.pattern, factor, space, mode)
        mode /= np.abs(mode).max()
    return Falling(mode[0], float(np.sqrt(shift)))
