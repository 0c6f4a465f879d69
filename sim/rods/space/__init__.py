"""Rods in space: nodes, and material frames on their edges.

Of a rod read `rod` (nodes, edges, bends, sections), `frames` (how its frames are
carried, and strains of bends), `elastic_energy` (with hinges: energy, gradient,
Hessian), `tendons` and `joints`; of rest `assembled_system` (the equations with loads)
and `statics` (rest and paths).

Of motion read `world` (what acts on a rod), `state` (of a rod and of a step),
`energy_conserving_forces` (inner forces of a step, and the matrix of Newton's method),
`tendon_hinge_friction`, `step_equation` (the equation and its compiled iteration),
`end_of_step` (solved for by Newton's method), `energy_balance`, then `simulate`. Of
contact: `rigid_bodies`, `contact_detection` (where, and how it follows moves),
`contact_forces` (by Coulomb's law). `from_plane` takes planar rods and worlds to space.
"""
