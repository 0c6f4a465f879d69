"""A sheet as the solvers see it, and which of its parts are near while nodes move."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.safe_step import largest_step
from sim.contact.surface import Pairs, Surface
from sim.kernels import kernel
from sim.origami.assembly import energies_at
from sim.origami.model import Model

THINNEST = 1.0 / 64.0  # skin, of the thickest
GENEROUS = 1.0 / 8.0  # skin, of the thickest, that hardly costs more than the thinnest
CROWDED = 3.0  # pairs a node, triangle or edge at which a thinner skin pays
MOST_SKINS = 32.0  # that a move may be long, before it is shortened


class Problem(NamedTuple):
    """What stays the same from increment to increment.

    Attributes
    ----------
    ke : scale of the contact potential, J
    skin : how far nodes may move at most before pairs are sought again, m
    safe : whether steps end before anything touches
    """

    model: Model
    surface: Surface
    ke: float
    skin: float
    safe: bool


class Near(NamedTuple):
    """Pairs that are complete as long as nodes stay within `skin` around `base`."""

    pairs: Pairs
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
def near_at(problem: Problem, x: Floats, skin: float) -> Near:
    """Pairs around the positions x (n, 3), complete within `skin`."""
    surface = problem.surface
    reach = surface.edge_reach if len(surface.edge) else 0.0
    for p in range(len(surface.point_reach)):
        reach = max(reach, surface.point_reach[p])
    full = reach + surface.thickness + 2.0 * skin
    return Near(find_pairs(surface, x, full), x.copy(), skin)


@kernel
def kept(problem: Problem, near: Near, x: Floats, last: float) -> Near:
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
def allowed(
    problem: Problem, near: Near, x: Floats, move: Floats
) -> tuple[Near, float]:
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
def carried(
    problem: Problem, near: Near, x: Floats, move: Floats
) -> tuple[Near, Floats]:
    """Where a move ends that may be longer than the skin; it stops at what it meets."""
    skins = farthest(x + move, x) / problem.skin
    pieces = max(int(np.ceil(min(skins, MOST_SKINS))), 1)
    move = move * (min(1.0, MOST_SKINS / skins) if skins > 0.0 else 0.0) / pieces
    for _ in range(pieces):
        near, step = allowed(problem, near, x, move)
        x = x + step * move
        if step < 1.0:
            break
    return near, x


@kernel
def potential(
    problem: Problem, near: Near, x: Floats, angles: Floats, load: Floats
) -> float:
    """Total potential, J: energies less the work of the load; inf where panels meet."""
    model = problem.model
    total = energies_at(model, near.pairs, problem.ke, x, angles).sum()
    for i in range(len(x)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                total -= load[model.unknown[i, c]] * (x[i, c] - model.rest[i, c])
    return float(total)
