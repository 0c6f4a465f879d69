"""Ranges of links and joints: rows between two bounds, and what keeps them there.

Some links and joints move between two limits. [dJ23] holds lengths, projections and
volumes at constants; a limited range takes an additional node there (Discussion). Here
a row h(z) of `sim.mechanism.constraints` may stay between two bounds of its own,

    least <= h <= most,

h the squared distance of two nodes, the dot product of two edges or the triple product
of three. The potential that keeps bodies apart keeps h from its bounds: see
`sim.mechanism.obstacles`.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sim.contact.bodies_that_may_meet import TOUCH
from sim.contact.contact_energy import barrier
from sim.core.arrays import Floats, refuse_first
from sim.core.numba_kernels import kernel
from sim.core.options import refuse_missing
from sim.mechanism.constraints import (
    DEGREE,
    NODES,
    ConstraintKind,
    ConstraintTable,
)

ACTIVATION = 0.3  # of a range, or of the one bound, from which on a bound is felt


@dataclass(frozen=True, eq=False)
class Ranges:
    """Rows between bounds.

    Attributes
    ----------
    table : their kinds and nodes; its constants are zero
    least, most : (q,) of h; infinite where there is no bound
    product : (q,) product of the lengths of two edges whose angle is what a person
        named, else nan; empty where no angles are named
    joints : (q,) the joint that each limits, "" where it is none's; or none at all
    """

    table: ConstraintTable = field(default_factory=lambda: ConstraintTable.of([]))
    least: Floats = field(default_factory=lambda: np.empty(0))
    most: Floats = field(default_factory=lambda: np.empty(0))
    product: Floats = field(default_factory=lambda: np.empty(0))
    joints: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    def name(self, i: int) -> str:
        """What a person calls range i."""
        nodes = self.table.nodes[i, : NODES[self.table.kind[i]]].tolist()
        kind = ConstraintKind(self.table.kind[i])
        word = "length" if kind is ConstraintKind.DIST else kind.name.lower()
        word = "angle" if self.is_angle(i) else word
        joint = self.joints[i] if self.joints else ""
        return f"{joint} {word}({', '.join(map(str, nodes))})".lstrip()

    def is_angle(self, i: int) -> bool:
        """Whether range i was named as an angle; it falls where h rises."""
        return len(self.product) > 0 and bool(np.isfinite(self.product[i]))

    def shown(self, i: int, value: float) -> float:
        """A value of h as a person gives it: a length, not its square; degrees."""
        if self.is_angle(i):
            cosine = np.clip(value / self.product[i], -1.0, 1.0)
            return float(np.degrees(np.arccos(cosine)))
        if self.table.kind[i] == ConstraintKind.DIST:
            return float(np.sqrt(max(value, 0.0)))
        return value

    def shown_bound(self, i: int, value: float) -> str:
        """A value of h in words."""
        unit = " degrees" if self.is_angle(i) else ""
        return f"{self.shown(i, value):.6g}{unit}"

    def check(self, n: int) -> None:
        """Refuse rows without nodes, bounds with nothing between them."""
        table = self.table
        for i in range(len(self)):
            nodes = table.nodes[i, : NODES[table.kind[i]]]
            name = f"range of {self.name(i)} refers to node {{}}, which does not exist"
            refuse_missing(name, nodes.tolist(), n)
            if (nodes[::2] == nodes[1::2]).any():
                raise ValueError(
                    f"the range of {self.name(i)} joins a node to itself: name two"
                )
            least, most = self.least[i], self.most[i]
            if np.isnan([least, most]).any() or np.isinf([least, most]).all():
                raise ValueError(
                    f"the range of {self.name(i)} has no bound: give least or most"
                )
            if not least < most:
                interval = f"{self.shown(i, least):g} to {self.shown(i, most):g}"
                raise ValueError(
                    f"range of {self.name(i)} is empty ({interval}): give least < most"
                )

    def activation(self, L: float) -> Floats:
        """(q,) distance from a bound at which it is first felt, in the unit of h."""
        one = np.where(np.isfinite(self.least), self.least, self.most)
        least_scale = 1e-2 * L ** DEGREE[self.table.kind].astype(np.float64)
        both = np.isfinite(self.least) & np.isfinite(self.most)
        size = np.abs(one)
        size[both] = (self.most - self.least)[both]
        felt: Floats = ACTIVATION * np.maximum(size, np.where(both, 0.0, least_scale))
        return felt

    def refuse_outside(self, h: Floats, activation: Floats) -> None:
        """Refuse values h (q,) that are not between the bounds."""

        def outside(i: int) -> str:
            low, high = sorted(self.shown(i, b[i]) for b in (self.least, self.most))
            unit = " degrees" if self.is_angle(i) else ""
            return (
                f"{self.name(i)} is {self.shown_bound(i, h[i])} at the start, outside "
                f"its range of {low:g} to {high:g}{unit}: widen the range, or start "
                "inside it"
            )

        beyond = np.maximum(self.least - h, h - self.most)
        refuse_first(~(beyond <= 0.5 * TOUCH * activation), outside)

    def scaled(self, factor: float) -> "Ranges":
        """The same in another unit of length."""
        by = factor ** DEGREE[self.table.kind].astype(np.float64)
        product = factor**2 * self.product
        return replace(
            self, least=by * self.least, most=by * self.most, product=product
        )


@kernel
def bound_terms(
    h: Floats,
    bounds: tuple[Floats, Floats, Floats],
    kappa: float,
    y: Floats,
    rho: Floats,
) -> float:
    """Potential of all ranges; fill its slopes y (q,) and curvatures rho (q,) in h.

    Parameters
    ----------
    bounds : least, most and reach, (q,) each
    """
    least, most, activation = bounds
    total = 0.0
    for i in range(len(h)):
        y[i], rho[i] = 0.0, 0.0
        slack = TOUCH * activation[i]
        for sign, clearance in ((1.0, h[i] - least[i]), (-1.0, most[i] - h[i])):
            if clearance + slack <= 0.0:
                return np.inf
            if clearance < activation[i]:
                value, slope, curvature = barrier(
                    clearance + slack, activation[i], kappa
                )
                total += value
                y[i] += sign * slope
                rho[i] += curvature
    return total
