"""Which contacts there are in a step, and their Delassus matrix.

With A = L D L^T and G the rows of the contact velocities, the columns Y = L^-1 G^T are
filled only along paths of the elimination tree, and

    W = G A^-1 G^T = Y^T D^-1 Y,     G A^-1 r = Y^T D^-1 L^-1 r,

so that one forward and one backward substitution serve the whole iteration. There is
a pair of columns for each node that a contact acts on: one, for a node on the ground.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import inlined, kernel
from sim.rod.contact.coulomb import (
    OPEN,
    STICK,
    coulomb,
    kept_friction,
    residual,
    velocities,
)
from sim.rod.contact.ground import gap, surface
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.blocks import unit_forward, weighted_product
from sim.rod.stepping.arcs import (
    ON_GROUND,
    arc_gap,
    find_arcs,
    hand_over,
    lowest_place,
    place_arc,
)
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.touches import (
    SOFTER,
    SOFTNESS,
    closed_pairs,
    closing,
    find_touches,
    pair_gap,
    place_pair,
)
from sim.rod.stepping.workspace import Work


@kernel
def closed_contacts(
    setting: Setting, touch: TouchSetting | None, state: RodState, work: Work
) -> int:
    """List the contacts that were closed at the end of the last step."""
    count = 0
    for i in range(len(state.contact)):
        if state.contact[i] != OPEN:
            list_node(work, count, i, state.contact[i], state.contact[i])
            count += 1
    if touch is not None:
        count = closed_pairs(setting, state, work, count)
    return count


@kernel
def list_node(work: Work, c: int, i: int, was: int, now: int) -> None:
    """List a contact of node i with the ground."""
    work.who[c], work.edge[c] = i, ON_GROUND
    work.arms[c], work.arm[c, 0] = 1, i
    work.lever[c, 0], work.share[c, 0] = 1.0, 1.0
    work.was[c], work.state[c] = was, now


@kernel
def gather_nodes(work: Work, count: int) -> None:
    """List the nodes that contacts act on, each once."""
    nodes = 0
    for c in range(count):
        for a in range(work.arms[c]):
            i = work.arm[c, a]
            if work.place[i] < 0:
                work.place[i] = nodes
                work.node[nodes] = i
                nodes += 1
            work.slot[c, a] = work.place[i]
    for s in range(nodes):
        work.place[work.node[s]] = -1
    work.memo.nodes = nodes


@kernel
def end_gap(
    setting: Setting, scheme: Scheme, state: RodState, i: int, end: float, h: float
) -> tuple[float, float, float]:
    """The gap of node i at the end of a step in which its normal velocity vanishes.

    Also the tangent of the ground there, where the node is expected at x = `end`.
    """
    x, y = state.x[i, 0], state.x[i, 1]
    vx, vy = state.v[i, 0], state.v[i, 1]
    slope = surface(setting.relief, end)[1]
    tx = 1.0 / np.sqrt(1.0 + slope * slope)
    ty = slope * tx
    along = vx * tx + vy * ty
    x += h * ((1.0 - scheme.gamma) * vx + scheme.gamma * along * tx)
    y += h * ((1.0 - scheme.gamma) * vy + scheme.gamma * along * ty)
    return gap(setting.relief, x, y), tx, ty


@kernel
def place_frames(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> None:
    """Tangents of the contacts for this step, and the velocity that closes the gap.

    The ends are those of the guess in work.v, or of the iterate before more nodes were
    found to land.
    """
    g = scheme.gamma
    if touch is not None:
        for i in range(len(work.x)):
            for a in range(2):
                mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
                work.x[i, a] = state.x[i, a] + h * mean
    for c in range(count):
        if touch is not None and work.edge[c] != ON_GROUND:
            place_pair(setting, scheme, state, work, c, h)
            continue
        if touch is not None and touch.arcs:
            place_arc(setting, scheme, state, work, c, count, h)
            continue
        i = work.who[c]
        end = state.x[i, 0] + h * ((1.0 - g) * state.v[i, 0] + g * work.v[i, 0])
        left, tx, ty = end_gap(setting, scheme, state, i, end, h)
        work.frame[c, 0], work.frame[c, 1] = tx, ty
        work.push[c] = closing(scheme, touch is not None, left, h)
        work.middle[c, 0], work.middle[c, 1] = tx, ty
        slope = surface(setting.relief, state.x[i, 0])[1]
        if state.contact[i] != OPEN and scheme.gamma < 1.0 and slope * tx != ty:
            lean_to_middle(work.middle[c], slope)
    gather_nodes(work, count)


@kernel
def lean_to_middle(tangent: Floats, slope: float) -> None:
    """Turn the tangent at the end of a step halfway to that at its start.

    A contact that slides from one tangent to the other has a mean velocity along the
    one halfway: an impulse across it does no work, so that curved ground takes no
    energy. An impulse across the tangent at the end would take (curvature v h)^2 / 2
    of it in each step.
    """
    t0 = 1.0 / np.sqrt(1.0 + slope * slope)
    x, y = tangent[0] + t0, tangent[1] + slope * t0
    length = np.sqrt(x * x + y * y)
    tangent[0], tangent[1] = x / length, y / length


@kernel
def fill_columns(setting: Setting, state: RodState, work: Work) -> None:
    """Columns Y and the Delassus matrix by coordinates, where not yet known."""
    pattern, factor, count = setting.pattern, state.factor, work.memo.nodes
    same = work.memo.count == count
    for c in range(count):
        same = same and work.known[c] == work.node[c]
    if same:
        return
    for c in range(count):
        column = pattern.place[work.node[c]]
        work.known[c] = work.node[c]
        for axis in range(2):
            unit_forward(pattern, factor, column, axis, work.columns[2 * c + axis])
        for a in range(2 * c + 2):
            for b in range(2 * c, 2 * c + 2):
                value = weighted_product(
                    pattern, factor, column, work.columns[b], work.columns[a]
                )
                work.xy[a, b] = value
                work.xy[b, a] = value
    work.memo.count = count


@kernel
def turn_to_frames(work: Work, count: int) -> None:
    """W by (normal, tangential) from the matrix by (x, y).

    Velocities are those along `frame`, impulses those along `middle`.
    """
    for a in range(count):
        tx, ty = work.frame[a, 0], work.frame[a, 1]
        for b in range(count):
            sx, sy = work.middle[b, 0], work.middle[b, 1]
            xx, xy, yx, yy = by_coordinates(work, a, b)
            nx, ny = -ty * xx + tx * yx, -ty * xy + tx * yy
            ux, uy = tx * xx + ty * yx, tx * xy + ty * yy
            work.W[2 * a, 2 * b] = -nx * sy + ny * sx
            work.W[2 * a, 2 * b + 1] = nx * sx + ny * sy
            work.W[2 * a + 1, 2 * b] = -ux * sy + uy * sx
            work.W[2 * a + 1, 2 * b + 1] = ux * sx + uy * sy


@kernel
def solve_coulomb(setting: Setting, scheme: Scheme, work: Work, count: int) -> float:
    """Impulses by the exact law; the residual, m/s.

    Contacts of edges that say the same twice leave the law without a unique solution.
    So each gives way by a little of what its own impulse moves it.
    """
    size = 2 * count
    b, p, W = work.b[:size], work.p[:size], work.W[:size, :size]
    before, left = 0.0, np.inf
    for times in SOFTER:
        soft = SOFTNESS * times
        pairs = 0
        for c in range(count):
            if work.edge[c] != ON_GROUND:
                pairs += 1
                for i in range(2 * c, 2 * c + 2):
                    W[i, i] *= (1.0 + soft) / (1.0 + before)
        left = coulomb(W, b, setting.mu, work.state[:count], p, work.space)
        before = soft
        if pairs == 0 or left <= scheme.complementarity:
            break
    return left


@kernel
def by_coordinates(work: Work, a: int, b: int) -> tuple[float, float, float, float]:
    """The velocities of contact a that impulses of contact b make along x and y."""
    xx, xy, yx, yy = 0.0, 0.0, 0.0, 0.0
    for m in range(work.arms[a]):
        p = 2 * work.slot[a, m]
        for n in range(work.arms[b]):
            q, weight = 2 * work.slot[b, n], work.lever[a, m] * work.share[b, n]
            xx += weight * work.xy[p, q]
            xy += weight * work.xy[p, q + 1]
            yx += weight * work.xy[p + 1, q]
            yy += weight * work.xy[p + 1, q + 1]
    return xx, xy, yx, yy


@kernel
def free_velocities(setting: Setting, state: RodState, work: Work) -> None:
    """Those of the nodes that contacts act on, without impulses."""
    pattern, factor = setting.pattern, state.factor
    for s in range(work.memo.nodes):
        i = work.node[s]
        for a in range(2):
            gained = weighted_product(
                pattern, factor, pattern.place[i], work.columns[2 * s + a], work.z
            )
            work.free[2 * s + a] = work.v[i, a] + gained


@inlined
def add_impulses(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, count: int
) -> float:
    """Solve the contact problem for work.z = L^-1 (-r), and add its impulses to z.

    Returns the residual of the contact problem, m/s.
    """
    fill_columns(setting, state, work)
    turn_to_frames(work, count)
    size = 2 * count
    b, p, W = work.b[:size], work.p[:size], work.W[:size, :size]
    free_velocities(setting, state, work)
    for c in range(count):
        ux, uy = 0.0, 0.0
        for a in range(work.arms[c]):
            s = 2 * work.slot[c, a]
            ux += work.lever[c, a] * work.free[s]
            uy += work.lever[c, a] * work.free[s + 1]
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        b[2 * c] = -ty * ux + tx * uy + work.push[c]
        b[2 * c + 1] = tx * ux + ty * uy
    if scheme.exact:
        left = solve_coulomb(setting, scheme, work, count)
    else:
        kept_friction(W, b, work.state[:count], p, work.friction, work.space)
        velocities(W, b, p, work.space.u)
        left = residual(W, work.space.u, setting.mu, p)
    _spread(setting, work, count)
    return left


@kernel
def _spread(setting: Setting, work: Work, count: int) -> None:
    """Impulses by coordinates, and z += Y p along the paths of the contacts."""
    work.impulse[:] = 0.0
    pattern = setting.pattern
    for c in range(count):
        tx, ty = work.middle[c, 0], work.middle[c, 1]
        p_n, p_t = work.p[2 * c], work.p[2 * c + 1]
        px, py = -ty * p_n + tx * p_t, tx * p_n + ty * p_t
        for a in range(work.arms[c]):
            work.impulse[work.arm[c, a], 0] += work.share[c, a] * px
            work.impulse[work.arm[c, a], 1] += work.share[c, a] * py
    for s in range(work.memo.nodes):
        i = work.node[s]
        px, py = work.impulse[i, 0], work.impulse[i, 1]
        first, second = work.columns[2 * s], work.columns[2 * s + 1]
        j = pattern.place[i]
        while j >= 0:
            work.z[j, 0] += first[j, 0] * px + second[j, 0] * py
            work.z[j, 1] += first[j, 1] * px + second[j, 1] * py
            begin, end = pattern.start[j], pattern.start[j + 1]
            j = pattern.row[begin] if end > begin else -1


@kernel
def landing_time(
    setting: Setting, state: RodState, work: Work, i: int, h: float
) -> float:
    """When node i first meets the ground on the path of the step, by bisection.

    The path is x + s v + s^2 (v1 - v) / 2h, the one whose end Newmark's rule takes.
    """
    low, high = 0.0, h
    for _ in range(40):
        s = 0.5 * (low + high)
        w = 0.5 * s * s / h
        x = state.x[i, 0] + s * state.v[i, 0] + w * (work.v[i, 0] - state.v[i, 0])
        y = state.x[i, 1] + s * state.v[i, 1] + w * (work.v[i, 1] - state.v[i, 1])
        if gap(setting.relief, x, y) < 0.0:
            high = s
        else:
            low = s
    return high


@kernel
def find_landings(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
    uncut: bool,
) -> tuple[int, float]:
    """What passes through the ground or through edges in the step just solved.

    Those that would land within `landing` of the ground, or all if `uncut`, are listed
    as sticking contacts after the present `count`. Returns the new count, and the
    earliest time at which one of the others meets the ground, or h.
    """
    first = h
    listed = count
    work.listed[:] = False
    for c in range(count):
        if work.edge[c] == ON_GROUND:
            work.listed[work.who[c]] = True
    nodes = len(state.contact) if setting.grounded else 0
    if touch is not None and touch.arcs:
        listed, first = find_arcs(setting, scheme, state, work, listed, h, uncut)
        nodes = 0
    for i in range(nodes):
        if gap(setting.relief, work.x[i, 0], work.x[i, 1]) >= 0.0:
            continue
        if work.listed[i] or (setting.held[i, 0] and setting.held[i, 1]):
            continue
        end = end_gap(setting, scheme, state, i, work.x[i, 0], h)[0]
        if abs(end) <= scheme.landing or uncut:
            list_node(work, listed, i, OPEN, STICK)
            listed += 1
        elif gap(setting.relief, state.x[i, 0], state.x[i, 1]) <= 0.0:
            first = 0.0
        else:
            first = min(first, landing_time(setting, state, work, i, h))
    if touch is not None:
        listed, met = find_touches(setting, scheme, state, work, listed, h, uncut)
        first = min(first, met)
    return listed, first


@kernel
def contact_gap(
    setting: Setting,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
) -> float:
    """How far a contact ends open or deep, or one that has opened deep.

    The largest, m; what is not listed ends apart.
    """
    largest = 0.0
    if touch is not None:
        largest = pair_gap(setting, state, work, count)
    for c in range(count):
        if work.edge[c] != ON_GROUND:
            continue
        i = work.who[c]
        off = gap(setting.relief, work.x[i, 0], work.x[i, 1])
        if touch is not None and touch.arcs:
            s = lowest_place(setting, work.x, i)
            off = arc_gap(setting, work.x, i, s)[0]
        largest = max(largest, -off if work.state[c] == OPEN else abs(off))
    return largest


@kernel
def keep_contacts(
    setting: Setting,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
) -> None:
    """Write the states of the contacts with the ground into the state of the rod."""
    state.contact[:] = OPEN
    for c in range(count):
        if work.edge[c] == ON_GROUND:
            if touch is not None and touch.arcs:
                hand_over(setting, work, c, count)
            state.contact[work.who[c]] = work.state[c]
