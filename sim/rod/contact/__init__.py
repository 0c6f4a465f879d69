"""What a planar rod stands on, and exact Coulomb friction there and between rods.

Read `ground` (the gap of a node), `coulomb` (the contact problem of a step), `touching`
and `nearest` (edges that feel touch), `standing` (a rod set down).
"""
