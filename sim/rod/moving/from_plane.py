"""A planar world in space: its rod is free to leave the plane z = 0."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.rod.contact.ground import GroundPlane
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import LevelGround, Touching
from sim.rod.moving.turning_clamps import TurningClamp, TurningClamps
from sim.rod.rod.rod import RodMaterial
from sim.rod.rod.sections import RoundSection, Section
from sim.rod.space.lifted import lifted
from sim.rod.space.limbs import SpaceLimbs
from sim.rod.space.space_rod import SpaceRod
from sim.rod.stepping.surroundings import DistributedLoad
from sim.rod.stepping.turning import TurningEnd
from sim.rod.stepping.world import World

OF_THE_PLANE = "touching is of the plane only: leave it out, or dimension 2"


def in_space(world: World, sections: Section | Sequence[Section]) -> SpaceWorld:
    """The same rod, ground, weight, load, limbs and damping, y up.

    A flat rod stands on both rims of its nodes, which are as high as its nodes in the
    plane; a round one on its skin, which is that high.

    Parameters
    ----------
    sections : of all edges, or of each

    Raises
    ------
    ValueError
        where something is of the plane only
    """
    if world.touching is not None:
        raise ValueError(OF_THE_PLANE)
    rod = lifted(world.rod, sections)
    return SpaceWorld(
        rod,
        (*world.gravity, 0.0),
        world.damping,
        touching=_touching(world, sections),
        limbs=SpaceLimbs(world.rod, world.actuator) if world.schedule else None,
        schedule=world.schedule,
        load=world.load,
        fluid=world.fluid,
        drive=_drive(rod, world.turning),
        distributed_loads=tuple(_spread(rod, world)),
        follower_forces=world.follower_forces,
    )


def _spread(rod: SpaceRod, world: World) -> Iterator[DistributedLoad]:
    """Loads of edges; those of edges that run the other way turn likewise."""
    turned = (rod.edges != world.rod.edges).any(axis=1)
    for load in world.distributed_loads:
        for backwards in (False, True):
            edges = [k for k in load.edges if turned[k] == backwards]
            way = -1.0 if backwards else 1.0
            along, across = way * load.along, way * load.across
            if edges:
                yield replace(load, edges=edges, along=along, across=across)


def _drive(rod: SpaceRod, turning: Sequence[TurningEnd]) -> TurningClamps | None:
    """Ends that turn to the left, about z."""
    pairs = [frozenset(edge) for edge in rod.edges.tolist()]
    clamps = [
        TurningClamp(
            pairs.index(frozenset((end.node, end.about))), end.about, (0.0, 0.0, 1.0),
            end.times, end.angles, [(*row, 0.0) for row in end.moves],
        )
        for end in turning
    ]  # fmt: skip
    return TurningClamps(rod, clamps) if clamps else None


def half_thickness(rod_edges: int, sections: Section | Sequence[Section]) -> Floats:
    """(m,) in the plane, m."""
    own = _each(rod_edges, sections)
    return np.array([0.5 * _thickness(section) for section in own])


def _each(m: int, sections: Section | Sequence[Section]) -> list[Section]:
    return list(sections) if isinstance(sections, Sequence) else [sections] * m


def _thickness(section: Section) -> float:
    if isinstance(section, RodMaterial):
        return section.thickness
    if isinstance(section, RoundSection):
        return section.diameter
    raise ValueError(f"rod: {type(section).__name__} has no section in space")


def _touching(world: World, sections: Section | Sequence[Section]) -> Touching | None:
    ground = world.ground
    if ground is None:
        return None
    if not isinstance(ground, GroundPlane):
        raise ValueError("ground: in space it is a plane: choose one, or dimension 2")
    m = len(world.rod.edges)
    own, radius = _each(m, sections), half_thickness(m, sections)
    flat = [section.width for section in own if isinstance(section, RodMaterial)]
    if 0 < len(flat) < m or np.ptp(radius) > 0.0:
        raise ValueError(
            "ground: flat rods beside round ones, or of several thicknesses, stand on "
            "it in the plane only: leave dimension at 2"
        )
    angle = np.radians(ground.angle)
    normal = (-float(np.sin(angle)), float(np.cos(angle)), 0.0)
    height = ground.offset + ground.height * normal[1]
    height -= 0.0 if flat else float(radius.max())
    rims = 0.5 * np.array(flat) if flat else None
    return Touching(
        radius, world.friction, LevelGround(normal, height), rims, skins=False
    )
