"""A cantilever whose height is no small part of its length, and one Newton iteration.

`ThickRod` has a section, a clamp and a tip mass. Its strains, forces and stiffness are
those of Reissner, ZAMP 23 (1972), eqs. (1)-(6). With x', y' the derivatives along the
unloaded axis and a the angle of the section,

    eps = x' cos a + y' sin a - 1      gamma = y' cos a - x' sin a      kappa = a'

Two nodes an element, with one strain each in its middle: it does not lock.

`newton_step` is one iteration under all forces at one time. The centre of a rigid mass
on the last section lies at p = r + u, r the last node and u = (beyond, above) turned
with the section. With J u = (-u_y, u_x) and angle a,

    p'' = r'' + a'' J u - a'^2 u,

and it loads the node by m (p'' + g e_y) and by the moment m (p'' + g e_y) . J u. A mass
that hangs from that point on a spring
of stiffness c and retardation time t, its height h counted from where the spring is
slack, loads it by

    T = max(c (p_y - h + t (p_y' - h')), 0),      m (h'' + g) = T,

and Newmark's rule, h'' = rate h - past and h' = pace h - lag, makes h and so T a
function of p_y and p_y' alone.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Annotated, NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats
from sim.core.numba_kernels import kernel
from sim.core.options import Checked, Count, Finite, NotNegative, Positive, Requirement
from sim.rods.plane.rod import GRAVITY, PoissonRatio
from sim.rods.stress_relaxation import Relaxation

Stiffness = Annotated[
    float, Requirement("above 0, inf for a rigid one", lambda value: value > 0.0)
]


@dataclass(frozen=True)
class Prism(Checked):
    """A straight block of rectangular section; `height` lies in the plane of motion.

    m, kg/m^3
    """

    of = "prism"
    length: Positive
    width: Positive
    height: Positive
    density: Positive
    poisson: PoissonRatio = 0.499

    @property
    def area(self) -> float:
        """m^2."""
        return self.width * self.height

    @property
    def second_moment(self) -> float:
        """m^4."""
        return self.width * self.height**3 / 12.0

    @property
    def shear_area(self) -> float:
        """k A G / E, m^2; k = 10 (1 + nu) / (12 + 11 nu) by Cowper, JAM 33 (1966)."""
        k = 10.0 * (1.0 + self.poisson) / (12.0 + 11.0 * self.poisson)
        return k * self.area / (2.0 * (1.0 + self.poisson))


@dataclass(frozen=True)
class Clamp(Checked):
    """What holds the end of a rod.

    Parameters
    ----------
    tilt : rad, how far the unloaded rod points down
    turning : N m/rad
    """

    of = "clamp"
    tilt: Finite = 0.0
    turning: Stiffness = inf


@dataclass(frozen=True)
class TipMass(Checked):
    """A mass on the last section: rigid on it, or hung from a point of it.

    Parameters
    ----------
    mass : kg
    beyond, above : m, from the middle of that section to the centre of the mass, or to
        the point that it hangs from
    spring : N/m of what it hangs on, which can pull only; inf for a rigid mass
    retardation : s, of that spring: its force is spring (stretch + retardation rate)
    """

    of = "tip mass"
    mass: NotNegative = 0.0
    beyond: Finite = 0.0
    above: Finite = 0.0
    spring: Stiffness = inf
    retardation: NotNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spring < inf and not self.mass > 0.0:
            raise ValueError("tip mass: the mass on a spring must be positive")

    @property
    def stretch(self) -> float:
        """kg m/N, of the spring at rest, by gravity."""
        return self.mass / self.spring


@dataclass(frozen=True)
class ThickRod(Checked):
    """A straight block, clamped at x = 0, that points along x and may sag along -y.

    Parameters
    ----------
    elements : along the length
    gravity : m/s^2
    """

    of = "thick rod"
    block: Prism
    law: Relaxation
    clamp: Clamp = field(default_factory=Clamp)
    tip: TipMass = field(default_factory=TipMass)
    elements: Count = 8
    gravity: NotNegative = GRAVITY

    @property
    def size(self) -> float:
        """Length of an element, m."""
        return self.block.length / self.elements

    @property
    def stiffness(self) -> Floats:
        """(3,) of stretch, shear and bend, by modulus: m^2, m^2, m^4.

        The compliance of shear has h^2 / 12 I more, the bending within an element that
        one strain leaves out: nodes of a straight rod then lie exactly, MacNeal,
        Comput. Struct. 8 (1978).
        """
        block = self.block
        within = self.size**2 / (12.0 * block.second_moment)
        shear = 1.0 / (1.0 / block.shear_area + within)
        return np.array([block.area, shear, block.second_moment])

    @property
    def inertia(self) -> Floats:
        """(n, 3) mass, mass and rotary inertia of nodes, kg, kg m^2; no tip mass."""
        block = self.block
        whole = block.density * self.size
        lumps = np.full(self.elements + 1, whole)
        lumps[[0, -1]] *= 0.5
        by_volume = np.array([block.area, block.area, block.second_moment])
        return np.outer(lumps, by_volume)

    @property
    def weight(self) -> float:
        """N, of rod and tip mass."""
        block = self.block
        own = block.density * block.area * block.length
        return self.gravity * (own + self.tip.mass)

    def straight(self) -> Floats:
        """(n, 3) x, y, angle of the sections of the unloaded rod."""
        along = np.linspace(0.0, self.block.length, self.elements + 1)
        tilt = self.clamp.tilt
        return np.column_stack(
            [along * np.cos(tilt), -along * np.sin(tilt), np.full(len(along), -tilt)]
        )


BAND = 6  # stored diagonals of a matrix of three unknowns a node


@kernel
def _shape(q: Floats, i: int, size: float) -> tuple[float, float, float, float, float]:
    """Cosine, sine, eps, gamma, kappa of element i."""
    angle = 0.5 * (q[i, 2] + q[i + 1, 2])
    c, s = np.cos(angle), np.sin(angle)
    dx, dy = (q[i + 1, 0] - q[i, 0]) / size, (q[i + 1, 1] - q[i, 1]) / size
    kappa = (q[i + 1, 2] - q[i, 2]) / size
    return c, s, c * dx + s * dy - 1.0, c * dy - s * dx, kappa


@kernel
def strains(q: Floats, size: float) -> Floats:
    """(elements, 3) eps, gamma, kappa of nodes q (n, 3)."""
    found = np.empty((len(q) - 1, 3))
    for i in range(len(found)):
        _, _, found[i, 0], found[i, 1], found[i, 2] = _shape(q, i, size)
    return found


class Stress(NamedTuple):
    """modulus strain + memory: Pa, and (elements, 3) Pa, what earlier strains left."""

    modulus: float
    memory: Floats


class Unbalanced(NamedTuple):
    """Forces (n, 3), and their slopes (3 n, 6), (k, d) of row k and column k - d."""

    force: Floats
    band: Floats


@kernel
def add_elements(
    q: Floats, size: float, stiffness: Floats, stress: Stress, to: Unbalanced
) -> None:
    """Add inner forces and their stiffness, (3,) by modulus.

    Rows of `slope` are those of eps, gamma and kappa by the unknowns of an element, of
    the turn of its middle, and what this is multiplied by in N d2 eps + Q d2 gamma.
    """
    slope = np.zeros((5, 6))
    slope[2, 2], slope[2, 5] = -1.0 / size, 1.0 / size
    slope[3, 2], slope[3, 5] = 0.5, 0.5
    for i in range(len(q) - 1):
        c, s, eps, gamma, kappa = _shape(q, i, size)
        N = size * stiffness[0] * (stress.modulus * eps + stress.memory[i, 0])
        Q = size * stiffness[1] * (stress.modulus * gamma + stress.memory[i, 1])
        M = size * stiffness[2] * (stress.modulus * kappa + stress.memory[i, 2])
        for end in range(2):
            by, x, y, turn = (2 * end - 1) / size, 3 * end, 3 * end + 1, 3 * end + 2
            slope[0, x], slope[0, y], slope[0, turn] = by * c, by * s, 0.5 * gamma
            slope[1, x], slope[1, y] = -by * s, by * c
            slope[1, turn] = -0.5 * (1.0 + eps)
            slope[4, x], slope[4, y] = -by * (N * s + Q * c), by * (N * c - Q * s)
            slope[4, turn] = -0.25 * (N * (1.0 + eps) + Q * gamma)
        for a in range(6):
            pull = N * slope[0, a] + Q * slope[1, a] + M * slope[2, a]
            to.force[i + a // 3, a % 3] += pull
            for b in range(a + 1):
                k = 0.0
                for strain in range(3):
                    k += stiffness[strain] * slope[strain, a] * slope[strain, b]
                turned = slope[3, a] * slope[4, b] + slope[4, a] * slope[3, b]
                to.band[3 * i + a, a - b] += size * stress.modulus * k + turned


@kernel
def solve(band: Floats, x: Floats) -> bool:
    """x <- A^-1 x by A = L D L^T, band (n, 6) overwritten; False if D has a 0 or less.

    The solution is right where D has negative entries too; 0 alone has none.
    """
    n, definite = len(band), True
    for i in range(n):
        first = max(0, i - BAND + 1)
        for j in range(first, i + 1):
            total = band[i, i - j]
            for k in range(max(first, j - BAND + 1), j):
                total -= band[i, i - k] * band[j, j - k] * band[k, 0]
            band[i, i - j] = total if i == j else total / band[j, 0]
        definite = definite and band[i, 0] > 0.0
        for k in range(first, i):
            x[i] -= band[i, i - k] * x[k]
    for i in range(n - 1, -1, -1):
        x[i] /= band[i, 0]
        for k in range(i + 1, min(i + BAND, n)):
            x[i] -= band[k, k - i] * x[k]
    return definite


HELD = 1e30  # diagonal entry of an unknown that is held


class ThickNumbers(NamedTuple):
    """A thick rod as numbers.

    Attributes
    ----------
    stiffness : (3,) by modulus
    inertia : (n, 3) kg, kg, kg m^2
    tip : (3,) mass, beyond, above
    hung : (2,) N/m of the spring that a mass hangs on, inf where the mass is rigid; s
    held : (n, 3) unknowns that stay
    clamp : N m/rad, inf where it does not give
    tilt, size, gravity : rad, m, m/s^2
    """

    stiffness: Floats
    inertia: Floats
    tip: Floats
    hung: Floats
    held: Bools
    clamp: float
    tilt: float
    size: float
    gravity: float


def parts(rod: ThickRod, *, tip_held: bool = False) -> ThickNumbers:
    """The rod as kernels take it, its last node held in height if its tip is."""
    tip, clamp = rod.tip, rod.clamp
    held = np.zeros((rod.elements + 1, 3), dtype=np.bool_)
    held[0], held[-1, 1] = [True, True, np.isinf(clamp.turning)], tip_held
    return ThickNumbers(
        rod.stiffness,
        rod.inertia,
        np.array([tip.mass, tip.beyond, tip.above]),
        np.array([tip.spring, tip.retardation]),
        held,
        clamp.turning,
        clamp.tilt,
        rod.size,
        rod.gravity,
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
def tip_arm(part: ThickNumbers, now: SectionMotion) -> tuple[float, float]:
    """u of the module's text, m."""
    _, beyond, above = part.tip
    c, s = np.cos(now.q[-1, 2]), np.sin(now.q[-1, 2])
    return c * beyond - s * above, s * beyond + c * above


