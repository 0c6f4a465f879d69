"""Which nodes touch the ground in a step, and their Delassus matrix.

With A = L D L^T and G the rows of the contact velocities, the columns Y = L^-1 G^T are
filled only along paths of the elimination tree, and

    W = G A^-1 G^T = Y^T D^-1 Y,     G A^-1 r = Y^T D^-1 L^-1 r,

so that one forward and one backward substitution serve the whole iteration.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.compiled import inner, spine
from sim.rod.contact.coulomb import (
    OPEN,
    STICK,
    coulomb,
    kept_friction,
    residual,
    velocities,
)
from sim.rod.contact.ground import gap, surface
from sim.rod.energy.blocks import unit_forward, weighted_product
from sim.rod.stepping.state import RodState, Scheme, Setting, Work


@inner
def closed_contacts(state: RodState, work: Work) -> int:
    """List the nodes that were in contact at the end of the last step."""
    count = 0
    for i in range(len(state.contact)):
        if state.contact[i] != OPEN:
            work.who[count] = i
            work.state[count] = state.contact[i]
            count += 1
    return count


@inner
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


@inner
def place_frames(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, count: int, h: float
) -> None:
    """Tangents of the contacts for this step, and the velocity that closes the gap.

    The ends are those of the guess in work.v, or of the iterate before more nodes were
    found to land.
    """
    g = scheme.gamma
    for c in range(count):
        i = work.who[c]
        end = state.x[i, 0] + h * ((1.0 - g) * state.v[i, 0] + g * work.v[i, 0])
        left, tx, ty = end_gap(setting, scheme, state, i, end, h)
        work.frame[c, 0], work.frame[c, 1] = tx, ty
        work.push[c] = scheme.closing * left / h
        work.middle[c, 0], work.middle[c, 1] = tx, ty
        slope = surface(setting.relief, state.x[i, 0])[1]
        if state.contact[i] != OPEN and scheme.gamma < 1.0 and slope * tx != ty:
            lean_to_middle(work.middle[c], slope)


@inner
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


@inner
def fill_columns(setting: Setting, state: RodState, work: Work, count: int) -> None:
    """Columns Y and the Delassus matrix by coordinates, where not yet known."""
    pattern, factor = setting.pattern, state.factor
    same = work.memo.count == count
    for c in range(count):
        same = same and work.known[c] == work.who[c]
    if same:
        return
    for c in range(count):
        column = pattern.place[work.who[c]]
        work.known[c] = work.who[c]
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


@inner
def turn_to_frames(work: Work, count: int) -> None:
    """W by (normal, tangential) from the matrix by (x, y).

    Velocities are those along `frame`, impulses those along `middle`.
    """
    for a in range(count):
        tx, ty = work.frame[a, 0], work.frame[a, 1]
        for b in range(count):
            sx, sy = work.middle[b, 0], work.middle[b, 1]
            xx, xy = work.xy[2 * a, 2 * b], work.xy[2 * a, 2 * b + 1]
            yx, yy = work.xy[2 * a + 1, 2 * b], work.xy[2 * a + 1, 2 * b + 1]
            nx, ny = -ty * xx + tx * yx, -ty * xy + tx * yy
            ux, uy = tx * xx + ty * yx, tx * xy + ty * yy
            work.W[2 * a, 2 * b] = -nx * sy + ny * sx
            work.W[2 * a, 2 * b + 1] = nx * sx + ny * sy
            work.W[2 * a + 1, 2 * b] = -ux * sy + uy * sx
            work.W[2 * a + 1, 2 * b + 1] = ux * sx + uy * sy


@spine
def add_impulses(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, count: int
) -> float:
    """Solve the contact problem for work.z = L^-1 (-r), and add its impulses to z.

    Returns the residual of the contact problem, m/s.
    """
    fill_columns(setting, state, work, count)
    turn_to_frames(work, count)
    size = 2 * count
    b, p, W = work.b[:size], work.p[:size], work.W[:size, :size]
    for c in range(count):
        i = work.who[c]
        column = setting.pattern.place[i]
        first, second = work.columns[2 * c], work.columns[2 * c + 1]
        pattern, factor = setting.pattern, state.factor
        ux = work.v[i, 0] + weighted_product(pattern, factor, column, first, work.z)
        uy = work.v[i, 1] + weighted_product(pattern, factor, column, second, work.z)
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        b[2 * c] = -ty * ux + tx * uy + work.push[c]
        b[2 * c + 1] = tx * ux + ty * uy
    if scheme.exact:
        left = coulomb(W, b, setting.mu, work.state[:count], p, work.space)
    else:
        kept_friction(W, b, work.state[:count], p, work.friction, work.space)
        velocities(W, b, p, work.space.u)
        left = residual(W, work.space.u, setting.mu, p)
    _spread(setting, work, count)
    return left


@inner
def _spread(setting: Setting, work: Work, count: int) -> None:
    """Impulses by coordinates, and z += Y p along the paths of the contacts."""
    work.impulse[:] = 0.0
    pattern = setting.pattern
    for c in range(count):
        tx, ty = work.middle[c, 0], work.middle[c, 1]
        p_n, p_t = work.p[2 * c], work.p[2 * c + 1]
        px, py = -ty * p_n + tx * p_t, tx * p_n + ty * p_t
        work.impulse[work.who[c], 0] = px
        work.impulse[work.who[c], 1] = py
        first, second = work.columns[2 * c], work.columns[2 * c + 1]
        j = pattern.place[work.who[c]]
        while j >= 0:
            work.z[j, 0] += first[j, 0] * px + second[j, 0] * py
            work.z[j, 1] += first[j, 1] * px + second[j, 1] * py
            begin, end = pattern.start[j], pattern.start[j + 1]
            j = pattern.row[begin] if end > begin else -1


@inner
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


@inner
def find_landings(
    setting: Setting,
    scheme: Scheme,
    state: RodState,
    work: Work,
    count: int,
    h: float,
    uncut: bool,
) -> tuple[int, float]:
    """Nodes that pass through the ground in the step just solved.

    Those that would land within `landing` of the ground, or all if `uncut`, are listed
    as sticking contacts after the present `count`. Returns the new count, and the
    earliest time at which one of the others meets the ground, or h.
    """
    first = h
    listed = count
    work.listed[:] = False
    for c in range(count):
        work.listed[work.who[c]] = True
    for i in range(len(state.contact)):
        if gap(setting.relief, work.x[i, 0], work.x[i, 1]) >= 0.0:
            continue
        if work.listed[i] or (setting.held[i, 0] and setting.held[i, 1]):
            continue
        end = end_gap(setting, scheme, state, i, work.x[i, 0], h)[0]
        if abs(end) <= scheme.landing or uncut:
            work.who[listed] = i
            work.state[listed] = STICK
            listed += 1
        elif gap(setting.relief, state.x[i, 0], state.x[i, 1]) <= 0.0:
            first = 0.0
        else:
            first = min(first, landing_time(setting, state, work, i, h))
    return listed, first


@inner
def contact_gap(setting: Setting, work: Work, count: int) -> float:
    """How far a contact ends above or below the ground, or a node that left below it.

    The largest, m; nodes that are not listed end above the ground.
    """
    largest = 0.0
    for c in range(count):
        i = work.who[c]
        off = gap(setting.relief, work.x[i, 0], work.x[i, 1])
        largest = max(largest, -off if work.state[c] == OPEN else abs(off))
    return largest


@inner
def keep_contacts(state: RodState, work: Work, count: int) -> None:
    """Write the states of the contacts into the state of the nodes."""
    state.contact[:] = OPEN
    for c in range(count):
        state.contact[work.who[c]] = work.state[c]
