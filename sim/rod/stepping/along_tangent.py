"""How drag and loads of edges in a step change with positions and velocities.

The derivatives of the formulas of `sim.rod.stepping.along`, in directions: with t = e/l

    dl = t . de,    dt = (de - t dl) / l,    d(Jt) = J dt.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.energy.blocks import BlockMatrix
from sim.rod.stepping.setting import Setting


def force_tangents(
    setting: Setting, time: float, h: float, mean: tuple[Floats, Floats],
    change: tuple[Floats, Floats],
) -> Floats:  # fmt: skip
    """(P, n, 2) N s, change of what a fluid takes less what loads push in a step.

    Parameters
    ----------
    time, h : s, where the step begins, and how long it is
    mean : positions and velocities (n, 2) of the step, m, m/s
    change : (P, n, 2) of both
    """
    along, (x, v), (dx, dv) = setting.along, mean, change
    i, j = along.ends.T
    t, length = _tangents(x[j] - x[i])
    de = dx[:, j] - dx[:, i]
    dl = np.sum(de * t, axis=-1)
    dt = (de - dl[..., None] * t) / length[:, None]
    begin, end = along.window.T
    acts = np.maximum(np.minimum(end, time + h) - np.maximum(begin, time), 0.0)
    size = acts * np.where(along.by_length, length, 1.0)
    turned = _turned(along.force, t)
    dturned = _turned(along.force, dt)
    pushed = (acts * along.by_length * dl)[..., None] * turned + size[:, None] * dturned
    least = h * along.drag[:, 1, None]
    more = h * along.drag[:, 0, None] - least
    taken = np.zeros_like(dx.swapaxes(0, 1))
    for a in range(2):
        node = along.ends[:, a]
        speed = np.sum(t * v[node], axis=-1, keepdims=True)
        dspeed = np.sum(dt * v[node] + t * dv[:, node], axis=-1, keepdims=True)
        drag = least * dv[:, node] + more * (dspeed * t + speed * dt)
        share = along.share[:, a, None]
        np.add.at(taken, node, (drag - share * pushed).swapaxes(0, 1))
    return taken.swapaxes(0, 1)


def add_drag_tangent(
    setting: Setting, x: Floats, weight: float, matrix: BlockMatrix
) -> None:
    """A += weight (d_t t t^T + d_n (1 - t t^T)) on the diagonal of both ends.

    Parameters
    ----------
    x : (n, 2) m, mean positions of the step
    weight : s, the step's length times gamma
    """
    along = setting.along
    t, _ = _tangents(x[along.ends[:, 1]] - x[along.ends[:, 0]])
    least = weight * along.drag[:, 1]
    more = weight * along.drag[:, 0] - least
    tx, ty = t.T
    block = np.column_stack(
        [least + more * tx**2, more * tx * ty, least + more * ty**2]
    )
    for a in range(2):
        np.add.at(matrix.diagonal, setting.pattern.place[along.ends[:, a]], block)


def _tangents(e: Floats) -> tuple[Floats, Floats]:
    length = np.linalg.norm(e, axis=-1)
    return e / length[:, None], length


def _turned(force: Floats, t: Floats) -> Floats:
    """f_t t + f_n Jt for t (..., k, 2)."""
    across = np.stack([-t[..., 1], t[..., 0]], axis=-1)
    return np.asarray(force[:, 2, None] * t + force[:, 3, None] * across)
