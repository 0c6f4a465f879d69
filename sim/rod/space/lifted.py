"""A planar rod or network as one in space: in the plane z = 0, with its sections."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.rod.rod.rod import Rod, RodMaterial
from sim.rod.rod.sections import RoundSection, Section
from sim.rod.space.sections import RodSection, SpaceMaterial, disc, rectangle
from sim.rod.space.space_rod import SpaceRod, edge_tangents


def lifted(
    rod: Rod, sections: Section | Sequence[Section], poisson: float = 0.5
) -> SpaceRod:
    """The same nodes, masses, edges, bends and rigid joints; d2 of edges is along z.

    About z it bends as in the plane; across the plane and about its edges it bends and
    twists stiffer or softer by what the sections say, the half edges at joints too.
    Held nodes stay in the plane, and frames of edges between two of them are held.

    Parameters
    ----------
    sections : of all edges, or of each
    """
    edges, bends = _directed(rod)
    m = len(edges)
    nodes = np.column_stack([rod.nodes, np.zeros(len(rod.nodes))])
    own = list(sections) if isinstance(sections, Sequence) else [sections] * m
    each = [_in_space(section) for section in own]
    line = np.array([s.line_density for s in own]) * rod.rest_length
    across, about = _of_bends(each, bends % m, poisson)
    held = np.column_stack([rod.held, rod.held.any(axis=1)])
    whole: Bools = np.asarray(held.all(axis=1))
    return SpaceRod(
        nodes=nodes,
        directors=np.cross((0.0, 0.0, 1.0), edge_tangents(nodes, edges)),
        edges=edges,
        bends=bends,
        rest_length=rod.rest_length,
        voronoi=rod.voronoi,
        stretching=rod.stretching,
        bending=rod.bending[:, None] * np.column_stack([across, np.ones(len(bends))]),
        twisting=rod.bending * about,
        curvature=np.column_stack(
            [0 * rod.curvature, rod.curvature, 0 * rod.curvature]
        ),
        mass=rod.mass,
        inertia=line * np.array([s.polar / s.area for s in each]),
        held=held,
        held_frames=np.asarray(whole[edges].all(axis=1)),
    )


def _in_space(section: Section) -> RodSection:
    """Its second moments about d1, across the plane, and about d2 = z."""
    if isinstance(section, RodMaterial):
        return rectangle(section.thickness, section.width)
    if isinstance(section, RoundSection):
        full, bore = disc(0.5 * section.diameter), 0.5 * section.bore
        hole = disc(bore) if bore > 0.0 else RodSection(0.0, (0.0, 0.0), 0.0)
        second = full.second[0] - hole.second[0]
        return RodSection(section.area, (second, second), 2.0 * second)
    raise ValueError(f"rod: {type(section).__name__} has no section in space")


def _of_bends(
    each: Sequence[RodSection], pairs: Ints, poisson: float
) -> tuple[Floats, Floats]:
    """(b,) EI across the plane and GJ of bends over their EI in it: means of pairs."""
    shear = SpaceMaterial(1.0, 1.0, poisson).shear
    across = np.array([s.second[0] / s.second[1] for s in each])
    about = np.array([shear * s.torsion / s.second[1] for s in each])
    first, second = pairs.T
    return 0.5 * (across[first] + across[second]), 0.5 * (about[first] + about[second])


def _directed(rod: Rod) -> tuple[Ints, Ints]:
    """Edges turned so that rods run from tail to head, and bends as pairs of runs.

    Where an edge runs one way in one bend and the other in another it is backwards in
    the later one, and a bend of a joint that folds back begins with its first edge so.
    """
    m, plain = len(rod.edges), len(rod.bends) - len(rod.joints.fold)
    of = {frozenset(ends): e for e, ends in enumerate(rod.edges.tolist())}
    ways = [((i, j), (j, k)) for i, j, k in rod.bends[:plain].tolist()]
    edges = {e: tuple(ends) for e, ends in enumerate(rod.edges.tolist())}
    edges |= {of[frozenset(run)]: run for both in reversed(ways) for run in both[::-1]}
    folds = zip(rod.bends[plain:].tolist(), rod.joints.fold.tolist(), strict=True)
    for (i, j, k), fold in folds:
        ways.append(((i, j) if fold > 0.0 else (j, i), (j, k)))
    numbers = [[of[frozenset(run)] for run in both] for both in ways]
    pairs = [
        [e if edges[e] == run else m + e for e, run in zip(own, both, strict=True)]
        for own, both in zip(numbers, ways, strict=True)
    ]
    directed = np.array([edges[e] for e in range(m)])
    return directed, np.array(pairs, dtype=np.int64).reshape(-1, 2)
