"""Which contacts there are in a step, and their Delassus matrix.

With A = L D L^T and G the rows of the contact velocities, the columns Y = L^-1 G^T are
filled only along paths of the elimination tree, and

    W = G A^-1 G^T = Y^T D^-1 Y,     G A^-1 r = Y^T D^-1 L^-1 r,

so that one forward and one backward substitution serve the whole iteration. There is
a pair of columns for each node that a contact acts on: one, for a node on the ground.
"""

import numpy as np

from sim.core.numba_kernels import inlined, kernel
from sim.rods.plane.block_factorisation import unit_forward, weighted_product
from sim.rods.plane.contact_geometry import EdgeContacts
from sim.rods.plane.contact_impulses import (
    OPEN,
    STICK,
    coulomb,
    fixed_friction,
    residual,
    take_diagonal,
    velocities,
)
from sim.rods.plane.edge_contact import (
    COMPLIANCE,
    COMPLIANCE_FACTORS,
    ON_GROUND,
    closed_pairs,
    find_edge_contacts,
    lean_to_middle,
    list_contact,
    meeting_time,
    place_contact,
    spot,
    stabilisation_velocity,
    transfer_contact,
)
from sim.rods.plane.ground import gap, surface
from sim.rods.plane.state import Run, Work


@kernel
def closed_contacts(run: Run, touch: EdgeContacts | None) -> int:
    """List the contacts that were closed at the end of the last step."""
    state, work = run.state, run.work
    count = 0
    for i in range(len(state.contact)):
        if state.contact[i] != OPEN:
            how = state.contact[i]
            list_contact(work, count, i, ON_GROUND, how, how)
            count += 1
    if touch is not None:
        count = closed_pairs(run, count)
    return count


@kernel
def gather_nodes(work: Work, count: int) -> None:
    """List the nodes that contacts act on, each once."""
    nodes = 0
    for c in range(count):
        for a in range(work.node_count[c]):
            i = work.acts_on[c, a]
            if work.place[i] < 0:
                work.place[i] = nodes
                work.node[nodes] = i
                nodes += 1
            work.slot[c, a] = work.place[i]
    for s in range(nodes):
        work.place[work.node[s]] = -1
    work.memo.nodes = nodes


@kernel
def end_gap(run: Run, i: int, end: float, h: float) -> tuple[float, float, float]:
    """The gap of node i at the end of a step in which its normal velocity vanishes.

    Also the tangent of the ground there, where the node is expected at x = `end`.
    """
    model, method, state = run.model, run.method, run.state
    x, y = state.x[i, 0], state.x[i, 1]
    vx, vy = state.v[i, 0], state.v[i, 1]
    slope = surface(model.relief, end)[1]
    tx = 1.0 / np.sqrt(1.0 + slope * slope)
    ty = slope * tx
    along = vx * tx + vy * ty
    x += h * ((1.0 - method.gamma) * vx + method.gamma * along * tx)
    y += h * ((1.0 - method.gamma) * vy + method.gamma * along * ty)
    return gap(model.relief, x, y), tx, ty


@kernel
def place_frames(run: Run, touch: EdgeContacts | None, count: int, h: float) -> None:
    """Tangents of the contacts for this step, and the velocity that closes the gap.

    The ends are those of the guess in work.v, or of the iterate before more nodes were
    found to land.
    """
    model, method, state, work = run.model, run.method, run.state, run.work
    g = method.gamma
    if touch is not None:
        for i in range(len(work.x)):
            for a in range(2):
                mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
                work.x[i, a] = state.x[i, a] + h * mean
    for c in range(count):
        if touch is not None:
            place_contact(run, c, count, h)
            continue
        i = work.who[c]
        end = state.x[i, 0] + h * ((1.0 - g) * state.v[i, 0] + g * work.v[i, 0])
        left, tx, ty = end_gap(run, i, end, h)
        work.frame[c, 0], work.frame[c, 1] = tx, ty
        work.closing[c] = stabilisation_velocity(method, False, left, h)
        work.middle[c, 0], work.middle[c, 1] = tx, ty
        slope = surface(model.relief, state.x[i, 0])[1]
        if state.contact[i] != OPEN and method.gamma < 1.0 and slope * tx != ty:
            x = 1.0 / np.sqrt(1.0 + slope * slope)
            lean_to_middle(work.middle[c], x, slope * x)
    gather_nodes(work, count)


@kernel
def fill_columns(run: Run) -> None:
    """Columns Y and the Delassus matrix by coordinates, where not yet known."""
    model, state, work = run.model, run.state, run.work
    pattern, factor, count = model.pattern, state.factor, work.memo.nodes
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
def solve_coulomb(run: Run, count: int) -> float:
    """Impulses by the exact law; the residual, m/s.

    Contacts of edges that say the same twice leave the law without a unique solution.
    So each gives way by a little of what its own impulse moves it.
    """
    model, method, work = run.model, run.method, run.work
    size = 2 * count
    b, p, W = work.b[:size], work.p[:size], work.W[:size, :size]
    before, left = 0.0, np.inf
    for times in COMPLIANCE_FACTORS:
        soft = COMPLIANCE * times
        pairs = 0
        for c in range(count):
            if work.edge[c] != ON_GROUND:
                pairs += 1
                for i in range(2 * c, 2 * c + 2):
                    W[i, i] *= (1.0 + soft) / (1.0 + before)
        left = coulomb(W, b, model.mu, work.state[:count], p, work.space)
        before = soft
        if pairs == 0 or left <= method.complementarity:
            break
    return left


