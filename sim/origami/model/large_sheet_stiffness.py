"""The stiffness of a large sheet: a block for each pair of coupled nodes, in fronts.

Rows from their first entry on (`sim.linalg.skyline`) cost in proportion to the
square of the number of panels. Here the order of elimination parts the sheet (nested
dissection, `sim.linalg`), found once and again only where contact couples nodes that
were not coupled before.

Newton's iteration with independent stresses (mixed integration points: Magisano,
Leonetti and Garcea, CMAME 313, 2017) wants the geometric part of the stiffness at
stresses of its own,

    K = sum EA L b b^T + EA L s B + k g g^T + k t H,

b, B and g, H the slopes of a bar's strain and of a hinge's angle at x. With
s = e(x) and t = theta(x) - rest this is the tangent.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sim.contact.contact_energy import active_pairs, pair_terms, within_reach
from sim.contact.near_pairs import ContactPairs, gather
from sim.core.arrays import Floats, Ints
from sim.core.hinges import hinge_slopes
from sim.core.numba_kernels import kernel
from sim.linalg.sparse import Factor, SparsityPattern, analyse, factorise
from sim.origami.model.assembly import (
    CONTACT,
    CREASE_BENDING,
    CREASE_STRETCH,
    PANEL_BENDING,
    PANEL_STRETCH,
    SUPPORT,
    BarHingeModel,
    bar_strain,
)

LARGE_FROM = 1e7  # squares of the lengths of rows, above which fronts take over
SINGULAR = 1e-14  # pivot, of its terms, that counts as none
AHEAD = 2.0  # distance, of that at which contact begins, from which nodes are coupled


class ElementBlocks(NamedTuple):
    """Numbers of the blocks to which elements add theirs.

    Attributes
    ----------
    bar, hinge, pair : (b, 3), (h, 10), (k, 10) by rows of the lower triangle of the
        element's nodes; of the pairs of contact that touch
    """

    bar: Ints
    hinge: Ints
    pair: Ints


class Slopes(NamedTuple):
    """What elements have at x, and the stresses of the geometric stiffness.

    Attributes
    ----------
    strain, turn : (b,), (h,) rad, at x
    of_strain, of_turn : (b, 3), (h, 12) slopes, of the second node of a bar
    mixed_strain, mixed_turn : (b,), (h,) s and t of the module's formula
    """

    strain: Floats
    turn: Floats
    of_strain: Floats
    of_turn: Floats
    mixed_strain: Floats
    mixed_turn: Floats


class LargeSystem(NamedTuple):
    """One linearisation; see `sim.origami.model.assembly.EquilibriumSystem`.

    Attributes
    ----------
    energies, force : (6,) J, (u,) N
    values : entries of the stiffness, as the fronts take them, N/m
    largest : of its diagonal, without sign, N/m
    """

    energies: Floats
    force: Floats
    values: Floats
    largest: float


@dataclass(frozen=True, eq=False)
class SheetFronts:
    """Blocks of a sheet's stiffness, and the order of their elimination.

    Attributes
    ----------
    keys : (m,) of the pairs of nodes that have a block, ascending
    blocks : of the elements; no pairs
    taken : (t,) entries of all blocks that are between unknowns, each once
    diagonal : (u,) places of the diagonal among them
    """

    model: BarHingeModel
    keys: Ints
    blocks: ElementBlocks
    taken: Ints
    diagonal: Ints
    pattern: SparsityPattern


def block_keys(nodes: Ints, count: int) -> Ints:
    """(e, k (k + 1) / 2) a number for each pair of the nodes (e, k) of elements."""
    one, other = np.tril_indices(nodes.shape[1])
    a, b = nodes[:, one], nodes[:, other]
    return np.asarray(np.minimum(a, b) * count + np.maximum(a, b))


def sheet_fronts(model: BarHingeModel, coupled: Ints | None = None) -> SheetFronts:
    """Fronts for all elements, and for pairs of contact with nodes (p, 4)."""
    n = len(model.rest)
    bar, hinge = block_keys(model.bar, n), block_keys(model.hinge, n)
    own = [np.arange(n) * (n + 1), bar.ravel(), hinge.ravel()]
    if coupled is not None:
        own.append(block_keys(coupled, n).ravel())
    keys = np.unique(np.concatenate(own))
    early, late = np.divmod(keys, n)
    rows, cols = np.broadcast_arrays(
        model.unknown[late][:, :, None], model.unknown[early][:, None, :]
    )
    lower = np.tril(np.ones((3, 3), dtype=bool))
    used = (rows >= 0) & (cols >= 0) & ((early != late)[:, None, None] | lower)
    taken, rows, cols = np.flatnonzero(used), rows[used], cols[used]
    diagonal = np.flatnonzero(rows == cols)[np.argsort(rows[rows == cols])]
    blocks = ElementBlocks(
        np.searchsorted(keys, bar), np.searchsorted(keys, hinge), np.empty((0, 10), int)
    )
    pattern = analyse(len(model.first), rows, cols)
    return SheetFronts(model, keys, blocks, taken, diagonal, pattern)


def fronts_of(
    model: BarHingeModel, known: SheetFronts | None = None
) -> SheetFronts | None:
    """Fronts of a sheet that is large; `known` if its unknowns are the same."""
    rows = np.arange(len(model.first), dtype=np.float64) - model.first
    if rows @ rows < LARGE_FROM:
        return None
    if known is not None and np.array_equal(known.model.unknown, model.unknown):
        return replace(known, model=model)
    return sheet_fronts(model)


def fronts_for(
    fronts: SheetFronts, pairs: ContactPairs, active: Ints, x: Floats
) -> tuple[SheetFronts, ElementBlocks]:
    """Fronts with blocks for the pairs that touch, and these blocks.

    Where one is missing, all pairs that are about to touch get theirs as well.
    """
    n = len(x)
    needed = block_keys(pairs.node[active], n)
    place = np.searchsorted(fronts.keys, needed).clip(max=len(fronts.keys) - 1)
    if (fronts.keys[place] != needed).any():
        fronts = sheet_fronts(fronts.model, pairs.node[within_reach(pairs, x, AHEAD)])
        place = np.searchsorted(fronts.keys, needed)
    return fronts, fronts.blocks._replace(pair=place)


@kernel
def _add_force(nodes: Ints, gradient: Floats, force: Floats) -> None:
    for a in range(4):
        for c in range(3):
            force[nodes[a], c] += gradient[3 * a + c]


@kernel
def _add_blocks(nodes: Ints, blocks: Ints, hessian: Floats, values: Floats) -> None:
    """Add the matrix (12, 12) of an element; a block has the later node's rows."""
    k = 0
    for a in range(4):
        for b in range(a + 1):
            block = values[blocks[k]]
            turned = nodes[a] < nodes[b]
            for c in range(3):
                for e in range(3):
                    if turned:
                        block[c, e] += hessian[3 * b + c, 3 * a + e]
                    else:
                        block[c, e] += hessian[3 * a + c, 3 * b + e]
            k += 1


