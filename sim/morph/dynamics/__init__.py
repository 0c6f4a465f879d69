"""Motion of mechanisms with masses: their kinetics, which [dJ23] names as a next step.

Read `masses` (what bodies weigh), `rows` and `constraint_rows` (constraints as rows
with exact discrete gradients), `sparse_rows` (ranks of many), `drivers` (what is moved
by a law), `forces` (springs, obstacles, dampers), `step` (one energy-momentum step),
`mechanism` (all of it together); then `motion_state`, `start` and `motion` (many
steps).
"""
