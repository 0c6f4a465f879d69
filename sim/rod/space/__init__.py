"""Rods in space: nodes, and material frames on their edges.

Read `space_rod` (what a rod is), `frames` (how its frames are carried), `bends` (its
strains and their derivatives), `elastic` (energy, gradient, Hessian), `tendons`, then
`balance` and `path`; `clamping` holds ends, `joining` joins rods, `linking` counts the
turns of rings. How they move: `sim.rod.moving`.
"""
