"""Discrete rods and networks of rods, planar on rough ground [Hu20] and in space.

Read `rod` (nodes, edges, material), `energy` (stretching and bending), `actuation`
(curvature and modulus in time), `contact` (ground and friction), `stepping` (motion in
time; begin with `stepping.simulate`), `thick` (short rods that shear and relax); then
`space` (frames on edges, twist, rest) and `moving` (motion and contact in space).
"""
