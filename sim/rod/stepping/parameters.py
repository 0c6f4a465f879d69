"""The parameters of a rod that a measured series may tell.

Young's modulus and beta of eq. (1), and the constants of eq. (7) of [Hu20] but t0: at
t0 eq. (7) jumps, so that no shape of a rod can be differentiated by it.
"""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats
from sim.choice import Choice
from sim.rod.actuation.actuation import SEAM, Law


class Parameter(Choice):
    """What may be fitted."""

    MODULUS = "modulus"  # E, Pa
    BETA = "beta"  # s
    RATE = "rate"  # tau, 1/s
    DELAY = "delay"  # tbar, s
    LEAST_CURVATURE = "least_curvature"  # n of the curvature
    MOST_MODULUS = "most_modulus"  # n of the modulus

    @property
    def positive(self) -> bool:
        """Whether it makes sense above zero only."""
        return self not in (Parameter.DELAY, Parameter.LEAST_CURVATURE)


def relative_tangent(t: float, n: float, law: Law) -> tuple[float, float, float]:
    """d r / d(n, tau, tbar) of eq. (7), t seconds after the pulse begins."""
    if t < 0.0:
        return 0.0, 0.0, 0.0
    if t < (1.0 - SEAM) * law.ramp:
        return t / law.ramp, 0.0, 0.0
    s = 1.0 / (1.0 + np.exp(-law.rate * (t - law.delay)))
    steep = (1.0 - n) * s * (1.0 - s)
    return 1.0 - s, steep * (t - law.delay), -steep * law.rate


def law_tangents(t: float, law: Law) -> tuple[dict[Parameter, float], ...]:
    """Change of E / E0 and of kbar / kbar0 by each constant of eq. (7)."""
    n, rate, delay = relative_tangent(t, law.most_modulus, law)
    shared = {Parameter.RATE: rate, Parameter.DELAY: delay}
    modulus = {Parameter.MOST_MODULUS: n, **shared}
    n, rate, delay = relative_tangent(t, law.least_curvature, law)
    shared = {Parameter.RATE: rate, Parameter.DELAY: delay}
    return modulus, {Parameter.LEAST_CURVATURE: n, **shared}


def limb_tangents(
    time: float, pulse: Floats, law: Law, parameters: Sequence[Parameter]
) -> tuple[Floats, Floats]:
    """(P, limbs + 1) changes of `Actuated`; zero for what no actuator drives."""
    modulus = np.zeros((len(parameters), len(pulse) + 1))
    curvature = np.zeros_like(modulus)
    for limb, begin in enumerate(pulse.tolist()):
        of_modulus, of_curvature = law_tangents(time - begin, law)
        for p, parameter in enumerate(parameters):
            modulus[p, limb] = of_modulus.get(parameter, 0.0)
            curvature[p, limb] = of_curvature.get(parameter, 0.0)
    return modulus, curvature
