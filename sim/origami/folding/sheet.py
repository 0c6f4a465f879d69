"""A mesh that is held, touches itself, and is somewhere."""

from dataclasses import dataclass, field

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.contact import potential
from sim.contact.crossing import crossings
from sim.hinges import hinge_angle
from sim.origami.folding.problem import FoldingProblem, NearbyPairs, near_at
from sim.origami.loading.checks import Rows
from sim.origami.loading.phases import Load, Phase
from sim.origami.model.assembly import assemble, contact_forces
from sim.origami.model.blocks import SheetFronts, fronts_of, linearised, slopes_at
from sim.origami.model.blocks import factorised as in_fronts
from sim.origami.model.contact import (
    Contact,
    Rules,
    build_surface,
    no_surface,
    panel_length,
)
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.model.model import build_model, held_table, spring_table
from sim.origami.model.skyline import factorise

SKIN_SHARE = 0.06  # of the pattern's size: how far nodes move before pairs are sought,
SKIN_OF_PANEL = 0.25  # and of a panel's length: large sheets have many pairs within it
FREE = 1e-13  # pivot of the stiffness below which a displacement is unsupported
TOUCHING = 1e-9  # distance, of the pattern's size, at which parts already meet


class StartError(ValueError):
    """A sheet that cannot fold as it is given."""


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

    mesh: BarHingeMesh
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
class SheetState:
    """Where a sheet is.

    Attributes
    ----------
    x : (n, 3) m
    angles : (h,) rest angles, rad
    factor : load factor
    past : (k,) load factors and (k, n, 3) m of the last increments of the same stage,
        this state among them
    along, sign : of the last increment of a `Path`
    unloaded : (h,) rest angles without the moments of this phase, rad; None without any
    fronts : of a large sheet with rules "full"
    stresses : (k, b + h) of its bars and hinges at the last equilibria, strains, then
        turns from the rest angles, rad
    """

    x: Floats
    angles: Floats
    near: NearbyPairs
    factor: float
    past: tuple[Floats, Floats]
    along: Floats | None = None
    sign: float = 1.0
    unloaded: Floats | None = None
    fronts: SheetFronts | None = None
    stresses: Floats = field(default_factory=lambda: np.zeros((1, 0)))


def hinge_angles(mesh: BarHingeMesh, x: Floats, of: Bools | None = None) -> Floats:
    """(h,) angles of all hinges, or of those chosen, rad."""
    hinges = mesh.hinge if of is None else mesh.hinge[of]
    return np.array([hinge_angle(x[nodes]) for nodes in hinges])


def flat_state(mesh: BarHingeMesh, problem: FoldingProblem) -> SheetState:
    """The sheet as it is before it folds."""
    rest = mesh.rest
    return SheetState(
        x=rest,
        angles=hinge_angles(mesh, rest),
        near=near_at(problem, rest, problem.skin),
        factor=0.0,
        past=(np.zeros(1), rest[None]),
        fronts=fronts_of(problem.model) if problem.safe else None,
        stresses=np.zeros((1, len(mesh.bar) + len(mesh.hinge))),
    )


def supports_of(sheet: Sheet, phase: Phase) -> Rows:
    """The supports of a phase: its own, or else the sheet's."""
    return sheet.supports if phase.supports is None else phase.supports


def check_phase(sheet: Sheet, phase: Phase) -> None:
    """Refuse a phase that names what the sheet does not have."""
    nodes = len(sheet.mesh.rest)
    held = held_table(supports_of(sheet, phase), nodes) != 0
    spring_table(phase.elastic, nodes)
    if not isinstance(phase, Load):
        phase.targets(sheet.mesh)
        return
    for node in (*phase.nodes, *([phase.watch] if phase.watch >= 0 else [])):
        if not 0 <= node < nodes:
            raise ValueError(
                f"load names node {node}, but nodes are numbered 0 to {nodes - 1}"
            )
    if not (~held[list(phase.nodes)] & (np.array(phase.force) != 0)).any():
        raise ValueError("the load acts on supports only: name nodes that can move")


