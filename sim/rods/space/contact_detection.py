"""Where rods in space touch each other and the ground, and how that follows moves.

A contact is a point of edge A, at share s of it, near one of edge B at share u, or near
the ground. With the normal n from B to A and radii r, the gap is the distance of both
axes less r_A + r_B, and the skins move past each other by

    du = dx_A - r_A (turn_A x n) - (dx_B + r_B (turn_B x n)),  turn = t x dt + spin t.

Of an edge near a rigid body both nodes of an edge are places of contact, as at a plane,
and in each of its pieces the place where it is closest, if that is within the piece.
`entered` says whether a step runs into a body.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from sim.contact.collisions import pair_step
from sim.contact.distance import closest_on_edges
from sim.contact.near_pairs import boxes, gather, overlaps
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import Checked, Finite, NotNegative, Requirement
from sim.rods.space.frames import cross, dot, edge_lengths, edge_tangents
from sim.rods.space.rigid_bodies import Body, DrivenBody, Place
from sim.rods.space.rod import SpaceRod

HALVINGS = 60
SAME = 1e-14  # of an edge, to which a closest place is found
AT_PIECE_END = 1e-9  # of a piece, from its end
LEVEL = 1e-7  # cosine: an edge that is less inclined to a body has no one closest place
KEEP, ADVANCED = 0.1, 0.9  # of the clearance, as in `sim.contact.collisions`
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


def contact_places(
    bodies: Sequence[Body], spots: Ints, edges: Ints, x: Floats, known: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """(q,) shares of edges, (q,) distances of axes, m, and (q, 3) the ways out.

    Parameters
    ----------
    known : (q,) shares that do not change
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
    last = (piece >= 0) & (piece < pieces - 1) & (within >= 1.0 - AT_PIECE_END)
    first = (piece > 0) & (within <= AT_PIECE_END)
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
    length = edge_lengths(x, edges)
    for body in bodies:
        ends = body.distance(x)[0][edges].mean(axis=1) - 0.5 * length
        k = np.flatnonzero(ends - speed < least)
        done, margin = np.zeros(len(k)), np.full(len(k), -np.inf)
        for _ in range(ADVANCES):
            if not len(k):
                break
            clear = _axes(body, edges[k], x, move, done) - least[k]
            margin = np.where(np.isinf(margin), KEEP * clear, margin)
            found[k[clear <= margin]] = True
            done = done + ADVANCED * clear / np.maximum(speed[k], 1e-300)
            left = (clear > margin) & (done < 1.0)
            k, done, margin = k[left], done[left], margin[left]
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


JOINED = 2.0  # thicknesses of rod between edges that may be close without contact
THIN = 0.2  # of the sum of radii: axes of no two edges come closer on a step's way
REACHED = 1e-3  # of the least radius, by which a start may overlap
CLOSE = 0.05  # of the least radius, up to which skins count as in contact
AT_END = 1e-6  # of an edge, from a node that counts as the place of a contact
NO_NODES = np.empty(0, dtype=np.int64)
NO_PAIRS = np.empty((0, 2), dtype=np.int64)
NO_SPOTS = np.empty((0, 3), dtype=np.int64)


@dataclass(frozen=True)
class LevelGround(Checked):
    """A plane: points x with normal . x above height, m."""

    of = "ground"
    normal: Annotated[Place, Requirement("longer than 0", any)] = (0.0, 0.0, 1.0)
    height: Finite = 0.0


