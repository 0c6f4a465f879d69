"""Discrete rods and networks of rods, planar on rough ground [Hu20] and in space.

Read `plane` (rods of [Hu20], from their energy to their motion) and `space` (frames
on edges, twist, rest; then motion and contact). Both use `prescribed_motion` (ends,
clamps and bodies moved by tables) and `fluid_drag`. `thick_rod` and `thick_rod_motion`
are about short cantilevers in the plane that shear and relax: sections of `plane.rod`
stay normal to the axis, those of a thick rod have an angle, Reissner, ZAMP 23 (1972).

From Python: a `Rod` of a `RodMaterial`, by `chain`, `ring`, `network` or `star`; a
`World` adds ground, gravity and actuation; `solve_static` finds its rest, `simulate`
yields each `RodStep`, and `RodWorld` is stepped by a controller. In space a `SpaceRod`
(by `through`) in a `SpaceWorld` moves by `simulate_in_space`.
"""

from sim.core.imported_code import exports

__getattr__, __dir__ = exports(
    __name__,
    {
        "fluid_drag": "Fluid",
        "plane.rod": "Rod RodMaterial cantilever chain hold network ring",
        "plane.builders": "RodDraft StarShape star",
        "plane.actuation": "Actuator LeftOfContact Pulses",
        "plane.ground": "GroundPlane Terrain Wave",
        "plane.contact_geometry": "EdgeContact",
        "plane.world": "Damping NodeLoad World",
        "plane.options": "StepOptions",
        "plane.state": "RodStep",
        "plane.statics": "solve_static",
        "plane.simulate": "simulate",
        "plane.control_environment": "RodWorld",
        "space.rod": "SpaceMaterial SpaceRod clamped through",
        "space.world": "SpaceWorld",
        "space.simulate": "SpaceMotionStep simulate_in_space",
    },
)
