"""Mechanisms: with a name, from their parts, and from files."""

from pipeline.api.cases import remembered
from pipeline.cases import equilibrium
from pipeline.io import structure_file
from sim.mechanism import named_structures
from sim.mechanism.structure import Structure

__all__ = [
    "Structure",
    "from_file",
    "from_parts",
    "loaded_from_file",
    "octahedron_lattice",
    "pentapod",
    "square_sheet",
    "triangle_sheet",
    "with_loads",
]

triangle_sheet = remembered(named_structures.triangle_sheet)
square_sheet = remembered(named_structures.square_sheet)
octahedron_lattice = remembered(named_structures.octahedron_lattice)
pentapod = remembered(named_structures.pentapod)
from_parts = remembered(structure_file.structure_entries)
from_file = remembered(structure_file.structure_file)
with_loads = remembered(equilibrium.loaded_structure)
loaded_from_file = remembered(equilibrium.loaded_file)
