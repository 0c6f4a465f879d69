"""Limbs with a shape-memory wire: natural curvature and modulus in time, eq. (7).

When a limb is switched on at t = 0, r = kbar / kbar0 (and likewise E / E0) is

    r(t) = 1 + (n - 1) t / t0                              0 <= t < t0
    r(t) = (1 - n) / (1 + exp(-tau (t - tbar))) + n        t0 <= t

Eq. (7) is not continuous, and leaves its value at the seams open. The rule here: at a
seam the later branch holds. So at t0 r steps from n up to the second branch, and a
limb that is switched on again starts its ramp from 1, wherever the decay had come to.

The constants are not in the text of [Hu20] (they are in its supplement): those below
are stated assumptions, known from simulators derived from the paper's.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from sim.core.options import (
    Checked,
    Finite,
    NotNegative,
    Positive,
    Requirement,
    is_finite,
    refuse_missing,
)
from sim.rods.plane.elastic_energy import Actuated

SEAM = 1e-9  # of the ramp, before whose end the later branch holds: sums of steps round


class Law(NamedTuple):
    """Constants of eq. (7)."""

    ramp: float  # t0, s
    rate: float  # tau, 1/s
    delay: float  # tbar, s
    least_curvature: float  # n of the curvature
    most_modulus: float  # n of the modulus


@dataclass(frozen=True)
class Actuator(Checked):
    """The response of a limb to one pulse, eq. (7)."""

    of = "actuator"
    ramp: Positive = 0.05  # s, t0
    rate: Positive = 3.4  # 1/s, tau
    delay: Finite = 1.4  # s, tbar
    least_curvature: Finite = 0.21
    most_modulus: Positive = 2.68

    @property
    def law(self) -> Law:
        return Law(*astuple(self))


@kernel
def relative(t: float, n: float, law: Law) -> float:
    """r(t) of eq. (7) with extreme n, t seconds after the pulse begins."""
    if t < 0.0:
        return 1.0
    if t < (1.0 - SEAM) * law.ramp:
        return 1.0 + (n - 1.0) * t / law.ramp
    return float((1.0 - n) / (1.0 + np.exp(-law.rate * (t - law.delay))) + n)


@kernel
def actuate(time: float, pulse: Floats, law: Law, actuated: Actuated) -> None:
    """Modulus and curvature of each limb, whose last pulse began at pulse[limb]."""
    for limb in range(len(pulse)):
        t = time - pulse[limb]
        actuated.modulus[limb] = relative(t, law.most_modulus, law)
        actuated.curvature[limb] = relative(t, law.least_curvature, law)


def _are_times(values: list[Any]) -> bool:
    return all(is_finite(value) and value >= 0.0 for value in values)


WholeNumbers = Annotated[
    list[int],
    Requirement("whole numbers", lambda given: all(type(k) is int for k in given)),
]


@dataclass(frozen=True)
class Pulses(Checked):
    """Which limb is switched on when: a table of times (s) and limbs (from 0)."""

    of = "actuation"
    times: Annotated[list[float], Requirement("numbers from 0 s up", _are_times)]
    limbs: WholeNumbers

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.times) != len(self.limbs):
            raise ValueError(
                f"actuation: {len(self.times)} times for {len(self.limbs)} limbs: "
                "give one limb for each time"
            )
        for k in np.flatnonzero(np.diff(self.times) < 0.0):
            raise ValueError(
                f"actuation: pulse {k + 1} at {self.times[k + 1]:g} s comes before "
                f"pulse {k} at {self.times[k]:g} s: sort the table by time"
            )

    def refuse_missing(self, count: int) -> None:
        """A ValueError where a limb is named that is none of so many."""
        if self.limbs and not count:
            raise ValueError(
                "actuation: no rod has a limb: set `limb` of rods, or remove pulses"
            )
        refuse_missing("actuation: limb {} does not exist", self.limbs, count, "choose")


@dataclass(frozen=True)
class LeftOfContact(Checked):
    """Switch on the limb to the left of the contact limb, [Hu20] Rolling robot.

    The contact limb is the one whose arc lies lowest above the ground; limbs count
    counter-clockwise, so the one to the left has the number before.
    """

    of = "actuation"
    first: NotNegative = 0.2  # s
    period: Positive = 3.0  # s


Schedule = Pulses | LeftOfContact


class Pulse(NamedTuple):
    """A limb that is switched on, by its number or counted from the contact limb."""

    time: float
    limb: int
    from_contact: bool


def pulses_due(
    schedule: Schedule | None, after: float, until: float
) -> Iterator[Pulse]:
    """The pulses that begin in (after, until], in the order of time."""
    if isinstance(schedule, Pulses):
        for t, limb in zip(schedule.times, schedule.limbs, strict=True):
            if after < t <= until:
                yield Pulse(t, limb, False)
    if isinstance(schedule, LeftOfContact):
        first, period = schedule.first, schedule.period
        k = max(0, int(np.floor((after - first) / period)) + 1)
        while (t := first + k * period) <= until:
            yield Pulse(t, -1, True)
            k += 1
