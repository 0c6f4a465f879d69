"""Contact of triangulated panels: Sect. 3 of [ZF19], and edges that meet edges.

Read `distance`, `near_pairs` (what may touch and is near), `contact_energy` (barrier,
energy, force, stiffness), `collisions` (how far nodes may move), `bodies_that_may_meet`
(spheres, capsules and panels between nodes); `coulomb` has Coulomb's law in space.
"""
