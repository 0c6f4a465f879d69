"""Planes at rest on which nodes of a moving mechanism stand, land and rub."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.contact.cones import contact_tangents
from sim.limits import refuse_negative
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

SHORTEST = 1e-100  # normal, whose square is still a number
BELOW = 1e-9  # of the size: a node may start so much under a plane


@dataclass(frozen=True, eq=False)
class PlaneAtRest:
    """The half-space behind a plane.

    Attributes
    ----------
    point : (3,) in the plane
    normal : (3,) of any length, out of the ground
    """

    point: Floats
    normal: Floats

    def __post_init__(self) -> None:
        for name, x in (("point", self.point), ("normal", self.normal)):
            if x.shape != (3,) or not np.isfinite(x).all():
                raise ValueError(
                    f"the {name} of a ground is {x.tolist()}: give x, y, z"
                )
        if not np.abs(self.normal).max() > SHORTEST:
            raise ValueError(
                f"the normal of a ground is {self.normal.tolist()}: give where it "
                "points"
            )

    @property
    def unit_normal(self) -> Floats:
        """(3,) of length 1."""
        normal: Floats = self.normal / np.linalg.norm(self.normal)
        return normal


@dataclass(frozen=True, eq=False)
class Ground:
    """All planes, with one coefficient of friction.

    Attributes
    ----------
    friction : mu of Coulomb's law
    """

    planes: tuple[PlaneAtRest, ...] = ()
    friction: float = 0.0

    def __post_init__(self) -> None:
        refuse_negative(self, "friction")


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """Each node with each plane, k in all.

    Attributes
    ----------
    node : (k,)
    frame : (k, 3, 3) unit vectors in rows: normal, two tangents
    offset : (k,) of the node along the normal where it touches, its radius included
    friction : mu
    """

    node: Ints
    frame: Floats
    offset: Floats
    friction: float

    @classmethod
    def of(cls, ground: Ground, structure: Structure) -> "GroundContacts":
        """All nodes but those held in place, with the largest radius of their bodies.

        Capsules and panels are the hulls of their ends and corners, so that a plane
        touches them there first. Forces act at the node, not at that distance.
        """
        node = np.flatnonzero(~_held(structure))
        radius, count = node_radii(structure)[node], len(ground.planes)
        normal = np.array([p.unit_normal for p in ground.planes]).reshape(-1, 3)
        point = np.array([p.point for p in ground.planes]).reshape(-1, 3)
        frame = np.concatenate([normal[:, None], contact_tangents(normal)], axis=1)
        offset = np.sum(normal * point, axis=1)[:, None] + radius
        return cls(
            np.tile(node, count), np.repeat(frame, len(node), axis=0), offset.ravel(),
            ground.friction,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.node)

    def chosen(self, some: Bools) -> "GroundContacts":
        """Some of them (k,)."""
        return GroundContacts(
            self.node[some], self.frame[some], self.offset[some], self.friction
        )

    @cached_property
    def columns(self) -> Ints:
        """(k, 3) unknowns of the node."""
        return 3 * self.node[:, None] + np.arange(3)

    def along(self, z: Floats) -> Floats:
        """(k, 3, ...) parts along the frame of unknowns or their moves (N, ...)."""
        parts = np.einsum("kac,kc...->ka...", self.frame, z[self.columns])
        return np.asarray(parts, np.float64)

    def gaps(self, z: Floats) -> Floats:
        """(k,) clearances at the unknowns z (N,)."""
        clear: Floats = self.along(z)[:, 0] - self.offset
        return clear

    def pull(self, parts: Floats, unknowns: int) -> Floats:
        """(N,) what forces of (k, 3) parts along the frame are on the unknowns."""
        forces = np.einsum("kac,ka->kc", self.frame, parts)
        pulled = np.bincount(self.columns.ravel(), forces.ravel(), unknowns)
        return pulled.astype(np.float64)

    def refuse_below(self, z: Floats, size: float) -> None:
        """Nodes that start under a plane, in a structure of a size."""
        gaps = self.gaps(z)
        if gaps.min(initial=np.inf) < -BELOW * size:
            k = int(np.argmin(gaps))
            raise ValueError(
                f"node {self.node[k]} starts {-gaps[k]:.3g} below the ground: raise "
                "the structure, or lower the point of `ground`"
            )


def _held(structure: Structure) -> Bools:
    """(n,) nodes of which all three coordinates are held."""
    table = structure.constraints
    fixed = table.nodes[table.kind == ConstraintKind.FIX, :2]
    axes = np.zeros((len(structure.r0), 3), dtype=np.bool_)
    axes[fixed[:, 0], fixed[:, 1]] = True
    return np.asarray(axes.all(axis=1), np.bool_)


def node_radii(structure: Structure) -> Floats:
    """(n,) of the largest ball, capsule or half panel that is round about each node."""
    radius = np.zeros(len(structure.r0))
    for kind, bodies, _, sizes in structure.solids.kinds:
        half = 0.5 if kind == "triangle" else 1.0
        for nodes, size in zip(bodies, sizes, strict=True):
            radius[nodes] = np.maximum(radius[nodes], half * size)
    return radius
