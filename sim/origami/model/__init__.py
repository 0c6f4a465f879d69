"""The bar-and-hinge model of a pattern: mesh, material, elements, energy, stiffness.

Read `material` (formulas of stiffness), `mesh` with `compliant` or `concentrated`
creases, `model` (unknowns), `bars` and `sim.hinges` (elements), `assembly` (their
sums), `skyline` (the factorisation) and `blocks` (both, of many panels); `contact` says
what may touch.
"""
