"""What the compiled loops read: elements, unknowns and their profile."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from sim.arrays import Bools, Floats, Ints
from sim.origami.model.mesh import BarHingeMesh


class BarHingeModel(NamedTuple):
    """Elements of a mesh with its supports; never changed.

    Attributes
    ----------
    rest : (n, 3) m
    bar, bar_rest : (b, 2), (b, 3) m
    bar_length, bar_stiffness, bar_of_panel : (b,) m, N
    hinge, hinge_stiffness, hinge_of_panel : (h, 4), (h,) N m
    unknown : (n, 3) number of each free displacement in order of elimination, else -1
    first : (u,) first column of each row of the stiffness matrix without contact
    elastic : (n, 3) stiffness of elastic supports, N/m
    """

    rest: Floats
    bar: Ints
    bar_rest: Floats
    bar_length: Floats
    bar_stiffness: Floats
    bar_of_panel: Bools
    hinge: Ints
    hinge_stiffness: Floats
    hinge_of_panel: Bools
    unknown: Ints
    first: Ints
    elastic: Floats


def support_table(rows: Sequence[Sequence[float]], nodes: int, name: str) -> Floats:
    """(nodes, 3) from rows (node, x, y, z); what is not named is zero."""
    table = np.zeros((nodes, 3))
    for row in rows:
        if len(row) != 4:
            raise ValueError(f"{name} {list(row)}: give the node, then x, y and z")
        node = int(row[0])
        if not 0 <= node < nodes:
            raise ValueError(
                f"{name} names node {node}, but nodes are numbered 0 to {nodes - 1}"
            )
        table[node] = row[1:]
    return table


def held_table(rows: Sequence[Sequence[float]], nodes: int) -> Floats:
    """(nodes, 3) of supports: 1 where a node is held, 0 where it is free."""
    held = support_table(rows, nodes, "support")
    for node, axis in np.argwhere((held != 0.0) & (held != 1.0)):
        raise ValueError(
            f"support of node {node} has {held[node, axis]:g} for {'xyz'[axis]}: give "
            "1 to hold it there, 0 to leave it free"
        )
    return held


def spring_table(rows: Sequence[Sequence[float]], nodes: int) -> Floats:
    """(nodes, 3) stiffness of elastic supports, N/m."""
    springs = support_table(rows, nodes, "elastic support")
    if (springs < 0).any():
        raise ValueError(
            f"elastic support of node {np.argwhere(springs < 0)[0][0]} is negative: "
            "its stiffness must be zero or more"
        )
    return springs


def build_model(
    mesh: BarHingeMesh,
    supports: Sequence[Sequence[float]],
    elastic: Sequence[Sequence[float]] = (),
) -> BarHingeModel:
    """Number the free displacements so that rows of the stiffness are short.

    Parameters
    ----------
    supports : rows (node, x, y, z) with 1 where the node is held
    elastic : rows (node, x, y, z) of spring stiffness, N/m
    """
    n = len(mesh.rest)
    held = held_table(supports, n) != 0
    elements = [mesh.bar, mesh.hinge, mesh.triangle]
    numberings = [_numbered(order, held) for order in _orders(mesh)]
    unknown = min(numberings, key=lambda unknown: _cost(unknown, elements))
    return BarHingeModel(
        rest=mesh.rest,
        bar=mesh.bar,
        bar_rest=mesh.rest[mesh.bar[:, 1]] - mesh.rest[mesh.bar[:, 0]],
        bar_length=mesh.bar_length,
        bar_stiffness=mesh.bar_stiffness,
        bar_of_panel=mesh.bar_of_panel,
        hinge=mesh.hinge,
        hinge_stiffness=mesh.hinge_stiffness,
        hinge_of_panel=mesh.hinge_crease < 0,
        unknown=unknown,
        first=_profile(unknown, elements),
        elastic=spring_table(elastic, n),
    )


def _numbered(order: Ints, held: Bools) -> Ints:
    """(n, 3) numbers of the free displacements in the order of the nodes, else -1."""
    unknown = np.full(held.shape, -1, dtype=np.int64)
    free = ~held[order]
    numbers = np.cumsum(free.ravel()) - 1
    unknown[order] = np.where(free, numbers.reshape(-1, 3), -1)
    return unknown


def _cost(unknown: Ints, elements: Sequence[Ints]) -> float:
    """What a factorisation costs: the squares of the lengths of all rows."""
    first = _profile(unknown, elements)
    return float(((np.arange(len(first)) - first) ** 2.0).sum())


def _orders(mesh: BarHingeMesh) -> list[Ints]:
    """Orders of the nodes: reverse Cuthill-McKee, and sweeps along two axes.

    Cuthill-McKee starts at a node, and passes a wide sheet in wide rings; a sweep
    passes it in straight lines.
    """
    n = len(mesh.rest)
    pairs = np.concatenate(
        [
            nodes[:, [a, b]]
            for nodes in (mesh.bar, mesh.hinge)
            for a in range(nodes.shape[1])
            for b in range(nodes.shape[1])
        ]
    )
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    ring = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True)
    x, y = mesh.rest[:, 0], mesh.rest[:, 1]
    return [ring.astype(np.int64), np.lexsort((y, x)), np.lexsort((x, y))]


def _profile(unknown: Ints, elements: Sequence[Ints]) -> Ints:
    """First column of each row: the lowest number that shares an element with it."""
    first = np.arange(unknown.max() + 1)
    free = np.where(unknown < 0, len(first), unknown)
    for nodes in elements:
        lowest = free[nodes].min(axis=(1, 2))
        for a in range(nodes.shape[1]):
            for c in range(3):
                number = unknown[nodes[:, a], c]
                inside = number >= 0
                np.minimum.at(first, number[inside], lowest[inside])
    return first