def build_problem(sheet: Sheet, phase: Phase) -> FoldingProblem:
    """The compiled loops' view of a sheet in one phase."""
    mesh = sheet.mesh
    contact = sheet.contact.filled(mesh)
    on = contact.enabled and phase.contact
    assert contact.ke is not None  # `filled` has set it
    return FoldingProblem(
        model=build_model(mesh, supports_of(sheet, phase), phase.elastic),
        surface=build_surface(mesh, contact) if on else no_surface(mesh.rest),
        ke=contact.ke,
        skin=min(SKIN_SHARE * mesh.pattern.size, SKIN_OF_PANEL * panel_length(mesh)),
        safe=contact.rules is Rules.FULL,
    )


def check_start(
    mesh: BarHingeMesh, problem: FoldingProblem, fronts: SheetFronts | None
) -> None:
    """Refuse sheets that can move freely, meet themselves unfolded, or are not flat.

    What meets is told first: panels that pass through others are seldom flat.

    Raises
    ------
    StartError
    """
    model = problem.model
    pivots = _pivots_at_rest(mesh, problem, fronts)
    if pivots.min() < FREE * abs(pivots).max():
        node, axis = np.argwhere(model.unknown == pivots.argmin())[0]
        raise StartError(
            f"the sheet can move without resistance, node {node} along "
            f"{'xyz'[axis]} for one: add supports"
        )
    if problem.safe:
        _check_apart(mesh, problem)
    try:
        mesh.pattern.check_flat()
    except ValueError as error:
        raise StartError(str(error)) from error


def _pivots_at_rest(
    mesh: BarHingeMesh, problem: FoldingProblem, fronts: SheetFronts | None
) -> Floats:
    """(u,) pivots of the stiffness of the sheet as drawn, without contact, N/m."""
    model, rest = problem.model, mesh.rest
    bare = problem._replace(surface=no_surface(rest))
    none = near_at(bare, rest, bare.skin).pairs
    angles = hinge_angles(mesh, rest)
    if fronts is None:
        system = assemble(model, none, problem.ke, rest, angles)
        factorise(system.values, system.start, system.first)
        return np.asarray(system.values[system.start[1:] - 1])
    at = slopes_at(model, np.zeros(len(model.bar)), np.zeros(len(model.hinge)))
    fronts, large = linearised(fronts, none, problem.ke, rest, angles, at)
    pivots, factor = np.empty(len(model.first)), in_fronts(fronts, large, 0.0)
    pivots[fronts.pattern.order] = factor.pivot
    return pivots


def _check_apart(mesh: BarHingeMesh, problem: FoldingProblem) -> None:
    surface = problem.surface
    cross = crossings(surface.edge, surface.triangle, surface.tag, mesh.rest)
    pairs = near_at(problem, mesh.rest, 0.0).pairs
    closest, which = potential.smallest_distance(pairs, mesh.rest, False)
    if len(cross):
        one, other = surface.edge[cross[0, 0]], surface.triangle[cross[0, 1]]
    elif closest <= TOUCHING * mesh.pattern.size:
        nodes = pairs.node[which]
        own = 1 if which < pairs.faces else 2
        one, other = nodes[:own], nodes[own:]
    else:
        return
    here, there = part_at(mesh, one), part_at(mesh, other)
    raise StartError(
        f"{here} meets {there} before the sheet is folded: "
        "move its vertices apart, or switch contact off"
    )


def part_at(mesh: BarHingeMesh, nodes: Ints) -> str:
    """The panel or crease that some nodes of a triangle belong to."""
    triangle = np.argmax(np.isin(mesh.triangle, nodes).sum(axis=1))
    number, panels = int(mesh.triangle_panel[triangle]), len(mesh.pattern.panels)
    if number < panels:
        return f"panel {number}"
    return mesh.pattern.crease_name(mesh.pattern.creases[number - panels])


def contact_force(problem: FoldingProblem, state: SheetState) -> Floats:
    """(n, 3) forces of contact on the nodes, N."""
    return contact_forces(state.near.pairs, problem.ke, state.x)


def smallest_distance(state: SheetState) -> float:
    """Of all pairs that touch, m; inf where there is none."""
    return potential.smallest_distance(state.near.pairs, state.x, True)[0]
