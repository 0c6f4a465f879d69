"""Which parts of a mesh may touch, from what distance, and how stiffly."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.choice import Choice
from sim.contact.barrier import barrier
from sim.contact.surface import ContactSurface
from sim.limits import refuse_negative, refuse_unless_positive
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
class Contact:
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
    ke: float | None = None
    d0_edge: float | None = None
    d0_centre: float | None = None
    thickness: float = 0.0
    creases: bool = False
    enabled: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", Rules(self.rules))
        for name in ("ke", "d0_edge", "d0_centre"):
            if getattr(self, name) is not None:
                refuse_unless_positive(self, name, of="contact")
        refuse_negative(self, "thickness", of="contact")
        if self.thickness > 0 and self.rules is Rules.PAPER:
            raise ValueError(
                "the paper's rules know no thickness: choose rules 'full', or set d0"
            )

    def filled(self, mesh: BarHingeMesh) -> "Contact":
        """The same with every default replaced by its value for this mesh.

        Raises ValueError where a distance is as long as a panel.
        """
        panel = panel_length(mesh)
        for name in ("d0_edge", "d0_centre", "thickness"):
            if (getattr(self, name) or 0.0) >= panel:
                raise ValueError(
                    f"{name} of contact is {getattr(self, name):g} m, but a panel only "
                    f"{panel:.3g} m long: give less, in m"
                )
        reach = REACH_SHARE * panel
        return Contact(
            rules=self.rules,
            ke=default_scale(mesh) if self.ke is None else self.ke,
            d0_edge=reach if self.d0_edge is None else self.d0_edge,
            d0_centre=reach if self.d0_centre is None else self.d0_centre,
            thickness=self.thickness,
            creases=self.creases,
            enabled=self.enabled,
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
            "the pattern has no crease: draw one and assign it M or V; of a plate that "
            "is only loaded, give the ke of contact"
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
    if contact.rules is Rules.FULL:
        return _full(mesh, contact, contact.d0_edge, contact.d0_centre)
    return _published(mesh, contact, contact.d0_edge, contact.d0_centre)


def _published(
    mesh: BarHingeMesh, contact: Contact, d0e: float, d0c: float
) -> ContactSurface:
    """[ZF19] Sect. 4a: a corner counts once for each panel it belongs to."""
    point = np.union1d(mesh.corner, mesh.centre)
    count = mesh.panel_triangles
    if contact.creases:
        point = np.arange(len(mesh.rest))
        count = len(mesh.triangle)
    reach = np.full(len(mesh.rest), d0e)
    reach[mesh.centre] = d0c
    return ContactSurface(
        point=point,
        point_panel=_panels_of(mesh)[point],
        point_activation=reach[point],
        triangle=mesh.triangle[:count],
        triangle_panel=mesh.triangle_panel[:count],
        edge=np.empty((0, 2), dtype=np.int64),
        edge_activation=0.0,
        tag=mesh.tag,
        rest=mesh.rest,
        limited=False,
        thickness=0.0,
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


def _full(
    mesh: BarHingeMesh, contact: Contact, d0e: float, d0c: float
) -> ContactSurface:
    """Every node, every triangle and every edge of the mesh, each once."""
    reach = np.full(len(mesh.rest), d0e)
    reach[mesh.centre] = d0c
    return ContactSurface(
        point=np.arange(len(mesh.rest)),
        point_panel=np.empty((len(mesh.rest), 0), dtype=np.int64),
        point_activation=reach,
        triangle=mesh.triangle,
        triangle_panel=mesh.triangle_panel,
        edge=mesh.bar,
        edge_activation=d0e,
        tag=mesh.tag,
        rest=mesh.rest,
        limited=True,
        thickness=contact.thickness,
    )


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
