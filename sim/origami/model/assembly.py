"""Energy, force and stiffness of the whole model: sums over bars, hinges and pairs.

A bar has Green's strain between rest and deformed node positions,

    e  = (dX . dU + dU . dU / 2) / L0^2
    Pi = EA L0 e^2 / 2,    f = EA L0 e b,    K = EA L0 [b b^T + e B]

with b = (-dx, dx) / L0^2 and B = [I -I; -I I] / L0^2. Eq. (3.1) of [ZF19] prints the
engineering strain of one dimension; its printed results use Green's.

The stiffness is stored by rows (`sim.linalg.skyline`): contact couples nodes that no
bar joins, and which ones changes at every iteration. With nodes in a good order
(reverse Cuthill-McKee, `build_model`) rows are short.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from sim.contact.contact_energy import active_pairs, contact_energy, pair_terms
from sim.contact.near_pairs import ContactPairs, gather
from sim.core.arrays import Bools, Floats, Ints, refuse_first
from sim.core.hinges import hinge_angle, hinge_slopes
from sim.core.numba_kernels import inlined, kernel
from sim.core.options import refuse_missing
from sim.linalg.skyline import row_starts
from sim.origami.model.mesh import BarHingeMesh


@kernel
def bar_strain(dx: Floats, rest: Floats, length: float) -> float:
    """Green strain e of one bar; dx, rest (3,) from the first node to the second, m."""
    e = 0.0
    for c in range(3):
        u = dx[c] - rest[c]
        e += u * (rest[c] + 0.5 * u)
    return e / (length * length)


@kernel
def bar_terms(
    dx: Floats, rest: Floats, length: float, EA: float, force: Floats, block: Floats
) -> float:
    """Energy of one bar (J); fills the force on its second node and K of that node.

    Parameters
    ----------
    dx, rest : (3,) m
    length, EA : m, N
    force : (3,) out, N; the first node has the opposite
    block : (3, 3) out, N/m; the four blocks of K are +block and -block
    """
    e = bar_strain(dx, rest, length)
    square = length * length
    for c in range(3):
        force[c] = EA * length * e * dx[c] / square
        for k in range(3):
            block[c, k] = EA * length * dx[c] * dx[k] / (square * square)
        block[c, c] += EA * length * e / square
    return 0.5 * EA * length * e * e


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
            raise ValueError(f"{name} is {list(row)}: give the node, then x, y and z")
        node = int(row[0])
        refuse_missing(f"{name} names node {{}}", [node], nodes, "the mesh has nodes")
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
    refuse_first(
        (springs < 0).any(axis=1),
        lambda i: f"elastic support of node {i} is negative: give 0 or more",
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


CREASE_BENDING, PANEL_BENDING, PANEL_STRETCH, CREASE_STRETCH, CONTACT, SUPPORT = range(
    6
)


class EquilibriumSystem(NamedTuple):
    """One linearisation of the equilibrium equations.

    Attributes
    ----------
    energies : (6,) J: bending of creases and panels, stretch of panels and creases,
        contact, elastic supports
    force : (u,) internal force on each unknown, N
    values, start, first : stiffness by rows (sim.linalg.skyline), N/m
    """

    energies: Floats
    force: Floats
    values: Floats
    start: Ints
    first: Ints


@kernel
def energies_at(
    model: BarHingeModel, pairs: ContactPairs, ke: float, x: Floats, angles: Floats
) -> Floats:
    """(6,) energies in J as in `EquilibriumSystem`; contact is inf where panels meet.

    Parameters
    ----------
    x : (n, 3) m
    angles : (h,) rest angles
    """
    out, dx, y = np.zeros(6), np.empty(3), np.empty((4, 3))
    for b in range(len(model.bar)):
        i, j = model.bar[b]
        for c in range(3):
            dx[c] = x[j, c] - x[i, c]
        length = model.bar_length[b]
        e = bar_strain(dx, model.bar_rest[b], length)
        part = PANEL_STRETCH if model.bar_of_panel[b] else CREASE_STRETCH
        out[part] += 0.5 * model.bar_stiffness[b] * length * e * e
    for h in range(len(model.hinge)):
        gather(model.hinge[h], x, y)
        turn = hinge_angle(y) - angles[h]
        part = PANEL_BENDING if model.hinge_of_panel[h] else CREASE_BENDING
        out[part] += 0.5 * model.hinge_stiffness[h] * turn * turn
    out[CONTACT] = contact_energy(pairs, ke, x)
    out[SUPPORT] = (0.5 * model.elastic * (x - model.rest) ** 2).sum()
    return out


@kernel
def _widen(model: BarHingeModel, nodes: Ints, first: Ints) -> None:
    """Let the rows of these nodes reach to the lowest number among them."""
    lowest = len(first)
    for a in range(len(nodes)):
        for c in range(3):
            number = model.unknown[nodes[a], c]
            if 0 <= number < lowest:
                lowest = number
    for a in range(len(nodes)):
        for c in range(3):
            number = model.unknown[nodes[a], c]
            if number >= 0 and first[number] > lowest:
                first[number] = lowest


@kernel
def _add(
    model: BarHingeModel,
    system: EquilibriumSystem,
    nodes: Ints,
    gradient: Floats,
    hessian: Floats,
    rows: Ints,
) -> None:
    """Add the terms of k nodes to force and stiffness; rows (3k,) is work space."""
    for a in range(len(nodes)):
        for c in range(3):
            rows[3 * a + c] = model.unknown[nodes[a], c]
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            continue
        system.force[row] += gradient[i]
        begin = system.start[row] - system.first[row]
        for j in range(len(rows)):
            column = rows[j]
            if 0 <= column <= row:
                system.values[begin + column] += hessian[i, j]


@kernel
def _add_bars(model: BarHingeModel, x: Floats, system: EquilibriumSystem) -> None:
    dx, force, block = np.empty(3), np.empty(3), np.empty((3, 3))
    gradient, hessian = np.empty(6), np.empty((6, 6))
    rows = np.empty(6, dtype=np.int64)
    for bar in range(len(model.bar)):
        i, j = model.bar[bar]
        for c in range(3):
            dx[c] = x[j, c] - x[i, c]
        energy = bar_terms(
            dx,
            model.bar_rest[bar],
            model.bar_length[bar],
            model.bar_stiffness[bar],
            force,
            block,
        )
        part = PANEL_STRETCH if model.bar_of_panel[bar] else CREASE_STRETCH
        system.energies[part] += energy
        for a in range(6):
            gradient[a] = force[a - 3] if a >= 3 else -force[a]
            for b in range(6):
                same = (a < 3) == (b < 3)
                hessian[a, b] = block[a % 3, b % 3] if same else -block[a % 3, b % 3]
        _add(model, system, model.bar[bar], gradient, hessian, rows)


@kernel
def _add_hinges(
    model: BarHingeModel, x: Floats, angles: Floats, system: EquilibriumSystem
) -> None:
    y, work = np.empty((4, 3)), np.empty((6, 3, 3))
    gradient, hessian = np.empty(12), np.empty((12, 12))
    rows = np.empty(12, dtype=np.int64)
    for h in range(len(model.hinge)):
        gather(model.hinge[h], x, y)
        turn = hinge_slopes(y, gradient, hessian, work) - angles[h]
        k = model.hinge_stiffness[h]
        for i in range(12):
            for j in range(12):
                hessian[i, j] = k * (gradient[i] * gradient[j] + turn * hessian[i, j])
        for i in range(12):
            gradient[i] *= k * turn
        part = PANEL_BENDING if model.hinge_of_panel[h] else CREASE_BENDING
        system.energies[part] += 0.5 * k * turn * turn
        _add(model, system, model.hinge[h], gradient, hessian, rows)


@inlined
def _add_contact(
    model: BarHingeModel,
    pairs: ContactPairs,
    ke: float,
    x: Floats,
    active: Ints,
    system: EquilibriumSystem,
) -> None:
    rows = np.empty(12, dtype=np.int64)
    gradient, hessian = np.empty(12), np.empty((12, 12))
    for k in active:
        energy, _ = pair_terms(pairs, k, ke, x, gradient, hessian)
        system.energies[CONTACT] += energy
        if energy < np.inf:
            _add(model, system, pairs.node[k], gradient, hessian, rows)


@kernel
def assemble(
    model: BarHingeModel, pairs: ContactPairs, ke: float, x: Floats, angles: Floats
) -> EquilibriumSystem:
    """Energies, internal force and stiffness at node positions x (n, 3).

    Parameters
    ----------
    ke : scale of the contact potential, J
    angles : (h,) rest angles
    """
    first = model.first.copy()
    active = active_pairs(pairs, ke, x)
    for k in active:
        _widen(model, pairs.node[k], first)
    start = row_starts(first)
    n = len(first)
    system = EquilibriumSystem(
        np.zeros(6), np.zeros(n), np.zeros(start[n]), start, first
    )
    _add_bars(model, x, system)
    _add_hinges(model, x, angles, system)
    _add_contact(model, pairs, ke, x, active, system)
    for i in range(len(x)):
        for c in range(3):
            k, row = model.elastic[i, c], model.unknown[i, c]
            if k == 0.0 or row < 0:
                continue
            u = x[i, c] - model.rest[i, c]
            system.energies[SUPPORT] += 0.5 * k * u * u
            system.force[row] += k * u
            system.values[start[row + 1] - 1] += k
    return system


def largest_strain(model: BarHingeModel, x: Floats) -> float:
    """Largest Green strain of any bar, without sign."""
    moved = x[model.bar[:, 1]] - x[model.bar[:, 0]] - model.bar_rest
    green = (moved * (model.bar_rest + 0.5 * moved)).sum(axis=1)
    return float(np.abs(green / model.bar_length**2).max(initial=0.0))
