"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

with the damping D, which makes the step one of descent and keeps links from turning
too far.

A link that turns by a straight step grows, and so the step has to be brought back to
the constraints. The shortest way back, eq. (12), would crumple what is close by, since
that takes the smallest displacements. So most of the way is taken in the measure of
H + D, `bend`, which moves far nodes along instead; eq. (12) does the little that
remains.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.arrays import Bools, Floats
from sim.fronts import Fronts, solve_fronts
from sim.kernels import kernel
from sim.morph import rows
from sim.morph.constraints import ROWS, Kind
from sim.morph.curvature import NO_BLOCKS, Places, Terms, factorise_newton
from sim.morph.rows import DIST, Layout
from sim.morph.system import Linear, System, linearise
from sim.sparse import Factor

WEIGHT = 1e6  # of the constraints in K, relative to W; a solve gains as many digits
TURN = 0.5  # largest rotation of a link in one step, rad
TURN_DAMPING = 3e-2  # of link rotations at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
NEAR = 0.3  # gradient / error below which curvature is taken as it is
STRAIGHT = 1e-4  # residual below which a step is not bent


@dataclass(frozen=True, eq=False)
class Point:
    """A configuration on the constraints.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) goals
    linear : the constraints there
    """

    z: Floats
    g: Floats
    linear: Linear


@dataclass(frozen=True, eq=False)
class Forces:
    """What the constraints carry at a configuration.

    Attributes
    ----------
    linear : the constraints there
    normal : factor of J J^T
    y : (m,) forces that balance grad f best
    gradient : (n + k, 3) what they leave, the gradient along the constraints
    """

    linear: Linear
    normal: Factor
    y: Floats
    gradient: Floats

    @cached_property
    def size(self) -> float:
        """Root mean square of the gradient over the nodes, the case's unit."""
        squares = inner(self.gradient, self.gradient)
        return float(np.sqrt(squares / self.linear.system.n))


@dataclass(frozen=True)
class Damping:
    """What the last step taught about the next.

    Attributes
    ----------
    turn : weight of link rotations
    wait, delay : steps to go before curvature is next taken as it is far from the end
    bent : steps in a row at which it was negative close to the end
    """

    turn: float = TURN_DAMPING
    wait: int = 0
    delay: int = 1
    bent: int = 0


@dataclass(frozen=True, eq=False)
class Way:
    """Where to go from a configuration.

    Attributes
    ----------
    dz : (n + k, 3) the step along the tangent
    factor : of K
    rho : (m,) weights of the constraints in K
    """

    dz: Floats
    factor: Factor
    rho: Floats


@dataclass(frozen=True, eq=False)
class Contacts:
    """Further rows and pairs, with forces of their own: see `sim.morph.volume`.

    Attributes
    ----------
    linear : the constraints with the further rows as the last ones
    places : of K with rows and pairs
    y, rho : (q,) forces of the further rows, and how these grow
    pull : (n + k, 3) gradient of the potential of the pairs
    blocks, convex : (b, 3, 3) its curvature in K, and a part that is never negative
    """

    linear: Linear
    places: Places
    y: Floats
    rho: Floats
    pull: Floats
    blocks: Floats
    convex: Floats

    def push(self) -> Floats:
        """(n + k, 3) gradient of what makes the forces."""
        rows = np.zeros(self.linear.system.m)
        rows[len(rows) - len(self.y) :] = self.y
        return self.linear.transpose_times(rows) + self.pull


def forces(point: Point, contacts: Contacts | None = None) -> Forces:
    """The constraint forces at `point`: the least squares of grad f + J^T y."""
    linear = point.linear
    system, normal = linear.system, linear.factorise()
    gradient = np.zeros_like(point.z)
    gradient[: system.n] = point.z[: system.n] - point.g
    if contacts is not None:
        gradient += contacts.push()
    y = np.zeros(system.m)
    _balance(
        system.layout, system.normal.fronts, normal.L, normal.pivot, linear.B, y,
        gradient,
    )  # fmt: skip
    return Forces(linear, normal, y, gradient)


def direction(
    places: Places,
    point: Point,
    W: Floats,
    held: Forces,
    L: float,
    damping: Damping,
    contacts: Contacts | None = None,
) -> tuple[Way, Damping]:
    """The damped Newton step at `point`, and the damping that it took.

    Parameters
    ----------
    W : (n, 3, 3) curvature of the squared distance to the goals
    """
    linear = held.linear
    rho = weights(linear)
    seen, all_rho = with_contacts(held, rho, contacts)
    if contacts is not None:
        places = contacts.places
    bodies = (NO_BLOCKS, NO_BLOCKS)
    if contacts is not None:
        bodies = contacts.blocks, contacts.convex
    factor, damping = _factorise(places, point, W, seen, all_rho, L, damping, bodies)
    dz, gap = np.zeros_like(point.z), linear.c
    force = held.gradient + linear.transpose_times(rho * gap)
    for _ in range(4):  # the constraints of the step: each solve adds six digits
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        gap = linear.c + linear.times(dz)
        size = float(np.abs(dz).max()) / L
        if rows.largest(linear.system.layout, gap) <= 1e-4 * size:
            break
        force = linear.transpose_times(rho * gap)
    return Way(dz, factor, rho), damping


def with_contacts(
    held: Forces, rho: Floats, contacts: Contacts | None
) -> tuple[Forces, Floats]:
    """Forces and weights of all rows of K."""
    if contacts is None:
        return held, rho
    y = np.concatenate([held.y, contacts.y])
    seen = Forces(contacts.linear, held.normal, y, held.gradient)
    return seen, np.concatenate([rho, contacts.rho])


