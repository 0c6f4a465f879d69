"""A planar rod as one in space: in the plane z = 0, with the sections of a ribbon."""

import numpy as np

from sim.arrays import Bools, Ints
from sim.rod.rod.rod import Rod, RodMaterial
from sim.rod.space.sections import SpaceMaterial, rectangle
from sim.rod.space.space_rod import SpaceRod, edge_tangents


def lifted(rod: Rod, material: RodMaterial, poisson: float = 0.5) -> SpaceRod:
    """The same nodes, masses, edges and bends; d2 of every edge is along z.

    Across the plane it bends and twists as a ribbon of this material's section does.
    Held nodes stay in the plane, and frames of edges between two of them are held.

    Raises
    ------
    ValueError
        where rods are joined so that an edge would have to run both ways
    """
    edges, bends = _directed(rod)
    flat = np.zeros(len(rod.nodes))
    nodes = np.column_stack([rod.nodes, flat])
    section = rectangle(material.thickness, material.width)
    across, about = section.second
    shear = SpaceMaterial(material.modulus, material.density, poisson).shear
    held = np.column_stack([rod.held, rod.held.any(axis=1)])
    whole: Bools = np.asarray(held.all(axis=1))
    line = material.line_density * rod.rest_length
    return SpaceRod(
        nodes=nodes,
        directors=np.cross((0.0, 0.0, 1.0), edge_tangents(nodes, edges)),
        edges=edges,
        bends=bends,
        rest_length=rod.rest_length,
        voronoi=rod.voronoi,
        stretching=rod.stretching,
        bending=rod.bending[:, None] * np.array([across / about, 1.0]),
        twisting=rod.bending * shear * section.torsion / (material.modulus * about),
        curvature=np.column_stack(
            [0 * rod.curvature, rod.curvature, 0 * rod.curvature]
        ),
        mass=rod.mass,
        inertia=line * section.polar / section.area,
        held=held,
        held_frames=np.asarray(whole[edges].all(axis=1)),
    )


def _directed(rod: Rod) -> tuple[Ints, Ints]:
    """Edges turned so that bends run from tail to head, and bends as pairs of them."""
    if len(rod.joints.turn):
        raise ValueError("rod: joints are of the plane only: leave dimension at 2")
    of = {frozenset(ends): e for e, ends in enumerate(rod.edges.tolist())}
    way: dict[int, tuple[int, int]] = {}
    pairs = []
    for b, (i, j, k) in enumerate(rod.bends.tolist()):
        pair = of[frozenset((i, j))], of[frozenset((j, k))]
        for e, ends in zip(pair, ((i, j), (j, k)), strict=True):
            if way.setdefault(e, ends) != ends:
                raise ValueError(
                    f"rod: bend {b} runs along edge {e} from node {ends[0]} to "
                    f"{ends[1]}, another bend the other way: leave dimension at 2"
                )
        pairs.append(pair)
    edges = [way.get(e, tuple(ends)) for e, ends in enumerate(rod.edges.tolist())]
    return np.array(edges), np.array(pairs).reshape(-1, 2)
