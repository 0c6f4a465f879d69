"""Contact with rigid ground and Coulomb's law in an energy-momentum step.

The ground gives way nowhere: a contact is open, with a gap g >= 0 and no force, or
closed, with g = 0. A closed one puts an impulse P, normal and tangential, on its node,
in the cone of Coulomb's law against the velocity w1 of the node at the end of the step
(De Saxce and Feng, see `sim.contact.cones`),

    P_n >= 0,  w1_n >= 0,  P_n w1_n = 0         |P_t| <= mu P_n,
    P_t = - mu P_n w1_t / |w1_t|  where w1_t is not zero,

so that what lands does not bounce (restitution 0), as of masses that meet a ground
without elasticity, and what sticks is at rest. Impulses and velocities, not forces and
gaps, because velocities jump (Moreau 1988). Gap and its rate both hold at the end, as
rows and their rates do in `step`: the impulse Q that moves a contact onto the ground
stands beside mu there (Acary, CMAME 256, 2013),

    M (z1 - z0) / h = M v + G^T mu + N^T Q / h,    M (v1 - v0) = ... + B^T P.

P and Q enter Newton's step through solves with its own factorised matrix: one for each
of the four parts of each closed contact, whose products are the Delassus operator.
Dissipation is what the discrete equations say: the ground takes

    (Q . N (v1 - v0) - P . B (z1 - z0)) / h,

of which - P_t . B_t (z1 - z0) / h, where nothing lands, is taken by friction.

A contact is closed where it is open no longer: at first those that touch and do not
leave; then, one step solved, those that went below; and open where it does not push
and leaves, but only once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.contact.cones import cone_residual, cone_scale, coulomb_in_space
from sim.morph.dynamics.ground import GroundContacts

SAME = 1e-9  # of the largest compliance: parts of Q below it are what others do


class GroundWork(NamedTuple):
    """What the ground took in a step.

    Attributes
    ----------
    friction : energy, of contacts that were closed before
    impact : of what lands
    """

    friction: float
    impact: float


@dataclass(frozen=True, eq=False)
class ClosedContacts:
    """The contacts that are closed in a step, c of them, and what they do.

    Attributes
    ----------
    push : (c, 3) impulse along the frame, P
    lift : (c,) Q, mass x length
    compliance : (c, 2) velocity by P, of each contact alone; None before it is known
    allowed : residual of Coulomb's law that may be left, velocity
    """

    contacts: GroundContacts
    push: Floats
    lift: Floats
    allowed: float
    compliance: Floats | None = None

    def __len__(self) -> int:
        return len(self.contacts)

    def pulls(self, unknowns: int) -> tuple[Floats, Floats]:
        """(N,) N^T Q and B^T P."""
        moved = np.pad(self.lift[:, None], ((0, 0), (0, 2)))
        return (
            self.contacts.pull(moved, unknowns), self.contacts.pull(self.push, unknowns)
        )  # fmt: skip

    def residual(self, v1: Floats) -> float:
        """Of Coulomb's law at the rates v1 (N,), velocity."""
        if self.compliance is None:
            return np.inf if len(self) else 0.0
        w, mu = self.contacts.along(v1), self.contacts.friction
        return cone_residual(w, mu, self.compliance, self.push)

    def left(self, z1: Floats, v1: Floats, h: float, size: float) -> float:
        """The largest gap or part of the law that is left, over a size."""
        if not len(self):
            return 0.0
        if self.compliance is None:
            return 1.0
        gap = float(np.abs(self.contacts.gaps(z1)).max(initial=0.0))
        return max(gap, h * self.residual(v1)) / size

    def work(self, v0: Floats, dz: Floats, dv: Floats, h: float) -> GroundWork:
        """Of a step of h from rates v0 on, by which unknowns change by dz, rates by dv.

        All that a contact takes which approached the ground counts as its impact.
        """
        if not len(self):
            return GroundWork(0.0, 0.0)
        way, faster = self.contacts.along(dz), self.contacts.along(dv)[:, 0]
        normal = self.push[:, 0] * way[:, 0] - self.lift * faster
        rubbed = np.sum(self.push[:, 1:] * way[:, 1:], axis=1)
        lands = self.contacts.along(v0)[:, 0] < -self.allowed
        struck = float(normal.sum() + rubbed[lands].sum())
        return GroundWork(-float(rubbed[~lands].sum()) / h, -struck / h)

    def toward(self, other: "ClosedContacts", share: float) -> "ClosedContacts":
        """As far as a share of the way to what others do."""
        if share == 1.0:
            return other
        return replace(
            other,
            push=self.push + share * (other.push - self.push),
            lift=self.lift + share * (other.lift - self.lift),
        )

    def corrected(
        self, solve: Callable[[Floats], Floats], residual: Floats, z1: Floats,
        v1: Floats, h: float,
    ) -> tuple[Floats, "ClosedContacts"]:  # fmt: skip
        """Newton's correction of all unknowns, and P and Q after it.

        Parameters
        ----------
        solve : of the step's matrix, for a right side or columns of them
        residual : of the step's equations with P and Q as they are
        """
        N = len(z1)
        back = solve(self._sides(len(residual), N))
        now = np.concatenate([self.push.ravel(), self.lift])
        base, c = solve(-residual) - back @ now, len(self)
        rates = self.contacts.along(back[N : 2 * N]).reshape(3 * c, -1)
        gaps = self.contacts.along(back[:N])[:, 0]
        slip = self.contacts.along(v1 + base[N : 2 * N]).ravel()
        gap = self.contacts.gaps(z1 + base[:N])
        onto = np.linalg.pinv(gaps[:, 3 * c :], rcond=SAME)
        through = rates[:, 3 * c :] @ onto
        W = h * (rates[:, : 3 * c] - through @ gaps[:, : 3 * c])
        b = h * (slip - through @ gap).reshape(-1, 3)
        mu, allowed = self.contacts.friction, 0.1 * h * self.allowed
        push, _ = coulomb_in_space(np.ascontiguousarray(W), b, mu, self.push, allowed)
        lift = -onto @ (gap + gaps[:, : 3 * c] @ push.ravel())
        there = replace(self, push=push, lift=lift, compliance=cone_scale(W) / h)
        return base + back @ np.concatenate([push.ravel(), lift]), there

    def _sides(self, size: int, unknowns: int) -> Floats:
        """(size, 4 c) what one of each of P, then of Q, adds to the equations."""
        c, columns = len(self), self.contacts.columns[:, None, :]
        sides, at = np.zeros((size, 4 * c)), np.arange(3 * c).reshape(c, 3, 1)
        sides[unknowns + columns, at] = self.contacts.frame
        sides[columns, 3 * c + np.arange(c)[:, None, None]] = self.contacts.frame[:, :1]
        return sides
