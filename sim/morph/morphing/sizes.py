"""How large a shape may be, as a bound of a design or as a part of what it lowers.

    radius     (sum_j |r_j - c|^p)^(1/p), c the middle of the nodes, p = 64
    extent     (log sum_j e^(b x_j) + log sum_j e^(-b x_j)) / b on an axis, b = 64 / L

are smooth and never below the largest distance from the middle and the extent along the
axis; of n nodes they are above by a factor of n^(1/64) and by 2 L log(n) / 64 at most.

Where a morph ends, grad f + J^T y = 0 and c(z) = 0. So the slope of any phi(r) in the
constants k of the rows is that of the adjoint (a, b),

    H a + J^T b = grad phi,  J a = 0,      dphi/dk = b,

with H the curvature of f + y.c. Motions that change f by nothing to second order are
left out of a: a morph that begins where the last one ended stays where it is in them.
Dense: each takes the null space of J.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import null_space
from scipy.special import logsumexp, softmax

from sim.arrays import Floats
from sim.limits import is_count, is_finite, is_positive
from sim.morph.equations.constraint_forces import constraint_forces
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.problem import MorphProblem, NewtonOptions, dense_curvature
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

P = 64.0
NEUTRAL = 1e-7  # curvature along the constraints that counts as none


@dataclass(frozen=True)
class ShapeSize:
    """A size of the shape that one target leads to.

    Attributes
    ----------
    shape : the target's number
    along : x, y or z for an extent, nothing for a radius
    most : bound, the case's unit, or nothing
    weight : of (size / L)^2 in what is lowered
    """

    shape: int
    along: str | None = None
    most: float | None = None
    weight: float = 0.0

    def __post_init__(self) -> None:
        if not is_count(self.shape, 0):
            raise ValueError(f"shape is {self.shape}: give the number of a target")
        if self.along not in (None, "x", "y", "z"):
            raise ValueError(
                f"along is {self.along!r}: give x, y or z, or leave it out"
            )
        if self.most is not None and not is_positive(self.most):
            raise ValueError(f"most must be a positive length, not {self.most}")
        weighs = is_finite(self.weight) and self.weight >= 0.0
        if not weighs or (self.most is None and not self.weight):
            raise ValueError(
                f"a size has the weight {self.weight}: give `most`, or a positive "
                "weight"
            )

    def of(self, r: Floats, L: float) -> tuple[float, Floats]:
        """The size of the shape `r` (n, 3), and its slope (n, 3)."""
        slope = np.zeros_like(r)
        if self.along is not None:
            axis, b = "xyz".index(self.along), P / L
            x = b * r[:, axis]
            slope[:, axis] = softmax(x) - softmax(-x)
            return float(logsumexp(x) + logsumexp(-x)) / b, slope
        d = r - r.mean(axis=0)
        away = np.maximum(np.linalg.norm(d, axis=1), 1e-300)
        largest = away.max()
        size = largest * float(((away / largest) ** P).sum() ** (1.0 / P))
        slope = ((away / size) ** (P - 1.0) / away)[:, None] * d
        return size, slope - slope.mean(axis=0)

    def exact(self, r: Floats) -> float:
        """The largest distance from the middle, or the extent along the axis."""
        if self.along is not None:
            return float(np.ptp(r[:, "xyz".index(self.along)]))
        return float(np.linalg.norm(r - r.mean(axis=0), axis=1).max())


def shape_worth(
    made: Structure,
    target: Target,
    options: NewtonOptions,
    end: MorphStep,
    slope: Floats,
) -> Floats:
    """(m,) d(phi)/d(constant) of each row where a morph ended.

    Parameters
    ----------
    slope : (n, 3) of phi in the nodes
    """
    problem, z = MorphProblem.at_end(made, target, options, end.state)
    point = problem.point(z)
    forces = constraint_forces(point, problem.contacts(point))
    H = dense_curvature(problem, point, forces)
    linear = point.linear
    rows = np.eye(linear.system.m)
    J = np.array([linear.transpose_times(row).ravel() for row in rows])
    phi = np.zeros(z.size)
    phi[: slope.size] = slope.ravel()
    Z = null_space(J) if len(J) else np.eye(z.size)
    bends, ways = np.linalg.eigh(Z.T @ H @ Z)
    ways = Z @ ways[:, np.abs(bends) > NEUTRAL]
    a = ways @ ((ways.T @ phi) / bends[np.abs(bends) > NEUTRAL])
    worth: Floats = np.linalg.lstsq(J.T, phi - H @ a, rcond=None)[0]
    return worth


@dataclass(frozen=True, eq=False)
class SizeTerms:
    """Sizes with the multipliers of their bounds: an augmented Lagrangian.

    With g = size / most - 1 a bound adds 1/2 mu max(0, g + y / mu)^2 (Nocedal and
    Wright, Numerical Optimization, 2006, sect. 17.4).

    Attributes
    ----------
    y : (s,) multipliers; mu : of the penalty
    """

    sizes: tuple[ShapeSize, ...]
    y: Floats
    mu: float

    def at(self, ends: Sequence[MorphStep], L: float) -> tuple[float, list[Floats]]:
        """What they add to F, and its slope (n, 3) in the shape of each end."""
        total, slopes = 0.0, [np.zeros_like(end.r) for end in ends]
        for one, y in zip(self.sizes, self.y, strict=True):
            size, slope = one.of(ends[one.shape].r, L)
            total += one.weight * (size / L) ** 2
            worth = 2.0 * one.weight * size / L**2
            if one.most is not None:
                over = max(size / one.most - 1.0 + y / self.mu, 0.0)
                total += 0.5 * self.mu * over**2
                worth += self.mu * over / one.most
            slopes[one.shape] += worth * slope
        return total, slopes

    def over(self, ends: Sequence[MorphStep], L: float) -> Floats:
        """(s,) g of each; -1 for one without a bound."""
        return np.array(
            [
                one.of(ends[one.shape].r, L)[0] / (one.most or np.inf) - 1.0
                for one in self.sizes
            ]
        )

    def next(self, over: Floats, before: float) -> "SizeTerms":
        """With the multipliers that a search has told, and a larger mu if it is slow.

        Parameters
        ----------
        before : the largest excess before that search
        """
        slow = float(over.max()) > 0.25 * before
        y = np.maximum(self.y + self.mu * over, 0.0)
        return replace(self, y=y, mu=self.mu * (4.0 if slow else 1.0))