@dataclass(frozen=True, eq=False)
class ContactModel(Checked):
    """What touches what.

    Attributes
    ----------
    radius : (m,) of edges, m
    friction : coefficient, at all contacts
    ground : or None
    rims : (m,) half widths along d2 of flat edges, m: both rims of each node feel the
        ground in place of a round skin; None where edges are round
    skins : edges feel edges
    bodies : that stay where they are, or move as prescribed
    """

    of = "contact"
    radius: Floats
    friction: NotNegative = 0.0
    ground: LevelGround | None = None
    rims: Floats | None = None
    skins: bool = True
    bodies: tuple[Body, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rims is not None and self.bodies:
            raise ValueError("contact: ribbons touch a plane only: remove the bodies")
        fine = (self.radius > 0.0) & np.isfinite(self.radius)
        for k in np.flatnonzero(~fine).tolist():
            raise ValueError(
                f"contact: radius of edge {k} must be positive, not {self.radius[k]:g}"
            )

    @property
    def moved(self) -> list[DrivenBody]:
        """Bodies that move."""
        return [body for body in self.bodies if isinstance(body, DrivenBody)]

    def at(self, time: float) -> "ContactModel":
        """The same with its bodies where they are at a time."""
        if not self.moved:
            return self
        placed = (b.at(time) if isinstance(b, DrivenBody) else b for b in self.bodies)
        return replace(self, bodies=tuple(placed))

    def slides(self, time: float, h: float) -> Floats:
        """(2, bodies, 2, 3) as of `PrescribedMotion.slides`; 0 of what stays."""
        found = np.zeros((2, len(self.bodies), 2, 3))
        for k, body in enumerate(self.bodies):
            if isinstance(body, DrivenBody):
                found[:, k] = body.motion.slides(time, h)
        return found


class OverlapError(ValueError):
    """An edge that starts within another (`other`), by m.

    -1 is the ground, and what is below it bodies from `FIRST_BODY` down.
    """

    def __init__(self, edge: int, other: int, depth: float) -> None:
        self.edge, self.other, self.depth = edge, other, depth
        super().__init__(
            f"contact: edge {edge} penetrates {named(other)} by {depth:.3g} m at the "
            "start: move them apart, or give smaller radii"
        )


def named(other: int) -> str:
    """What an edge touches, by its number in `Contacts`."""
    if other <= FIRST_BODY:
        return f"body {body_of(other)}"
    return "the ground" if other < 0 else f"edge {other}"


class Contacts(NamedTuple):
    """Of c contacts.

    Attributes
    ----------
    edge : (c, 2) A and B; B is -1 at the ground, or -2 for the rim against d2, and
        from `FIRST_BODY` down at bodies
    share : (c, 2) places on them
    gap : (c,) m
    frame : (c, 3, 3) n and two directions across it
    """

    edge: Ints
    share: Floats
    gap: Floats
    frame: Floats


@kernel
def _closest(
    pairs: Ints, edges: Ints, x: Floats, radius: Floats, known: bool, share: Floats,
    gap: Floats, n: Floats,
) -> None:  # fmt: skip
    """share (k, 2), unless known, gap (k,), m, and n (k, 3), B to A <- of pairs."""
    y, apart = np.empty((4, 3)), np.empty(3)
    for k in range(len(pairs)):
        for i in range(2):
            gather(edges[pairs[k, i]], x, y[2 * i :])
        s, u = share[k, 0], share[k, 1]
        if not known:
            s, u = closest_on_edges(y)
            share[k, 0], share[k, 1] = s, u
        for a in range(3):
            apart[a] = (1 - s) * y[0, a] + s * y[1, a]
            apart[a] -= (1 - u) * y[2, a] + u * y[3, a]
        far = np.sqrt(dot(apart, apart))
        gap[k] = far - (radius[pairs[k, 0]] + radius[pairs[k, 1]])
        for a in range(3):
            n[k, a] = apart[a] / far


@kernel
def clear_way(pairs: Ints, edges: Ints, x: Floats, move: Floats, least: Floats) -> int:
    """The first pair whose axes come closer than `least` on the way, or -1."""
    y, v = np.empty((4, 3)), np.empty((4, 3))
    for k in range(len(pairs)):
        for i in range(2):
            gather(edges[pairs[k, i]], x, y[2 * i :])
            gather(edges[pairs[k, i]], move, v[2 * i :])
        if pair_step(y, v, 2, least[k], 1.0) < 1.0:
            return k
    return -1


@lru_cache(maxsize=8)
def _along(n: int, edges: bytes, length: bytes) -> Floats:
    """(m, m) least lengths of rod between edges; inf between rods."""
    tail, head = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2).T
    size = np.frombuffer(length, dtype=np.float64)
    graph = coo_array((size, (tail, head)), shape=(n, n)).tocsr()
    between = shortest_path(graph, directed=False)
    rows = np.minimum(between[tail], between[head])
    return np.minimum(rows[:, tail], rows[:, head])


def near_pairs(rod: SpaceRod, model: ContactModel, x: Floats, reach: float) -> Ints:
    """(k, 2) edges whose skins may be closer than `reach`, joined ones left out."""
    if not model.skins:
        return NO_PAIRS
    r = model.radius
    margin = float(r.max()) + 0.5 * reach
    box = boxes(np.ascontiguousarray(rod.edges), x, margin)
    found = overlaps(box, box, True)
    size = np.ascontiguousarray(rod.rest_length)
    between = _along(len(x), np.ascontiguousarray(rod.edges).tobytes(), size.tobytes())
    a, b = found.T
    return np.asarray(found[between[a, b] > JOINED * (r[a] + r[b])])


