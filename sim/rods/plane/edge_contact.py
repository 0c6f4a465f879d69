"""Contacts of edges in a step: with the ground, with a node, and on smooth arcs.

They are contacts like those of nodes with the ground (`contact_problem`), but act on
two or three nodes, by the share that the place on the edge gives each of them. Where
two edges lie on each other their contacts say the same twice: a little softness of each
contact, far below the tolerances, then shares the impulse between them.

A smooth rod touches the ground on the arc through three nodes. A polygon that rolls
lands on each of its nodes, and loses spin each time. With `arcs` of `EdgeContact`
node i and its neighbours j, k span the parabola

    r(s) = x_i + s (x_k - x_j) / 2 + s^2 (x_j - 2 x_i + x_k) / 2        -1/2 <= s <= 1/2

(the circle through three nodes to third order in an edge), parallel to an edge where
the next parabola takes over; towards an end or a joint, which has none, it reaches all
the way. What touches is the lowest point of the arc, whose velocity is that of its
nodes, weighted as in r(s). It rolls along the arc without an impact, and is handed over
to the next node at s = 1/2. A rod that is straight or hollow, seen from the ground,
touches with its nodes.
"""

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from sim.rods.plane.contact_geometry import (
    EdgeContacts,
    crossing,
    edge_to_ground,
    edges_cross,
    node_to_edge,
    share_a_node,
)
from sim.rods.plane.contact_impulses import OPEN, STICK
from sim.rods.plane.ground import bend, gap, surface
from sim.rods.plane.options import RodModel, StepMethod
from sim.rods.plane.state import Run, Work

ON_GROUND = -1  # the edge of a contact of a node with the ground
HALVINGS = 40  # of the time of a landing
EMPTY = -1  # cell
COMPLIANCE = 1e-5  # of contacts of edges, of which several may be the same
COMPLIANCE_FACTORS = (1.0, 10.0, 100.0)  # times that, where eq. (3) is not met
TURNED_BACK = 0.1  # sum of two tangents between which a corner was passed
CORNER = 1e-4  # of an edge, from its end, where a node counts as met: as gaps allowed


@kernel
def closed_pairs(run: Run, count: int) -> int:
    """List the contacts of edges at the end of the last step after `count` others."""
    state, work = run.state, run.work
    work.of_edge[:] = EMPTY
    for m in range(len(state.pair)):
        if state.pair[m, 2] == OPEN:
            break
        node, e = state.pair[m, 0], state.pair[m, 1]
        if node < 0 and not touches_inside(run, e):
            continue
        list_contact(work, count, node, e, state.pair[m, 2], state.pair[m, 2])
        count += 1
    return count


@kernel
def stabilisation_velocity(
    method: StepMethod, edges: bool, left: float, h: float
) -> float:
    """The velocity that closes the gap `left` that a contact would keep.

    Gaps are closed in a full step, or in several, however short its parts: closed in
    the part in which it lands, a node would leave again by a tenth of its velocity.
    """
    slow = method.exact and method.gamma < 1.0
    length = max(h, method.length) if slow else h
    return float((1.0 if edges else method.closing) * left / length)


@kernel
def touches_inside(run: Run, e: int) -> bool:
    """Whether the lowest point of an edge is none of its nodes."""
    model, state = run.model, run.state
    j, k = model.element.edge[e, 0], model.element.edge[e, 1]
    s = edge_to_ground(model.relief, state.x, j, k)[1]
    return bool(0.0 < s < 1.0)


@kernel
def list_contact(work: Work, c: int, node: int, e: int, was: int, now: int) -> None:
    """List a contact of a node, or of none, with an edge, or with the ground."""
    work.who[c], work.edge[c] = node, e
    if e == ON_GROUND:
        work.listed[node] = True
        work.node_count[c], work.acts_on[c, 0] = 1, node
        work.weight[c, 0], work.push_weight[c, 0] = 1.0, 1.0
    else:
        work.after[c], work.of_edge[e] = work.of_edge[e], c
    work.was[c], work.state[c] = was, now


@kernel
def keep_pairs(run: Run, count: int) -> None:
    """Write the contacts of edges that are closed into the state."""
    state, work = run.state, run.work
    state.pair[:] = 0
    m = 0
    for c in range(count):
        if work.edge[c] >= 0 and work.state[c] != OPEN:
            state.pair[m, 0], state.pair[m, 1] = work.who[c], work.edge[c]
            state.pair[m, 2] = work.state[c]
            m += 1


