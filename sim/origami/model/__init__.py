"""The bar-and-hinge model of a pattern: mesh, elements, energy, stiffness.

Read `mesh` (nodes, bars and hinges, stiff as their material makes them), `assembly`
(energy, force and stiffness), and `large_sheet_stiffness`
(the same stiffness for many panels). `sim.core.hinges` has the angle of a hinge.
"""