@kernel
def _frames(n: Floats) -> Floats:
    """(c, 3, 3) normals and two directions across each."""
    frame = np.empty((len(n), 3, 3))
    for k in range(len(n)):
        u, v, w = frame[k, 0], frame[k, 1], frame[k, 2]
        least = 0
        for a in range(3):
            u[a], w[a] = n[k, a], 0.0
            if abs(n[k, a]) < abs(n[k, least]):
                least = a
        w[least] = 1.0
        cross(u, w, v)
        size = np.sqrt(dot(v, v))
        for a in range(3):
            v[a] /= size
        cross(u, v, w)
    return frame


class Candidates(NamedTuple):
    """What may touch in a step: (k, 2) pairs of edges, and (g,) nodes at the ground.

    Of rims, k is that of node k along d2, n + k that against it. At bodies it is the
    (q, 3) places of `sim.rods.space.contact_detection.spots_of`.
    """

    pairs: Ints
    nodes: Ints
    spots: Ints = NO_SPOTS

    @property
    def contacts(self) -> int:
        """How many."""
        return len(self.pairs) + len(self.nodes) + len(self.spots)

    def holds(self, other: "Candidates") -> bool:
        """Whether all of the other is in this."""
        inside = all(
            set(map(tuple, theirs.tolist())) <= set(map(tuple, own.tolist()))
            for own, theirs in ((self.pairs, other.pairs), (self.spots, other.spots))
        )
        return inside and bool(np.isin(other.nodes, self.nodes).all())


def near(
    rod: SpaceRod, model: ContactModel, x: Floats, reach: float,
    d: Floats | None = None,
) -> Candidates:  # fmt: skip
    """All whose skins may be closer than `reach`, m; d (m, 3) of flat edges."""
    pairs = near_pairs(rod, model, x, reach)
    found = contacts_of(rod, model, Candidates(pairs, NO_NODES), x, None)
    nodes = np.flatnonzero(_above(rod, model, x, d) < reach)
    return Candidates(
        pairs[found.gap < reach], nodes, _near_bodies(rod, model, x, reach)
    )


def _near_bodies(rod: SpaceRod, model: ContactModel, x: Floats, reach: float) -> Ints:
    """(q, 3) places of edges whose skins may be closer to a body than `reach`, m."""
    if not model.bodies:
        return NO_SPOTS
    spots = spots_of(model.bodies, _edge_at(rod), len(rod.edges))
    length = edge_lengths(x, rod.edges)
    far = np.array([body.distance(x)[0] for body in model.bodies])
    least = far[:, rod.edges].mean(axis=2)
    least -= 0.5 * length + model.radius
    spots = spots[least[spots[:, 0], spots[:, 1]] < reach]
    _, far, _ = contact_places(model.bodies, spots, rod.edges, x, None)
    return np.asarray(spots[far - model.radius[spots[:, 1]] < reach])


@kernel
def chosen_once(edges: Ints, edge: Ints, share: Floats) -> Bools:
    """(c,) those that are closest beyond the ends of their edges too, each once.

    At a node both edges say so, unless one of them is closer beyond it.
    """
    c = len(edge)
    chosen = np.ones(c, dtype=np.bool_)
    at, place = np.empty((c, 2), dtype=np.int64), np.empty((c, 3), dtype=np.int64)
    ends = np.zeros((c, 2), dtype=np.bool_)
    below = FIRST_BODY  # all bodies
    for k in range(c):
        below = min(below, edge[k, 0], edge[k, 1])
    for k in range(c):
        for side in range(2):
            e, s = edge[k, side], share[k, side]
            at[k, side] = edges[max(e, 0), 1 if s > 0.5 else 0]
            at_end = s <= AT_END or s >= 1.0 - AT_END
            ends[k, side] = at_end and (side == 0 or e >= 0)
            place[k, side] = below - 1 - at[k, side] if ends[k, side] else e
        one, other = place[k, 0], place[k, 1]
        place[k, 0], place[k, 1], place[k, 2] = min(one, other), max(one, other), 0
        if edge[k, 1] <= FIRST_BODY and not ends[k, 0]:
            place[k, 2] = int(np.rint(share[k, 0] / AT_END))
        for j in range(k):
            same = place[j, 0] == place[k, 0] and place[j, 1] == place[k, 1]
            if same and place[j, 2] == place[k, 2]:
                chosen[k] = False
    for k in range(c):
        for side in range(2):
            if chosen[k] and ends[k, side] and edge[k, 1] >= 0:
                chosen[k] = not _closer_beyond(edges, edge, at, ends, k, side)
    return chosen