@kernel
def spot(run: Run, node: int, e: int, x: Floats) -> tuple[float, float, float, float]:
    """Gap, place and tangent of a contact at nodes x: s of an arc or an edge."""
    model, state = run.model, run.state
    if e == ON_GROUND:
        s = lowest_place(model, x, node)
        low, px = arc_gap(model, x, node, s)
    else:
        j, k = model.element.edge[e, 0], model.element.edge[e, 1]
        if node >= 0:
            distance = model.touch.distance
            low, s, nx, ny = node_to_edge(state.x, x, node, j, k, distance)
            return low, s, ny, -nx
        low, s = edge_to_ground(model.relief, x, j, k)
        px = x[j, 0] * (1.0 - s) + x[k, 0] * s
    slope = surface(model.relief, px)[1]
    tx = 1.0 / np.sqrt(1.0 + slope * slope)
    return low, s, tx, slope * tx


@kernel
def set_nodes(run: Run, c: int, node: int, e: int, s: float) -> None:
    """The nodes that a contact acts on, and how much of each the place s moves."""
    model, work = run.model, run.work
    nodes, weight, touch = work.acts_on[c], work.weight[c], model.touch
    if e == ON_GROUND:
        nodes[0], nodes[1], nodes[2] = node, touch.before[node], touch.after[node]
        weight[1], weight[0], weight[2] = weights(model, node, s)
        work.node_count[c] = 1 if nodes[1] < 0 else 3
        return
    first, sign = (0, 1.0) if node < 0 else (1, -1.0)
    work.node_count[c] = first + 2
    nodes[0], weight[0] = node, 1.0
    nodes[first], nodes[first + 1] = model.element.edge[e, 0], model.element.edge[e, 1]
    weight[first], weight[first + 1] = sign * (1.0 - s), sign * s


@kernel
def end_gap_of(run: Run, c: int, low: float, tx: float, ty: float, h: float) -> float:
    """The gap with which contact c, of the gap `low` now, ends without a velocity."""
    work, apart = run.work, 0.0
    for a in range(work.node_count[c]):
        n = work.acts_on[c, a]
        apart += work.weight[c, a] * (tx * work.v[n, 1] - ty * work.v[n, 0])
    return float(low - h * run.method.gamma * apart)


@kernel
def place_contact(run: Run, c: int, count: int, h: float) -> None:
    """Nodes, tangents and the closing velocity of a contact, from the ends in work.x.

    One that was closed already has its impulse halfway between the places and tangents
    of the step's start and end, unless it passed a corner. A contact that slides from
    one tangent to the other has a mean velocity along the one halfway: an impulse
    across it does no work, so that curved ground takes no energy. An impulse across the
    tangent at the end would take (curvature v h)^2 / 2 of it in each step.
    """
    method, state, work = run.method, run.state, run.work
    if work.edge[c] == ON_GROUND:
        transfer_contact(run, c, count)
    node, e = work.who[c], work.edge[c]
    low, s, tx, ty = spot(run, node, e, work.x)
    work.frame[c, 0], work.frame[c, 1] = tx, ty
    work.middle[c, 0], work.middle[c, 1] = tx, ty
    half = s
    if work.was[c] != OPEN and method.gamma < 1.0:
        _, s0, x, y = spot(run, node, e, state.x)
        if lean_to_middle(work.middle[c], x, y):
            half = 0.5 * (s0 + s)
    set_nodes(run, c, node, e, half)
    for a in range(work.node_count[c]):
        work.push_weight[c, a] = work.weight[c, a]
    set_nodes(run, c, node, e, s)
    left = end_gap_of(run, c, low, tx, ty, h)
    work.closing[c] = stabilisation_velocity(method, True, left, h)


@kernel
def lean_to_middle(tangent: Floats, x: float, y: float) -> bool:
    """Turn a tangent halfway to that at the start of a step, unless it turned back."""
    x, y = tangent[0] + x, tangent[1] + y
    length = np.sqrt(x * x + y * y)
    if length < TURNED_BACK:
        return False
    tangent[0], tangent[1] = x / length, y / length
    return True