@kernel
def _add_tip(
    part: ThickNumbers, now: SectionMotion, scheme: NewmarkRates, to: Unbalanced
) -> None:
    """Weight and inertia of the mass on the last section."""
    (force, band), mass, last = to, part.tip[0], len(now.q) - 1
    ux, uy = tip_arm(part, now)
    spin, turn = now.v[last, 2], now.a[last, 2]
    px = now.a[last, 0] - turn * uy - spin * spin * ux
    py = now.a[last, 1] + turn * ux - spin * spin * uy + part.gravity
    force[last, 0] += mass * px
    force[last, 1] += mass * py
    force[last, 2] += mass * (py * ux - px * uy)
    rate, k = scheme.rate, 3 * last
    tilting = scheme.elastic * (py * uy + px * ux)
    band[k, 0] += mass * rate
    band[k + 1, 0] += mass * rate
    band[k + 2, 2] -= mass * rate * uy
    band[k + 2, 1] += mass * rate * ux
    band[k + 2, 0] += mass * (rate * (ux * ux + uy * uy) - tilting)


@kernel
def pull_of_link(
    part: ThickNumbers, now: SectionMotion, scheme: NewmarkRates
) -> tuple[float, float, float]:
    """Tension of the spring, N; how it grows with height, N/m; height of the mass."""
    mass, beyond, above = part.tip
    stiffness, late = part.hung
    last = len(now.q) - 1
    c, s = np.cos(now.q[last, 2]), np.sin(now.q[last, 2])
    top = now.q[last, 1] + s * beyond + c * above
    speed = now.v[last, 1] + now.v[last, 2] * (c * beyond - s * above)
    moved = mass * (scheme.past - part.gravity)
    stiff = stiffness * (1.0 + late * scheme.pace)
    fixed = stiffness * (top + late * (speed + scheme.lag))
    height = (fixed + moved) / (mass * scheme.rate + stiff)
    pull = fixed - stiff * height
    if pull <= 0.0:
        return 0.0, 0.0, moved / (mass * scheme.rate)
    growth = stiff * mass * scheme.rate / (mass * scheme.rate + stiff)
    return pull, growth, height


