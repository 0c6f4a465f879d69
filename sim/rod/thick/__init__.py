"""Thick rods in the plane: bent, sheared, relaxing, clamped softly, with a tip mass.

Rods of `sim.rod.rod` have no shear: a section stays normal to the axis. Here it has an
angle of its own, Reissner, ZAMP 23 (1972). Begin with `thick_rod`; `elements` holds the
strains, `rest` and `motion` what a rod does.
"""
