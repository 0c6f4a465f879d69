"""What a mechanism weighs, in structure files; morphs do not ask.

    masses  [{nodes: [0, 1], mass: 2}, ...]

One node is a point mass, two are a uniform rod, three a triangle, four a tetrahedron.
For any other body `centre` is where its centre is in the nodes as given, and `inertia`
its 3 x 3 matrix about the centre. Nodes of a mass must move as one.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pipeline.config.models import Entry, Point, Positive, Rows, numbers
from sim.arrays import Floats
from sim.morph.dynamics.masses import RigidMass, mass_matrix

Matrix = Annotated[tuple[Point, Point, Point], numbers(3)]


class RigidMassEntry(Entry):
    """The mass of one node, or of nodes that move as one."""

    nodes: Annotated[list[int], Field(min_length=1)]
    mass: Positive
    centre: Point | None = None
    inertia: Matrix | None = None

    @property
    def made(self) -> RigidMass:
        """As a motion takes it."""
        return RigidMass(
            tuple(self.nodes),
            self.mass,
            None if self.centre is None else np.array(self.centre),
            None if self.inertia is None else np.array(self.inertia),
        )


class StructureMasses(Entry):
    """What a structure file says of masses."""

    masses: Rows[RigidMassEntry]


def masses_of(content: StructureMasses, r0: Floats) -> tuple[RigidMass, ...]:
    """The masses of a file with the nodes `r0` (n, 3), checked."""
    made = tuple(entry.made for entry in content.masses)
    mass_matrix(r0, made)
    return made


def masses_document(masses: tuple[RigidMass, ...]) -> list[dict[str, object]]:
    """The entry of a file."""
    return [
        {"nodes": list(m.nodes), "mass": m.mass}
        | ({} if m.centre is None else {"centre": m.centre.tolist()})
        | ({} if m.inertia is None else {"inertia": m.inertia.tolist()})
        for m in masses
    ]
