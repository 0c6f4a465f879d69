"""Curvature of an energy: inertia correction, lowest modes, steps of a given length.

Newton's step lowers the energy where the Hessian K is positive definite. Where it is
not, `positive_factor` shifts its diagonal until no pivot is negative (inertia
correction: Nocedal and Wright, Numerical Optimization, 2006, sect. 3.4).

Small problems may use negative curvature by its size (`Spectrum`). With eigenvectors V
and eigenvalues Lambda of K, the step

    dx = -V (|Lambda| + sigma I)^-1 V^T g

goes down along directions in which the energy bends downwards, too, where a shift that
makes K positive has to be as large as the most negative curvature and every step as
short (modified Newton: Gill, Murray and Wright, Practical Optimization, 1981, sect.
4.4; in saddle-free form Dauphin et al., NeurIPS 2014). sigma >= 0 keeps the step within
a trust region (Nocedal and Wright, ch. 4). Near a minimum the step is Newton's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from sim.core.arrays import Floats
from sim.linalg.sparse_ldl import Factor

ITERATIONS = 30  # of inverse iteration


class PositiveFactor(NamedTuple):
    """A factor without negative or vanishing pivots.

    Attributes
    ----------
    shift : of the diagonal that it took
    negative : pivots of the Hessian itself below zero
    """

    factor: Factor
    shift: float
    negative: int


def positive_factor(
    factorised: Callable[[float], Factor], first: float, growth: float = 4.0
) -> PositiveFactor:
    """Factorise with ever larger shifts until all pivots are positive.

    Parameters
    ----------
    factorised : of a shift of the diagonal, in any unit
    first : smallest shift that is tried after none
    growth : of the shift from try to try: large where a factor is dear
    """
    shift, factor = 0.0, factorised(0.0)
    negative = factor.negative
    while factor.negative or len(factor.dropped):
        shift = max(first, growth * shift)
        factor = factorised(shift)
    return PositiveFactor(factor, shift, negative)


def lowest_mode(solve: Callable[[Floats], Floats], size: int, seed: int = 0) -> Floats:
    """(size,) eigenvector of the smallest eigenvalue, of length 1: inverse iteration.

    Parameters
    ----------
    solve : by a positive definite matrix, as that of `positive_factor`: the vectors are
        those of the Hessian before its shift
    seed : of the vector with which it begins
    """
    v = np.random.default_rng(seed).normal(size=size)
    for _ in range(ITERATIONS):
        v = solve(v)
        v /= np.linalg.norm(v)
    return v


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A Hessian by its eigenvectors.

    Attributes
    ----------
    basis : (f, u) orthonormal directions V^T
    size : (f,) |Lambda|
    """

    basis: Floats
    size: Floats

    def step(self, gradient: Floats, longest: float) -> Floats:
        """Against a gradient of u numbers, in its shape, no longer than `longest`."""
        slope, shift = self.basis @ gradient.ravel(), 0.0

        def beyond(shift: float) -> float:
            return float(np.linalg.norm(slope / (self.size + shift))) - longest

        if beyond(0.0) > 0.0:
            most = float(np.linalg.norm(slope)) / longest
            shift = brentq(beyond, 0.0, most, xtol=1e-12 * most)
        step: Floats = -(slope / (self.size + shift)) @ self.basis
        return step.reshape(gradient.shape)
