"""The stiffness of a large sheet: the matrices of its elements, added up in fronts.

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

from sim.contact.contact_energy import (
    active_pairs,
    contact_energy,
    pair_curvatures,
    within_reach,
)
from sim.contact.near_pairs import ContactPairs, only
from sim.core.arrays import Floats, Ints
from sim.core.hinges import slopes_of_hinges
from sim.linalg.sparse_ldl import (
    Factor,
    SparsityPattern,
    analyse,
    factorise,
    lower_places,
)
from sim.origami.model.assembly import (
    CONTACT,
    CREASE_BENDING,
    CREASE_STRETCH,
    PANEL_BENDING,
    PANEL_STRETCH,
    SUPPORT,
    BarHingeModel,
)

LARGE_FROM = 1e7  # squares of the lengths of rows, above which fronts take over
SINGULAR = 1e-14  # pivot, of its terms, that counts as none
AHEAD = 2.0  # distance, of that at which contact begins, from which nodes are coupled


class Stresses(NamedTuple):
    """Strains (b,) of bars, and turns (h,) of hinges from their rest angles, rad."""

    strain: Floats
    turn: Floats


class LargeSystem(NamedTuple):
    """One linearisation; see `sim.origami.model.assembly.EquilibriumSystem`.

    Attributes
    ----------
    energies, force : (6,) J, (u,) N
    values : entries of the stiffness, as the fronts take them, N/m
    largest : of its diagonal, without sign, N/m
    stresses : e(x) and theta(x) - rest of the module's formula
    of_strain, of_turn : (b, 3), (h, 12) their slopes, of the second node of a bar
    """

    energies: Floats
    force: Floats
    values: Floats
    largest: float
    stresses: Stresses
    of_strain: Floats
    of_turn: Floats


@dataclass(frozen=True, eq=False)
class SheetFronts:
    """Places of the entries of a sheet's stiffness, and the order of elimination.

    Attributes
    ----------
    keys : (m,) of the entries, row by row
    taken, slot : of bars and hinges, which numbers of their matrices are entries
    diagonal : (u,) places of the diagonal among the entries
    """

    model: BarHingeModel
    keys: Ints
    taken: tuple[Ints, ...]
    slot: Ints
    diagonal: Ints
    pattern: SparsityPattern


def entry_keys(model: BarHingeModel, nodes: Ints) -> tuple[Ints, Ints]:
    """A number for each entry of elements with nodes (e, k), and which these are."""
    unknown = model.unknown[nodes].reshape(len(nodes), 3 * nodes.shape[1])
    rows, cols, taken = lower_places(unknown, unknown)
    return rows * len(model.first) + cols, taken


def sheet_fronts(model: BarHingeModel, coupled: Ints | None = None) -> SheetFronts:
    """Fronts for all elements, and for pairs of contact with nodes (p, 4)."""
    size = len(model.first)
    elements = [entry_keys(model, nodes) for nodes in (model.bar, model.hinge)]
    own, diagonal = np.concatenate([keys for keys, _ in elements]), np.arange(size)
    every = [own, diagonal * (size + 1)]
    if coupled is not None:
        every.append(entry_keys(model, coupled)[0])
    keys = np.unique(np.concatenate(every))
    return SheetFronts(
        model,
        keys,
        tuple(taken for _, taken in elements),
        np.searchsorted(keys, own),
        np.searchsorted(keys, every[1]),
        analyse(size, *np.divmod(keys, size)),
    )


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
    fronts: SheetFronts, pairs: ContactPairs, nodes: Ints, x: Floats
) -> tuple[SheetFronts, Ints, Ints]:
    """Fronts with the entries of pairs that touch, by their nodes (p, 4), and these.

    Where one is missing, all pairs that are about to touch get theirs as well.
    """
    needed, taken = entry_keys(fronts.model, nodes)
    place = np.searchsorted(fronts.keys, needed).clip(max=len(fronts.keys) - 1)
    if (fronts.keys[place] != needed).any():
        fronts = sheet_fronts(fronts.model, pairs.node[within_reach(pairs, x, AHEAD)])
        place = np.searchsorted(fronts.keys, needed)
    return fronts, place, taken


def linearised(
    fronts: SheetFronts, pairs: ContactPairs, ke: float, x: Floats, angles: Floats,
    mixed: Stresses,
) -> tuple[SheetFronts, LargeSystem]:  # fmt: skip
    """Energies, forces and stiffness at x (n, 3) m.

    Parameters
    ----------
    ke : scale of the contact potential, J
    angles : (h,) rest angles
    mixed : s and t of the module's formula
    """
    model, touching = fronts.model, only(pairs, active_pairs(pairs, ke, x))
    fronts, place, taken = fronts_for(fronts, pairs, touching.node, x)
    d = x[model.bar[:, 1]] - x[model.bar[:, 0]]
    square, EA = model.bar_length**2, model.bar_stiffness * model.bar_length
    u = d - model.bar_rest
    strain = (u * (model.bar_rest + 0.5 * u)).sum(axis=1) / square
    slope = d / square[:, None]
    block = EA[:, None, None] * (
        slope[:, :, None] * slope[:, None]
        + (mixed.strain / square)[:, None, None] * np.eye(3)
    )
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    of_bars = signs[:, None, :, None] * block[:, None, :, None, :]
    angle, of_turn, bent = slopes_of_hinges(model.hinge, x)
    turn, k = angle - angles, model.hinge_stiffness
    bent *= mixed.turn[:, None, None]
    bent += of_turn[:, :, None] * of_turn[:, None]
    bent *= k[:, None, None]
    pushes, pressed, _ = pair_curvatures(touching, ke, x)
    moved, force = x - model.rest, np.zeros_like(x)
    pull = (EA * strain)[:, None] * slope
    np.add.at(force, model.bar, np.stack([-pull, pull], axis=1))
    of_hinges = (k * turn)[:, None] * of_turn
    np.add.at(force, model.hinge, of_hinges.reshape(-1, 4, 3))
    np.add.at(force, touching.node, pushes.reshape(-1, 4, 3))
    force += model.elastic * moved
    stretch, bend = 0.5 * EA * strain**2, 0.5 * k * turn**2
    energies = np.zeros(6)
    energies[PANEL_STRETCH] = stretch[model.bar_of_panel].sum()
    energies[CREASE_STRETCH] = stretch[~model.bar_of_panel].sum()
    energies[PANEL_BENDING] = bend[model.hinge_of_panel].sum()
    energies[CREASE_BENDING] = bend[~model.hinge_of_panel].sum()
    energies[CONTACT] = contact_energy(touching, ke, x)
    energies[SUPPORT] = 0.5 * (model.elastic * moved**2).sum()
    own = [M.ravel()[at] for M, at in zip((of_bars, bent), fronts.taken, strict=True)]
    values: Floats = np.bincount(
        np.append(fronts.slot, place),
        np.concatenate([*own, pressed.ravel()[taken]]),
        len(fronts.keys),
    ).astype(np.float64)
    free, out = model.unknown >= 0, np.empty(len(model.first))
    out[model.unknown[free]] = force[free]
    values[fronts.diagonal[model.unknown[free]]] += model.elastic[free]
    largest = float(np.abs(values[fronts.diagonal]).max())
    return fronts, LargeSystem(
        energies, out, values, largest, Stresses(strain, turn), slope, of_turn
    )


def factorised(fronts: SheetFronts, system: LargeSystem, mu: float) -> Factor:
    """L D L^T of K + mu I; the caller looks at the signs of its pivots."""
    values = system.values.copy()
    values[fronts.diagonal] += mu
    return factorise(fronts.pattern, values, drop=SINGULAR)