def bend(held: Forces, way: Way, z: Floats) -> Floats:
    """Towards the constraints from z, at the least cost in the measure of K."""
    there = linearise(held.linear.system, z)
    if not STRAIGHT < there.residual < 1.0:
        return z
    force = held.linear.transpose_times(way.rho * there.c)
    bent: Floats = z - way.factor.solve(force.ravel()).reshape(-1, 3)
    return bent


def weights(linear: Linear) -> Floats:
    """(m,) rho of each row: WEIGHT / |grad c_i|^2."""
    return _weights(linear.system.layout, linear.B)


def turn(system: System, dz: Floats) -> float:
    """Largest rotation of a link in the motion dz, rad."""
    return _turn(system.layout, dz)


def inner(a: Floats, b: Floats) -> float:
    """Sum of a b without BLAS, whose threads cost more than they gain here."""
    return _inner(a.ravel(), b.ravel())


def without_negative(W: Floats) -> Floats:
    """The closest positive semidefinite matrices to W (n, 3, 3)."""
    found = np.flatnonzero(_may_be_negative(W))
    if len(found) == 0:
        return W
    convex = W.copy()
    values, vectors = np.linalg.eigh(W[found])
    kept = np.maximum(values, 0.0)[:, None, :]
    convex[found] = (vectors * kept) @ vectors.transpose(0, 2, 1)
    return convex


@kernel
def _inner(a: Floats, b: Floats) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def _balance(
    layout: Layout,
    fronts: Fronts,
    L: Floats,
    pivot: Floats,
    B: Floats,
    y: Floats,
    gradient: Floats,
) -> None:
    """Add to y the forces that balance the gradient; what they leave remains in it."""
    lacking = np.empty(len(y))
    for _ in range(2):  # the second removes what rounding left of the first
        rows.times(layout, B, gradient, lacking)
        dy = solve_fronts(fronts, L, pivot, lacking)
        rows.add_transpose_times(layout, B, dy, -1.0, gradient)
        y -= dy


@kernel
def _weights(layout: Layout, B: Floats) -> Floats:
    squares = np.zeros(len(layout.scale))
    for p in range(len(B)):
        squares[layout.block_row[p]] += B[p, 0] ** 2 + B[p, 1] ** 2 + B[p, 2] ** 2
    for i in range(len(squares)):
        squares[i] = WEIGHT / squares[i] if squares[i] > 0.0 else WEIGHT
    return squares


@kernel
def _turn(layout: Layout, dz: Floats) -> float:
    most = 0.0
    for e in range(len(layout.kind)):
        if layout.kind[e] == DIST:
            a, b = dz[layout.nodes[e, 0]], dz[layout.nodes[e, 1]]
            square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2
            most = max(most, square / layout.constant[e])
    angle: float = np.sqrt(most)
    return angle


@kernel
def _may_be_negative(W: Floats) -> Bools:
    """(n,) False where the leading minors of W + tiny I are all positive."""
    out = np.empty(len(W), dtype=np.bool_)
    for j in range(len(W)):
        M = W[j]
        tiny = 1e-12 * (abs(M[0, 0]) + abs(M[1, 1]) + abs(M[2, 2]))
        a = M[0, 0] + tiny
        b = M[1, 1] + tiny - M[1, 0] * M[0, 1] / a
        c = M[2, 1] - M[2, 0] * M[0, 1] / a
        d = M[2, 2] + tiny - M[2, 0] * M[0, 2] / a - c * c / b
        out[j] = not (a > 0.0 and b > 0.0 and d > 0.0)
    return out


def _links(system: System) -> Bools:
    """(m,) which rows are links."""
    return np.repeat(system.table.kind == Kind.DIST, ROWS[system.table.kind])


def _factorise(
    places: Places,
    point: Point,
    W: Floats,
    held: Forces,
    rho: Floats,
    L: float,
    damping: Damping,
    bodies: tuple[Floats, Floats],
) -> tuple[Factor, Damping]:
    """Factorise K with as much damping as makes it positive definite.

    Close to the end curvature is taken as it is. Far from it, where it is mostly
    negative, its negative part is left out (links in compression, W inside a convex
    target), and the curvature as it is is only tried from time to time.
    """
    linear, system = held.linear, held.linear.system
    links = _links(system)
    per_turn = 0.5 * L**2 / system.scale * links

    def factor(
        curved: Floats, y: Floats, turn: float, shift: float, blocks: Floats
    ) -> Factor:
        terms = Terms(curved, y + turn * per_turn, rho, shift, blocks)
        return factorise_newton(system, places, linear.B, point.z, terms)

    gap = point.z[: system.n] - point.g
    error = float(np.sqrt(inner(gap, gap) / system.n))
    near = held.size < NEAR * error
    stiff, least = damping.turn, SHIFT * min(0.1, held.size / L)
    if near or damping.wait <= 0:
        shift = least
        for i in range(6 if near else 1):
            exact = factor(W, held.y, stiff, shift, bodies[0])
            if exact.negative == 0:
                bent = damping.bent + 1 if i > 0 else 0
                return exact, replace(damping, turn=stiff, wait=0, delay=1, bent=bent)
            stiff = max(8.0 * stiff, 1e-4)
            shift = max(shift, stiff)
    wait, delay = damping.wait - 1, damping.delay
    if wait < 0 and not near:
        wait = delay = min(2 * delay, 16)
    convex, tension = without_negative(W), np.maximum(held.y, 0.0) * links
    shift = least
    while True:
        safe = factor(convex, tension, damping.turn, shift, bodies[1])
        if safe.negative == 0:
            bent = damping.bent + near
            return safe, replace(damping, wait=wait, delay=delay, bent=bent)
        shift = max(4.0 * shift, 1e-3)
