"""The contact problem of a step: inelastic impact and Coulomb friction, eq. (3).

At each of c contacts u = b + W p, with the velocity u at the end of the step and the
impulse p of the step, each as (normal, tangential). W is the Delassus matrix. The law:

    take off    p = 0                       u_n >= 0
    stick       |p_t| <= mu p_n             u_n = 0, u_t = 0
    slide       p_t = -mu p_n sign(u_t)     u_n = 0

[Hu20] looks for the state of each contact by rules, a fixed number of times, and
takes the state found last (`modified_mass`). Here the states are changed until the
conditions hold, and what remains is measured:

    r_n = p_n - max(0, p_n - u_n / W_nn)
    r_t = p_t - clamp(p_t - u_t / W_tt, -mu p_n, mu p_n)

times W_nn and W_tt, so in m/s (the projections of Alart and Curnier, CMAME 92, 1991).
First the states are changed as an active-set method changes its active set (Nocedal
and Wright 2006, sect. 16.5); where that comes to no end, block Gauss-Seidel (Jean,
CMAME 177, 1999) finds another guess. A step whose residual is not at rounding is
repeated with a shorter step by the caller.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import Choice

OPEN, STICK, SLIP_POSITIVE, SLIP_NEGATIVE = 0, 1, 2, 3  # by the sign of u_t
ALL_AT_ONCE = 12  # rounds in which every contact may change its state
ONE_BY_ONE = 8  # then so many rounds a contact, in which the first of them does
SWEEPS = 200  # then block Gauss-Seidel, twice as long at each attempt
ATTEMPTS = 4
ROUNDS = 4  # a contact, on the way to the least energy without friction
ROUNDING = 1e-12  # of the largest velocity


class ContactRule(Choice):
    """How the contact problem is solved."""

    EXACT = "exact"
    MODIFIED_MASS = "modified_mass"


class Scratch(NamedTuple):
    """Working space for c contacts.

    A, x, which, lowest : (2c, 2c), (2c,), (2c,), (c,)
    u, own : m/s, 1/kg, their velocities, and what impulses move their own contacts by
    """

    A: Floats
    x: Floats
    u: Floats
    own: Floats
    which: Ints
    lowest: Floats


def scratch(c: int, most: int) -> Scratch:
    """Working space for up to c contacts of few, and so many in all."""
    return Scratch(
        np.empty((2 * c, 2 * c)),
        np.empty(2 * c),
        np.zeros(2 * most),
        np.zeros(2 * most),
        np.empty(2 * c, dtype=np.int64),
        np.empty(c),
    )


@kernel
def coulomb(
    W: Floats, b: Floats, mu: float, state: Ints, p: Floats, space: Scratch
) -> float:
    """Solve the contact problem; returns its residual, m/s.

    Parameters
    ----------
    W : (2c, 2c) s^-1 kg^-1, Delassus matrix, normal and tangential by turns
    b : (2c,) m/s, velocities without impulses
    mu : friction coefficient
    state : (c,) first guess, overwritten
    p : (2c,) N s, receives the impulses
    """
    c = len(state)
    u, own = space.u, space.own
    take_diagonal(W, own)
    turns = ALL_AT_ONCE + (ONE_BY_ONE * c if mu > 0.0 else 0)
    for attempt in range(ATTEMPTS):
        for turn in range(turns):
            impulses(W, b, mu, state, p, space)
            velocities(W, b, p, u)
            small = ROUNDING * largest_velocity(own, u, p)
            if change_states(own, u, mu, state, p, small, turn >= ALL_AT_ONCE) == 0:
                return residual(own, u, mu, p)
        if mu == 0.0 and attempt == 0:
            without_friction(W, b, state, p, space)
            continue
        for _ in range(SWEEPS << attempt):
            _sweep(W, b, mu, p)
        for k in range(c):
            state[k] = _state_of(p[2 * k], p[2 * k + 1], mu)
    impulses(W, b, mu, state, p, space)
    velocities(W, b, p, u)
    return residual(own, u, mu, p)


@kernel
def take_diagonal(W: Floats, own: Floats) -> None:
    """own <- the velocities that impulses give to their own contacts, 1/kg."""
    for i in range(len(W)):
        own[i] = W[i, i]


@kernel
def without_friction(
    W: Floats, b: Floats, state: Ints, p: Floats, space: Scratch
) -> None:
    """The states of contacts without friction, by the least p . W p / 2 + b . p.

    It falls from one set of closed contacts to the next, so that none comes back:
    Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23. W may be
    as good as singular, as where contacts say the same twice.
    """
    c, u, lowest = len(state), space.u, space.lowest
    lowest[:] = 0.0
    for k in range(c):
        state[k] = OPEN if state[k] == OPEN else SLIP_POSITIVE
    for _ in range(ROUNDS * c):
        impulses(W, b, 0.0, state, p, space)
        share = 1.0
        for k in range(c):
            share = min(share, _share(state[k], lowest[k], p[2 * k]))
        for k in range(c):
            if _share(state[k], lowest[k], p[2 * k]) <= share < 1.0:
                state[k], lowest[k] = OPEN, 0.0
            elif state[k] != OPEN:
                lowest[k] += share * (p[2 * k] - lowest[k])
        if share < 1.0:
            continue
        velocities(W, b, p, u)
        at = -1
        for k in range(c):
            if state[k] == OPEN and (at < 0 or u[2 * k] < u[2 * at]):
                at = k
        if at < 0 or u[2 * at] >= -ROUNDING * largest_velocity(space.own, u, p):
            return
        state[at] = SLIP_POSITIVE


@kernel
def _share(state: int, before: float, target: float) -> float:
    """The part of the way to a target impulse on which a closed contact pushes."""
    if state == OPEN or target > 0.0:
        return 1.0
    return before / (before - target) if before > 0.0 else 0.0


@kernel
def largest_velocity(own: Floats, u: Floats, p: Floats) -> float:
    """Of contacts and of what impulses give to their own, m/s."""
    scale = 1e-300
    for i in range(len(p)):
        scale = max(scale, abs(u[i]), own[i] * abs(p[i]))
    return scale


@kernel
def _state_of(p_n: float, p_t: float, mu: float) -> int:
    """The state of a contact whose impulse comes from `alone`."""
    if p_n <= 0.0:
        return OPEN
    if abs(p_t) < (1.0 - 1e-9) * mu * p_n:
        return STICK
    return SLIP_NEGATIVE if p_t > 0.0 else SLIP_POSITIVE


@kernel
def velocities(W: Floats, b: Floats, p: Floats, u: Floats) -> None:
    """u = b + W p."""
    for i in range(len(b)):
        total = b[i]
        for j in range(len(b)):
            total += W[i, j] * p[j]
        u[i] = total


@kernel
def residual(own: Floats, u: Floats, mu: float, p: Floats) -> float:
    """The largest r_n W_nn and r_t W_tt of the module's text, m/s."""
    worst = 0.0
    for n in range(0, len(p), 2):
        t = n + 1
        r_n = p[n] - max(0.0, p[n] - u[n] / own[n])
        bound = mu * max(p[n], 0.0)
        r_t = p[t] - min(max(p[t] - u[t] / own[t], -bound), bound)
        worst = max(worst, abs(r_n) * own[n], abs(r_t) * own[t])
    return worst


