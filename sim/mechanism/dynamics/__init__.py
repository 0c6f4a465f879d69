"""Motion of mechanisms with masses: their kinetics, which [dJ23] names as a next step.

Read `rigid_masses` (what bodies weigh), `quadratic_constraints` (constraints as rows
with exact discrete gradients), `time_step` (forces, one energy-momentum step),
`moving_mechanism` (drivers, and all of it together), `time_loop` (start and steps).
"""
