"""A thick rod let go: trapezoidal steps of a relaxing material.

Stress is E_inf eps + sum of s_k, s_k' = E_k eps' - s_k / tau_k.  For a strain that
changes evenly over a step this is solved exactly,

    s_k <- d_k s_k + E_k c_k (eps1 - eps0),   d_k = exp(-h / tau_k),
    c_k = (1 - d_k) tau_k / h,

so that the stress at the end is linear in the strain there (Taylor, Pister and
Goudreau, IJNME 2, 1970). Newmark's rule with 1/4 and 1/2 does the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats
from sim.convergence import NotConvergedError
from sim.kernels import kernel
from sim.relaxation import PronySeries
from sim.rod.thick.balance import (
    SETTING_OUT,
    NewmarkRates,
    SectionMotion,
    ThickNumbers,
    largest,
    newton_step,
    parts,
    pull_of_link,
)
from sim.rod.thick.elements import strains
from sim.rod.thick.rest import ROUNDING, held_nodes, rest
from sim.rod.thick.thick_rod import ThickRod

ITERATIONS = 25


@dataclass(frozen=True, eq=False)
class ThickStep:
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
        series.equilibrium, stress.sum(axis=0), held_nodes(rod), still,
    )  # fmt: skip
    return ThickStep(0.0, q, still, a, stress, float(np.abs(force).max()), hung)


class Branches(NamedTuple):
    """The branches of a Prony series in a step: d_k, E_k c_k (k,), and their sum."""

    decay: Floats
    ramp: Floats
    modulus: float


def _branches(series: PronySeries, h: float) -> Branches:
    decay = np.exp(-h / series.time)
    ramp = series.weight * (1.0 - decay) * series.time / h
    return Branches(decay, ramp, float(series.equilibrium + ramp.sum()))


@kernel
def _advance(
    part: ThickNumbers,
    start: SectionMotion,
    hung: Floats,
    branches: Branches,
    memory: Floats,
    held: Bools,
    h: float,
    inertia: float,
    allowed: float,
) -> tuple[SectionMotion, Floats, float]:
    """The state after h, that of a hung mass, and the largest unbalanced force."""
    q = start.q + inertia * h * start.v
    rate = inertia * 4.0 / (h * h)
    pace = inertia * 2.0 / h
    past = rate * (hung[0] + h * hung[1]) + inertia * hung[2]
    scheme = NewmarkRates(rate, pace, 1.0, past, pace * hung[0] + inertia * hung[1])
    worst = np.inf
    v, a, none = start.v, start.a, np.zeros_like(q)
    for _ in range(ITERATIONS):
        a = rate * (q - start.q - h * start.v) - inertia * start.a
        v = inertia * (start.v + 0.5 * h * (start.a + a))
        change, force, _ = newton_step(
            part, SectionMotion(q, v, a), scheme, branches.modulus, memory, held, none
        )
        worst = largest(force, held, part.size)
        if worst <= allowed:
            break
        q = q + change
    later = np.zeros(3)
    if part.hung[0] < np.inf:
        _, _, later[0] = pull_of_link(part, SectionMotion(q, v, a), scheme)
        later[2] = rate * later[0] - past
        later[1] = inertia * (hung[1] + 0.5 * h * (hung[2] + later[2]))
    return SectionMotion(q, v, a), later, worst


@kernel
def _march(
    part: ThickNumbers,
    start: SectionMotion,
    hung: Floats,
    stress: Floats,
    branches: Branches,
    held: Bools,
    h: float,
    inertia: float,
    allowed: float,
    count: int,
) -> tuple[SectionMotion, Floats, Floats, float]:
    """State, hung mass and stresses after `count` steps, largest unbalanced force."""
    now, worst = start, 0.0
    stress = stress.copy()
    old = strains(now.q, part.size)
    for _ in range(count):
        memory = np.zeros_like(old)
        for k in range(len(stress)):
            stress[k] = branches.decay[k] * stress[k] - branches.ramp[k] * old
            memory += stress[k]
        now, hung, left = _advance(
            part, now, hung, branches, memory, held, h, inertia, allowed
        )
        worst = max(worst, left)
        if not left <= allowed:
            break
        old = strains(now.q, part.size)
        for k in range(len(stress)):
            stress[k] += branches.ramp[k] * old
    return now, hung, stress, worst


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
    branches = _branches(series, h)
    allowed = tolerance * rod.weight + ROUNDING * branches.modulus * rod.block.area
    now, hung, stress, worst = _march(
        parts(rod), SectionMotion(before.q, before.v, before.a), before.hung,
        before.stress, branches, held_nodes(rod), h, float(inertia), allowed, count,
    )  # fmt: skip
    time = before.time + count * h
    if not worst <= allowed:
        raise NotConvergedError(
            f"thick rod: unbalanced force {worst:.2g} N is above {allowed:.2g} N "
            f"before {time:.4g} s: give shorter steps than {h:g} s",
            best=before,
        )
    return ThickStep(time, now.q, now.v, now.a, stress, worst, hung)


def motion(
    rod: ThickRod, series: PronySeries, start: ThickStep, h: float, count: int = 1
) -> Iterator[ThickStep]:
    """Yield the start and what follows it by every `count` steps of h, without end."""
    now = start
    while True:
        yield now
        now = step(rod, series, now, h, count=count)
