"""The constraints of a structure as quadratic rows that no rotation changes.

A row that rotations leave alone, and that is quadratic, has an exact discrete gradient
at the midpoint of a step which puts no moment on the whole (Gonzalez, Physica D 132,
1999). Distances and dot products are such rows. A triple product d . (u x v) - k is
cubic, and a point on a line, d - lambda u, is a vector that turns with the whole. Both
become such rows by a frame: two edges u, v whose normal and products are unknowns,

    w.u = 0,  w.v = 0,  w.w - alpha beta + gamma^2 = 0,
    alpha - u.u = 0,  beta - v.v = 0,  gamma - u.v = 0.

Then a triple product is d.w - k, and a point is on a line if

    d.u - lambda alpha = 0,  d.v - lambda gamma = 0,  d.w = 0,

v another edge of the body of the line. A line of two nodes that are in no body with
others stays a vector, of which angular momentum is kept to the order of h^2 alone.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.morph.dynamics.rows import Edge, RowDraft
from sim.morph.structure.constraints import DEGREE, ROWS, ConstraintKind
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.once import once_per_owner

FLAT = 1e-6  # height of a node over a line, of its length, from which on it is beside
OF_FRAME = 6  # unknowns w, alpha, beta, gamma of a frame, and as many rows


class RowFrame(NamedTuple):
    """Two edges whose normal and products are unknowns of their own.

    Attributes
    ----------
    constraint : that they belong to
    first : its first unknown, and row
    """

    constraint: int
    u: Edge
    v: Edge
    first: tuple[int, int]


@once_per_owner
def frames_of(structure: Structure) -> tuple[RowFrame, ...]:
    """Those of triple products, and of lines in a body with a node beside them."""
    found: list[RowFrame] = []
    table = structure.constraints
    z, c = 3 * len(structure.r0) + table.multipliers, int(ROWS[table.kind].sum())
    for e, kind in enumerate(table.kind.tolist()):
        p, q, s, t = table.nodes[e, 2:].tolist()
        first = z + OF_FRAME * len(found), c + OF_FRAME * len(found)
        beside = _node_beside(structure, p, q) if kind == ConstraintKind.PAR else None
        if kind == ConstraintKind.TRIPLE:
            found.append(RowFrame(e, (p, q), (s, t), first))
        elif beside is not None:
            found.append(RowFrame(e, (p, q), (p, beside), first))
    return tuple(found)


def _node_beside(structure: Structure, p: int, q: int) -> int | None:
    """A node of a body of p and q that is farthest off their line, if one is off it."""
    r, far = structure.r0, dict[int, float]()
    for body in structure.bodies:
        if p in body and q in body:
            for j in set(body) - {p, q}:
                area = np.linalg.norm(np.cross(r[q] - r[p], r[j] - r[p]))
                far[j] = float(area / np.sum((r[q] - r[p]) ** 2))
    most = max(far, key=lambda j: far[j], default=None)
    return most if most is not None and far[most] > FLAT else None


def drafted(structure: Structure, more: int) -> tuple[RowDraft, Floats]:
    """The rows of a structure, and their units (m,).

    First the rows of its constraints in their order, then six for each frame, then
    `more` that are still empty.
    """
    table, frames = structure.constraints, frames_of(structure)
    extra, L = OF_FRAME * len(frames), characteristic_length(structure.r0) or 1.0
    unknowns = 3 * len(structure.r0) + table.multipliers + extra
    draft = RowDraft(unknowns, int(ROWS[table.kind].sum()) + extra + more)
    scale = np.full(draft.count, L**2)
    of, lam = {frame.constraint: frame for frame in frames}, 3 * len(structure.r0)
    for e, row in enumerate(table.first_row[:-1].tolist()):
        kind = ConstraintKind(table.kind[e])
        k, nodes = float(table.constant[e]), tuple(table.nodes[e].tolist())
        scale[row : row + ROWS[kind]] = L ** float(DEGREE[kind])
        if kind is ConstraintKind.DIST and k > 0.0:
            scale[row] = k
        if kind is ConstraintKind.PAR:
            _write_line(draft, row, lam, nodes, of.get(e))
            scale[row : row + 3] = (L**2, L**2, L**3) if e in of else L
            lam += 1
        else:
            _write(draft, row, kind, nodes, of.get(e))
            draft.number(row, -k)
    for frame in frames:
        _write_frame(draft, frame)
        row = frame.first[1]
        scale[row : row + 3] = L**3, L**3, L**4
    return draft, scale


def _write(
    draft: RowDraft, row: int, kind: ConstraintKind, nodes: tuple[int, ...],
    frame: RowFrame | None,
) -> None:  # fmt: skip
    """A row of any kind but a line, without its constant; ValueError of another."""
    a, b, p, q, *_ = nodes
    if kind is ConstraintKind.DIST:
        draft.scalar(row, (a, b), (a, b), 1.0)
    elif kind is ConstraintKind.DOT:
        draft.scalar(row, (a, b), (p, q), 1.0)
    elif frame is not None:
        draft.along(row, (a, b), frame.first[0])
    elif kind is ConstraintKind.COIN:
        for c in range(3):
            draft.single(row + c, 3 * b + c, 1.0)
            draft.single(row + c, 3 * a + c, -1.0)
    elif kind is ConstraintKind.FIX:
        draft.single(row, 3 * a + b, 1.0)
    else:
        raise ValueError(
            f"{kind.name.lower()} rows have no motion in time: leave them out, or ask "
            "for a morph or an equilibrium"
        )


def _write_line(
    draft: RowDraft, row: int, lam: int, nodes: tuple[int, ...], frame: RowFrame | None
) -> None:
    """Three rows of a point on a line."""
    a, b, p, q, *_ = nodes
    if frame is None:
        for c in range(3):
            draft.single(row + c, 3 * b + c, 1.0)
            draft.single(row + c, 3 * a + c, -1.0)
            draft.product(row + c, lam, 3 * q + c, -1.0)
            draft.product(row + c, lam, 3 * p + c, 1.0)
        return
    w = frame.first[0]
    draft.scalar(row, (a, b), frame.u, 1.0)
    draft.product(row, lam, w + 3, -1.0)
    draft.scalar(row + 1, (a, b), frame.v, 1.0)
    draft.product(row + 1, lam, w + 5, -1.0)
    draft.along(row + 2, (a, b), w)


def _write_frame(draft: RowDraft, frame: RowFrame) -> None:
    """Six rows that make w the normal of u and v, up to its sign."""
    w, row = frame.first
    draft.along(row, frame.u, w)
    draft.along(row + 1, frame.v, w)
    for c in range(3):
        draft.product(row + 2, w + c, w + c, 1.0)
    draft.product(row + 2, w + 3, w + 4, -1.0)
    draft.product(row + 2, w + 5, w + 5, 1.0)
    pairs = ((frame.u, frame.u), (frame.v, frame.v), (frame.u, frame.v))
    for i, (one, other) in enumerate(pairs, 3):
        draft.single(row + i, w + i, 1.0)
        draft.scalar(row + i, one, other, -1.0)


def unknowns_at(structure: Structure, r: Floats) -> Floats:
    """(N,) nodes `r` (n, 3), then multipliers, then frames."""
    table = structure.constraints
    par = table.nodes[table.kind == ConstraintKind.PAR]
    d, u = (r[par[:, h]] - r[par[:, h - 1]] for h in (1, 3))
    lam = np.einsum("ij,ij->i", d, u) / np.einsum("ij,ij->i", u, u)
    parts = [r.ravel(), lam]
    for frame in frames_of(structure):
        u, v = (r[b] - r[a] for a, b in (frame.u, frame.v))
        parts += [np.cross(u, v), [u @ u, v @ v, u @ v]]
    return np.concatenate(parts)
