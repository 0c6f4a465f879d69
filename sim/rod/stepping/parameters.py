"""The parameters of a rod that a measured series may tell.

Young's modulus and beta of eq. (1), and the constants of eq. (7) of [Hu20] but t0: at
t0 eq. (7) jumps, so that no shape of a rod has a derivative by it.
"""

from sim.choice import Choice


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
