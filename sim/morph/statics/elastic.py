"""Elastic links, hinges and panels: their energy, its slope and its curvature.

    link   U = k/2 (l - l0)^2              l the distance of two nodes
    hinge  U = k/2 (theta - theta0)^2      theta the angle of `sim.hinges`, pi when flat
    panel  see `sim.morph.statics.panels`

The tension of a link is k (l - l0), positive when it is pulled; the moment of a hinge
is k (theta - theta0), positive where its angle is larger than at rest. [dJ23] has rigid
links and free joints only, and names stiffness as a next step (Discussion).

Angles have no jump at half or whole turns: of all values that differ by 2 pi the one
closest to the angle before is taken.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.surface import gather
from sim.hinges import hinge_angle, hinge_slopes
from sim.kernels import kernel
from sim.morph.statics.panels import Panels, StretchedPanels


@dataclass(frozen=True, eq=False)
class Elastic:
    """What is elastic in a structure.

    Attributes
    ----------
    links : (l, 2) the nodes of each link
    link_stiffness, rest_length : (l,) force / length, length
    hinges : (h, 4) nodes i, j, k, l of each hinge: j-k the axis, i and l the wings
    hinge_stiffness, rest_angle : (h,) moment / rad, rad
    panels : in plane stress
    """

    links: Ints
    link_stiffness: Floats
    rest_length: Floats
    hinges: Ints
    hinge_stiffness: Floats
    rest_angle: Floats
    panels: Panels = field(default_factory=Panels)

    def __post_init__(self) -> None:
        for name, stiffness in (
            ("link", self.link_stiffness),
            ("hinge", self.hinge_stiffness),
        ):
            bad = np.flatnonzero(~(np.isfinite(stiffness) & (stiffness > 0.0)))
            if len(bad):
                raise ValueError(
                    f"elastic {name} {bad[0]} has the stiffness {stiffness[bad[0]]}: "
                    "it must be positive, and finite: a rigid one is a constraint"
                )
        bad = np.flatnonzero(~(np.isfinite(self.rest_length) & (self.rest_length >= 0)))
        if len(bad):
            raise ValueError(
                f"elastic link {bad[0]} has the rest length "
                f"{self.rest_length[bad[0]]}: it must be finite, and not negative"
            )

        bad = np.flatnonzero(~np.isfinite(self.rest_angle))
        if len(bad):
            raise ValueError(
                f"elastic hinge {bad[0]} has the rest angle {self.rest_angle[bad[0]]}: "
                "it must be finite"
            )

    @classmethod
    def none(cls) -> "Elastic":
        """Nothing elastic."""
        return cls.between(np.empty((0, 3)), np.empty((0, 2), np.int64), 1.0)

    @classmethod
    def between(
        cls,
        r: Floats,
        links: Ints,
        link_stiffness: float,
        hinges: Ints | None = None,
        hinge_stiffness: float = 1.0,
    ) -> "Elastic":
        """Links and hinges that are at rest in `r` (n, 3)."""
        if hinges is None:
            hinges = np.empty((0, 4), dtype=np.int64)
        return cls(
            links,
            np.full(len(links), float(link_stiffness)),
            np.linalg.norm(r[links[:, 1]] - r[links[:, 0]], axis=1),
            hinges,
            np.full(len(hinges), float(hinge_stiffness)),
            angles_of(hinges, r),
        )

    def grown(
        self,
        links: Floats | float = 0.0,
        hinges: Floats | float = 0.0,
        panels: Floats | float = 0.0,
    ) -> "Elastic":
        """The same with other lengths and angles at rest.

        Parameters
        ----------
        links, panels : strain of each, change of length over length
        hinges : turn of each, rad
        """
        return replace(
            self,
            rest_length=self.rest_length * (1.0 + np.asarray(links)),
            rest_angle=self.rest_angle + np.asarray(hinges),
            panels=self.panels.grown(np.broadcast_to(panels, len(self.panels))),
        )

    def check(self, r: Floats) -> None:
        """Refuse nodes that are not there, and hinges without an angle in `r`."""
        parts = {"link": self.links, "hinge": self.hinges, "panel": self.panels.nodes}
        for name, elements in parts.items():
            _check_nodes(name, elements, len(r))
        apart = np.linalg.norm(r[self.links[:, 1]] - r[self.links[:, 0]], axis=1)
        for i in np.flatnonzero((apart == 0.0) & (self.rest_length > 0.0))[:1]:
            raise ValueError(
                f"elastic link {i} joins nodes at one place, so nothing says where it "
                f"pushes them: move one, or give it the rest length 0, not "
                f"{self.rest_length[i]:g}"
            )
        for i, (a, j, k, b) in enumerate(self.hinges.tolist()):
            axis, size = r[k] - r[j], np.ptp(r, axis=0).max()
            for wing in (a, b):
                area = np.linalg.norm(np.cross(axis, r[wing] - r[j]))
                if not area > 1e-9 * size * np.linalg.norm(axis):
                    raise ValueError(
                        f"elastic hinge {i} has its wing {wing} on its axis {j}-{k}: "
                        "choose a node beside it"
                    )


def _check_nodes(name: str, elements: Ints, n: int) -> None:
    for i, nodes in enumerate(elements.tolist()):
        if not all(0 <= node < n for node in nodes):
            raise ValueError(
                f"elastic {name} {i} names a node that is not there: the "
                f"structure has nodes 0 to {n - 1}"
            )
        if len(set(nodes)) < len(nodes):
            raise ValueError(
                f"elastic {name} {i} names a node twice: name different nodes"
            )


class Deformed(NamedTuple):
    """The elastic parts at one configuration.

    Attributes
    ----------
    length, tension : (l,)
    angle, moment : (h,) angles are continued from one configuration to the next
    energy : of all of them
    gradient : (n, 3) of the energy
    link_slope, hinge_slope : (l, 6), (h, 12) of lengths and angles in their nodes
    curvature : entries of the second derivative; see `elastic_entries`
    convex : the same without the parts that can be negative
    panels : strains and forces of the panels
    """

    length: Floats
    tension: Floats
    angle: Floats
    moment: Floats
    energy: float
    gradient: Floats
    link_slope: Floats
    hinge_slope: Floats
    curvature: Floats
    convex: Floats
    panels: StretchedPanels


def elastic_entries(*elements: Ints) -> tuple[Ints, Ints]:
    """Places of the entries that `Deformed.curvature` gives, in a matrix (3n, 3n).

    Of links, hinges and panels, by their nodes (e, 2), (e, 4) and (e, 3).
    The lower triangle of every element's own matrix, moved to the lower triangle of
    the whole.
    """
    rows, cols = [], []
    for nodes in elements:
        width = 3 * nodes.shape[1]
        unknowns = (3 * nodes[:, :, None] + np.arange(3)).reshape(-1, width)
        i, j = np.tril_indices(width)
        a, b = unknowns[:, i], unknowns[:, j]
        rows.append(np.maximum(a, b).ravel())
        cols.append(np.minimum(a, b).ravel())
    return np.concatenate(rows), np.concatenate(cols)


def angles_of(hinges: Ints, r: Floats, before: Floats | None = None) -> Floats:
    """(h,) angles of the hinges, those closest to `before`."""
    angle = np.array([hinge_angle(r[nodes]) for nodes in hinges])
    if before is None or len(angle) == 0:
        return angle
    turn = 2.0 * np.pi
    nearest: Floats = angle + turn * np.round((before - angle) / turn)
    return nearest


def deform(elastic: Elastic, r: Floats, before: Floats) -> Deformed:
    """Forces, energy and stiffness at `r` (n, 3).

    Parameters
    ----------
    before : (h,) angles at a configuration close by
    """
    d = r[elastic.links[:, 1]] - r[elastic.links[:, 0]]
    length = np.linalg.norm(d, axis=1)
    e = d / np.maximum(length, 1e-300)[:, None]
    tension = elastic.link_stiffness * (length - elastic.rest_length)
    link_slope = np.concatenate([-e, e], axis=1)
    angle, hinge_slope, hessian = _slopes(elastic.hinges, r)
    turn = 2.0 * np.pi
    angle += turn * np.round((before - angle) / turn)
    moment = elastic.hinge_stiffness * (angle - elastic.rest_angle)
    gradient = np.zeros_like(r)
    np.add.at(
        gradient, elastic.links, (tension[:, None] * link_slope).reshape(-1, 2, 3)
    )
    np.add.at(
        gradient, elastic.hinges, (moment[:, None] * hinge_slope).reshape(-1, 4, 3)
    )
    panels = elastic.panels.stretched(r)
    np.add.at(gradient, elastic.panels.nodes, panels.on_corners.reshape(-1, 3, 3))
    across = np.eye(3) - e[:, :, None] * e[:, None, :]
    across *= _pull_per_length(elastic, length, tension)[:, None, None]
    sign = np.array([[1.0, -1.0], [-1.0, 1.0]])
    turning = np.einsum("ab,lij->laibj", sign, across).reshape(-1, 6, 6)
    pulled = (tension > 0.0)[:, None, None] * turning
    along = _outer(elastic.link_stiffness, link_slope)
    about = _outer(elastic.hinge_stiffness, hinge_slope)
    bending = moment[:, None, None] * hessian
    return Deformed(
        length,
        tension,
        angle,
        moment,
        0.5 * float(tension @ (length - elastic.rest_length))
        + 0.5 * float(moment @ (angle - elastic.rest_angle))
        + panels.energy,
        gradient,
        link_slope,
        hinge_slope,
        _lowers(along + turning, about + bending, panels.curvature),
        _lowers(along + pulled, about, panels.convex),
        panels,
    )


def _pull_per_length(elastic: Elastic, length: Floats, tension: Floats) -> Floats:
    """Tension over length; the stiffness where a link of no rest length has none."""
    ratio: Floats = tension / np.maximum(length, 1e-300)
    return np.where(elastic.rest_length == 0.0, elastic.link_stiffness, ratio)


def _outer(weight: Floats, slope: Floats) -> Floats:
    product: Floats = weight[:, None, None] * slope[:, :, None] * slope[:, None, :]
    return product


def _lowers(*parts: Floats) -> Floats:
    return np.concatenate([_lower(matrices) for matrices in parts])


def _lower(matrices: Floats) -> Floats:
    i, j = np.tril_indices(matrices.shape[1])
    flat: Floats = matrices[:, i, j].ravel()
    return flat


@kernel
def _slopes(hinges: Ints, r: Floats) -> tuple[Floats, Floats, Floats]:
    """Angle (h,), gradient (h, 12) and Hessian (h, 12, 12) of every hinge."""
    h = len(hinges)
    angle, work = np.empty(h), np.empty((6, 3, 3))
    slope, hessian = np.empty((h, 12)), np.empty((h, 12, 12))
    x = np.empty((4, 3))
    for e in range(h):
        gather(hinges[e], r, x)
        angle[e] = hinge_slopes(x, slope[e], hessian[e], work)
    return angle, slope, hessian
