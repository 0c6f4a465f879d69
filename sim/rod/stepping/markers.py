"""What is measured of a rod: where its centroid, its tip or a node is, at given times.

Between two steps a place is the cubic through the places and velocities at both, whose
error is that of the steps themselves.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from sim.arrays import Floats, Ints


class Moving(Protocol):
    """A motion at one time: places and velocities of nodes."""

    @property
    def time(self) -> float: ...
    @property
    def x(self) -> Floats: ...
    @property
    def v(self) -> Floats: ...


class Marker(NamedTuple):
    """A weighted mean of one coordinate of the nodes.

    weight : (n,)
    axis : 0 for x, 1 for y, 2 for z
    """

    weight: Floats
    axis: int


def marker(name: str, nodes: Floats, mass: Floats) -> Marker:
    """x_c, y_c of the centroid, x_tip, y_tip of the last node, x_12 of node 12; or z.

    Parameters
    ----------
    nodes, mass : (n, 2 or 3) m; (n,) kg
    """
    n, axes = len(nodes), "xyz"[: nodes.shape[1]]
    found = re.fullmatch(rf"([{axes}])_(c|tip|\d+)", name)
    node = n - 1
    if found and found[2].isdigit():
        node = int(found[2])
    if found is None or node >= n:
        one, last = (", ".join(f"{a}_{k}" for a in axes) for k in (0, n - 1))
        raise ValueError(
            f"quantity is {name!r}: a rod has {', '.join(f'{a}_c' for a in axes)} "
            f"(centroid), {', '.join(f'{a}_tip' for a in axes)} (last node) and "
            f"{one} to {last}"
        )
    weight = np.zeros(n)
    weight[node] = 1.0
    if found[2] == "c":
        weight = mass / mass.sum()
    return Marker(weight, axes.index(found[1]))


def observed(
    motion: Iterable[Moving], markers: Sequence[Marker], which: Ints, at: Floats
) -> Floats:
    """(m,) what would be measured.

    Parameters
    ----------
    which : (m,) its marker
    at : (m,) s, within the motion
    """
    values = np.full(len(at), np.nan)
    before: Moving | None = None
    for now in motion:
        early = now if before is None else before
        span = now.time - early.time
        inside = np.isnan(values) & (at <= now.time + 1e-9 * max(span, 1e-9))
        for k in np.flatnonzero(inside).tolist():
            weight, axis = markers[which[k]]
            s = 1.0 if span == 0.0 else (at[k] - early.time) / span
            a, b, c, d = _hermite(min(s, 1.0), span)
            values[k] = (
                weight @ (a * early.x + b * early.v + c * now.x + d * now.v)[:, axis]
            )
        before = now
    return values


def _hermite(s: float, h: float) -> tuple[float, float, float, float]:
    """Weights of place and velocity at the beginning, then at the end."""
    q = 1.0 - s
    return (
        q * q * (1.0 + 2.0 * s),
        h * s * q * q,
        s * s * (3.0 - 2.0 * s),
        -h * s * s * q,
    )