@kernel
def _add_bar_blocks(
    model: BarHingeModel, blocks: Ints, x: Floats, at: Slopes,
    energies: Floats, force: Floats, values: Floats,
) -> None:  # fmt: skip
    dx = np.empty(3)
    for bar in range(len(model.bar)):
        i, j = model.bar[bar]
        for c in range(3):
            dx[c] = x[j, c] - x[i, c]
        length = model.bar_length[bar]
        square = length * length
        k = model.bar_stiffness[bar] * length
        e = bar_strain(dx, model.bar_rest[bar], length)
        at.strain[bar] = e
        part = PANEL_STRETCH if model.bar_of_panel[bar] else CREASE_STRETCH
        energies[part] += 0.5 * k * e * e
        own, across, other = blocks[bar]
        for c in range(3):
            slope = dx[c] / square
            at.of_strain[bar, c] = slope
            force[j, c] += k * e * slope
            force[i, c] -= k * e * slope
            for f in range(3):
                value = k * slope * dx[f] / square
                if c == f:
                    value += k * at.mixed_strain[bar] / square
                values[own, c, f] += value
                values[across, c, f] -= value
                values[other, c, f] += value


@kernel
def _add_hinge_blocks(
    model: BarHingeModel, blocks: Ints, x: Floats, angles: Floats, at: Slopes,
    energies: Floats, force: Floats, values: Floats,
) -> None:  # fmt: skip
    y, work = np.empty((4, 3)), np.empty((6, 3, 3))
    gradient, hessian = np.empty(12), np.empty((12, 12))
    for h in range(len(model.hinge)):
        gather(model.hinge[h], x, y)
        turn = hinge_slopes(y, gradient, hessian, work) - angles[h]
        k = model.hinge_stiffness[h]
        at.turn[h] = turn
        mixed = at.mixed_turn[h]
        for i in range(12):
            at.of_turn[h, i] = gradient[i]
            for j in range(12):
                hessian[i, j] = k * (gradient[i] * gradient[j] + mixed * hessian[i, j])
        for i in range(12):
            gradient[i] *= k * turn
        part = PANEL_BENDING if model.hinge_of_panel[h] else CREASE_BENDING
        energies[part] += 0.5 * k * turn * turn
        _add_force(model.hinge[h], gradient, force)
        _add_blocks(model.hinge[h], blocks[h], hessian, values)


