"""Planar rigid blocks joined by elastic hinges: kirigami, rotating squares, voids.

Read `assembly` (blocks, hinges, grips), `hinge_energy` (what a hinge stores, with its
derivatives), `equilibrium` (the minimum for given grips), `driven` (grips that move).
"""
