"""Springs, hinges and loads on a mechanism: equilibria and snapping.

Read `elastic_parts` (links, hinges, panels), `loaded_structure` (what acts),
`potential_energy`, `equilibrium` (its minimum), `snap_through` (along a driven
coordinate).
"""
