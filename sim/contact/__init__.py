"""Contact of triangulated panels: Sect. 3 of [ZF19], and edges that meet edges.

Read `distance`, `candidates` (what may touch and is near), `contact_energy` (barrier,
energy, force, stiffness), `collisions` (how far nodes may move), `bodies` (spheres,
capsules and panels between nodes); `coulomb` has Coulomb's law in space.
"""
