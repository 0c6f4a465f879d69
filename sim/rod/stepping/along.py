"""Drag and loads of edges in a step, with the mean edge and velocity of the step.

With the edge e = (1 - gamma) e0 + gamma e1 of length l, and the velocity likewise,

    outer = w (F + f_t e + f_n Je) s    or    w (F + (f_t e + f_n Je) / l) s
    drag  = h (d_t t t^T + d_n (1 - t t^T)) v,    t = e / l

for a node that has the share w, with s of the step in which the load acts, and J a turn
by a right angle to the left. With gamma = 1/2 the work of a pressure on a closed rod is
then exactly that times the change of its area. Of their tangents the matrix of a step
has that of drag in v; how forces turn is not symmetric and left to the iteration.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import inlined, kernel
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work


@kernel
def overlap(window: Floats, time: float, h: float) -> float:
    """How long of the step from `time` the load acts, s."""
    return float(max(0.0, min(window[1], time + h) - max(window[0], time)))


@inlined
def find_edge_forces(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, h: float
) -> None:
    """Fill work.outer and work.drag, N s, for the end of the step in work.x, work.v."""
    along, g = setting.along, scheme.gamma
    if len(along.ends) == 0:
        return
    work.outer[:] = 0.0
    work.drag[:] = 0.0
    for k in range(len(along.ends)):
        tx, ty, length = mean_tangent(setting, scheme, state, work, k)
        acts = overlap(along.window[k], state.clock.time, h)
        size = acts * length if along.by_length[k] else acts
        ft, fn = size * along.force[k, 2], size * along.force[k, 3]
        fx = acts * along.force[k, 0] + ft * tx - fn * ty
        fy = acts * along.force[k, 1] + ft * ty + fn * tx
        dt, dn = h * along.drag[k, 0], h * along.drag[k, 1]
        for a in range(2):
            i, w = along.ends[k, a], along.share[k, a]
            vx = g * work.v[i, 0] + (1.0 - g) * state.v[i, 0]
            vy = g * work.v[i, 1] + (1.0 - g) * state.v[i, 1]
            slip = (dt - dn) * (tx * vx + ty * vy)
            work.outer[i, 0] += w * fx
            work.outer[i, 1] += w * fy
            work.drag[i, 0] += dn * vx + slip * tx
            work.drag[i, 1] += dn * vy + slip * ty


@inlined
def add_drag(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, h: float
) -> None:
    """A += h gamma (d_t t t^T + d_n (1 - t t^T)) on the diagonal of both ends."""
    along, place = setting.along, setting.pattern.place
    for k in range(len(along.ends)):
        tx, ty, _ = mean_tangent(setting, scheme, state, work, k)
        dn = h * scheme.gamma * along.drag[k, 1]
        less = h * scheme.gamma * along.drag[k, 0] - dn
        for a in range(2):
            block = state.factor.diagonal[place[along.ends[k, a]]]
            block[0] += dn + less * tx * tx
            block[1] += less * tx * ty
            block[2] += dn + less * ty * ty


@kernel
def mean_tangent(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, k: int
) -> tuple[float, float, float]:
    """Direction and length of the mean edge of a step."""
    i, j = setting.along.ends[k, 0], setting.along.ends[k, 1]
    g = scheme.gamma
    x0, x1 = state.x, work.x
    ex = g * (x1[j, 0] - x1[i, 0]) + (1.0 - g) * (x0[j, 0] - x0[i, 0])
    ey = g * (x1[j, 1] - x1[i, 1]) + (1.0 - g) * (x0[j, 1] - x0[i, 1])
    length = np.sqrt(ex * ex + ey * ey)
    return ex / length, ey / length, length