@kernel
def impulses(
    W: Floats, b: Floats, mu: float, state: Ints, p: Floats, space: Scratch
) -> None:
    """The impulses that hold every contact in its given state.

    Unknown are p_n of each closed contact, and p_t of each sticking one; a sliding
    one has p_t = -+ mu p_n.
    """
    c = len(state)
    A, x, which = space.A, space.x, space.which
    size = 0
    for k in range(c):
        if state[k] != OPEN:
            which[size] = 2 * k
            size += 1
            if state[k] == STICK:
                which[size] = 2 * k + 1
                size += 1
    for row in range(size):
        i = which[row]
        x[row] = -b[i]
        for column in range(size):
            j = which[column]
            value = W[i, j]
            sliding = state[j // 2] > STICK
            if sliding:
                value += W[i, j + 1] * _slide_ratio(state[j // 2], mu)
            A[row, column] = value
    _eliminate(A, x, size)
    p[:] = 0.0
    for row in range(size):
        p[which[row]] = x[row]
    for k in range(c):
        if state[k] > STICK:
            p[2 * k + 1] = _slide_ratio(state[k], mu) * p[2 * k]


@kernel
def _slide_ratio(state: int, mu: float) -> float:
    """p_t / p_n of a sliding contact: friction opposes the velocity."""
    return -mu if state == SLIP_POSITIVE else mu


@kernel
def _eliminate(A: Floats, x: Floats, n: int) -> None:
    """Solve A x = b of n unknowns in place (x holds b), with row pivoting."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= A[k, j] * x[j]
        x[k] /= A[k, k]


@kernel
def change_states(
    own: Floats, u: Floats, mu: float, state: Ints, p: Floats, small: float, first: bool
) -> int:
    """Give contacts the states that impulses and velocities ask for.

    Returns how many change, one at most if `first`.

    Parameters
    ----------
    own : (2c,) 1/kg, diagonal of W
    small : m/s, up to which differences are rounding
    """
    changes = 0
    for k in range(len(state)):
        n, t = 2 * k, 2 * k + 1
        found = state[k]
        if state[k] == OPEN:
            if u[n] < -small:
                found = STICK
        elif own[n] * p[n] < -small:
            found = OPEN
        elif state[k] == STICK:
            if (abs(p[t]) - mu * p[n]) * own[t] > small:
                found = SLIP_NEGATIVE if p[t] > 0.0 else SLIP_POSITIVE
        elif mu > 0.0:
            wrong = -u[t] if state[k] == SLIP_POSITIVE else u[t]
            if wrong > small:  # held, unless friction is too weak: found next
                found = STICK
        if found != state[k]:
            state[k] = found
            changes += 1
            if first:
                return changes
    return changes


@kernel
def _sweep(W: Floats, b: Floats, mu: float, p: Floats) -> None:
    """Block Gauss-Seidel: each contact is solved alone, the others held."""
    for k in range(len(p) // 2):
        n, t = 2 * k, 2 * k + 1
        u_n, u_t = b[n], b[t]
        for j in range(len(p)):
            if j != n and j != t:
                u_n += W[n, j] * p[j]
                u_t += W[t, j] * p[j]
        p[n], p[t] = alone(W[n, n], W[n, t], W[t, t], u_n, u_t, mu)


@kernel
def alone(
    nn: float, nt: float, tt: float, u_n: float, u_t: float, mu: float
) -> tuple[float, float]:
    """The impulse of a single contact with velocities u_n, u_t without it."""
    if u_n >= 0.0:
        return 0.0, 0.0
    determinant = nn * tt - nt * nt
    p_n = (-tt * u_n + nt * u_t) / determinant
    p_t = (nt * u_n - nn * u_t) / determinant
    if p_n >= 0.0 and abs(p_t) <= mu * p_n:
        return p_n, p_t
    for ratio in (-mu, mu):
        weight = nn + ratio * nt
        if weight > 0.0:
            p_n = -u_n / weight
            if ratio * (u_t + (nt + ratio * tt) * p_n) <= 0.0:
                return p_n, ratio * p_n
    return -u_n / nn, 0.0


@kernel
def fixed_friction(
    W: Floats, b: Floats, state: Ints, p: Floats, friction: Floats, space: Scratch
) -> None:
    """Impulses for given states, where sliding contacts have a given p_t.

    The modified-mass method sets the friction of a sliding node once. `b` is changed
    and changed back; friction (c,) N s.
    """
    c = len(state)
    for k in range(c):
        if state[k] > STICK:
            for i in range(2 * c):
                b[i] += W[i, 2 * k + 1] * friction[k]
    impulses(W, b, 0.0, state, p, space)
    for k in range(c):
        if state[k] > STICK:
            p[2 * k + 1] = friction[k]
            for i in range(2 * c):
                b[i] -= W[i, 2 * k + 1] * friction[k]
