"""A sheet: a mesh that is held, touches itself, and is somewhere.

`Contact` says which parts of a mesh may touch, from what distance, and how stiffly.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sim.contact.collisions import crossings
from sim.contact.contact_energy import barrier, felt_pairs, pair_slopes, separations
from sim.contact.near_pairs import ContactSurface
from sim.core.arrays import Bools, Floats, Ints
from sim.core.hinges import hinge_angle
from sim.core.numba_kernels import pointed
from sim.core.options import (
    Checked,
    Choice,
    NotNegative,
    Positive,
    Whole,
    refuse_missing,
)
from sim.linalg.skyline import factorise
from sim.origami.fold_and_load_phases import Load, Phase, Rows
from sim.origami.folding.equilibrium import FoldingProblem, NearbyPairs, near_at
from sim.origami.model.assembly import (
    assemble,
    build_model,
    held_table,
    spring_table,
)
from sim.origami.model.large_sheet_stiffness import (
    SheetFronts,
    Stresses,
    fronts_of,
    linearised,
)
from sim.origami.model.large_sheet_stiffness import factorised as in_fronts
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.pattern import polygon_area

REACH_SHARE = 0.03  # of a panel's length; [ZF19], Sect. 4b, advises 2 to 5 %


class Rules(Choice):
    """Which contact is seen.

    PAPER: the panels' corners and centres against the triangles of other panels, and
    full Newton steps, as in [ZF19]. FULL: all nodes, edges against edges, creases
    too; no step goes through a panel.
    """

    PAPER = "paper"
    FULL = "full"


@dataclass(frozen=True)
class Contact(Checked):
    """Contact of a sheet with itself.

    Parameters
    ----------
    rules : "paper" or "full"
    ke : scale of the potential, J; by default such that the potential at half of d0
        is the energy of a crease bent by 90 degrees
    d0_edge, d0_centre : distance at which contact begins, m, for nodes on panel edges
        and in panel centres; by default 3 % of a panel's length
    thickness : distance that always remains between midplanes, m; d0 and it shrink
        together for a pair that has less than twice their sum as its distance at rest
    creases : whether crease nodes and triangles take part with the paper's rules
    enabled : without contact, panels pass through each other
    """

    rules: Rules | str = Rules.FULL
    ke: Positive | None = None
    d0_edge: Positive | None = None
    d0_centre: Positive | None = None
    thickness: NotNegative = 0.0
    creases: bool = False
    enabled: bool = True
    of: ClassVar[str] = "contact"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", Rules(self.rules))
        super().__post_init__()
        if self.thickness > 0 and self.rules is Rules.PAPER:
            raise ValueError(
                "contact rules 'paper' have no thickness: choose 'full', or set d0"
            )

    def filled(self, mesh: BarHingeMesh) -> "Contact":
        """The same with every default replaced by its value for this mesh.

        Raises ValueError where a distance is as long as a panel.
        """
        panel = panel_length(mesh)
        for name in ("d0_edge", "d0_centre", "thickness"):
            if (getattr(self, name) or 0.0) >= panel:
                raise ValueError(
                    f"{name} of contact is {getattr(self, name):g} m, but a panel is "
                    f"only {panel:.3g} m long: give a smaller value in m"
                )
        reach = REACH_SHARE * panel
        return replace(
            self,
            ke=default_scale(mesh) if self.ke is None else self.ke,
            d0_edge=reach if self.d0_edge is None else self.d0_edge,
            d0_centre=reach if self.d0_centre is None else self.d0_centre,
        )


def panel_length(mesh: BarHingeMesh) -> float:
    """Side of a square as large as the mean panel, m."""
    corners = [mesh.pattern.vertices[list(panel)] for panel in mesh.pattern.panels]
    areas = [np.linalg.norm(polygon_area(c)) for c in corners]
    return float(np.sqrt(np.mean(areas)))


def default_scale(mesh: BarHingeMesh) -> float:
    """ke in J: the potential at d0 / 2 equals the energy of a crease bent by 90 deg.

    The springs of one crease act in series, so that its stiffness is that of a rim
    hinge times its share of the fold.
    """
    folding = mesh.hinge_share > 0
    if not folding.any():
        raise ValueError(
            "the pattern has no crease: draw one and assign it M or V, or, for a plate "
            "under load only, set contact.ke"
        )
    whole = np.zeros(len(mesh.pattern.edges))
    numbers = mesh.hinge_crease[folding]
    energy = 0.5 * mesh.hinge_stiffness[folding]
    energy *= (mesh.hinge_share[folding] * np.pi / 2) ** 2
    np.add.at(whole, numbers, energy)
    at_half = barrier(0.5, 1.0, 1.0)[0]  # Pi / ke at d = d0 / 2
    return float(whole[np.unique(numbers)].mean() / at_half)


def build_surface(mesh: BarHingeMesh, contact: Contact) -> ContactSurface:
    """What `sim.contact` looks at; `contact` must be filled."""
    assert contact.d0_edge is not None  # `filled` has set both
    assert contact.d0_centre is not None
    reach = np.full(len(mesh.rest), contact.d0_edge)
    reach[mesh.centre] = contact.d0_centre
    seen = ContactSurface(  # every node, every triangle and every edge, each once
        point=np.arange(len(mesh.rest)),
        point_panel=np.empty((len(mesh.rest), 0), dtype=np.int64),
        point_activation=reach,
        triangle=mesh.triangle,
        triangle_panel=mesh.triangle_panel,
        edge=mesh.bar,
        edge_activation=contact.d0_edge,
        tag=mesh.tag,
        rest=mesh.rest,
        limited=True,
        thickness=contact.thickness,
    )
    return seen if contact.rules is Rules.FULL else _published(mesh, contact, seen)


def _published(
    mesh: BarHingeMesh, contact: Contact, seen: ContactSurface
) -> ContactSurface:
    """[ZF19] Sect. 4a: a corner counts once for each panel it belongs to; no edges."""
    point = np.union1d(mesh.corner, mesh.centre)
    count = int(np.count_nonzero(mesh.triangle_panel < len(mesh.pattern.panels)))
    if contact.creases:
        point, count = seen.point, len(mesh.triangle)
    return no_surface(mesh.rest)._replace(
        point=point,
        point_panel=_panels_of(mesh)[point],
        point_activation=seen.point_activation[point],
        triangle=mesh.triangle[:count],
        triangle_panel=mesh.triangle_panel[:count],
        tag=mesh.tag,
    )


def _panels_of(mesh: BarHingeMesh) -> Ints:
    """(n, q) the panels of each node; crease nodes are a panel of their own."""
    own: list[list[int]] = [[] for _ in mesh.rest]
    for node, panel in zip(mesh.corner, mesh.corner_panel, strict=True):
        own[node].append(int(panel))
    for panel, node in enumerate(mesh.centre):
        own[node].append(panel)
    alone = len(mesh.triangle)  # no triangle has this number
    widest = max(len(panels) for panels in own)
    out = np.full((len(own), widest), -1, dtype=np.int64)
    for row, panels in zip(out, own, strict=True):
        row[: max(len(panels), 1)] = panels or [alone]
    return out


def no_surface(rest: Floats) -> ContactSurface:
    """A surface on which nothing is seen."""
    none = np.empty(0, dtype=np.int64)
    return ContactSurface(
        point=none,
        point_panel=np.empty((0, 0), dtype=np.int64),
        point_activation=np.empty(0),
        triangle=np.empty((0, 3), dtype=np.int64),
        triangle_panel=none,
        edge=np.empty((0, 2), dtype=np.int64),
        edge_activation=0.0,
        tag=np.empty((0, 2), dtype=np.int64),
        rest=rest,
        limited=False,
        thickness=0.0,
    )


SKIN_SHARE = 0.06  # of the pattern's size: how far nodes move before pairs are sought,
SKIN_OF_PANEL = 0.25  # and of a panel's length: large sheets have many pairs within it
FREE = 1e-13  # pivot of the stiffness below which a displacement is unsupported
TOUCHING = 1e-9  # distance, of the pattern's size, at which parts already meet


class StartError(ValueError):
    """A sheet that cannot fold as it is given."""


@dataclass(frozen=True, eq=False)
class Sheet(Checked):
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
    max_iterations: Whole = 0
    accept_unconverged: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.accept_unconverged and self.contact.rules is not Rules.PAPER:
            raise ValueError("accept_unconverged works with contact rules 'paper' only")


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
    named = (*phase.nodes, *([phase.watch] if phase.watch >= 0 else []))
    refuse_missing("load names node {}", named, nodes, "the mesh has nodes")
    if not (~held[list(phase.nodes)] & (np.array(phase.force) != 0)).any():
        raise ValueError("the load acts on supports only: name nodes that can move")


def build_problem(sheet: Sheet, phase: Phase) -> FoldingProblem:
    """The compiled loops' view of a sheet in one phase."""
    mesh = sheet.mesh
    contact = sheet.contact.filled(mesh)
    on = contact.enabled and phase.contact
    assert contact.ke is not None  # `filled` has set it
    return FoldingProblem(
        model=pointed(build_model(mesh, supports_of(sheet, phase), phase.elastic)),
        surface=pointed(build_surface(mesh, contact) if on else no_surface(mesh.rest)),
        ke=contact.ke,
        skin=min(SKIN_SHARE * mesh.pattern.size, SKIN_OF_PANEL * panel_length(mesh)),
        safe=contact.rules is Rules.FULL,
    )