@kernel
def _add_hung(
    part: ThickNumbers, now: SectionMotion, scheme: NewmarkRates, to: Unbalanced
) -> None:
    """Tension of the spring of a hung mass."""
    (force, band), last = to, len(now.q) - 1
    ux, uy = tip_arm(part, now)
    pull, growth, _ = pull_of_link(part, now, scheme)
    force[last, 1] += pull
    force[last, 2] += pull * ux
    k, growth = 3 * last, growth * scheme.elastic
    band[k + 1, 0] += growth
    band[k + 2, 1] += growth * ux
    band[k + 2, 0] += growth * ux * ux - scheme.elastic * pull * uy


@kernel
def newton_step(
    part: ThickNumbers, now: SectionMotion, scheme: NewmarkRates, stress: Stress,
    load: Floats,
) -> tuple[Floats, Floats, bool]:  # fmt: skip
    """How far the nodes are from balance with outer forces and moments (n, 3), N, N m.

    Returns
    -------
    change (n, 3) of the places, unbalanced forces (n, 3), whether the matrix is
    positive definite
    """
    n = len(now.q)
    to = Unbalanced(-load, np.zeros((3 * n, BAND)))
    force, band = to
    add_elements(now.q, part.size, part.stiffness, stress, to)
    if part.clamp < np.inf:
        force[0, 2] += part.clamp * (now.q[0, 2] + part.tilt)
        band[2, 0] += part.clamp
    band *= scheme.elastic
    force += part.inertia * now.a
    force[:, 1] += part.inertia[:, 1] * part.gravity
    band[:, 0] += scheme.rate * part.inertia.ravel()
    if part.hung[0] < np.inf:
        _add_hung(part, now, scheme, to)
    else:
        _add_tip(part, now, scheme, to)
    change = -force.ravel()
    for k in np.flatnonzero(part.held.ravel()):
        change[k] = 0.0
        band[k, 0] = HELD
    definite = solve(band, change)
    return change.reshape((n, 3)), force, definite


@kernel
def largest(force: Floats, part: ThickNumbers) -> float:
    """The largest unbalanced force of what is not held, N; moments by the size."""
    worst = 0.0
    for i in range(len(force)):
        for axis in range(3):
            if not part.held[i, axis]:
                arm = part.size if axis == 2 else 1.0
                worst = max(worst, abs(force[i, axis]) / arm)
    return worst
