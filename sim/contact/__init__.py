"""Contact of triangulated panels: Sect. 3 of [ZF19], and edges that meet edges.

Read `distance`, `barrier`, `surface` (what may touch), `candidates` (what is near),
`potential` (energy, force, stiffness), `safe_step`; `cones` has Coulomb's law in space,
and `crossing` looks for what has passed through.
"""
