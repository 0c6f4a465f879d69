"""A mesh that is held, touches itself, and is somewhere."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.contact.crossing import crossings
from sim.contact.potential import pair_distance
from sim.origami.assembly import assemble, contact_forces
from sim.origami.contact import Contact, Rules, build_surface, no_surface
from sim.origami.equilibrium import Near, Problem, near_at
from sim.origami.hinges import hinge_angle
from sim.origami.mesh import Mesh
from sim.origami.model import build_model
from sim.origami.phases import Phase, Rows
from sim.origami.skyline import factorise

SKIN_SHARE = 0.06  # of the pattern's size: how far nodes move before pairs are sought
FREE = 1e-13  # pivot of the stiffness below which a displacement is unsupported
TOUCHING = 1e-9  # distance, of the pattern's size, at which parts already meet


@dataclass(frozen=True, eq=False)
class Sheet:
    """A mesh, how it is held, and how it touches itself.

    Parameters
    ----------
    supports : rows (node, x, y, z) with 1 where the node is held
    max_iterations : linear solves of an increment
    accept_unconverged : with the paper's rules, go on where an increment has not
        converged, as the paper does; its step says so
    """

    mesh: Mesh
    supports: Rows
    contact: Contact
    max_iterations: int = 0
    accept_unconverged: bool = False

    def __post_init__(self) -> None:
        if self.accept_unconverged and self.contact.rules is not Rules.PAPER:
            raise ValueError("accept_unconverged belongs to the paper's rules")
        if self.max_iterations < 0:
            raise ValueError(f"max_iterations is negative: {self.max_iterations}")


@dataclass(frozen=True, eq=False)
class State:
    """Where a sheet is.

    Attributes
    ----------
    x : (n, 3) m
    angles : (h,) rest angles, rad
    factor : load factor
    along, sign : of the last increment of a `Path`
    """

    x: Floats
    angles: Floats
    near: Near
    factor: float = 0.0
    along: Floats | None = None
    sign: float = 1.0


def hinge_angles(mesh: Mesh, x: Floats) -> Floats:
    """(h,) angles of all hinges, rad."""
    return np.array([hinge_angle(x[nodes]) for nodes in mesh.hinge])


def build_problem(sheet: Sheet, phase: Phase) -> Problem:
    """The compiled loops' view of a sheet in one phase."""
    mesh = sheet.mesh
    supports = sheet.supports if phase.supports is None else phase.supports
    contact = sheet.contact.filled(mesh)
    on = contact.enabled and phase.contact
    assert contact.ke is not None  # `filled` has set it
    return Problem(
        model=build_model(mesh, supports, phase.elastic),
        surface=build_surface(mesh, contact) if on else no_surface(mesh.rest),
        ke=contact.ke,
        skin=SKIN_SHARE * mesh.pattern.size,
        safe=contact.rules is Rules.FULL,
    )


def check_start(mesh: Mesh, problem: Problem) -> None:
    """Refuse a sheet that can move freely, or that meets itself before it folds."""
    model, surface = problem.model, problem.surface
    bare = problem._replace(surface=no_surface(mesh.rest))
    none = near_at(bare, mesh.rest, bare.skin).pairs
    angles = hinge_angles(mesh, mesh.rest)
    system = assemble(model, bare.surface, none, problem.ke, mesh.rest, angles)
    factorise(system.values, system.start, system.first)
    pivots = system.values[system.start[1:] - 1]
    stiffest = abs(pivots).max()
    if pivots.min() < FREE * stiffest:
        node, axis = np.argwhere(model.unknown == pivots.argmin())[0]
        raise ValueError(
            f"the sheet can move without resistance, node {node} along "
            f"{'xyz'[axis]} for one: add supports"
        )
    if not problem.safe:
        return
    cross = crossings(surface.edge, surface.triangle, surface.tag, mesh.rest)
    near = near_at(problem, mesh.rest, problem.skin)
    gap, which = pair_distance(surface, near.pairs, mesh.rest, False)
    if len(cross) or gap <= TOUCHING * mesh.pattern.size:
        faces = near.pairs.face
        if len(cross):
            triangle = cross[0, 1]
        elif which < len(faces):
            triangle = faces[which, 1]
        else:
            edge = surface.edge[near.pairs.edge[which - len(faces), 0]]
            triangle = np.argmax(np.isin(surface.triangle, edge).sum(axis=1))
        raise ValueError(
            f"panel {surface.triangle_panel[triangle]} meets another part of the sheet "
            "before it is folded: move its vertices apart, or switch contact off"
        )


def contact_force(problem: Problem, state: State) -> Floats:
    """(n, 3) forces of contact on the nodes, N."""
    pairs = state.near.pairs
    return contact_forces(problem.surface, pairs, problem.ke, state.x)


def smallest_distance(problem: Problem, state: State) -> float:
    """Of all pairs that touch, m; inf where there is none."""
    return pair_distance(problem.surface, state.near.pairs, state.x, True)[0]
