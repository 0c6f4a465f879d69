"""Rest and motion of a thick rod of a relaxing material.

`rest` finds where the rod rests, by itself or with its tip held at a height. `motion`
lets it go, in trapezoidal steps. Stress is E_inf eps + sum of s_k, s_k' = E_k eps' -
s_k / tau_k.  For a strain that changes evenly over a step this is solved exactly,

    s_k <- d_k s_k + E_k c_k (eps1 - eps0),   d_k = exp(-h / tau_k),
    c_k = (1 - d_k) tau_k / h,

so that the stress at the end is linear in the strain there (Taylor, Pister and
Goudreau, IJNME 2, 1970). Newmark's rule with 1/4 and 1/2 does the rest.

`ringing_heights` and `crept_height` are of a rod lifted by its tip and let go. Ringing
needs short steps; what follows creeps, and needs few, ever longer ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from sim.core.options import NotConvergedError
from sim.rods.stress_relaxation import PronySeries
from sim.rods.thick_rod import (
    AT_REST,
    SETTING_OUT,
    NewmarkRates,
    SectionMotion,
    Stress,
    ThickNumbers,
    ThickRod,
    largest,
    newton_step,
    parts,
    pull_of_link,
    strains,
)

REST_ITERATIONS = 300
ROUNDING = 1e-13  # of forces, relative to EA
FARTHEST = 0.3  # turn of a section in one iteration, rad


def rest(
    rod: ThickRod,
    modulus: float,
    *,
    memory: Floats | None = None,
    tip_height: float | None = None,
    lever: float = 0.0,
    tolerance: float = 1e-10,
) -> Floats:
    """(n, 3) places in balance, where stress is modulus strain + memory.

    Parameters
    ----------
    modulus : Pa
    memory : (elements, 3) Pa, what earlier strains left
    tip_height : m, y of the last node, held by a vertical force
    lever : m, how far beyond the last node, along it, that force acts
    tolerance : largest unbalanced force, of the weight

    Raises
    ------
    NotConvergedError
        with the places reached, where the tolerance is not met or the rest is no
        minimum of the energy
    """
    q = rod.straight()
    still, load = np.zeros_like(q), np.zeros_like(q)
    memory = np.zeros((rod.elements, 3)) if memory is None else memory
    if tip_height is not None:
        q[:, 1] += (tip_height - q[-1, 1]) * (q[:, 0] / q[-1, 0]) ** 2
    part, stress = parts(rod, tip_held=tip_height is not None), Stress(modulus, memory)
    allowed = tolerance * rod.weight + ROUNDING * modulus * rod.block.area
    for _ in range(REST_ITERATIONS):
        now = SectionMotion(q, still, still)
        change, force, definite = newton_step(part, now, AT_REST, stress, load)
        worst = largest(force, part)
        if worst <= allowed and definite:
            return q
        load[-1, 2] = lever * np.cos(q[-1, 2]) * force[-1, 1] * part.held[-1, 1]
        q = q + change * min(1.0, FARTHEST / max(float(np.abs(change).max()), 1e-300))
    raise NotConvergedError(
        f"thick rod: unbalanced force {worst:.2g} N is above {allowed:.2g} N after "
        f"{REST_ITERATIONS} iterations: is the rod too soft for its weight?",
        best=q,
    )


ITERATIONS = 25


class ThickStep(NamedTuple):
    """One time of a moving rod.

    Attributes
    ----------
    time : s
    q, v, a : (n, 3) places (x, y, angle), velocities, accelerations
    stress : (k, elements, 3) of the branches of the Prony series, Pa
    residual : largest unbalanced force, N
    hung : (3,) height, velocity, acceleration of a hung mass; 0 where there is none
    """

    time: float
    q: Floats
    v: Floats
    a: Floats
    stress: Floats
    residual: float
    hung: Floats


@dataclass(frozen=True)
class Hold:
    """How a rod is held before it is let go.

    Parameters
    ----------
    tip_height : m, y of the last node
    seconds : s since it was lifted there from where it had hung at rest
    lever : m, how far beyond the last section, along it, the hand pushes up
    """

    tip_height: float
    seconds: float
    lever: float = 0.0


def held(rod: ThickRod, series: PronySeries, hold: Hold) -> ThickStep:
    """The rod at the end of a hold: in balance but for the hand that is taken away.

    It had hung until its material was relaxed, then was lifted at once, and what is
    left of a branch is d_k = exp(-seconds / tau_k) of the change of strain.
    """
    hung = strains(rest(rod, series.equilibrium), rod.size)
    left = series.weight * np.exp(-hold.seconds / series.time)
    whole = left.sum()
    q = rest(
        rod,
        series.equilibrium + whole,
        memory=-whole * hung,
        tip_height=hold.tip_height,
        lever=hold.lever,
    )
    stress = left[:, None, None] * (strains(q, rod.size) - hung)
    return _let_go(rod, series, q, stress)


def _let_go(rod: ThickRod, series: PronySeries, q: Floats, stress: Floats) -> ThickStep:
    """The accelerations with which a rod at rest sets out, from M a = F(q)."""
    still, hung = np.zeros_like(q), np.zeros(3)
    if rod.tip.spring < np.inf:
        c, s = np.cos(q[-1, 2]), np.sin(q[-1, 2])
        top = q[-1, 1] + s * rod.tip.beyond + c * rod.tip.above
        hung[0] = top - rod.gravity * rod.tip.stretch
    a, force, _ = newton_step(
        parts(rod), SectionMotion(q, still, still), SETTING_OUT._replace(past=hung[0]),
        Stress(series.equilibrium, stress.sum(axis=0)), still,
    )  # fmt: skip
    return ThickStep(0.0, q, still, a, stress, float(np.abs(force).max()), hung)


class Branches(NamedTuple):
    """A step of h seconds with inertia, 1, or without, 0, and the branches of a series.

    decay, ramp, modulus : d_k, E_k c_k (k,), and their sum
    """

    decay: Floats
    ramp: Floats
    modulus: float
    h: float
    inertia: float


def _branches(series: PronySeries, h: float, inertia: float) -> Branches:
    decay = np.exp(-h / series.time)
    ramp = series.weight * (1.0 - decay) * series.time / h
    return Branches(decay, ramp, float(series.equilibrium + ramp.sum()), h, inertia)


@kernel
def _march(
    part: ThickNumbers, start: ThickStep, branches: Branches, allowed: float, count: int
) -> ThickStep:
    """What follows after `count` steps, or until one leaves more than is allowed, N."""
    worst, stress, hung = 0.0, start.stress.copy(), start.hung
    q, v, a, none = start.q, start.v, start.a, np.zeros_like(start.q)
    old, h, inertia = strains(q, part.size), branches.h, branches.inertia
    rate, pace = inertia * 4.0 / (h * h), inertia * 2.0 / h
    for _ in range(count):
        law = Stress(branches.modulus, np.zeros_like(old))
        for k in range(len(stress)):
            stress[k] = branches.decay[k] * stress[k] - branches.ramp[k] * old
            law.memory[:] += stress[k]
        q0, v0, a0, left = q, v, a, np.inf
        past = rate * (hung[0] + h * hung[1]) + inertia * hung[2]
        scheme = NewmarkRates(rate, pace, 1.0, past, pace * hung[0] + inertia * hung[1])
        q = q0 + inertia * h * v0
        for _ in range(ITERATIONS):
            a = rate * (q - q0 - h * v0) - inertia * a0
            v = inertia * (v0 + 0.5 * h * (a0 + a))
            now = SectionMotion(q, v, a)
            change, force, _ = newton_step(part, now, scheme, law, none)
            left = largest(force, part)
            if left <= allowed:
                break
            q = q + change
        later = np.zeros(3)
        if part.hung[0] < np.inf:
            _, _, later[0] = pull_of_link(part, SectionMotion(q, v, a), scheme)
            later[2] = rate * later[0] - past
            later[1] = inertia * (hung[1] + 0.5 * h * (hung[2] + later[2]))
        hung, worst = later, max(worst, left)
        if not left <= allowed:
            break
        old = strains(q, part.size)
        for k in range(len(stress)):
            stress[k] += branches.ramp[k] * old
    return ThickStep(start.time + count * h, q, v, a, stress, worst, hung)


def step(
    rod: ThickRod,
    series: PronySeries,
    before: ThickStep,
    h: float,
    *,
    count: int = 1,
    inertia: bool = True,
    tolerance: float = 1e-9,
) -> ThickStep:
    """The rod `count` steps of h seconds later.

    Parameters
    ----------
    inertia : without it the rod creeps from balance to balance, and h may be long
    tolerance : largest unbalanced force, of the weight

    Raises
    ------
    NotConvergedError
        where the tolerance is not met
    """
    branches = _branches(series, h, float(inertia))
    allowed = tolerance * rod.weight + ROUNDING * branches.modulus * rod.block.area
    after: ThickStep = _march(parts(rod), before, branches, allowed, count)
    if not after.residual <= allowed:
        raise NotConvergedError(
            f"thick rod: unbalanced force {after.residual:.2g} N is above "
            f"{allowed:.2g} N before {after.time:.4g} s: give shorter steps than "
            f"{h:g} s",
            best=before,
        )
    return after


def motion(
    rod: ThickRod, series: PronySeries, start: ThickStep, h: float, count: int = 1
) -> Iterator[ThickStep]:
    """Yield the start and what follows it by every `count` steps of h, without end."""
    now = start
    while True:
        yield now
        now = step(rod, series, now, h, count=count)


GROWTH = 2.0
ROUNDS = 3  # of a rest and the height above it


EACH = 5  # steps between stored heights


def ringing_heights(
    rod: ThickRod, series: PronySeries, hold: Hold, seconds: float, h: float
) -> tuple[CubicHermiteSpline, ThickStep]:
    """Height of the tip let go, m, over time, s, by steps of h s; the last step."""
    start = held(rod, series, hold)
    count = int(np.ceil(seconds / (EACH * h))) + 1
    steps = list(islice(motion(rod, series, start, h, EACH), count))
    stored = np.array([(one.time, one.q[-1, 1], one.v[-1, 1]) for one in steps])
    return CubicHermiteSpline(*stored.T), steps[-1]


def crept_height(
    rod: ThickRod, series: PronySeries, before: ThickStep, seconds: float, first: float
) -> float:
    """Height of the tip, m, `seconds` later, once it does not ring any more.

    Parameters
    ----------
    first : s, the first step; each is twice as long as that before
    """
    left, h, now = seconds, first, before
    while left > 0.0:
        h = left if left < (1.0 + GROWTH) * h else h
        now = step(rod, series, now, h, inertia=False)
        left, h = left - h, GROWTH * h
    return float(now.q[-1, 1])


def rest_height(
    rod: ThickRod, series: PronySeries, above: float, hold: Hold, seconds: float
) -> float:
    """Height of the tip, m, `seconds` after it was let go from `above` that height, m.

    Parameters
    ----------
    hold : its seconds and lever; its height does not count
    """
    y = float(rest(rod, series.equilibrium)[-1, 1])
    for _ in range(ROUNDS):
        start = held(rod, series, Hold(y + above, hold.seconds, hold.lever))
        y = crept_height(rod, series, start, seconds, 0.01 * seconds)
    return y