@kernel
def _assemble_blocks(
    model: BarHingeModel, blocks: ElementBlocks, pairs: ContactPairs, active: Ints,
    ke: float, x: Floats, angles: Floats, at: Slopes,
    energies: Floats, force: Floats, values: Floats,
) -> None:  # fmt: skip
    """Fill energies (6,), force (n, 3), blocks (m, 3, 3) and the slopes at x."""
    _add_bar_blocks(model, blocks.bar, x, at, energies, force, values)
    _add_hinge_blocks(model, blocks.hinge, x, angles, at, energies, force, values)
    gradient, hessian = np.empty(12), np.empty((12, 12))
    for k in range(len(active)):
        pair = active[k]
        energy, _ = pair_terms(pairs, pair, ke, x, gradient, hessian)
        energies[CONTACT] += energy
        if energy < np.inf:
            _add_force(pairs.node[pair], gradient, force)
            _add_blocks(pairs.node[pair], blocks.pair[k], hessian, values)


def slopes_at(model: BarHingeModel, strain: Floats, turn: Floats) -> Slopes:
    """Room for the slopes, with the stresses given."""
    b, h = len(model.bar), len(model.hinge)
    own = np.empty(b), np.empty(h), np.empty((b, 3)), np.empty((h, 12))
    return Slopes(*own, strain, turn)


def linearised(
    fronts: SheetFronts, pairs: ContactPairs, ke: float, x: Floats, angles: Floats,
    at: Slopes,
) -> tuple[SheetFronts, LargeSystem]:  # fmt: skip
    """Energies, forces and stiffness at x (n, 3) m; fills the slopes there.

    Parameters
    ----------
    ke : scale of the contact potential, J
    angles : (h,) rest angles
    """
    model, active = fronts.model, active_pairs(pairs, ke, x)
    fronts, blocks = fronts_for(fronts, pairs, active, x)
    energies, force = np.zeros(6), np.zeros_like(x)
    values = np.zeros((len(fronts.keys), 3, 3))
    _assemble_blocks(
        model, blocks, pairs, active, ke, x, angles, at, energies, force, values
    )
    moved = x - model.rest
    energies[SUPPORT] = 0.5 * (model.elastic * moved**2).sum()
    force += model.elastic * moved
    own = np.searchsorted(fronts.keys, np.arange(len(x)) * (len(x) + 1))
    values[own[:, None], [0, 1, 2], [0, 1, 2]] += model.elastic
    entries = values.ravel()[fronts.taken]
    free = model.unknown >= 0
    out = np.empty(len(model.first))
    out[model.unknown[free]] = force[free]
    largest = float(np.abs(entries[fronts.diagonal]).max())
    return fronts, LargeSystem(energies, out, entries, largest)


def factorised(fronts: SheetFronts, system: LargeSystem, mu: float) -> Factor:
    """L D L^T of K + mu I; the caller looks at the signs of its pivots."""
    values = system.values.copy()
    values[fronts.diagonal] += mu
    return factorise(fronts.pattern, values, drop=SINGULAR)
