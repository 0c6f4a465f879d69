"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

with the damping D, which makes the step one of descent and keeps links from turning
too far, and returns to the constraints before it is accepted. Far from the end the step
of eq. (11), which is -grad f along the constraints, does as well and costs less.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Bools, Floats
from sim.morph.constraints import ROWS, Kind
from sim.morph.curvature import Places, Terms, factorise_newton
from sim.morph.system import Linear, System, linearise
from sim.sparse import Factor

WEIGHT = 1e6  # of the constraints in K, relative to W; a solve gains as many digits
TURN = 0.5  # largest rotation of a link in one step, rad
TURN_DAMPING = 3e-2  # of link rotations at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
FAST = 0.3  # ratio of two residuals above which a factor is renewed
RENEWALS = 4  # of a factor before a step is shortened
LOST = 0.5  # residual that is given up
NEAR = 0.3  # gradient / error below which curvature is taken as it is


@dataclass(frozen=True, eq=False)
class Point:
    """A configuration on the constraints.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) goals
    """

    z: Floats
    g: Floats


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

    @property
    def size(self) -> float:
        """Root mean square of the gradient over the nodes, the case's unit."""
        return float(np.sqrt(np.square(self.gradient).sum() / self.linear.system.n))


@dataclass(frozen=True)
class Damping:
    """What the last step taught about the next.

    Attributes
    ----------
    turn : weight of link rotations
    wait, delay : steps to go before curvature is next taken as it is far from the end
    bent : steps in a row at which it was negative close to the end
    plain : whether steps without second derivatives still go far
    """

    turn: float = TURN_DAMPING
    wait: int = 0
    delay: int = 1
    bent: int = 0
    plain: bool = True


def forces(system: System, point: Point) -> Forces:
    """The constraint forces at `point`: the least squares of grad f + J^T y."""
    linear = linearise(system, point.z)
    normal = linear.factorise()
    gradient = np.zeros_like(point.z)
    gradient[: system.n] = point.z[: system.n] - point.g
    y = np.zeros(system.m)
    for _ in range(2):  # the second removes what rounding left of the first
        dy = -normal.solve(linear.times(gradient))
        y += dy
        gradient = gradient + linear.transpose_times(dy)
    return Forces(linear, normal, y, gradient)


def direction(
    places: Places, point: Point, W: Floats, held: Forces, L: float, damping: Damping
) -> tuple[Floats, Damping]:
    """The damped Newton step (n + k, 3) at `point`, and the damping that it took.

    Parameters
    ----------
    W : (n, 3, 3) curvature of the squared distance to the goals
    """
    linear = held.linear
    factor, damping = _factorise(places, point, W, held, L, damping)
    rho = weights(linear)
    dz, gap = np.zeros_like(point.z), linear.c
    force = held.gradient + linear.transpose_times(rho * gap)
    for _ in range(4):  # the constraints of the step: each solve adds six digits
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        gap = linear.c + linear.times(dz)
        size = float(np.abs(dz).max()) / L
        if np.abs(gap / linear.system.scale).max(initial=0.0) <= 1e-4 * size:
            break
        force = linear.transpose_times(rho * gap)
    return dz, damping


def retract(
    held: Forces, z: Floats, wanted: float, enough: float
) -> tuple[Floats, Linear] | None:
    """Back to the constraints from z by eq. (12) of [dJ23]; None if too far away.

    The factor at hand serves as long as it brings the residual down fast.

    Parameters
    ----------
    wanted : residual to reach
    enough : residual to accept where rounding forbids more
    """
    base, normal, renewals = held.linear, held.normal, 0
    previous = np.inf
    for _ in range(30):
        linear = linearise(held.linear.system, z)
        residual = linear.residual
        if residual <= wanted:
            return z, linear
        if not residual < FAST * previous:
            if residual <= enough:
                return z, linear
            if renewals == RENEWALS or not residual < LOST:
                return None
            base, normal, renewals = linear, linear.factorise(), renewals + 1
        previous = residual
        z = z - base.transpose_times(normal.solve(linear.c))
    return None


def weights(linear: Linear) -> Floats:
    """(m,) rho of each row: WEIGHT / |grad c_i|^2."""
    squares = np.einsum("ij,ij->i", linear.B, linear.B)
    size = np.bincount(linear.system.block_row, squares, minlength=linear.system.m)
    rho: Floats = WEIGHT / np.where(size > 0.0, size, 1.0)
    return rho


def turn(system: System, dz: Floats) -> float:
    """Largest rotation of a link in the motion dz, rad."""
    links = system.table.kind == Kind.DIST
    ends = system.table.nodes[links, :2]
    d = dz[ends[:, 1]] - dz[ends[:, 0]]
    squares = np.einsum("ij,ij->i", d, d) / system.table.constant[links]
    return float(np.sqrt(squares.max(initial=0.0)))


def without_negative(W: Floats) -> Floats:
    """The closest positive semidefinite matrices to W (n, 3, 3)."""
    values, vectors = np.linalg.eigh(W)
    kept = np.maximum(values, 0.0)[:, None, :]
    convex: Floats = (vectors * kept) @ vectors.transpose(0, 2, 1)
    return convex


def _links(system: System) -> Bools:
    """(m,) which rows are links."""
    return np.repeat(system.table.kind == Kind.DIST, ROWS[system.table.kind])


def _factorise(
    places: Places, point: Point, W: Floats, held: Forces, L: float, damping: Damping
) -> tuple[Factor, Damping]:
    """Factorise K with as much damping as makes it positive definite.

    Close to the end curvature is taken as it is. Far from it, where it is mostly
    negative, its negative part is left out (links in compression, W inside a convex
    target), and the curvature as it is is only tried from time to time.
    """
    linear, system = held.linear, held.linear.system
    rho, links = weights(linear), _links(system)
    per_turn = 0.5 * L**2 / system.scale * links

    def factor(bend: Floats, y: Floats, turn: float, shift: float) -> Factor:
        terms = Terms(bend, y + turn * per_turn, rho, shift)
        return factorise_newton(system, places, linear.B, point.z, terms)

    error = float(np.sqrt(np.square(point.z[: system.n] - point.g).sum() / system.n))
    near = held.size < NEAR * error
    stiff, least = damping.turn, SHIFT * min(0.1, held.size / L)
    if near or damping.wait <= 0:
        shift = least
        for i in range(6 if near else 1):
            exact = factor(W, held.y, stiff, shift)
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
        safe = factor(convex, tension, damping.turn, shift)
        if safe.negative == 0:
            bent = damping.bent + near
            return safe, replace(damping, wait=wait, delay=delay, bent=bent)
        shift = max(4.0 * shift, 1e-3)
