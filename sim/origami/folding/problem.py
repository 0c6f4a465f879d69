"""A sheet as the solvers see it, and which of its parts are near while nodes move.

Pairs are sought within a skin around the positions, and are complete until a node has
left it, as the neighbour lists of molecular dynamics are (Verlet, Phys. Rev. 159,
1967).
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.safe_step import largest_step
from sim.contact.surface import ContactPairs, ContactSurface
from sim.kernels import kernel
from sim.origami.model.assembly import energies_at
from sim.origami.model.model import BarHingeModel

THINNEST = 1.0 / 64.0  # skin, of the thickest
GENEROUS = 1.0 / 8.0  # skin, of the thickest, that hardly costs more than the thinnest
CROWDED = 3.0  # pairs a node, triangle or edge at which a thinner skin pays
MOST_SKINS = 32.0  # that a move may be long, before it is shortened


class FoldingProblem(NamedTuple):
    """What stays the same from increment to increment.

    Attributes
    ----------
    ke : scale of the contact potential, J
    skin : how far nodes may move at most before pairs are sought again, m
    safe : whether steps end before anything touches
    """

    model: BarHingeModel
    surface: ContactSurface
    ke: float
    skin: float
    safe: bool


class NearbyPairs(NamedTuple):
    """Pairs that are complete as long as nodes stay within `skin` around `base`."""

    pairs: ContactPairs
    base: Floats
    skin: float


@kernel
def farthest(x: Floats, base: Floats) -> float:
    """Largest distance of a node from where it was."""
    square = 0.0
    for i in range(len(x)):
        s = (
            (x[i, 0] - base[i, 0]) ** 2
            + (x[i, 1] - base[i, 1]) ** 2
            + (x[i, 2] - base[i, 2]) ** 2
        )
        square = max(square, s)
    return float(np.sqrt(square))


@kernel
def near_at(problem: FoldingProblem, x: Floats, skin: float) -> NearbyPairs:
    """Pairs around the positions x (n, 3), complete within `skin`."""
    surface = problem.surface
    activation = surface.edge_activation if len(surface.edge) else 0.0
    for p in range(len(surface.point_activation)):
        activation = max(activation, surface.point_activation[p])
    full = activation + surface.thickness + 2.0 * skin
    return NearbyPairs(find_pairs(surface, x, full), x.copy(), skin)


@kernel
def refreshed(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, last: float
) -> NearbyPairs:
    """`near`, sought again if nodes have left the skin or it is far too thick.

    Newton steps become short: after a move of `last` metres, a skin of a third of it
    will do for the next, and a thin skin holds few pairs.
    """
    thinnest = THINNEST * problem.skin
    skin = min(max(last / 3.0, thinnest), problem.skin)
    parts = problem.surface
    elements = len(parts.point) + len(parts.triangle) + len(parts.edge)
    crowded = len(near.pairs.node) > CROWDED * elements
    if farthest(x, near.base) > near.skin or (crowded and near.skin > 6.0 * skin):
        return near_at(problem, x, skin)
    return near


@kernel
def safe_step_length(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, move: Floats
) -> tuple[NearbyPairs, float]:
    """How much of a move stays within the skin and touches nothing."""
    longest = farthest(x + move, x)
    room = near.skin - farthest(x, near.base)
    if (longest > room and room < problem.skin) or room < 0.5 * near.skin:
        room = min(max(2.0 * longest, GENEROUS * problem.skin), problem.skin)
        near = near_at(problem, x, room)
    step = 1.0 if longest <= room else room / longest
    if problem.safe:
        step = largest_step(near.pairs, x, move, step)
    return near, step


@kernel
def moved_safely(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, move: Floats
) -> tuple[NearbyPairs, Floats]:
    """Where a move ends that may be longer than the skin; it stops at what it meets."""
    skins = farthest(x + move, x) / problem.skin
    pieces = max(int(np.ceil(min(skins, MOST_SKINS))), 1)
    move = move * (min(1.0, MOST_SKINS / skins) if skins > 0.0 else 0.0) / pieces
    for _ in range(pieces):
        near, step = safe_step_length(problem, near, x, move)
        x = x + step * move
        if step < 1.0:
            break
    return near, x


@kernel
def potential(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, angles: Floats, load: Floats
) -> float:
    """Total potential, J: energies less the work of the load; inf where panels meet."""
    model = problem.model
    total = energies_at(model, near.pairs, problem.ke, x, angles).sum()
    for i in range(len(x)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                total -= load[model.unknown[i, c]] * (x[i, c] - model.rest[i, c])
    return float(total)
