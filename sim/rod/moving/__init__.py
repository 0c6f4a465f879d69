"""Rods in space that move.

Read `space_world` (what acts on a rod), `conserving_forces` (inner forces of a step),
`softened` (its matrix), `pulled` (tendons), `dry` (friction within), `step_equation`,
`newton` (its end), `account` (its energy), `one_step`, then `motion`; of contact
`touching` (where, and how it follows moves; of fixed `bodies` `beside`), then `pushing`
by Coulomb's law. `space_parameters` are what fits of motions find.
"""
