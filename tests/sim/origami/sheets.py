"""Small sheets that several tests fold."""

import numpy as np

from sim.origami.compliant import compliant_mesh
from sim.origami.concentrated import concentrated_mesh
from sim.origami.contact import Contact
from sim.origami.material import Material
from sim.origami.mesh import Mesh
from sim.origami.pattern import Pattern
from sim.origami.sheet import Sheet

MATERIAL = Material(
    panel_modulus=2.0e9,
    crease_modulus=2.0e9,
    panel_thickness=5e-4,
    crease_thickness=1e-4,
    crease_width=2e-3,
)


def strip(panels: int, length: float = 0.02) -> Pattern:
    """Square panels in a row along x; crease k lies at x = (k + 1) length."""
    x = length * np.arange(panels + 1)
    low = np.column_stack([x, 0 * x, 0 * x])
    high = low + np.array([0.0, length, 0.0])
    n = panels + 1
    corners = [[k, k + 1, n + k + 1, n + k] for k in range(panels)]
    return Pattern(np.vstack([low, high]), corners)


def compliant_strip(panels: int) -> Mesh:
    return compliant_mesh(strip(panels), MATERIAL)


def concentrated_strip(panels: int) -> Mesh:
    return concentrated_mesh(strip(panels), MATERIAL)


def held_at(mesh: Mesh) -> list[list[int]]:
    """Supports (node, x, y, z) that leave the first panel no rigid motion."""
    a, b, c = (int(node) for node in mesh.corner[:3])
    return [[a, 1, 1, 1], [b, 0, 1, 1], [c, 0, 0, 1]]


def sheet(mesh: Mesh, contact: Contact | None = None) -> Sheet:
    """Held at three corners of the first panel, with no stress."""
    chosen = Contact(rules="full") if contact is None else contact
    return Sheet(mesh, held_at(mesh), chosen.filled(mesh))
