"""Target shapes: the nearest point of each, and a wireframe to draw and print.

Read `target_interface` (what a target is) and `analytic_surfaces`; then
`sampled_surfaces` (clouds and meshes) and `transformed`.
"""
