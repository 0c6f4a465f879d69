"""Small sheets that several tests fold."""

from sim.origami import tessellations
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
    return tessellations.strip([length] * panels, length)


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
