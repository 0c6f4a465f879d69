"""Inner forces of a step that keep energy and both momenta exactly, and their tangent.

The frame of an edge (t, d1, d2) goes from its place before a step to that after it by
one rotation, so all three change by  d(.) = Theta x mean(.),  Theta the rotation's
Gibbs vector. Strains of a bend are made of products of frame vectors only,

    q1 = (t.b2 - s.a2) / chi,  q2 = (s.a1 - t.b1) / chi,  chi = 1 + t.s,
    tan(twist) = Y / X,  X = a1.b1 + a2.b2,  Y = a2.b1 - a1.b2,  X^2 + Y^2 = chi^2

with a of the first edge and b of the second, and change exactly by

    d(u.v) = mean u . dv + mean v . du      d(C / chi) = (mean chi dC - mean C dchi) / n
    d twist = (d twist / sin d twist) (mean X dY - mean Y dX) / n,  n = chi0 chi1

So the change of energy is Theta.M for each of both edges, with opposite moments M. With
Theta = p + c w, where p = w x dt takes the tangent, c = 2 tan(turn / 2) is the spin and
w = mean t / |mean t|^2, a moment N on an edge becomes the couple (N x w) / mean length
of its ends and the torque N.w. What is left of either law where the edge is stretched,

    torque  dl dt.N |w|^2 / (4 l),     tension  - c dt.N |w|^2 / (4 l) of mean edge / l,

does no work together and has no moment: the energy-momentum method (Simo and Tarnow,
ZAMP 43, 1992; Romero and Armero, IJNME 54, 2002) for time-parallel frames. The gyration
of a spin omega is the moment - I omega dt / h, which does no work.

Newton's matrix of a step is the Hessian of `effective_elements`: they are stiffer by
1 + 2 beta / h, and their natural strains are moved so that they pull and bend as the
step does. In its middle nodes are where edges that turn are shorter than the mean of
both ends, so that strains there are not the mean either, and EA of the difference is
far more than what bends.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.rods.space.elastic_energy import (
    SMALL,
    add_hinge_strains,
    both_sines,
    edge_of,
    hinge_strains,
    turned_frame,
)
from sim.rods.space.frames import (
    SpaceState,
    bend_turns,
    cross,
    dot,
    edge_frame,
    tangent,
    transport,
)
from sim.rods.space.rod import SpaceElements, copied


@kernel
def fill_frames(state: SpaceState, edges: Ints, frames: Floats, size: Floats) -> None:
    """(m, 3, 3) frames (t, d1, d2) and (m,) lengths of edges."""
    for e in range(len(edges)):
        size[e] = edge_frame(state.x, state.d, edges, e, frames[e])


@kernel
def _fill_spin(old: Floats, new: Floats, spin: Floats, v: Floats) -> None:
    """spin (m,) <- c of each edge: tan of half an angle of this sine and cosine."""
    u, w = v[0], v[1]
    for e in range(len(spin)):
        transport(old[e, 1], old[e, 0], new[e, 0], u)
        cross(new[e, 0], u, w)
        sine, cosine = dot(new[e, 1], w), dot(new[e, 1], u)
        spin[e] = 2.0 * sine / (cosine + np.sqrt(sine**2 + cosine**2))


@kernel
def _run_frame(frames: Floats, k: int, out: Floats) -> None:
    """out <- the frame (t, d1, d2) of run k: edge k, or edge k - m backwards."""
    e = edge_of(k, len(frames))
    way = 1.0 if k == e else -1.0
    for a in range(3):
        out[0, a] = way * frames[e, 0, a]
        out[1, a] = way * frames[e, 1, a]
        out[2, a] = frames[e, 2, a]


@kernel
def _strains(a: Floats, b: Floats, out: Floats) -> None:
    """out <- C1, C2, X, Y, chi of frames a and b."""
    out[0] = dot(a[0], b[2]) - dot(b[0], a[2])
    out[1] = dot(b[0], a[1]) - dot(a[0], b[1])
    out[2] = dot(a[1], b[1]) + dot(a[2], b[2])
    out[3] = dot(a[2], b[1]) - dot(a[1], b[2])
    out[4] = 1.0 + dot(a[0], b[0])


@kernel
def _over_sine(change: float) -> float:
    """A change of an angle over its sine."""
    if abs(change) < SMALL:
        return 1.0 + change**2 / 6.0
    return float(change / np.sin(change))


@kernel
def _bend_moment(
    part: SpaceElements, j: int, twist: tuple[float, float], viscous: float,
    s: Floats, pair: Floats, slope: Floats,
) -> float:  # fmt: skip
    """slope <- dU by C1, C2, X, Y, chi of bend j; what damps it, J.

    pair : (4, 3, 3) frames of both runs before, then after
    """
    _strains(pair[0], pair[1], s[0])
    _strains(pair[2], pair[3], s[1])
    both, dl, damped = s[0, 4] * s[1, 4], part.voronoi[j], 0.0
    slope[4] = 0.0
    for k in range(2):
        q0, q1 = s[0, k] / s[0, 4], s[1, k] / s[1, 4]
        stiff = part.bending[j, k] / dl
        apart = 0.5 * (q0 + q1) - part.curvature[j, k] * dl + viscous * (q1 - q0)
        damped += viscous * stiff * (q1 - q0) ** 2
        slope[k] = 0.5 * stiff * apart * (s[0, 4] + s[1, 4]) / both
        slope[4] -= 0.5 * stiff * apart * (s[0, k] + s[1, k]) / both
    change, stiff = twist[1] - twist[0], part.twisting[j] / dl
    apart = 0.5 * (twist[0] + twist[1]) - part.curvature[j, 2] * dl + viscous * change
    damped += viscous * stiff * change**2
    moment = 0.5 * stiff * apart * _over_sine(change) / both
    slope[2], slope[3] = -moment * (s[0, 3] + s[1, 3]), moment * (s[0, 2] + s[1, 2])
    return float(damped)


@kernel
def _add_moment(
    a0: Floats, a1: Floats, b0: Floats, b1: Floats, c: Floats, v: Floats, out: Floats,
    other: Floats,
) -> None:  # fmt: skip
    """out -= M of frame a, other += it; c the slopes of `_bend_moment`."""
    for i in range(3):
        t, b, d = 0.5 * (b0[0, i] + b1[0, i]), b0[1, i] + b1[1, i], b0[2, i] + b1[2, i]
        v[0, i] = c[4] * t + 0.5 * (c[0] * d - c[1] * b)
        v[1, i] = c[1] * t + 0.5 * (c[2] * b - c[3] * d)
        v[2, i] = -c[0] * t + 0.5 * (c[2] * d + c[3] * b)
    for k in range(3):
        for i in range(3):
            v[3, i] = 0.5 * (a0[k, i] + a1[k, i])
        cross(v[3], v[k], v[4])
        for i in range(3):
            out[i] -= v[4, i]
            other[i] += v[4, i]


@kernel
def _add_turning(u: Floats, w: Floats, by: float, v: Floats, out: Floats) -> None:
    """out (2, 3) += moments on both edges that work by times as u.w, means, falls."""
    cross(u, w, v)
    for i in range(3):
        out[0, i] -= by * v[i]
        out[1, i] += by * v[i]


@kernel
def _add_hinge(
    part: SpaceElements, j: int, viscous: float, pair: Floats, s: Floats, v: Floats,
    moment: Floats,
) -> float:  # fmt: skip
    """moment (m, 3) += that of hinge j; what damps it, J.

    Parameters
    ----------
    pair : (4, 3, 3) frames of the hinge in both edges before, then after; the first
        two become their means
    """
    hinge_strains(pair[:2], s[0])
    hinge_strains(pair[2:], s[1])
    change = (s[1, 2] - s[0, 2] + np.pi) % (2.0 * np.pi) - np.pi
    s[1, 2] = s[0, 2] + change
    damped, n = 0.0, 1.0
    for a in range(3):
        stiff = part.hinge_stiffness[j, a]
        rate = viscous * (s[1, a] - s[0, a])
        damped += stiff * rate * (s[1, a] - s[0, a])
        s[0, a] = stiff * (0.5 * (s[0, a] + s[1, a]) - part.hinge_rest[j, a] + rate)
    for k in range(2):
        v[k, 0], v[k, 1] = both_sines(pair[2 * k : 2 * k + 2])
        n *= np.sqrt(v[k, 0] ** 2 + v[k, 1] ** 2)
    X, Y = 0.5 * (v[0, 0] + v[1, 0]), 0.5 * (v[0, 1] + v[1, 1])
    turn = s[0, 2] * _over_sine(change) / n
    for k in range(2):
        for i in range(3):
            for a in range(3):
                pair[k, i, a] = 0.5 * (pair[k, i, a] + pair[2 + k, i, a])
    one, other, v[2] = pair[0], pair[1], 0.0
    v[3] = 0.0
    out = v[2:4]
    _add_turning(one[0], other[1], s[0, 0], v[4], out)
    _add_turning(one[0], other[2], s[0, 1], v[4], out)
    _add_turning(one[2], other[1], turn * X, v[4], out)
    _add_turning(one[1], other[2], -turn * X, v[4], out)
    _add_turning(one[1], other[1], -turn * Y, v[4], out)
    _add_turning(one[2], other[2], -turn * Y, v[4], out)
    for k in range(2):
        for i in range(3):
            moment[part.hinges[j, k], i] += out[k, i]
    return float(damped)


@kernel
def _add_edge(
    part: SpaceElements, e: int, old: Floats, new: Floats,
    size: tuple[float, float, float], moment: Floats, viscous: float, v: Floats,
    total: Floats,
) -> tuple[float, float]:  # fmt: skip
    """total += what stretching and a moment make of an edge; torque, what damps."""
    l0, l1, c = size[0], size[1], size[2]
    mean = 0.5 * (l0 + l1)
    w, change, edge, couple = v[0], v[1], v[2], v[3]
    for i in range(3):
        w[i], change[i] = 0.5 * (old[0, i] + new[0, i]), new[0, i] - old[0, i]
        edge[i] = 0.5 * (l0 * old[0, i] + l1 * new[0, i])
    square = dot(w, w)
    for i in range(3):
        w[i] /= square
    cross(moment, w, couple)
    left = dot(change, moment) / (4.0 * mean * square)
    strain, rate = mean / part.rest[e] - 1.0, viscous * (l1 - l0) / part.rest[e]
    pull = (part.stretching[e] * (strain + rate) + c * left) / mean
    for i in range(3):
        force = couple[i] / mean - pull * edge[i]
        total[3 * part.edges[e, 0] + i] -= force
        total[3 * part.edges[e, 1] + i] += force
    damped = part.stretching[e] * rate * (l1 - l0)
    return dot(w, moment) + (l1 - l0) * left, damped


class ForceSpace(NamedTuple):
    """Space for the forces of a step.

    Attributes
    ----------
    old, new : (m, 3, 3) frames before the step and after it
    size : (2, m) lengths, likewise, m
    moment : (m, 3) on edges, N m
    v, pair, s, slope : (5, 3), (4, 3, 3), (2, 5), (5,) of one bend
    """

    old: Floats
    new: Floats
    size: Floats
    moment: Floats
    v: Floats
    pair: Floats
    s: Floats
    slope: Floats


def force_space(m: int) -> ForceSpace:
    """Of m edges."""
    shapes = (m, 3, 3), (m, 3, 3), (2, m), (m, 3), (5, 3), (4, 3, 3), (2, 5), (5,)
    return ForceSpace(*(np.empty(shape) for shape in shapes))


@kernel
def add_forces_between(
    before: SpaceState, after: SpaceState, part: SpaceElements, viscous: float,
    inertia: Floats, h: float, space: ForceSpace, total: Floats, spin: Floats,
) -> float:  # fmt: skip
    """As `add_step_forces`, where `space` has the frames before the step."""
    m, damped = len(part.edges), 0.0
    old, new, size, moment = space.old, space.new, space.size, space.moment
    v, pair, s, slope = space.v, space.pair, space.s, space.slope
    fill_frames(after, part.edges, new, size[1])
    _fill_spin(old, new, spin, v)
    moment[:] = 0.0
    for j in range(len(part.bends)):
        e, f = part.bends[j]
        for k in range(2):
            _run_frame(old, part.bends[j, k], pair[k])
            _run_frame(new, part.bends[j, k], pair[2 + k])
        twist = before.twist[j], after.twist[j]
        damped += _bend_moment(part, j, twist, viscous, s, pair, slope)
        both = moment[edge_of(e, m)], moment[edge_of(f, m)]
        _add_moment(pair[0], pair[2], pair[1], pair[3], slope, v, both[0], both[1])
    for j in range(len(part.hinges)):
        for k in range(2):
            e = part.hinges[j, k]
            turned_frame(part.axes[j, k], old[e], pair[k])
            turned_frame(part.axes[j, k], new[e], pair[2 + k])
        damped += _add_hinge(part, j, viscous, pair, s, v, moment)
    for e in range(m):
        for i in range(3):
            moment[e, i] -= inertia[e] / h**2 * spin[e] * (new[e, 0, i] - old[e, 0, i])
        lengths = size[0, e], size[1, e], spin[e]
        torque, taken = _add_edge(
            part, e, old[e], new[e], lengths, moment[e], viscous, v, total
        )
        total[3 * len(before.x) + e] += torque
        damped += taken
    return damped


@kernel
def add_step_forces(
    before: SpaceState, after: SpaceState, part: SpaceElements, viscous: float,
    inertia: Floats, h: float, space: ForceSpace, total: Floats, spin: Floats,
) -> float:  # fmt: skip
    """Forces and torques of a step are added to `total`; what damping takes, J.

    Parameters
    ----------
    viscous : beta / h
    inertia : (m,) rotary, about the edge, kg m^2
    h : s
    total : (3 n + m,) N, N m
    spin : (m,) is overwritten with c = 2 tan(turn / 2)
    """
    fill_frames(before, part.edges, space.old, space.size[0])
    return add_forces_between(
        before, after, part, viscous, inertia, h, space, total, spin
    )


@kernel
def _add_strains(
    state: SpaceState, part: SpaceElements, share: float, v: Floats, stretch: Floats,
    turn: Floats,
) -> None:  # fmt: skip
    """stretch (m,), turn (b, 3) += share of strains and turnings; v (8, 3) is space."""
    q = np.empty(2)
    for e in range(len(part.edges)):
        size = tangent(state.x, part.edges[e], v[0])
        stretch[e] += share * (size / part.rest[e] - 1.0)
    for j in range(len(part.bends)):
        bend_turns(state, part.edges, part.bends[j], v, q)
        turn[j, 0] += share * q[0]
        turn[j, 1] += share * q[1]
        turn[j, 2] += share * state.twist[j]


@kernel
def fill_effective_elements(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    share: tuple[float, float, float], more: float, soft: SpaceElements,
) -> None:  # fmt: skip
    """soft <- elements whose natural strains are moved by shares of those of states.

    Parameters
    ----------
    more : by which they are stiffer
    """
    stretch, turn = np.zeros(len(part.rest)), np.zeros((len(part.bends), 3))
    v, hinged = np.empty((8, 3)), np.zeros((len(part.hinges), 3))
    space = np.empty((5, 3, 3))
    for k in range(3):
        if share[k] != 0.0:
            _add_strains(states[k], part, share[k], v, stretch, turn)
            add_hinge_strains(states[k], part, share[k], space, hinged)
    soft.hinge_stiffness[:] = part.hinge_stiffness * more
    soft.hinge_rest[:] = part.hinge_rest / more + hinged
    soft.rest[:] = part.rest * (1.0 + stretch)
    soft.stretching[:] = part.stretching * more * (1.0 + stretch)
    soft.voronoi[:] = part.voronoi
    soft.twisting[:] = part.twisting * more
    soft.bending[:] = part.bending * more
    soft.curvature[:] = part.curvature / more + turn / part.voronoi.reshape((-1, 1))


def effective_elements(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    viscous: float, conserving: bool,
) -> SpaceElements:  # fmt: skip
    """Half the Hessian of these is the slope of a step's forces by its end.

    Of strain e acts (e0 + e1) / 2 + viscous (e1 - e0) - natural, e in the middle of the
    step, or by Newmark's rule (1 + 2 viscous) e - 2 viscous e0 - natural, e at its end.

    Parameters
    ----------
    states : where the Hessian is taken, before the step and after it
    viscous : beta / h
    """
    more, soft = 1.0 + 2.0 * viscous, copied(part)
    share = 0.0, 2.0 * viscous / more, 0.0
    if conserving:
        share = 1.0, (viscous - 0.5) / more, -0.5
    fill_effective_elements(part, states, share, more, soft)
    return soft


@kernel
def changes(x: Floats, to: Floats, edges: Ints, rest: Floats) -> tuple[float, float]:
    """Largest stretch at nodes `to`, and the least cosine of an edge's turn from x."""
    most, ahead = 0.0, 1.0
    for e in range(len(edges)):
        tail, head = edges[e, 0], edges[e, 1]
        old = new = along = 0.0
        for a in range(3):
            u, v = x[head, a] - x[tail, a], to[head, a] - to[tail, a]
            old, new, along = old + u * u, new + v * v, along + u * v
        most = max(most, abs(np.sqrt(new) / rest[e] - 1.0))
        ahead = min(ahead, along / np.sqrt(old * new))
    return float(most), float(ahead)
