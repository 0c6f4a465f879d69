"""Names that objects had before: `_target_` of users' case files hold them.

A `_target_` is a module and an object in it; either can be an old one. A file of one's
own is `case.path` on every command line; the keys that it stands for hold as well.
"""

from collections.abc import Mapping, Sequence
from typing import Any

# Package, then the folder in it that holds the modules which once stood beside it.
MOVED = {
    "sim.morph": {
        "structure": "structure constraints joints ranges solids measures",
        "equations": "rows system curvature projection retraction closing descent",
        "mobility": "mobility freedom tangent units",
        "obstacles": "pairs volume",
        "morphing": "morph newton_morph problem saddles branches envelope design "
        "reactions",
        "targets": "pull",
        "statics": "elastic hinged loaded equilibrium potential snap stepping driving",
        "library": "lattices sheets pentapod linkages",
    },
    "sim.origami": {
        "pattern": "pattern fold_format tessellations pyramid rigid",
        "model": "mesh material compliant concentrated model bars assembly skyline "
        "contact",
        "loading": "phases sequences",
        "folding": "problem sheet equilibrium minimum controls prediction folding "
        "stepping stability driving reactions",
    },
    "sim.rod": {
        "rod": "rod star paths",
        "energy": "elastic stiffness tangent blocks",
        "contact": "coulomb ground",
        "actuation": "actuation",
        "stepping": "world options state storage contacts rules newmark conserving "
        "advance loop simulate stepping equilibrium sensitivity markers parameters "
        "work",
    },
}

# What reads files once stood among the cases.
FILES = {
    "structure_file": "structure_file",
    "structure_volume": "structure_volume",
    "mesh_files": "mesh_files",
    "shapes": "cloud_targets",
}

NEW_MODULES = {
    f"{package}.{module}": f"{package}.{folder}.{module}"
    for package, folders in MOVED.items()
    for folder, modules in folders.items()
    for module in modules.split()
} | {f"pipeline.cases.{old}": f"pipeline.formats.{new}" for old, new in FILES.items()}

# Objects that moved alone or have another name: then (where modules are), and today.
OBJECTS = """
pipeline.cases.driven_paths.FoldPath    pipeline.cases.driven_paths.DrivenFold
pipeline.cases.driven_paths.FourBarPath pipeline.cases.driven_paths.DrivenFourBar
pipeline.cases.driven_paths.MorphPath   pipeline.cases.driven_paths.DrivenMorph
pipeline.cases.gait.GaitCase            pipeline.cases.gait.star_gait
pipeline.cases.origami.fold_file        pipeline.formats.fold_file.fold_file
pipeline.cases.ribbon.Ribbon            sim.rod.rod.ribbon.Ribbon
pipeline.cases.rod_fit.ClampedBeam      pipeline.cases.specimen.ClampedBeam
pipeline.cases.space_rod.MichellRingCase pipeline.cases.michell_ring.MichellRingCase
sim.morph.morphing.morph.Projection     sim.morph.morphing.morph.ProjectionOptions
sim.morph.morphing.problem.Newton       sim.morph.morphing.problem.NewtonOptions
sim.morph.statics.equilibrium.Balance   sim.morph.statics.equilibrium.EquilibriumOptions
sim.morph.statics.loaded.Loaded         sim.morph.statics.loaded.LoadedStructure
sim.morph.structure.constraints.Table   sim.morph.structure.constraints.ConstraintTable
sim.morph.targets.cloud.Cloud           sim.morph.targets.cloud.CloudTarget
sim.morph.targets.mesh.Mesh             sim.morph.targets.mesh.MeshTarget
sim.origami.model.material.Material     sim.origami.model.material.SheetMaterial
sim.origami.model.mesh.Mesh             sim.origami.model.mesh.BarHingeMesh
sim.origami.pattern.pattern.Pattern     sim.origami.pattern.pattern.CreasePattern
sim.rod.contact.ground.Plane            sim.rod.contact.ground.GroundPlane
sim.rod.rod.rod.Material                sim.rod.rod.rod.RodMaterial
sim.rod.stepping.world.Load             sim.rod.stepping.world.NodeLoad
"""

NEW_OBJECTS = dict(row.split() for row in OBJECTS.split("\n") if row)


OWN_FILE = "case.path"
FILE_OF_CASE = {  # where a case of a file has it
    "structure_file": "case.structure.path",
    "fold_file": "case.pattern.path",
    "loaded_file": "case.body.path",
    "mechanism_motion": "case.body.path",
    "pattern_strip": "case.body.path",
    "growing_strip": "case.body.path",
}


def own_file_key(case: str) -> str:
    """Where a case has the file that `case.path` names."""
    return FILE_OF_CASE.get(case, OWN_FILE)


def with_own_file(words: Sequence[str]) -> list[str]:
    """Words of a command line with `case.path` as the key that the case has for it."""
    named = [word.removeprefix("case=") for word in words if word.startswith("case=")]
    key = own_file_key(named[-1]) if named else OWN_FILE
    whole = f"{OWN_FILE}="
    return [
        f"{key}={word.removeprefix(whole)}" if word.startswith(whole) else word
        for word in words
    ]


def present_name(target: str) -> str:
    """The name that `target` has today."""
    module, dot, name = target.rpartition(".")
    moved = f"{NEW_MODULES.get(module, module)}{dot}{name}"
    return NEW_OBJECTS.get(target) or NEW_OBJECTS.get(moved, moved)


def with_present_names(config: Any) -> Any:
    """A copy of a plain configuration whose `_target_` entries are today's."""
    if isinstance(config, Mapping):
        return {
            key: present_name(value)
            if key == "_target_" and isinstance(value, str)
            else with_present_names(value)
            for key, value in config.items()
        }
    if isinstance(config, list):
        return [with_present_names(item) for item in config]
    return config
