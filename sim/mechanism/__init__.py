"""Morphing of multibody structures towards target shapes, after [dJ23].

In the order of the paper's sections, each file importing only those before it:
`constraints`, `joints`, `ranges`, `shape_measures` (E, S and L), `structure`; as
equations: `jacobian_pattern`, `constraint_system`, `constraint_projection` (eqs. 11 and
12), `constraint_forces`; `targets` (nearest points), `mobility` (rank, redundancy,
motions), `obstacles` (bodies with volume, ranges). Morphs: `projection_morph` (Fig. 5,
begin here), `newton_morph` with `constrained_newton` and `morph_objective`,
`global_search` (lower minima), then `bifurcations`, `reachable_shapes` and `design`.
Beyond the paper: `statics` (elastic parts, loads), `dynamics` (masses, motion in time),
`hinged_blocks` and `block_equilibrium` (rigid blocks in the plane). To make a
structure: `named_structures`, `structure_builder`.

From Python: make a `Structure`, by `triangle_sheet` or of a `ConstraintTable`; `morph`
and `morph_newton` bring it to a target such as `Cylinder`, and yield each `MorphStep`.
`at_rest` finds the equilibrium of a `LoadedStructure`, `motion` moves a
`MovingMechanism`, `branches` follows the paths that meet in a configuration.
"""

from sim.core.imported_code import exports

__getattr__, __dir__ = exports(
    __name__,
    {
        "shape_measures": "characteristic_length distance_error shape_factor",
        "structure": "Structure with_solids",
        "constraints": "Constraint ConstraintKind ConstraintTable",
        "mobility": "Mobility modes",
        "targets.analytic_surfaces": "Circle Cylinder Ellipsoid Plane Sphere",
        "targets.target_interface": "Goals",
        "targets.sampled_surfaces": "MeshTarget",
        "projection_morph": "morph MorphStep ProjectionOptions",
        "newton_morph": "morph_newton",
        "morph_objective": "NewtonOptions",
        "bifurcations": "branches BranchOptions BranchStep crossing",
        "statics.elastic_parts": "Elastic",
        "statics.loaded_structure": "LoadedStructure",
        "statics.equilibrium": "at_rest Equilibrium EquilibriumOptions",
        "dynamics.moving_mechanism": "MovingMechanism",
        "dynamics.time_loop": "motion MotionOptions MotionStep start_state",
        "named_structures": "octahedron_lattice square_sheet triangle_sheet",
    },
)
