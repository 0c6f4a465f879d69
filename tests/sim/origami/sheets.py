"""Small sheets that several tests fold."""

from collections.abc import Iterator
from itertools import product

from sim.origami.folding.sheet import Contact, Sheet
from sim.origami.model.mesh import (
    BarHingeMesh,
    compliant_mesh,
    concentrated_mesh,
)
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern import generators
from sim.origami.pattern.pattern import CreasePattern

MATERIAL = SheetMaterial(
    panel_modulus=2.0e9,
    crease_modulus=2.0e9,
    panel_thickness=5e-4,
    crease_thickness=1e-4,
    crease_width=2e-3,
)


def strip(panels: int, length: float = 0.02) -> CreasePattern:
    """Square panels in a row along x; crease k lies at x = (k + 1) length."""
    return generators.strip([length] * panels, length)


def compliant_strip(panels: int) -> BarHingeMesh:
    return compliant_mesh(strip(panels), MATERIAL)


def concentrated_strip(panels: int) -> BarHingeMesh:
    return concentrated_mesh(strip(panels), MATERIAL)


def held_at(mesh: BarHingeMesh) -> list[list[int]]:
    """Supports (node, x, y, z) that leave the first panel no rigid motion."""
    a, b, c = (int(node) for node in mesh.corner[:3])
    return [[a, 1, 1, 1], [b, 0, 1, 1], [c, 0, 0, 1]]


def sheet(mesh: BarHingeMesh, contact: Contact | None = None) -> Sheet:
    """Held at three corners of the first panel, with no stress."""
    chosen = Contact(rules="full") if contact is None else contact
    return Sheet(mesh, held_at(mesh), chosen.filled(mesh))


def weak_orderings(creases: int) -> Iterator[tuple[int, ...]]:
    """Every folding sequence: the stage of each crease, stages without a gap.

    There are 1, 3, 13, 75, 541, ... of them for 1, 2, 3, 4, 5, ... creases, the
    ordered Bell numbers.
    """
    for stages in product(range(1, creases + 1), repeat=creases):
        if set(stages) == set(range(1, max(stages) + 1)):
            yield stages