@kernel
def by_coordinates(work: Work, a: int, b: int) -> tuple[float, float, float, float]:
    """The velocities of contact a that impulses of contact b make along x and y."""
    xx, xy, yx, yy = 0.0, 0.0, 0.0, 0.0
    for m in range(work.node_count[a]):
        p = 2 * work.slot[a, m]
        for n in range(work.node_count[b]):
            q, weight = (
                2 * work.slot[b, n],
                work.weight[a, m] * work.push_weight[b, n],
            )
            xx += weight * work.xy[p, q]
            xy += weight * work.xy[p, q + 1]
            yx += weight * work.xy[p + 1, q]
            yy += weight * work.xy[p + 1, q + 1]
    return xx, xy, yx, yy


@kernel
def free_velocities(run: Run) -> None:
    """Those of the nodes that contacts act on, without impulses."""
    model, state, work = run.model, run.state, run.work
    pattern, factor = model.pattern, state.factor
    for s in range(work.memo.nodes):
        i = work.node[s]
        for a in range(2):
            gained = weighted_product(
                pattern, factor, pattern.place[i], work.columns[2 * s + a], work.z
            )
            work.free[2 * s + a] = work.v[i, a] + gained


@inlined
def add_impulses(run: Run, count: int) -> float:
    """Solve the contact problem for work.z = L^-1 (-r), and add its impulses to z.

    Returns the residual of the contact problem, m/s.
    """
    model, method, work = run.model, run.method, run.work
    fill_columns(run)
    turn_to_frames(work, count)
    size = 2 * count
    b, p, W = work.b[:size], work.p[:size], work.W[:size, :size]
    free_velocities(run)
    for c in range(count):
        ux, uy = 0.0, 0.0
        for a in range(work.node_count[c]):
            s = 2 * work.slot[c, a]
            ux += work.weight[c, a] * work.free[s]
            uy += work.weight[c, a] * work.free[s + 1]
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        b[2 * c] = -ty * ux + tx * uy + work.closing[c]
        b[2 * c + 1] = tx * ux + ty * uy
    if method.exact:
        left = solve_coulomb(run, count)
    else:
        fixed_friction(W, b, work.state[:count], p, work.friction, work.space)
        velocities(W, b, p, work.space.u)
        take_diagonal(W, work.space.own)
        left = residual(work.space.own, work.space.u, model.mu, p)
    _spread(run, count)
    return left


@kernel
def _spread(run: Run, count: int) -> None:
    """Impulses by coordinates, and z += Y p along the paths of the contacts."""
    model, work = run.model, run.work
    work.impulse[:] = 0.0
    pattern = model.pattern
    for c in range(count):
        tx, ty = work.middle[c, 0], work.middle[c, 1]
        p_n, p_t = work.p[2 * c], work.p[2 * c + 1]
        px, py = -ty * p_n + tx * p_t, tx * p_n + ty * p_t
        for a in range(work.node_count[c]):
            work.impulse[work.acts_on[c, a], 0] += work.push_weight[c, a] * px
            work.impulse[work.acts_on[c, a], 1] += work.push_weight[c, a] * py
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
def find_contact_events(
    run: Run, touch: EdgeContacts | None, count: int, h: float, uncut: bool
) -> tuple[int, float]:
    """What passes through the ground or through edges in the step just solved.

    Those that would land within `landing` of the ground, or all if `uncut`, are listed
    as sticking contacts after the present `count`. Returns the new count, and the
    earliest time at which one of the others meets the ground, or h.
    """
    model, method, state, work = run.model, run.method, run.state, run.work
    work.listed[:] = False
    for c in range(count):
        if work.edge[c] == ON_GROUND:
            work.listed[work.who[c]] = True
    if touch is not None:
        return find_edge_contacts(run, count, h, uncut)
    listed, first = count, h
    for i in range(len(state.contact) if model.grounded else 0):
        if work.listed[i] or (model.held[i, 0] and model.held[i, 1]):
            continue
        if gap(model.relief, work.x[i, 0], work.x[i, 1]) >= 0.0:
            continue
        end = end_gap(run, i, work.x[i, 0], h)[0]
        if abs(end) <= method.landing or uncut:
            list_contact(work, listed, i, ON_GROUND, OPEN, STICK)
            listed += 1
        elif gap(model.relief, state.x[i, 0], state.x[i, 1]) <= 0.0:
            first = 0.0
        else:
            first = min(first, meeting_time(run, touch, i, ON_GROUND, h))
    return listed, first


@kernel
def contact_gap(run: Run, touch: EdgeContacts | None, count: int) -> float:
    """How far a contact ends open or deep, or one that has opened deep.

    The largest, m; what is not listed ends apart.
    """
    model, work = run.model, run.work
    largest = 0.0
    for c in range(count):
        i = work.who[c]
        if touch is not None:
            off = spot(run, i, work.edge[c], work.x)[0]
        else:
            off = gap(model.relief, work.x[i, 0], work.x[i, 1])
        largest = max(largest, -off if work.state[c] == OPEN else abs(off))
    return largest


@kernel
def keep_contacts(run: Run, touch: EdgeContacts | None, count: int) -> None:
    """Write the states of the contacts with the ground into the state of the rod."""
    state, work = run.state, run.work
    state.contact[:] = OPEN
    for c in range(count):
        if work.edge[c] == ON_GROUND:
            if touch is not None:
                transfer_contact(run, c, count)
            state.contact[work.who[c]] = work.state[c]
