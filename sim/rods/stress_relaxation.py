"""How the modulus of a rubber falls with time: the law of Chasset and Thirion (1965).

    E(t) = E_inf (1 + s t^-m)                                 t in s            (1)

Three numbers say stiffness and damping at all rates. In time the power is a sum of
exponentials, a Prony series, by the trapezoidal rule in u = -ln tau of

    t^-m = 1 / Gamma(m) int_-inf^inf exp(m u - t exp(u)) du.                    (2)

Chasset and Thirion, in Physics of Non-Crystalline Solids (ed. Prins), 1965; the rule:
McLean, in Contemporary Computational Mathematics (ed. Dick), 2018.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import gamma

from sim.core.arrays import Floats
from sim.core.options import Checked, NotNegative, Positive, Requirement


@dataclass(frozen=True)
class Relaxation(Checked):
    """Three numbers: what remains, what relaxes, how slowly.

    Parameters
    ----------
    modulus : E_inf, Pa
    share : s, what relaxes after 1 s, relative to E_inf; 0 is an elastic material
    exponent : m, between 0 and 1
    """

    of = "relaxation"
    modulus: Positive
    share: NotNegative = 0.0
    exponent: Annotated[Positive, Requirement("below 1", lambda m: m < 1.0)] = 0.3


@dataclass(frozen=True, eq=False)
class PronySeries:
    """E(t) = equilibrium + sum of weight exp(-t / time).

    Parameters
    ----------
    equilibrium : Pa
    weight, time : (k,) Pa, s
    """

    equilibrium: float
    weight: Floats
    time: Floats


SHORTEST, LONGEST = 1e-7, 1e5  # s


def prony(law: Relaxation, *, per_decade: int = 2) -> PronySeries:
    """The law as a Prony series with times from `SHORTEST` to `LONGEST`.

    Of what relaxes, two terms a decade leave a ripple of 2 |Gamma(m + 2 pi i / h)| /
    Gamma(m), h = ln 10 / 2: below 0.2 % for m from 0.1 to 0.5. Terms slower than
    `LONGEST` count as equilibrium, faster ones are left out.
    """
    m, step = law.exponent, np.log(10.0) / per_decade
    count = round(np.log(LONGEST / SHORTEST) / step)
    time = LONGEST * np.exp(-step * np.arange(count + 1))
    scale = law.modulus * law.share * step / gamma(m)
    slower = scale * LONGEST**-m / np.expm1(m * step)
    return PronySeries(law.modulus + slower, scale * time**-m, time)
