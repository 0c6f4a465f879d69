"""Rods in the plane on rough ground, after [Hu20].

Of a rod read `rod` (nodes, edges, material, joints), `builders` (rods as curves; the
ribbon and the star robot), `elastic_energy` (stretching and bending with gradient and
Hessian), `block_factorisation` (of the matrix of a step) and `actuation` (eq. (7)).
Of contact: `ground`, `contact_geometry` (edges that feel contact) and
`contact_impulses` (the contact problem of a step).

Of motion, `world` (what acts on a rod), `options` and `state` say what the time loop
works on. Begin with `simulate`; it calls, from long to short, `compiled_time_loop`
(many steps, each cut where a node lands), `implicit_step` (eq. (2) and its forces),
`contact_problem` (of many contacts `many_contact_impulses`), `edge_contact` (edges and
smooth arcs) and `energy_balance`. `control_environment` is for controllers, `statics`
finds rest, `markers` has what measurements of a rod give.
"""
