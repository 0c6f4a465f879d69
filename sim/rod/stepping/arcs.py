"""Contact of a smooth rod with the ground: on the arc through three nodes.

A polygon that rolls lands on each of its nodes, and loses spin each time. With `arcs`
of `PlaneTouching` node i and its neighbours j, k span the parabola

    r(s) = x_i + s (x_k - x_j) / 2 + s^2 (x_j - 2 x_i + x_k) / 2        -1/2 <= s <= 1/2

(the circle through three nodes to third order in an edge), parallel to an edge where
the next parabola takes over; towards an end or a joint, which has none, it reaches all
the way. What touches is the lowest point of the arc, whose velocity is that of its
nodes, weighted as in r(s). It rolls along the arc without an impact, and is handed over
to the next node at s = 1/2. A rod that is straight or hollow, seen from the ground,
touches with its nodes.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.contact.coulomb import OPEN, STICK
from sim.rod.contact.ground import bend, gap, surface
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.touches import HALVINGS, at_time, closing
from sim.rod.stepping.workspace import Work

ON_GROUND = -1  # the edge of a contact of a node with the ground
ITERATIONS = 4  # of Newton's method for the lowest point, one above a plane
OWN = 0.5  # of an edge, how far a node's arc reaches
REACH = 1.5  # of an edge, how far it is drawn on in a step
BESIDE = 0.05  # of an edge, from the end of an arc, where the next is not listed too


@kernel
def lowest_place(setting: Setting, x: Floats, i: int) -> float:
    """s of the lowest point above the ground of the arc of node i, drawn on."""
    j, k = setting.touch.before[i], setting.touch.after[i]
    if j < 0:
        return 0.0
    ax, ay = 0.5 * (x[k, 0] - x[j, 0]), 0.5 * (x[k, 1] - x[j, 1])
    bx, by = 0.5 * (x[j, 0] + x[k, 0]) - x[i, 0], 0.5 * (x[j, 1] + x[k, 1]) - x[i, 1]
    s, flat = 0.0, setting.touch.flat
    for _ in range(ITERATIONS):
        px, along = x[i, 0] + s * (ax + s * bx), ax + 2.0 * s * bx
        slope = surface(setting.relief, px)[1]
        hollow = 0.5 * bend(setting.relief, px) * along * along
        a, b = ay - slope * ax + 2.0 * s * hollow, by - slope * bx - hollow
        s = -0.5 * a * b / (b * b + flat * flat) if b > 0.0 else 0.0
        s = min(max(s, -REACH), REACH)
    return s


@kernel
def own_reach(setting: Setting, i: int, s: float) -> float:
    """How far the arc of node i is its own on the side of s."""
    n = setting.touch.after[i] if s > 0.0 else setting.touch.before[i]
    return OWN if n >= 0 and setting.touch.before[n] >= 0 else 1.0


@kernel
def weights(setting: Setting, i: int, s: float) -> tuple[float, float, float]:
    """How much the point s of an arc moves with the node before, its own and after."""
    if setting.touch.before[i] < 0:
        return 0.0, 1.0, 0.0
    return 0.5 * s * (s - 1.0), 1.0 - s * s, 0.5 * s * (s + 1.0)


@kernel
def arc_gap(setting: Setting, x: Floats, i: int, s: float) -> tuple[float, float]:
    """How far the point s of the arc of node i is above the ground, m; its x, m."""
    j, k = setting.touch.before[i], setting.touch.after[i]
    before, own, after = weights(setting, i, s)
    px = before * x[j, 0] + own * x[i, 0] + after * x[k, 0]
    py = before * x[j, 1] + own * x[i, 1] + after * x[k, 1]
    return gap(setting.relief, px, py), px


@kernel
def set_arc_arms(setting: Setting, work: Work, c: int, i: int, s: float) -> None:
    """The nodes that a contact on an arc acts on, and how much of each it moves."""
    before, own, after = weights(setting, i, s)
    work.arms[c] = 1 if setting.touch.before[i] < 0 else 3
    work.arm[c, 0], work.lever[c, 0] = i, own
    if work.arms[c] == 3:
        work.arm[c, 1], work.lever[c, 1] = setting.touch.before[i], before
        work.arm[c, 2], work.lever[c, 2] = setting.touch.after[i], after


@kernel
def approach(
    setting: Setting, scheme: Scheme, work: Work, c: int, i: int, s: float, h: float
) -> float:
    """The gap with which contact c would end without a velocity; its arms and frame."""
    low, px = arc_gap(setting, work.x, i, s)
    slope = surface(setting.relief, px)[1]
    tx = 1.0 / np.sqrt(1.0 + slope * slope)
    ty = slope * tx
    work.frame[c, 0], work.frame[c, 1] = tx, ty
    set_arc_arms(setting, work, c, i, s)
    apart = 0.0
    for a in range(work.arms[c]):
        n = work.arm[c, a]
        apart += work.lever[c, a] * (tx * work.v[n, 1] - ty * work.v[n, 0])
    return low - h * scheme.gamma * apart


@kernel
def place_arc(
    setting: Setting,
    scheme: Scheme,
    state: RodState,
    work: Work,
    c: int,
    count: int,
    h: float,
) -> None:
    """Arms, tangents and the closing velocity of a contact, from the ends in work.x.

    One that was closed already has its impulse halfway between the places and tangents
    of the step's start and end, as in `contacts.lean_to_middle`: it takes no energy.
    """
    hand_over(setting, work, c, count)
    i = work.who[c]
    s = lowest_place(setting, work.x, i)
    half, slope = s, 0.0
    halfway = work.was[c] != OPEN and scheme.gamma < 1.0
    if halfway:
        s0 = lowest_place(setting, state.x, i)
        half = 0.5 * (s0 + s)
        slope = surface(setting.relief, arc_gap(setting, state.x, i, s0)[1])[1]
    set_arc_arms(setting, work, c, i, half)
    for a in range(work.arms[c]):
        work.share[c, a] = work.lever[c, a]
    left = approach(setting, scheme, work, c, i, s, h)
    work.push[c] = closing(scheme, True, left, h)
    tx, ty = work.frame[c, 0], work.frame[c, 1]
    if halfway:
        t0 = 1.0 / np.sqrt(1.0 + slope * slope)
        tx, ty = tx + t0, ty + slope * t0
        length = np.sqrt(tx * tx + ty * ty)
        tx, ty = tx / length, ty / length
    work.middle[c, 0], work.middle[c, 1] = tx, ty


@kernel
def find_arcs(
    setting: Setting,
    scheme: Scheme,
    state: RodState,
    work: Work,
    count: int,
    h: float,
    uncut: bool,
) -> tuple[int, float]:
    """As `contacts.find_landings`, of the arcs of nodes that are not listed."""
    first = h
    for i in range(len(state.contact)):
        if work.listed[i] or (setting.held[i, 0] and setting.held[i, 1]):
            continue
        s = lowest_place(setting, work.x, i)
        if abs(s) > own_reach(setting, i, s):
            continue
        if arc_gap(setting, work.x, i, s)[0] >= 0.0:
            continue
        if is_handed_on(setting, work, i):
            continue
        if count >= len(work.friction):
            work.memo.full = 1
            continue
        end = approach(setting, scheme, work, count, i, s, h)
        if abs(end) <= scheme.landing or uncut:
            work.who[count], work.edge[count] = i, ON_GROUND
            work.was[count], work.state[count] = OPEN, STICK
            work.listed[i] = True
            count += 1
        else:
            first = min(first, arc_time(setting, state, work, i, h))
    return count, first


@kernel
def is_handed_on(setting: Setting, work: Work, i: int) -> bool:
    """Whether a contact of a neighbour has rolled onto the arc of node i."""
    j, k = setting.touch.before[i], setting.touch.after[i]
    found = False
    for n in (j, k):
        if n >= 0 and work.listed[n]:
            s = lowest_place(setting, work.x, n)
            towards = s if setting.touch.after[n] == i else -s
            found = found or towards > OWN - BESIDE
    return found


@kernel
def arc_time(setting: Setting, state: RodState, work: Work, i: int, h: float) -> float:
    """When the arc of node i first meets the ground, s, by bisection; spoils work.r."""
    low, high = 0.0, h
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        at_time(state, work, i, s, h)
        if setting.touch.before[i] >= 0:
            at_time(state, work, setting.touch.before[i], s, h)
            at_time(state, work, setting.touch.after[i], s, h)
        place = lowest_place(setting, work.r, i)
        reach = own_reach(setting, i, place)
        place = min(max(place, -reach), reach)
        if arc_gap(setting, work.r, i, place)[0] < 0.0:
            high = s
        else:
            low = s
    return high


@kernel
def hand_over(setting: Setting, work: Work, c: int, count: int) -> None:
    """Let contact c be that of the node on whose arc it is at work.x, if none is."""
    i = work.who[c]
    s = lowest_place(setting, work.x, i)
    if abs(s) <= OWN:
        return
    n = setting.touch.after[i] if s > 0.0 else setting.touch.before[i]
    free = setting.touch.before[n] >= 0
    for other in range(count):
        free = free and (work.edge[other] != ON_GROUND or work.who[other] != n)
    if free:
        work.who[c] = n
