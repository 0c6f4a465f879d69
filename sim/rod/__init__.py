"""Planar discrete rods and networks of rods on rough ground, [Hu20].

Read `rod` (nodes, edges, material), `energy` (stretching and bending), `actuation`
(curvature and modulus in time), `contact` (ground and friction), `stepping` (motion in
time; begin with `stepping.simulate`), `thick` (short rods that shear and relax).
"""