@kernel
def _closer_beyond(
    edges: Ints, edge: Ints, at: Ints, ends: Bools, k: int, side: int
) -> bool:
    """Whether an edge beyond the end of contact k is closer, away from that end."""
    node, own, other = at[k, side], edge[k, side], edge[k, 1 - side]
    for j in range(len(edge)):
        for mine in range(2):
            beyond = edge[j, mine]
            if j == k or beyond < 0 or beyond == own or edge[j, 1 - mine] != other:
                continue
            joined = edges[beyond, 0] == node or edges[beyond, 1] == node
            if joined and not (ends[j, mine] and at[j, mine] == node):
                return True
    return False


def contacts_of(
    rod: SpaceRod, model: ContactModel, near: Candidates, x: Floats,
    known: Contacts | None, d: Floats | None = None,
) -> Contacts:  # fmt: skip
    """The contacts of all that is near, edges first.

    Parameters
    ----------
    known : where they are on their edges; None looks for the closest points
    d : (m, 3) directors of flat edges
    """
    k = len(near.pairs)
    share = np.empty((k, 2)) if known is None else known.share[:k].copy()
    gap, n, keeps = np.empty(k), np.empty((k, 3)), known is not None
    _closest(near.pairs, rod.edges, x, model.radius, keeps, share, gap, n)
    if not len(near.nodes) + len(near.spots):
        return Contacts(near.pairs, share, gap, _frames(n))
    edge, end = (own[near.nodes % len(x)] for own in _edge_at(rod))
    below = -1 - near.nodes // len(x)
    fixed = None if known is None else known.share[k + len(edge) :, 0]
    at, far, out = contact_places(model.bodies, near.spots, rod.edges, x, fixed)
    body, own = FIRST_BODY - near.spots[:, 0], near.spots[:, 1]
    far[passed_by(model.bodies, near.spots, at)] += rod.rest_length.max()
    above = _above(rod, model, x, d)[near.nodes]
    up = np.tile(_up(model), (len(edge), 1))
    columns = (near.pairs[:, 0], edge, own), (near.pairs[:, 1], below, body)
    ends = np.concatenate([end, at])
    return Contacts(
        np.ascontiguousarray(np.stack([np.concatenate(own) for own in columns], 1)),
        np.concatenate([share, np.repeat(ends, 2).reshape(-1, 2)]),
        np.concatenate([gap, above, far - model.radius[own]]),
        _frames(np.concatenate([n, up, out])),
    )


def _up(model: ContactModel) -> Floats:
    """(3,) away from the ground."""
    up = np.zeros(3) if model.ground is None else np.array(model.ground.normal)
    return np.asarray(up / max(float(np.linalg.norm(up)), 1e-300))


def _edge_at(rod: SpaceRod) -> tuple[Ints, Floats]:
    """(n,) an edge at each node, and the node's share of it."""
    edge, end = np.zeros(len(rod.nodes), dtype=np.int64), np.zeros(len(rod.nodes))
    for k in (1, 0):
        edge[rod.edges[:, k]] = np.arange(len(rod.edges))
        end[rod.edges[:, k]] = float(k)
    return edge, end


def _above(rod: SpaceRod, model: ContactModel, x: Floats, d: Floats | None) -> Floats:
    """(n,) height of each node's skin above the ground, m; (2 n,) of both its rims."""
    if model.ground is None:
        return np.full(len(x), np.inf)
    height, edge = x @ _up(model) - model.ground.height, _edge_at(rod)[0]
    if model.rims is None or d is None:
        return np.asarray(height - model.radius[edge])
    second = np.cross(edge_tangents(x, rod.edges), d)
    across = (model.rims * (second @ _up(model)))[edge]
    return np.concatenate([height + across, height - across])


def refuse_overlap(rod: SpaceRod, model: ContactModel, x: Floats) -> None:
    """Name what lies deepest within another at the start."""
    if len(model.radius) != len(rod.edges):
        raise ValueError(
            f"contact: {len(model.radius)} radii for {len(rod.edges)} edges: give "
            "one per edge"
        )
    d = rod.directors
    found = contacts_of(rod, model, near(rod, model, x, 0.0, d), x, None, d)
    depth = -found.gap
    if depth.max(initial=0.0) > REACHED * model.radius.min():
        k = int(np.argmax(depth))
        e, f = found.edge[k].tolist()
        raise OverlapError(e, f, float(depth[k]))


def in_touch(rod: SpaceRod, model: ContactModel, x: Floats, d: Floats) -> list[str]:
    """What touches by pairs, each once, those farthest within each other first."""
    reach = CLOSE * float(model.radius.min())
    what = near(rod, model, x, reach, d)
    found = contacts_of(rod, model, what, x, None, d)
    pairs = found.edge[np.argsort(found.gap)].tolist()
    return list(dict.fromkeys(f"edge {e} and {named(other)}" for e, other in pairs))
