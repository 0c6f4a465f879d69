"""What a thick rod's nodes do under all forces at one time: one Newton iteration.

The centre of a rigid mass on the last section lies at p = r + u, r the last node and
u = (beyond, above) turned with the section. With J u = (-u_y, u_x) and angle a,

    p'' = r'' + a'' J u - a'^2 u,

and it loads the node by m (p'' + g e_y) and by the moment m (p'' + g e_y) . J u
+ m k^2 a'' with the radius of gyration k. A mass that hangs from that point on a spring
of stiffness c and retardation time t, its height h counted from where the spring is
slack, loads it by

    T = max(c (p_y - h + t (p_y' - h')), 0),      m (h'' + g) = T,

and Newmark's rule, h'' = rate h - past and h' = pace h - lag, makes h and so T a
function of p_y and p_y' alone.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats
from sim.kernels import kernel
from sim.rod.thick.elements import add_elements, solve
from sim.rod.thick.thick_rod import ThickRod

HELD = 1e30  # diagonal entry of an unknown that is held


class ThickNumbers(NamedTuple):
    """A thick rod as numbers.

    Attributes
    ----------
    stiffness : (3,) by modulus
    inertia : (n, 3) kg, kg, kg m^2
    tip : (4,) mass, beyond, above, radius of gyration
    hung : (2,) N/m of the spring that a mass hangs on, inf where the mass is rigid; s
    spring : (2,) N/m, N m/rad at the clamp; inf where it does not give
    tilt, size, gravity, drag : rad, m, m/s^2, 1/s
    """

    stiffness: Floats
    inertia: Floats
    tip: Floats
    hung: Floats
    spring: Floats
    tilt: float
    size: float
    gravity: float
    drag: float


def parts(rod: ThickRod) -> ThickNumbers:
    """The rod as kernels take it."""
    tip, clamp = rod.tip, rod.clamp
    return ThickNumbers(
        rod.stiffness,
        rod.inertia,
        np.array([tip.mass, tip.beyond, tip.above, tip.gyration]),
        np.array([tip.spring, tip.retardation]),
        np.array([clamp.sinking, clamp.turning]),
        clamp.tilt,
        rod.size,
        rod.gravity,
        rod.drag,
    )


class SectionMotion(NamedTuple):
    """State (n, 3) of nodes: places, velocities, accelerations."""

    q: Floats
    v: Floats
    a: Floats


class NewmarkRates(NamedTuple):
    """What of a change of places is in the matrix.

    Attributes
    ----------
    rate, pace : of the change come in accelerations and in velocities, 1/s^2 and 1/s
    elastic : 1, or 0 where the unknowns are the accelerations themselves
    past, lag : m/s^2 and m/s that a hung mass takes from before
    """

    rate: float
    pace: float
    elastic: float
    past: float = 0.0
    lag: float = 0.0


AT_REST = NewmarkRates(0.0, 0.0, 1.0)
SETTING_OUT = NewmarkRates(1.0, 0.0, 0.0)


@kernel
def _add_inertia(
    part: ThickNumbers,
    now: SectionMotion,
    scheme: NewmarkRates,
    force: Floats,
    band: Floats,
) -> None:
    """Weight, inertia and drag of the rod."""
    rate = scheme.rate + part.drag * scheme.pace
    for i in range(len(now.q)):
        for axis in range(3):
            m = part.inertia[i, axis]
            force[i, axis] += m * (now.a[i, axis] + part.drag * now.v[i, axis])
            band[3 * i + axis, 0] += m * rate
        force[i, 1] += part.inertia[i, 1] * part.gravity


@kernel
def _add_tip(
    part: ThickNumbers,
    now: SectionMotion,
    scheme: NewmarkRates,
    force: Floats,
    band: Floats,
) -> None:
    """Weight, inertia and drag of the mass on the last section."""
    mass, beyond, above, gyration = part.tip
    last = len(now.q) - 1
    c, s = np.cos(now.q[last, 2]), np.sin(now.q[last, 2])
    ux, uy = c * beyond - s * above, s * beyond + c * above
    spin, turn = now.v[last, 2], now.a[last, 2]
    px = now.a[last, 0] - turn * uy - spin * spin * ux
    py = now.a[last, 1] + turn * ux - spin * spin * uy
    px += part.drag * (now.v[last, 0] - spin * uy)
    py += part.drag * (now.v[last, 1] + spin * ux) + part.gravity
    own = gyration * gyration
    force[last, 0] += mass * px
    force[last, 1] += mass * py
    force[last, 2] += mass * (py * ux - px * uy)
    force[last, 2] += mass * own * (turn + part.drag * spin)
    rate = scheme.rate + part.drag * scheme.pace
    tilting = scheme.elastic * (py * uy + px * ux)
    k = 3 * last
    band[k, 0] += mass * rate
    band[k + 1, 0] += mass * rate
    band[k + 2, 2] -= mass * rate * uy
    band[k + 2, 1] += mass * rate * ux
    band[k + 2, 0] += mass * (rate * (ux * ux + uy * uy + own) - tilting)


@kernel
def pull_of_link(
    part: ThickNumbers, now: SectionMotion, scheme: NewmarkRates
) -> tuple[float, float, float]:
    """Tension of the spring, N; how it grows with height, N/m; height of the mass."""
    mass, beyond, above, _ = part.tip
    stiffness, late = part.hung
    last = len(now.q) - 1
    c, s = np.cos(now.q[last, 2]), np.sin(now.q[last, 2])
    top = now.q[last, 1] + s * beyond + c * above
    speed = now.v[last, 1] + now.v[last, 2] * (c * beyond - s * above)
    moved = mass * (scheme.past - part.gravity)
    stiff = stiffness * (1.0 + late * scheme.pace)
    drawn = stiffness * (top + late * (speed + scheme.lag))
    height = (drawn + moved) / (mass * scheme.rate + stiff)
    pull = drawn - stiff * height
    if pull <= 0.0:
        return 0.0, 0.0, moved / (mass * scheme.rate)
    growth = stiff * mass * scheme.rate / (mass * scheme.rate + stiff)
    return pull, growth, height


@kernel
def _add_hung(
    part: ThickNumbers,
    now: SectionMotion,
    scheme: NewmarkRates,
    force: Floats,
    band: Floats,
) -> None:
    """Tension of the spring of a hung mass."""
    _, beyond, above, _ = part.tip
    last = len(now.q) - 1
    c, s = np.cos(now.q[last, 2]), np.sin(now.q[last, 2])
    ux, uy = c * beyond - s * above, s * beyond + c * above
    pull, growth, _ = pull_of_link(part, now, scheme)
    force[last, 1] += pull
    force[last, 2] += pull * ux
    k, growth = 3 * last, growth * scheme.elastic
    band[k + 1, 0] += growth
    band[k + 2, 1] += growth * ux
    band[k + 2, 0] += growth * ux * ux - scheme.elastic * pull * uy


@kernel
def _add_clamp(part: ThickNumbers, q: Floats, force: Floats, band: Floats) -> None:
    for k in range(2):
        if part.spring[k] < np.inf:
            off = q[0, 1] if k == 0 else q[0, 2] + part.tilt
            force[0, k + 1] += part.spring[k] * off
            band[k + 1, 0] += part.spring[k]


@kernel
def newton_step(
    part: ThickNumbers,
    now: SectionMotion,
    scheme: NewmarkRates,
    modulus: float,
    memory: Floats,
    held: Bools,
    load: Floats,
) -> tuple[Floats, Floats, bool]:
    """How far the nodes are from balance.

    Parameters
    ----------
    modulus, memory : Pa, stress is modulus strain + memory
    held : (n, 3) unknowns that stay
    load : (n, 3) outer forces and moments, N, N m

    Returns
    -------
    change (n, 3) of the places, unbalanced forces (n, 3), whether the matrix is
    positive definite
    """
    n = len(now.q)
    force, band = -load, np.zeros((3 * n, 6))
    add_elements(now.q, part.size, part.stiffness, modulus, memory, force, band)
    _add_clamp(part, now.q, force, band)
    band *= scheme.elastic
    _add_inertia(part, now, scheme, force, band)
    if part.hung[0] < np.inf:
        _add_hung(part, now, scheme, force, band)
    else:
        _add_tip(part, now, scheme, force, band)
    change = -force.ravel()
    for k in np.flatnonzero(held.ravel()):
        change[k] = 0.0
        band[k, 0] = HELD
    definite = solve(band, change)
    return change.reshape((n, 3)), force, definite


@kernel
def largest(force: Floats, held: Bools, size: float) -> float:
    """The largest unbalanced force of what is not held, N; moments by `size`."""
    worst = 0.0
    for i in range(len(force)):
        for axis in range(3):
            if not held[i, axis]:
                worst = max(worst, abs(force[i, axis]) / (size if axis == 2 else 1.0))
    return worst
