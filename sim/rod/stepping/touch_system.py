"""Space for the system that `sim.rod.stepping.many_touches` solves, by an envelope."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints

ARMS = 3  # nodes that a contact acts on, at most
WIDTH = 96  # blocks of an envelope's row, on the mean, that there is space for


class TouchSystem(NamedTuple):
    """Space for the system of `many_touches`: n nodes, c contacts, k = n + c rows.

    Attributes
    ----------
    rank : (k,) places of the nodes, then of the contacts
    queue, seen : (n,) nodes by their distance from one; whether they are placed
    head, next : (n,), (c, 3) arms of contacts by nodes; first of a node, next of an arm
    first, begin : (k,), (k + 1,) the first block of each row, and where it stands
    below, above : (s, 4) blocks of L by rows, of U by columns
    diagonal, z : (k, 4), (k, 2) inverses of the diagonal; right-hand side and solution
    W, u : (c, 2) 1/kg, m/s, normal and along: what an impulse moves its own contact by;
        velocities at the end of the step
    y, at, block : (n, 4), (3,), (4,) a column, where its paths are, and a product
    """

    rank: Ints
    queue: Ints
    seen: Ints
    head: Ints
    next: Ints
    first: Ints
    begin: Ints
    below: Floats
    above: Floats
    diagonal: Floats
    z: Floats
    W: Floats
    u: Floats
    y: Floats
    at: Ints
    block: Floats


def envelope(n: int, c: int) -> TouchSystem:
    """Space for n nodes and up to c contacts; touched only as far as they need."""
    k, stored = n + c, WIDTH * (n + c)
    return TouchSystem(
        rank=np.zeros(k, dtype=np.int64),
        queue=np.zeros(n, dtype=np.int64),
        seen=np.zeros(n, dtype=np.int64),
        head=np.zeros(n, dtype=np.int64),
        next=np.zeros((c, ARMS), dtype=np.int64),
        first=np.zeros(k, dtype=np.int64),
        begin=np.zeros(k + 1, dtype=np.int64),
        below=np.empty((stored, 4)),
        above=np.empty((stored, 4)),
        diagonal=np.zeros((k, 4)),
        z=np.zeros((k, 2)),
        W=np.zeros((c, 2)),
        u=np.zeros((c, 2)),
        y=np.zeros((n, 4)),
        at=np.zeros(ARMS, dtype=np.int64),
        block=np.zeros(4),
    )
