"""The bar-and-hinge model of a pattern: mesh, elements, energy, stiffness.

Read `sheet_material` (how stiff panels and creases are), `mesh` (nodes, bars and
hinges), `assembly` (energy, force and stiffness), and `large_sheet_stiffness` (the same
stiffness for many panels). `sim.core.hinges` has the angle of a hinge.
"""
