"""Where edges are closest to rigid bodies, and whether a step runs into one.

Both nodes of an edge are places of contact, as at a plane, and in each of its pieces
the place where it is closest, if that is within the piece.
"""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.rod.moving.bodies import Body

HALVINGS = 60
SAME = 1e-14  # of an edge, to which a closest place is found
AT_END = 1e-9  # of a piece, from its end
LEVEL = 1e-7  # cosine: an edge that is less inclined to a body has no one closest place
KEEP, ADVANCED = 0.1, 0.9  # of the clearance, as in `sim.contact.safe_step`
ADVANCES = 100
FIRST_BODY = -3  # what stands for body 0 in place of an edge; body 1 is below it


def body_of(code: int) -> int:
    """Its number."""
    return FIRST_BODY - code


def spots_of(bodies: Sequence[Body], at_node: tuple[Ints, Floats], edges: int) -> Ints:
    """(q, 3) all places: body, edge, and piece, or -1 and -2 for its tail and head.

    Parameters
    ----------
    at_node : (n,) an edge at each node, and the node's share of it
    """
    edge, share = at_node
    nodes = np.column_stack([edge, np.where(share > 0.5, -2, -1)])
    found = []
    for k, body in enumerate(bodies):
        own = np.indices((edges, body.pieces)).reshape(2, -1).T
        rows = np.concatenate([nodes, own])
        found.append(np.column_stack([np.full(len(rows), k), rows]))
    return np.concatenate(found)


def touching_places(
    bodies: Sequence[Body], spots: Ints, edges: Ints, x: Floats, known: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """(q,) shares of edges, (q,) distances of axes, m, and (q, 3) the ways out.

    Parameters
    ----------
    known : (q,) shares that are kept
    """
    share = np.where(spots[:, 2] == -2, 1.0, 0.0)
    far, out = np.empty(len(spots)), np.empty((len(spots), 3))
    tail, head = (x[edges[spots[:, 1], k]] for k in range(2))
    for k, body in enumerate(bodies):
        own = np.flatnonzero(spots[:, 0] == k)
        if known is None:
            within = own[spots[own, 2] >= 0]
            low = spots[within, 2] / body.pieces
            along = tail[within], head[within]
            share[within] = closest(body, *along, low, low + 1.0 / body.pieces)
        else:
            share[own] = known[own]
        s = share[own][:, None]
        far[own], out[own] = body.distance((1.0 - s) * tail[own] + s * head[own])
    return share, far, out


def passed_by(bodies: Sequence[Body], spots: Ints, share: Floats) -> Bools:
    """(q,) places between pieces through which a distance falls: no edge is closest.

    There it is where it falls up to the end of a piece, and rises from there.
    """
    body, edge, piece = spots.T
    pieces = np.array([one.pieces for one in bodies])[body]
    within = pieces * share - piece
    last = (piece >= 0) & (piece < pieces - 1) & (within >= 1.0 - AT_END)
    first = (piece > 0) & (within <= AT_END)
    meets = (np.diff(body) == 0) & (np.diff(edge) == 0) & (np.diff(piece) == 1)
    meets &= last[:-1] & first[1:]
    last[:-1] &= ~meets
    first[1:] &= ~meets
    return np.asarray(last | first)


def closest(
    body: Body, tail: Floats, head: Floats, low: Floats, high: Floats
) -> Floats:
    """(k,) shares from low to high at which edges are closest to a body.

    The distance has the slope n . (head - tail), whose zero is sought by the rule of
    false position with halved ends (Illinois).
    """
    along = head - tail
    size = np.linalg.norm(along, axis=1)

    def at(s: Floats, k: Ints) -> tuple[Floats, Floats]:
        far, out = body.distance(tail[k] + s[:, None] * along[k])
        return far, np.sum(out * along[k], axis=1) / size[k]

    every = np.arange(len(low))
    (d0, f0), (d1, f1) = at(low, every), at(high, every)
    share = np.where(d1 < d0, high, low)
    k = np.flatnonzero((f0 < -LEVEL) & (f1 > LEVEL))
    a, b, fa, fb = low[k].copy(), high[k].copy(), f0[k], f1[k]
    for _ in range(HALVINGS):
        if not len(k):
            break
        s = np.clip(b - fb * (b - a) / (fb - fa), a, b)
        f = at(s, k)[1]
        share[k] = s
        above = f > 0.0
        fa = np.where(above, 0.5 * fa, f)
        fb = np.where(above, f, 0.5 * fb)
        a, b = np.where(above, a, s), np.where(above, s, b)
        left = (np.abs(f) > SAME) & (b - a > SAME)
        k, a, b, fa, fb = k[left], a[left], b[left], fa[left], fb[left]
    return share


def entered(
    bodies: Sequence[Body], edges: Ints, x: Floats, move: Floats, least: Floats
) -> Bools:
    """(m,) edges whose axes come closer to a body than `least` (m,) on a straight way.

    By conservative advancement: a distance falls no faster than the faster node moves.
    """
    found = np.zeros(len(edges), dtype=np.bool_)
    speed = np.linalg.norm(move[edges], axis=2).max(axis=1)
    length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    for body in bodies:
        ends = body.distance(x)[0][edges].mean(axis=1) - 0.5 * length
        k = np.flatnonzero(ends - speed < least)
        done, kept = np.zeros(len(k)), np.full(len(k), -np.inf)
        for _ in range(ADVANCES):
            if not len(k):
                break
            clear = _axes(body, edges[k], x, move, done) - least[k]
            kept = np.where(np.isinf(kept), KEEP * clear, kept)
            found[k[clear <= kept]] = True
            done = done + ADVANCED * clear / np.maximum(speed[k], 1e-300)
            left = (clear > kept) & (done < 1.0)
            k, done, kept = k[left], done[left], kept[left]
        found[k] = True
    return found


def _axes(body: Body, edges: Ints, x: Floats, move: Floats, done: Floats) -> Floats:
    """(k,) distances of edges from a body after a share of their moves, m."""
    tail, head = (x[edges[:, i]] + done[:, None] * move[edges[:, i]] for i in range(2))
    least = np.minimum(body.distance(tail)[0], body.distance(head)[0])
    for piece in range(body.pieces):
        low = np.full(len(edges), piece / body.pieces)
        s = closest(body, tail, head, low, low + 1.0 / body.pieces)[:, None]
        least = np.minimum(least, body.distance((1.0 - s) * tail + s * head)[0])
    return least