@kernel
def bin_edges(run: Run, margin: float) -> tuple[float, float]:
    """Put the edges into cells by their middles; the size of a cell, and of an edge."""
    model, state, work = run.model, run.state, run.work
    edge = model.element.edge
    longest = 0.0
    for e in range(len(edge)):
        j, k = edge[e, 0], edge[e, 1]
        x, y = state.x[k, 0] - state.x[j, 0], state.x[k, 1] - state.x[j, 1]
        longest = max(longest, x * x + y * y)
    longest = np.sqrt(longest)
    size = 0.5 * longest + margin
    work.head[:] = EMPTY
    for e in range(len(edge)):
        x, y = middle_of(run, e)
        at = cell(int(np.floor(x / size)), int(np.floor(y / size)), len(work.head))
        work.next[e] = work.head[at]
        work.head[at] = e
    return size, longest


@kernel
def middle_of(run: Run, e: int) -> tuple[float, float]:
    model, state = run.model, run.state
    j, k = model.element.edge[e, 0], model.element.edge[e, 1]
    x, y = state.x[j, 0] + state.x[k, 0], state.x[j, 1] + state.x[k, 1]
    return 0.5 * x, 0.5 * y


@kernel
def cell(a: int, b: int, cells: int) -> int:
    """Where in the table a cell of the grid stands; others may stand there too."""
    return (a * 73856093 + b * 19349663) % cells


@kernel
def is_own(model: RodModel, i: int, e: int) -> bool:
    """Whether an edge is near a node of the same rod."""
    touch = model.touch
    found = False
    for m in range(touch.first[i], touch.first[i + 1]):
        found = found or touch.own[m] == e
    return found


@kernel
def is_listed(work: Work, node: int, e: int) -> bool:
    if e == ON_GROUND:
        return bool(work.listed[node])
    c = work.of_edge[e]
    while c != EMPTY and work.who[c] != node:
        c = work.after[c]
    return bool(c != EMPTY)


@kernel
def is_duplicate_contact(run: Run, node: int, e: int, s: float) -> bool:
    """Whether a contact at an end of an edge is of two nodes that touch already.

    Two nodes that meet are four contacts: of each with both edges of the other.
    """
    model = run.model
    if node < 0 or e == ON_GROUND or CORNER < s < 1.0 - CORNER:
        return False
    other = model.element.edge[e, 0 if s < 0.5 else 1]
    return ends_at(run, node, other) or ends_at(run, other, node)


@kernel
def ends_at(run: Run, node: int, other: int) -> bool:
    """Whether a contact of a node with an edge stands at the other node, its end."""
    model, work = run.model, run.work
    touch, found = model.touch, False
    for m in range(touch.first[other], touch.first[other + 1]):
        c = work.of_edge[touch.own[m]]
        while c != EMPTY:
            near = 1 if work.weight[c, 1] < work.weight[c, 2] else 2
            corner = work.weight[c, near] <= CORNER - 1.0
            found = found or (
                work.who[c] == node and work.acts_on[c, near] == other and corner
            )
            c = work.after[c]
    return found


Found = tuple[int, float]  # contacts, and when the first that is not listed meets, s


@kernel
def find_edge_contacts(run: Run, count: int, h: float, uncut: bool) -> Found:
    """What passes through the ground or through edges in the step solved.

    As `contact_problem.find_contact_events`: the new count, and when the first of those
    that are too deep to be listed meets, or h.
    """
    model, state, work = run.model, run.state, run.work
    found, edge = (count, h), model.element.edge
    for i in range(len(state.x) if model.grounded else 0):
        if not work.listed[i]:
            found = land(run, i, ON_GROUND, found, h, uncut)
    for e in range(len(edge) if model.touch.ground else 0):
        low, s = edge_to_ground(model.relief, work.x, edge[e, 0], edge[e, 1])
        if low < 0.0 and 0.0 < s < 1.0:
            found = land(run, -1, e, found, h, uncut)
    if not model.touch.rods:
        return found
    motion = 0.0
    for i in range(len(state.x)):
        for a in range(2):
            motion = max(motion, abs(work.x[i, a] - state.x[i, a]))
    margin = model.touch.distance + 3.0 * motion
    size, longest = bin_edges(run, margin)
    reach = (0.5 * longest + margin) ** 2
    for i in range(len(state.x)):
        a, b = int(np.floor(state.x[i, 0] / size)), int(np.floor(state.x[i, 1] / size))
        for near in range(9):
            p, q = a + near // 3 - 1, b + near % 3 - 1
            e = work.head[cell(p, q, len(work.head))]
            while e != EMPTY:
                x, y = middle_of(run, e)
                own = int(np.floor(x / size)) == p and int(np.floor(y / size)) == q
                x, y = x - state.x[i, 0], y - state.x[i, 1]
                if own and x * x + y * y <= reach and not is_own(model, i, e):
                    if begins_to_cross(run, i, e):
                        work.memo.crossed = 1
                    found = land(run, i, e, found, h, uncut)
                e = work.next[e]
    return found


