"""Panels: triangles in plane stress, whose shape at rest may grow.

With e = [r_b - r_a, r_c - r_a] the sides in space, (3, 2), and D those at rest in the
panel's own plane, (2, 2), the deformation gradient is F = e D^-1, and

    G = (F^T F - I) / 2,    U = V E / (2 (1 - nu^2)) ((1 - nu) G : G + nu (tr G)^2),

the constant strain triangle of a St. Venant-Kirchhoff material (Bonet and Wood,
Nonlinear Continuum Mechanics, 2008, ch. 9), V = area x thickness at rest. With
q = (G11, G22, 2 G12) each strain is a quadratic form in the nine coordinates x,
q_k = x . M_k x / 2 + const, and so U has the curvature V (B^T C B + sum_k sigma_k M_k)
with B = dq/dx and sigma = C q. A panel alone does not resist bending: hinges between
panels do.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints

SIDES = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])  # of the three corners


def _none(*shape: int) -> Floats:
    return np.empty((0, *shape))


@dataclass(frozen=True, eq=False)
class Panels:
    """Triangles of sheet.

    Attributes
    ----------
    nodes : (p, 3)
    rest : (p, 2, 2) D, sides at rest as columns
    modulus, poisson, thickness : (p,) E, nu, length
    """

    nodes: Ints = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    rest: Floats = field(default_factory=lambda: _none(2, 2))
    modulus: Floats = field(default_factory=_none)
    poisson: Floats = field(default_factory=_none)
    thickness: Floats = field(default_factory=_none)

    def __post_init__(self) -> None:
        bad = np.flatnonzero(~(np.isfinite(self.stiffness) & (self.stiffness > 0.0)))
        if len(bad):
            raise ValueError(
                f"panel {bad[0]} has the modulus {self.modulus[bad[0]]:g} and the "
                f"thickness {self.thickness[bad[0]]:g}: both must be positive, finite"
            )
        bad = np.flatnonzero(~((self.poisson > -1.0) & (self.poisson < 1.0)))
        if len(bad):
            raise ValueError(
                f"panel {bad[0]} has Poisson's ratio {self.poisson[bad[0]]:g}: it must "
                "be between -1 and 1"
            )
        bad = np.flatnonzero(~(np.linalg.det(self.rest) > 0.0))
        if len(bad):
            raise ValueError(
                f"panel {bad[0]} has no area at rest: choose corners that are not in "
                "line, and a strain above -1"
            )

    @classmethod
    def between(
        cls,
        r: Floats,
        nodes: Ints,
        modulus: Floats | float,
        poisson: Floats | float,
        thickness: Floats | float,
    ) -> "Panels":
        """At rest in `r` (n, 3); all alike, or each by its own numbers."""
        u, v = (r[nodes[:, i]] - r[nodes[:, 0]] for i in (1, 2))
        along = np.linalg.norm(u, axis=1)
        least = np.maximum(along, 1e-300)  # corners at one place are refused below
        shift = np.einsum("pi,pi->p", u, v) / least
        height = np.linalg.norm(np.cross(u, v), axis=1) / least
        rest = np.array([[along, shift], [np.zeros(len(u)), height]])
        each = (
            np.broadcast_to(np.asarray(x, dtype=np.float64), len(nodes)).copy()
            for x in (modulus, poisson, thickness)
        )
        return cls(nodes, rest.transpose(2, 0, 1).copy(), *each)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def stiffness(self) -> Floats:
        """(p,) E t, force / length."""
        stiffness: Floats = self.modulus * self.thickness
        return stiffness

    def grown(self, strain: Floats) -> "Panels":
        """The same with sides at rest longer by the strain (p,) in every direction."""
        rest = self.rest * (1.0 + strain)[:, None, None]
        return Panels(self.nodes, rest, self.modulus, self.poisson, self.thickness)

    def scaled(self, m: float) -> "Panels":
        """The same in a unit of length that is 1 / m of theirs."""
        return Panels(
            self.nodes,
            m * self.rest,
            self.modulus / m**2,
            self.poisson,
            m * self.thickness,
        )

    @cached_property
    def forms(self) -> Floats:
        """(p, 3, 3, 3) of q_k in the corners: M_k is the same for each axis."""
        P = np.einsum("pab,ai->pbi", np.linalg.inv(self.rest), SIDES)
        first, other = P[:, 0], P[:, 1]
        mixed = first[:, :, None] * other[:, None, :]
        return np.stack(
            [
                first[:, :, None] * first[:, None, :],
                other[:, :, None] * other[:, None, :],
                mixed + mixed.transpose(0, 2, 1),
            ],
            axis=1,
        )

    @cached_property
    def material(self) -> Floats:
        """(p, 3, 3) V C."""
        nu, C = self.poisson, np.zeros((len(self), 3, 3))
        C[:, 0, 0] = C[:, 1, 1] = 1.0
        C[:, 0, 1] = C[:, 1, 0] = nu
        C[:, 2, 2] = 0.5 * (1.0 - nu)
        area = 0.5 * np.linalg.det(self.rest)
        made: Floats = (area * self.stiffness / (1.0 - nu**2))[:, None, None] * C
        return made

    def _corners(self, r: Floats) -> Floats:
        """(p, 3, 3) from the first of each: of whole coordinates rounding counts by the
        square of their size over the side."""
        from_first: Floats = r[self.nodes] - r[self.nodes[:, :1]]
        return from_first

    def strain(self, r: Floats) -> Floats:
        """(p, 3) G11, G22, 2 G12 at `r` (n, 3)."""
        x = self._corners(r)
        square = np.einsum("pkij,pia,pja->pk", self.forms, x, x)
        strain: Floats = 0.5 * (square - [1.0, 1.0, 0.0])
        return strain

    def stretched(self, r: Floats) -> "StretchedPanels":
        """Strains, forces and stiffness at `r` (n, 3)."""
        q, M = self.strain(r), self.forms
        slope = np.einsum("pkij,pja->pkia", M, self._corners(r)).reshape(-1, 3, 9)
        force = np.einsum("pkl,pl->pk", self.material, q)
        along = np.einsum("pki,pkl,plj->pij", slope, self.material, slope)
        bent, pulled = (
            np.einsum("pk,pkij,ab->piajb", s, M, np.eye(3)).reshape(-1, 9, 9)
            for s in (force, _tension(force))
        )
        energy = 0.5 * float(np.einsum("pk,pk->", force, q))
        return StretchedPanels(q, force, slope, energy, along + bent, along + pulled)


class StretchedPanels(NamedTuple):
    """Panels at one configuration.

    Attributes
    ----------
    strain, force : (p, 3) q, and V sigma
    slope : (p, 3, 9) of q in the corners
    curvature, convex : (p, 9, 9) of the energy, and without what can be negative
    """

    strain: Floats
    force: Floats
    slope: Floats
    energy: float
    curvature: Floats
    convex: Floats

    @property
    def on_corners(self) -> Floats:
        """(p, 9) gradient of the energy of each panel."""
        pushed: Floats = np.einsum("pk,pki->pi", self.force, self.slope)
        return pushed


def _tension(force: Floats) -> Floats:
    """The part of stresses (p, 3) with no negative principal value."""
    half, apart = 0.5 * (force[:, 0] + force[:, 1]), 0.5 * (force[:, 0] - force[:, 1])
    radius = np.hypot(apart, force[:, 2])
    least, most = half - radius, half + radius
    kept = np.where(
        radius > 0.0,
        (np.maximum(most, 0.0) - np.maximum(least, 0.0))
        / np.maximum(2 * radius, 1e-300),
        0.0,
    )
    middle = 0.5 * (np.maximum(most, 0.0) + np.maximum(least, 0.0))
    part: Floats = np.stack(
        [middle + kept * apart, middle - kept * apart, kept * force[:, 2]], axis=1
    )
    return part
