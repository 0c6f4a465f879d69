"""Energy, force and stiffness of the whole model: sums over bars, hinges and pairs."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.potential import contact_energy, pair_terms, touching
from sim.contact.surface import ContactPairs, gather
from sim.hinges import hinge_angle, hinge_slopes
from sim.kernels import inlined, kernel
from sim.origami.model.bars import bar_strain, bar_terms
from sim.origami.model.model import BarHingeModel
from sim.origami.model.skyline import row_starts

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
    values, start, first : stiffness by rows (sim.origami.model.skyline), N/m
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
    for i in range(len(x)):
        for c in range(3):
            out[SUPPORT] += (
                0.5 * model.elastic[i, c] * (x[i, c] - model.rest[i, c]) ** 2
            )
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
    """Add 4-node terms to force and stiffness; rows (12,) is work space."""
    for a in range(4):
        for c in range(3):
            rows[3 * a + c] = model.unknown[nodes[a], c]
    for i in range(12):
        row = rows[i]
        if row < 0:
            continue
        system.force[row] += gradient[i]
        begin = system.start[row] - system.first[row]
        for j in range(12):
            column = rows[j]
            if 0 <= column <= row:
                system.values[begin + column] += hessian[i, j]


@kernel
def _add_bars(model: BarHingeModel, x: Floats, system: EquilibriumSystem) -> None:
    dx, force, block = np.empty(3), np.empty(3), np.empty((3, 3))
    for bar in range(len(model.bar)):
        ends = model.bar[bar]
        for c in range(3):
            dx[c] = x[ends[1], c] - x[ends[0], c]
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
        for a in range(2):
            for c in range(3):
                row = model.unknown[ends[a], c]
                if row < 0:
                    continue
                system.force[row] += force[c] if a == 1 else -force[c]
                begin = system.start[row] - system.first[row]
                for b in range(2):
                    for e in range(3):
                        column = model.unknown[ends[b], e]
                        if 0 <= column <= row:
                            value = block[c, e]
                            system.values[begin + column] += value if a == b else -value


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
    active = touching(pairs, ke, x)
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


@kernel
def contact_forces(pairs: ContactPairs, ke: float, x: Floats) -> Floats:
    """Forces of contact on the nodes (n, 3), N."""
    out = np.zeros_like(x)
    gradient, hessian = np.empty(12), np.empty((12, 12))
    for k in touching(pairs, ke, x):
        energy, _ = pair_terms(pairs, k, ke, x, gradient, hessian)
        if energy < np.inf:
            for a in range(4):
                for c in range(3):
                    out[pairs.node[k, a], c] -= gradient[3 * a + c]
    return out


@kernel
def largest_strain(model: BarHingeModel, x: Floats) -> float:
    """Largest Green strain of any bar, without sign."""
    dx, largest = np.empty(3), 0.0
    for b in range(len(model.bar)):
        i, j = model.bar[b]
        for c in range(3):
            dx[c] = x[j, c] - x[i, c]
        e = bar_strain(dx, model.bar_rest[b], model.bar_length[b])
        largest = max(largest, abs(e))
    return largest