@kernel
def begins_to_cross(run: Run, i: int, e: int) -> bool:
    """Whether an edge near node i crosses edge e after the step, but not before.

    Contact of nodes with edges keeps them from it, but where nodes pass each other's
    corners by more than the step knows of.
    """
    model, state, work = run.model, run.state, run.work
    touch, edge = model.touch, model.element.edge
    found = False
    for m in range(touch.first[i], touch.first[i + 1]):
        f = touch.own[m]
        if not share_a_node(edge, f, e):
            crossed = edges_cross(work.x, edge[f], edge[e])
            found = found or (crossed and not edges_cross(state.x, edge[f], edge[e]))
    return found


@kernel
def land(run: Run, node: int, e: int, found: Found, h: float, uncut: bool) -> Found:
    """List a contact if it passes in the step; or tell when it meets."""
    model, work, (c, first) = run.model, run.work, found
    if not passes(run, node, e) or is_listed(work, node, e):
        return found
    if c >= len(work.friction):
        work.memo.full = 1
        return found
    low, s, tx, ty = spot(run, node, e, work.x)
    if is_duplicate_contact(run, node, e, s):
        return found
    set_nodes(run, c, node, e, s)
    still = True
    for a in range(work.node_count[c]):
        i = work.acts_on[c, a]
        still = still and model.held[i, 0] and model.held[i, 1]
    if still:
        return found
    end = end_gap_of(run, c, low, tx, ty, h)
    if abs(end) <= run.method.landing or uncut:
        list_contact(work, c, node, e, OPEN, STICK)
        return c + 1, first
    return c, min(first, meeting_time(run, model.touch, node, e, h))


@kernel
def passes(run: Run, i: int, e: int) -> bool:
    """Whether node i or its arc is too close at work.x, or has crossed edge e."""
    model, state, work = run.model, run.state, run.work
    if i < 0:
        return True
    if e == ON_GROUND:
        return lands_on_arc(run, i, lowest_place(model, work.x, i))
    j, k = model.element.edge[e, 0], model.element.edge[e, 1]
    if node_to_edge(state.x, work.x, i, j, k, model.touch.distance)[0] < 0.0:
        return True
    return crossing(state.x, work.x, i, j, k) <= 1.0


@kernel
def at_time(run: Run, i: int, s: float, h: float) -> None:
    """Where node i is at time s of the path that Newmark's rule takes, in work.r."""
    state, work = run.state, run.work
    w = 0.5 * s * s / h
    for a in range(2):
        gained = work.v[i, a] - state.v[i, a]
        work.r[i, a] = state.x[i, a] + s * state.v[i, a] + w * gained


@kernel
def meeting_time(
    run: Run, touch: EdgeContacts | None, node: int, e: int, h: float
) -> float:
    """When a contact is first met, s, by bisection; spoils work.r.

    Of a node or its arc with the ground where e is `ON_GROUND`, else of edge e.
    """
    model, work = run.model, run.work
    low, high = 0.0, h
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        if node >= 0:
            at_time(run, node, s, h)
        off = 0.0
        if touch is None:
            off = gap(model.relief, work.r[node, 0], work.r[node, 1])
        else:
            off = gap_at(run, node, e, s, h)
        if off < 0.0:
            high = s
        else:
            low = s
    return high


