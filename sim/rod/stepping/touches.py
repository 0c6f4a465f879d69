"""Contacts of edges in a step: of an edge with the ground, of a node with an edge.

They are contacts like those of nodes with the ground (`sim.rod.stepping.contacts`), but
act on two or three nodes, by the share that the place on the edge gives each of them.
Where two edges lie on each other their contacts say the same twice: a little softness
of each contact, far below the tolerances, then shares the impulse between them.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.rod.contact.coulomb import OPEN, STICK
from sim.rod.contact.ground import surface
from sim.rod.contact.nearest import crossing, edge_to_ground, node_to_edge
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work

HALVINGS = 40  # of the time of a landing
EMPTY = -1  # cell
SOFTNESS = 1e-5  # of contacts of edges, of which several may be the same
SOFTER = (1.0, 10.0, 100.0)  # times that, where eq. (3) is not met
CORNER = 1e-3  # of an edge, from its end, within which its node is touched


@kernel
def closed_pairs(setting: Setting, state: RodState, work: Work, count: int) -> int:
    """List the contacts of edges at the end of the last step after `count` others."""
    work.of_edge[:] = EMPTY
    for m in range(len(state.pair)):
        if state.pair[m, 2] == OPEN:
            break
        node, e = state.pair[m, 0], state.pair[m, 1]
        if node < 0 and not touches_inside(setting, state, e):
            continue
        list_pair(work, count, node, e, state.pair[m, 2])
        count += 1
    return count


@kernel
def closing(scheme: Scheme, edges: bool, left: float, h: float) -> float:
    """The velocity that closes the gap `left` that a contact would keep.

    Gaps are closed in a full step, or in several, however short its parts: closed in
    the part in which it lands, a node would leave again by a tenth of its velocity.
    """
    slow = scheme.exact and scheme.gamma < 1.0
    length = max(h, scheme.length) if slow else h
    return float((1.0 if edges else scheme.closing) * left / length)


@kernel
def touches_inside(setting: Setting, state: RodState, e: int) -> bool:
    """Whether the lowest point of an edge is none of its nodes."""
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    s = edge_to_ground(setting.relief, state.x, j, k)[1]
    return bool(0.0 < s < 1.0)


@kernel
def list_pair(work: Work, c: int, node: int, e: int, was: int) -> None:
    work.who[c], work.edge[c] = node, e
    work.after[c], work.of_edge[e] = work.of_edge[e], c
    work.was[c] = was
    work.state[c] = was if was != OPEN else STICK


@kernel
def keep_pairs(state: RodState, work: Work, count: int) -> None:
    """Write the contacts of edges that are closed into the state."""
    state.pair[:] = 0
    m = 0
    for c in range(count):
        if work.edge[c] >= 0 and work.state[c] != OPEN:
            state.pair[m, 0], state.pair[m, 1] = work.who[c], work.edge[c]
            state.pair[m, 2] = work.state[c]
            m += 1


@kernel
def meeting(
    setting: Setting, state: RodState, work: Work, node: int, e: int
) -> tuple[float, float, float, float]:
    """Gap, place on the edge and normal of a contact of edge e at work.x."""
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    if node >= 0:
        return node_to_edge(state.x, work.x, node, j, k, setting.touch.distance)
    low, s = edge_to_ground(setting.relief, work.x, j, k)
    slope = surface(setting.relief, work.x[j, 0] * (1.0 - s) + work.x[k, 0] * s)[1]
    length = np.sqrt(1.0 + slope * slope)
    return low, s, -slope / length, 1.0 / length


@kernel
def set_arms(setting: Setting, work: Work, c: int, node: int, e: int, s: float) -> None:
    """The nodes that a contact of edge e acts on, and how much of each it moves."""
    sign = 1.0 if node < 0 else -1.0
    first = 0 if node < 0 else 1
    work.arms[c] = first + 2
    if node >= 0:
        work.arm[c, 0], work.lever[c, 0] = node, 1.0
    work.arm[c, first] = setting.element.edge[e, 0]
    work.arm[c, first + 1] = setting.element.edge[e, 1]
    work.lever[c, first] = sign * (1.0 - s)
    work.lever[c, first + 1] = sign * s


@kernel
def place_pair(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, c: int, h: float
) -> None:
    """Arms, tangents and the closing velocity of a contact, from the ends in work.x.

    A contact that was closed already has its impulse across the tangent halfway, as
    one on curved ground, and at the place of the edge halfway.
    """
    node, e = work.who[c], work.edge[c]
    low, s, nx, ny = meeting(setting, state, work, node, e)
    set_arms(setting, work, c, node, e, s)
    apart = 0.0
    for a in range(work.arms[c]):
        i = work.arm[c, a]
        apart += work.lever[c, a] * (nx * work.v[i, 0] + ny * work.v[i, 1])
        work.share[c, a] = work.lever[c, a]
    work.frame[c, 0], work.frame[c, 1] = ny, -nx
    work.middle[c, 0], work.middle[c, 1] = ny, -nx
    left = low - h * scheme.gamma * apart
    work.push[c] = closing(scheme, True, left, h)
    if work.was[c] != OPEN and scheme.gamma < 1.0:
        share_halfway(setting, state, work, c, s)


@kernel
def share_halfway(
    setting: Setting, state: RodState, work: Work, c: int, s: float
) -> None:
    """Let the impulse of a contact act between where it was and where it will be."""
    node, e = work.who[c], work.edge[c]
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    nx, ny = -work.frame[c, 1], work.frame[c, 0]
    if node >= 0:
        _, s0, mx, my = node_to_edge(
            state.x, state.x, node, j, k, setting.touch.distance
        )
    else:
        s0 = edge_to_ground(setting.relief, state.x, j, k)[1]
        at = state.x[j, 0] + s0 * (state.x[k, 0] - state.x[j, 0])
        slope = surface(setting.relief, at)[1]
        mx, my = -slope, 1.0
    length = np.sqrt(mx * mx + my * my)
    mx, my = nx + mx / length, ny + my / length
    length = np.sqrt(mx * mx + my * my)
    if length < 0.1:  # turned back: a corner was passed
        return
    work.middle[c, 0], work.middle[c, 1] = my / length, -mx / length
    set_arms(setting, work, c, node, e, 0.5 * (s0 + s))
    for a in range(work.arms[c]):
        work.share[c, a] = work.lever[c, a]
    set_arms(setting, work, c, node, e, s)


@kernel
def pair_gap(setting: Setting, state: RodState, work: Work, count: int) -> float:
    """How far a contact of an edge ends open or deep, the largest, m."""
    largest = 0.0
    for c in range(count):
        if work.edge[c] >= 0:
            off = meeting(setting, state, work, work.who[c], work.edge[c])[0]
            largest = max(largest, -off if work.state[c] == OPEN else abs(off))
    return largest


@kernel
def bin_edges(
    setting: Setting, state: RodState, work: Work, margin: float
) -> tuple[float, float]:
    """Put the edges into cells by their middles; the size of a cell, and of an edge."""
    edge = setting.element.edge
    longest = 0.0
    for e in range(len(edge)):
        j, k = edge[e, 0], edge[e, 1]
        x, y = state.x[k, 0] - state.x[j, 0], state.x[k, 1] - state.x[j, 1]
        longest = max(longest, x * x + y * y)
    longest = np.sqrt(longest)
    size = 0.5 * longest + margin
    work.head[:] = EMPTY
    for e in range(len(edge)):
        x, y = middle_of(setting, state, e)
        at = cell(int(np.floor(x / size)), int(np.floor(y / size)), len(work.head))
        work.next[e] = work.head[at]
        work.head[at] = e
    return size, longest


@kernel
def middle_of(setting: Setting, state: RodState, e: int) -> tuple[float, float]:
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    x, y = state.x[j, 0] + state.x[k, 0], state.x[j, 1] + state.x[k, 1]
    return 0.5 * x, 0.5 * y


@kernel
def cell(a: int, b: int, cells: int) -> int:
    """Where in the table a cell of the grid stands; others may stand there too."""
    return (a * 73856093 + b * 19349663) % cells


@kernel
def is_own(setting: Setting, i: int, e: int) -> bool:
    """Whether an edge is beside a node of the same rod."""
    touch = setting.touch
    found = False
    for m in range(touch.first[i], touch.first[i + 1]):
        found = found or touch.own[m] == e
    return found


@kernel
def is_listed(work: Work, node: int, e: int) -> bool:
    c = work.of_edge[e]
    while c != EMPTY and work.who[c] != node:
        c = work.after[c]
    return bool(c != EMPTY)


@kernel
def says_the_same(setting: Setting, work: Work, node: int, e: int, s: float) -> bool:
    """Whether a contact at an end of an edge is of two nodes that touch already.

    Two nodes that meet are four contacts: of each with both edges of the other.
    """
    if node < 0 or CORNER < s < 1.0 - CORNER:
        return False
    other = setting.element.edge[e, 0 if s < 0.5 else 1]
    return ends_at(setting, work, node, other) or ends_at(setting, work, other, node)


@kernel
def ends_at(setting: Setting, work: Work, node: int, other: int) -> bool:
    """Whether a contact of a node with an edge stands at the other node, its end."""
    touch, found = setting.touch, False
    for m in range(touch.first[other], touch.first[other + 1]):
        c = work.of_edge[touch.own[m]]
        while c != EMPTY:
            near = 1 if work.lever[c, 1] < work.lever[c, 2] else 2
            corner = work.lever[c, near] <= CORNER - 1.0
            found = found or (
                work.who[c] == node and work.arm[c, near] == other and corner
            )
            c = work.after[c]
    return found


@kernel
def find_touches(
    setting: Setting,
    scheme: Scheme,
    state: RodState,
    work: Work,
    count: int,
    h: float,
    uncut: bool,
) -> tuple[int, float]:
    """Edges that pass through the ground, or nodes through edges, in the step solved.

    As `contacts.find_landings`: the new count, and when the first of those that are
    too deep to be listed meets, or h.
    """
    first = h
    edge = setting.element.edge
    for e in range(len(edge) if setting.touch.ground else 0):
        low, s = edge_to_ground(setting.relief, work.x, edge[e, 0], edge[e, 1])
        if low < 0.0 and 0.0 < s < 1.0:
            count, first = land(
                setting, scheme, state, work, -1, e, count, h, uncut, first
            )
    if not setting.touch.rods:
        return count, first
    motion = 0.0
    for i in range(len(state.x)):
        for a in range(2):
            motion = max(motion, abs(work.x[i, a] - state.x[i, a]))
    margin = setting.touch.distance + 3.0 * motion
    size, longest = bin_edges(setting, state, work, margin)
    reach = (0.5 * longest + margin) ** 2
    for i in range(len(state.x)):
        a, b = int(np.floor(state.x[i, 0] / size)), int(np.floor(state.x[i, 1] / size))
        for near in range(9):
            p, q = a + near // 3 - 1, b + near % 3 - 1
            e = work.head[cell(p, q, len(work.head))]
            while e != EMPTY:
                x, y = middle_of(setting, state, e)
                own = int(np.floor(x / size)) == p and int(np.floor(y / size)) == q
                x, y = x - state.x[i, 0], y - state.x[i, 1]
                if own and x * x + y * y <= reach and not is_own(setting, i, e):
                    if begins_to_cross(setting, state, work, i, e):
                        work.memo.crossed = 1
                    count, first = land(
                        setting, scheme, state, work, i, e, count, h, uncut, first
                    )
                e = work.next[e]
    return count, first


@kernel
def begins_to_cross(
    setting: Setting, state: RodState, work: Work, i: int, e: int
) -> bool:
    """Whether an edge beside node i crosses edge e after the step, but not before.

    Contact of nodes with edges keeps them from it, but where nodes pass each other's
    corners by more than the step knows of.
    """
    touch, edge = setting.touch, setting.element.edge
    found = False
    for m in range(touch.first[i], touch.first[i + 1]):
        f = touch.own[m]
        if f != e and not (
            edge[f, 0] == edge[e, 0]
            or edge[f, 0] == edge[e, 1]
            or edge[f, 1] == edge[e, 0]
            or edge[f, 1] == edge[e, 1]
        ):
            crossed = edges_cross(work.x, edge[f], edge[e])
            found = found or (crossed and not edges_cross(state.x, edge[f], edge[e]))
    return found


@kernel
def edges_cross(x: Floats, one: Ints, other: Ints) -> bool:
    """Whether two edges have a point between their ends in common."""
    a, b, p, q = one[0], one[1], other[0], other[1]
    dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
    fx, fy = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1]
    rx, ry = x[p, 0] - x[a, 0], x[p, 1] - x[a, 1]
    under = dx * fy - dy * fx
    if under == 0.0:
        return False
    s, t = (rx * fy - ry * fx) / under, (rx * dy - ry * dx) / under
    return bool(0.0 < s < 1.0 and 0.0 < t < 1.0)


@kernel
def land(
    setting: Setting,
    scheme: Scheme,
    state: RodState,
    work: Work,
    node: int,
    e: int,
    count: int,
    h: float,
    uncut: bool,
    first: float,
) -> tuple[int, float]:
    """List a contact of edge e if it passes in the step; or tell when it meets."""
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    if node >= 0 and not passes(setting, state, work, node, j, k):
        return count, first
    if is_listed(work, node, e) or count >= len(work.friction):
        work.memo.full = 1 if count >= len(work.friction) else work.memo.full
        return count, first
    low, s, nx, ny = meeting(setting, state, work, node, e)
    if says_the_same(setting, work, node, e, s):
        return count, first
    set_arms(setting, work, count, node, e, s)
    apart, still = 0.0, True
    for a in range(work.arms[count]):
        i = work.arm[count, a]
        apart += work.lever[count, a] * (nx * work.v[i, 0] + ny * work.v[i, 1])
        still = still and setting.held[i, 0] and setting.held[i, 1]
    if still:
        return count, first
    if abs(low - h * scheme.gamma * apart) <= scheme.landing or uncut:
        list_pair(work, count, node, e, OPEN)
        return count + 1, first
    return count, min(first, meeting_time(setting, state, work, node, e, h))


@kernel
def passes(
    setting: Setting, state: RodState, work: Work, i: int, j: int, k: int
) -> bool:
    """Whether node i is too close to edge (j, k) at work.x, or has crossed it."""
    if node_to_edge(state.x, work.x, i, j, k, setting.touch.distance)[0] < 0.0:
        return True
    return crossing(state.x, work.x, i, j, k) <= 1.0


@kernel
def at_time(state: RodState, work: Work, i: int, s: float, h: float) -> None:
    """Where node i is at time s of the path that Newmark's rule takes, in work.r."""
    w = 0.5 * s * s / h
    for a in range(2):
        gained = work.v[i, a] - state.v[i, a]
        work.r[i, a] = state.x[i, a] + s * state.v[i, a] + w * gained


@kernel
def meeting_time(
    setting: Setting, state: RodState, work: Work, node: int, e: int, h: float
) -> float:
    """When a contact of edge e is first met, s, by bisection; spoils work.r."""
    j, k = setting.element.edge[e, 0], setting.element.edge[e, 1]
    low, high = 0.0, h
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        at_time(state, work, j, s, h)
        at_time(state, work, k, s, h)
        if node >= 0:
            at_time(state, work, node, s, h)
            gap = node_to_edge(state.x, work.r, node, j, k, setting.touch.distance)[0]
        else:
            gap = edge_to_ground(setting.relief, work.r, j, k)[0]
        if gap < 0.0:
            high = s
        else:
            low = s
    return high