def check_start(
    mesh: BarHingeMesh, problem: FoldingProblem, fronts: SheetFronts | None
) -> None:
    """Refuse sheets that can move freely, meet themselves unfolded, or are not flat.

    Contact is reported first: panels that pass through others are seldom flat.

    Raises
    ------
    StartError
    """
    model = problem.model
    pivots = _pivots_at_rest(mesh, problem, fronts)
    if pivots.min() < FREE * abs(pivots).max():
        node, axis = np.argwhere(model.unknown == pivots.argmin())[0]
        raise StartError(
            f"the sheet can move without resistance, for example node {node} along "
            f"{'xyz'[axis]}: add supports"
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
    """(u,) pivots of the stiffness of the flat sheet, without contact, N/m."""
    model, rest = problem.model, mesh.rest
    bare = problem._replace(surface=pointed(no_surface(rest)))
    none = near_at(bare, rest, bare.skin).pairs
    angles = hinge_angles(mesh, rest)
    if fronts is None:
        system = assemble(model, none, problem.ke, rest, angles)
        factorise(system.values, system.start, system.first)
        return np.asarray(system.values[system.start[1:] - 1])
    at_rest = Stresses(np.zeros(len(model.bar)), np.zeros(len(model.hinge)))
    fronts, large = linearised(fronts, none, problem.ke, rest, angles, at_rest)
    pivots, factor = np.empty(len(model.first)), in_fronts(fronts, large, 0.0)
    pivots[fronts.pattern.order] = factor.pivot
    return pivots


def _check_apart(mesh: BarHingeMesh, problem: FoldingProblem) -> None:
    surface = problem.surface
    cross = crossings(surface.edge, surface.triangle, surface.tag, mesh.rest)
    pairs = near_at(problem, mesh.rest, 0.0).pairs
    distance = separations(pairs, mesh.rest)
    if len(cross):
        one, other = surface.edge[cross[0, 0]], surface.triangle[cross[0, 1]]
    elif distance.min(initial=np.inf) <= TOUCHING * mesh.pattern.size:
        which = int(distance.argmin())
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
    pairs, out = state.near.pairs, np.zeros_like(state.x)
    np.subtract.at(out, pairs.node, pair_slopes(pairs, problem.ke, state.x))
    return out


def smallest_distance(state: SheetState) -> float:
    """Of all pairs in contact, m; inf where there is none."""
    in_contact = felt_pairs(state.near.pairs, state.x)
    return float(separations(in_contact, state.x).min(initial=np.inf))
