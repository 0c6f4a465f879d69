"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

with the damping D, which makes the step one of descent and keeps links from turning
too far, and returns to the constraints before it is accepted.
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
TURN_DAMPING = 1e-2  # of link rotations at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
NEAR = 0.3  # gradient / error below which curvature is taken as it is


@dataclass(frozen=True, eq=False)
class Point:
    """A configuration on the constraints.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) goals
    W : (n, 3, 3) curvature of the squared distance to the goals
    y : (m,) forces of the constraints
    """

    z: Floats
    g: Floats
    W: Floats
    y: Floats


@dataclass(frozen=True)
class Damping:
    """What the last step taught about the next.

    Attributes
    ----------
    turn : weight of link rotations
    gradient : of the last step, root mean square / L
    wait, delay : steps to go before curvature is next taken as it is far from the end
    bent : steps in a row at which it was negative close to the end
    """

    turn: float = TURN_DAMPING
    gradient: float = np.inf
    wait: int = 0
    delay: int = 1
    bent: int = 0


@dataclass(frozen=True, eq=False)
class Direction:
    """A Newton step.

    Attributes
    ----------
    dz : (n + k, 3); y : (m,) forces that belong to it
    gradient : (n + k, 3) of f along the constraints, projected with y
    """

    dz: Floats
    y: Floats
    gradient: Floats
    factor: Factor
    linear: Linear
    damping: Damping


def direction(
    system: System, places: Places, point: Point, L: float, damping: Damping
) -> Direction:
    """The damped Newton step at `point`."""
    linear = linearise(system, point.z)
    factor, damping = _factorise(system, places, linear, point, L, damping)
    grad = _gradient(point)
    rho = weights(linear)
    dz = np.zeros_like(point.z)
    y, gap = point.y, linear.c
    for _ in range(4):  # the constraints of the step, to 6 digits more each time
        force = linear.transpose_times(rho * gap)
        if gap is linear.c:
            force += grad + linear.transpose_times(y)
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        gap = linear.c + linear.times(dz)
        y = y + rho * gap
        size = float(np.abs(dz).max()) / L
        if np.abs(gap / system.scale).max(initial=0.0) <= 1e-9 * size:
            break
    projected = grad + linear.transpose_times(y)
    return Direction(dz, y, projected, factor, linear, damping)


def retract(
    system: System, step: Direction, z: Floats, wanted: float, enough: float
) -> tuple[Floats, Linear] | None:
    """Back to the constraints from z with the factor at hand; None if too far away.

    Parameters
    ----------
    wanted : residual to reach
    enough : residual to accept where rounding forbids more
    """
    previous = np.inf
    for i in range(20):
        linear = linearise(system, z)
        residual = linear.residual
        if residual <= wanted:
            return z, linear
        if not residual < (0.5 if i > 1 else 1.0) * previous:
            return (z, linear) if residual <= enough else None
        previous = residual
        force = step.linear.transpose_times(weights(step.linear) * linear.c)
        z = z - step.factor.solve(force.ravel()).reshape(-1, 3)
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


def _gradient(point: Point) -> Floats:
    grad = np.zeros_like(point.z)
    n = len(point.g)
    grad[:n] = point.z[:n] - point.g
    return grad


def _links(system: System) -> Bools:
    """(m,) which rows are links."""
    return np.repeat(system.table.kind == Kind.DIST, ROWS[system.table.kind])


def _factorise(
    system: System,
    places: Places,
    linear: Linear,
    point: Point,
    L: float,
    damping: Damping,
) -> tuple[Factor, Damping]:
    """Factorise K with as much damping as makes it positive definite.

    Close to the end curvature is taken as it is. Far from it, where it is mostly
    negative, its negative part is left out (links in compression, W inside a convex
    target), and the curvature as it is is only tried from time to time.
    """
    rho, links = weights(linear), _links(system)
    per_turn = 0.5 * L**2 / system.scale * links

    def factor(W: Floats, y: Floats, turn: float, shift: float) -> Factor:
        terms = Terms(W, y + turn * per_turn, rho, shift)
        return factorise_newton(system, places, linear.B, point.z, terms)

    error = float(np.sqrt(np.square(point.z[: system.n] - point.g).sum() / system.n))
    near = damping.gradient < NEAR * error / L
    stiff, least = damping.turn, SHIFT * min(0.1, damping.gradient)
    if near or damping.wait <= 0:
        shift = least
        for i in range(6 if near else 1):
            exact = factor(point.W, point.y, stiff, shift)
            if exact.negative == 0:
                bent = damping.bent + 1 if i > 0 else 0
                return exact, replace(damping, turn=stiff, wait=0, delay=1, bent=bent)
            stiff = max(8.0 * stiff, 1e-4)
            shift = max(shift, stiff)
    wait, delay = damping.wait - 1, damping.delay
    if wait < 0 and not near:
        wait = delay = min(2 * delay, 16)
    convex, tension = without_negative(point.W), np.maximum(point.y, 0.0) * links
    shift = least
    while True:
        safe = factor(convex, tension, damping.turn, shift)
        if safe.negative == 0:
            bent = damping.bent + near
            return safe, replace(damping, wait=wait, delay=delay, bent=bent)
        shift = max(4.0 * shift, 1e-3)
