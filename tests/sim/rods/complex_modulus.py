"""Laws of relaxation in time, and as storage and loss modulus.

    E*(w) = i w int_0^inf E(t) exp(-i w t) dt
          = E_inf (1 + s Gamma(1 - m) (i w)^m)            of the power law

Real and imaginary part are those of one function without poles below the real axis, so
that each follows from the other (Kramers and Kronig).
"""

import numpy as np
from scipy.special import gamma

from sim.core.arrays import Floats
from sim.rods.stress_relaxation import PronySeries, Relaxation


def complex_modulus(
    law: Relaxation | PronySeries, w: Floats | complex | float
) -> np.ndarray:
    """Storage + i loss modulus, Pa, at w rad/s."""
    if isinstance(law, Relaxation):
        power = gamma(1.0 - law.exponent) * (1j * np.asarray(w)) ** law.exponent
        return np.asarray(law.modulus * (1.0 + law.share * power))
    iwt = 1j * np.asarray(w)[..., None] * law.time
    return np.asarray(law.equilibrium + (iwt / (1.0 + iwt)) @ law.weight)


def relaxed(law: Relaxation | PronySeries, t: Floats | float) -> Floats:
    """E(t), Pa, after a step of strain; t in s."""
    if isinstance(law, Relaxation):
        return np.asarray(law.modulus * (1.0 + law.share * t**-law.exponent))
    left = np.exp(-np.asarray(t)[..., None] / law.time)
    return np.asarray(law.equilibrium + left @ law.weight)
