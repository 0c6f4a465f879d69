"""Morphing of multibody structures towards target shapes, after [dJ23].

In the order of the paper's sections, each folder importing only those before it:
`structure` (nodes, constraints, joints), `equations` (residuals, Jacobian, Newton
steps), `targets` (nearest points), `mobility` (rank, redundancy), `obstacles` (bodies
with volume, ranges), `morphing` (the simulation itself), `statics` (elastic parts,
loads), `dynamics` (masses, motion in time), `blocks` (rigid blocks in the plane on
elastic hinges) and `library` (structures with a name). Begin with `morphing.morph`,
which is Fig. 5, and go back from there.
"""