@kernel
def gap_at(run: Run, node: int, e: int, s: float, h: float) -> float:
    """The gap of a contact at time s, with work.r of its node, m."""
    model, work = run.model, run.work
    if e == ON_GROUND:
        ends = model.touch.before[node], model.touch.after[node]
    else:
        ends = model.element.edge[e, 0], model.element.edge[e, 1]
    for i in ends:
        if i >= 0:
            at_time(run, i, s, h)
    if e != ON_GROUND:
        return spot(run, node, e, work.r)[0]
    place = lowest_place(model, work.r, node)
    reach = own_reach(model, node, place)
    return arc_gap(model, work.r, node, min(max(place, -reach), reach))[0]


ITERATIONS = 4  # of Newton's method for the lowest point, one above a plane
OWN = 0.5  # of an edge, how far a node's arc reaches
REACH = 1.5  # of an edge, how far it is extended in a step
NEAR_END = 0.05  # of an edge, from the end of an arc, where the next is not listed too


@kernel
def lowest_place(model: RodModel, x: Floats, i: int) -> float:
    """s of the lowest point above the ground of the arc of node i, extended."""
    j, k = model.touch.before[i], model.touch.after[i]
    if j < 0:
        return 0.0
    ax, ay = 0.5 * (x[k, 0] - x[j, 0]), 0.5 * (x[k, 1] - x[j, 1])
    bx, by = 0.5 * (x[j, 0] + x[k, 0]) - x[i, 0], 0.5 * (x[j, 1] + x[k, 1]) - x[i, 1]
    s, flat = 0.0, model.touch.flat
    for _ in range(ITERATIONS):
        px, along = x[i, 0] + s * (ax + s * bx), ax + 2.0 * s * bx
        slope = surface(model.relief, px)[1]
        hollow = 0.5 * bend(model.relief, px) * along * along
        a, b = ay - slope * ax + 2.0 * s * hollow, by - slope * bx - hollow
        s = -0.5 * a * b / (b * b + flat * flat) if b > 0.0 else 0.0
        s = min(max(s, -REACH), REACH)
    return s


@kernel
def own_reach(model: RodModel, i: int, s: float) -> float:
    """How far the arc of node i is its own on the side of s."""
    n = model.touch.after[i] if s > 0.0 else model.touch.before[i]
    return OWN if n >= 0 and model.touch.before[n] >= 0 else 1.0


@kernel
def weights(model: RodModel, i: int, s: float) -> tuple[float, float, float]:
    """How much the point s of an arc moves with the node before, its own and after."""
    if model.touch.before[i] < 0:
        return 0.0, 1.0, 0.0
    return 0.5 * s * (s - 1.0), 1.0 - s * s, 0.5 * s * (s + 1.0)


@kernel
def arc_gap(model: RodModel, x: Floats, i: int, s: float) -> tuple[float, float]:
    """How far the point s of the arc of node i is above the ground, m; its x, m."""
    j, k = model.touch.before[i], model.touch.after[i]
    before, own, after = weights(model, i, s)
    px = before * x[j, 0] + own * x[i, 0] + after * x[k, 0]
    py = before * x[j, 1] + own * x[i, 1] + after * x[k, 1]
    return gap(model.relief, px, py), px


@kernel
def lands_on_arc(run: Run, i: int, s: float) -> bool:
    """Whether the lowest point s of the arc of node i is its own and in the ground."""
    model, work = run.model, run.work
    if abs(s) > own_reach(model, i, s) or arc_gap(model, work.x, i, s)[0] >= 0.0:
        return False
    return not is_handed_on(run, i)


@kernel
def is_handed_on(run: Run, i: int) -> bool:
    """Whether a contact of a neighbour has rolled onto the arc of node i."""
    model, work = run.model, run.work
    j, k = model.touch.before[i], model.touch.after[i]
    found = False
    for n in (j, k):
        if n >= 0 and work.listed[n]:
            s = lowest_place(model, work.x, n)
            towards = s if model.touch.after[n] == i else -s
            found = found or towards > OWN - NEAR_END
    return found


@kernel
def transfer_contact(run: Run, c: int, count: int) -> None:
    """Let contact c be that of the node on whose arc it is at work.x, if none is."""
    model, work = run.model, run.work
    i = work.who[c]
    s = lowest_place(model, work.x, i)
    if abs(s) <= OWN:
        return
    n = model.touch.after[i] if s > 0.0 else model.touch.before[i]
    free = model.touch.before[n] >= 0
    for other in range(count):
        free = free and (work.edge[other] != ON_GROUND or work.who[other] != n)
    if free:
        work.who[c] = n
