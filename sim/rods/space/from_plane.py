"""A planar rod or world in space: it is free to leave the plane z = 0.

`lifted` makes a planar rod or network one in space, with its sections; `in_space` makes
a planar world one in space.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.rods.plane.elastic_energy import elements
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.rod import END, Rod, RodMaterial, Section, edges_by_nodes
from sim.rods.plane.world import DistributedLoad, World
from sim.rods.space.contact_detection import ContactModel, LevelGround
from sim.rods.space.frames import edge_tangents
from sim.rods.space.joints import STIFF
from sim.rods.space.rod import RodSection, SpaceMaterial, SpaceRod, rectangle, tube
from sim.rods.space.world import SpaceLimbs, SpaceWorld, TurningClamps

SHEAR = SpaceMaterial(1.0, 1.0).shear  # G / E of rubber


def lifted(rod: Rod, sections: Section | Sequence[Section]) -> SpaceRod:
    """The same nodes, masses, edges, bends and joints; d2 of edges is along z.

    About z it bends as in the plane; across the plane and about its edges it bends and
    twists stiffer or softer by what the sections say, the half edges at joints too.
    What turns freely in the plane is a hinge about z, which carries the rest.
    Held nodes stay in the plane, and frames of edges between two of them are held.

    Parameters
    ----------
    sections : of all edges, or of each
    """
    edges, bends = _directed(rod)
    m = len(edges)
    nodes = np.column_stack([rod.nodes, np.zeros(len(rod.nodes))])
    own = _each(m, sections)
    each = [_in_space(section) for section in own]
    line = np.array([s.line_density for s in own]) * rod.rest_length
    across, about = _of_bends(rod, each, bends % m)
    held = np.column_stack([rod.held, rod.held.any(axis=1)])
    whole: Bools = np.asarray(held.all(axis=1))
    half = np.array(
        [s.bending / t.second[1] * np.array([SHEAR * t.torsion, t.second[0]])
         for s, t in zip(own, each, strict=True)]
    ) / (0.5 * rod.rest_length[:, None])  # fmt: skip
    directors = np.cross((0.0, 0.0, 1.0), edge_tangents(nodes, edges))
    hinges = _hinges(rod)
    axes, hinge_stiffness = _held_axes(nodes, edges, directors, hinges, half)
    return SpaceRod(
        nodes=nodes,
        directors=directors,
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
        hinges=hinges,
        axes=axes,
        hinge_stiffness=hinge_stiffness,
        hinge_friction=np.zeros(len(hinges)),
    )


def _hinges(rod: Rod) -> Ints:
    """(k, 2) edges that turn against each other: first ones of what bends join."""
    of, found = edges_by_nodes(rod.edges), []
    for node in np.flatnonzero(np.bincount(rod.edges.ravel()) > 1).tolist():
        group = {e: e for e in np.flatnonzero((rod.edges == node).any(axis=1)).tolist()}
        for i, j, k in rod.bends[rod.bends[:, 1] == node].tolist():
            one, other = (group[of[frozenset(pair)]] for pair in ((i, j), (j, k)))
            group = {e: one if g == other else g for e, g in group.items()}
        first, *others = sorted(set(group.values()))
        found += [(first, other) for other in others]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _held_axes(
    nodes: Floats, edges: Ints, directors: Floats, hinges: Ints, half: Floats
) -> tuple[Floats, Floats]:
    """(k, 2, 3, 3) axes of hinges, and (k, 3) how half edges next to them hold them.

    Two half edges give one after the other; the axes across are those along which one
    lean asks for a moment about it alone.

    Parameters
    ----------
    half : (m, 2) N m, GJ and EI across the plane of half edges
    """
    t = edge_tangents(nodes, edges)
    frames = np.stack([t, directors, np.cross(t, directors)], axis=1)
    both = np.stack([t, directors], axis=1)[:, :, :2]  # about these they twist and bend
    soft = np.einsum("epi,ep,epj->eij", both, 1.0 / half, both)
    stiff, about = np.linalg.eigh(np.linalg.inv(soft[hinges].sum(axis=1)))
    own = np.zeros((len(hinges), 3, 3))
    own[:, 0, 2] = 1.0
    own[:, 1, :2] = about[:, :, 0].reshape(-1, 2)
    own[:, 2] = np.cross(own[:, 0], own[:, 1])
    axes = own[:, None] @ np.swapaxes(frames[hinges], 2, 3)
    # leaning towards one is a turn about the other
    held = np.column_stack([stiff[:, 1], stiff[:, 0], np.zeros(len(hinges))])
    return axes, held


def _in_space(section: Section) -> RodSection:
    """Its second moments about d1, across the plane, and about d2 = z."""
    if isinstance(section, RodMaterial):
        return rectangle(section.thickness, section.width)
    return tube(0.5 * section.diameter, 0.5 * section.bore)


def _of_bends(
    rod: Rod, each: Sequence[RodSection], pairs: Ints
) -> tuple[Floats, Floats]:
    """(b,) EI across the plane and GJ of bends over their EI in it: means of pairs."""
    across = np.array([s.second[0] / s.second[1] for s in each])
    about = np.array([SHEAR * s.torsion / s.second[1] for s in each])
    both = np.stack([across, about])
    found = 0.5 * (both[:, pairs[:, 0]] + both[:, pairs[:, 1]])
    if p := len(rod.joints.fold):
        firm = _firm(rod, pairs[:-p])
        found[:, -p:] = _at_joints(rod, pairs[-p:], both, firm)
        length = rod.voronoi[:-p]
        found[:, :-p] *= length / (length + _half_edges(rod, pairs[:-p], firm))
    return found[0], found[1]


def _firm(rod: Rod, pairs: Ints) -> Ints:
    """Joints of three edges or more where each has a bend, of `pairs`, at its far end.

    What a free node leaves of three half edges that bend otherwise than they twist is
    no sum over pairs. So they are held to each other there, and the next bends include
    them.
    """
    alone = np.setdiff1d(np.arange(len(rod.edges)), pairs)
    many = np.flatnonzero(np.bincount(rod.edges.ravel()) > 2)
    return np.setdiff1d(many, rod.edges[alone])


def _half_edges(rod: Rod, pairs: Ints, firm: Ints) -> Floats:
    """(b,) what bends stand for beyond their own length, m: half edges at joints.

    Their bending is extrapolated from the next two bends.
    """
    more, size = np.zeros(len(pairs)), rod.rest_length
    for b, side in np.argwhere(np.isin(rod.bends[: len(pairs), ::2], firm)).tolist():
        e, f = pairs[b, side], pairs[b, 1 - side]
        after = np.flatnonzero((pairs == f).any(axis=1) & (np.arange(len(pairs)) != b))
        ahead = min(size[e] / size[f], size[f] / size[e]) if len(after) == 1 else 0.0
        more[b] += END * size[e] * (1.0 + ahead)
        more[after] -= END * size[e] * ahead
    return more


def _at_joints(rod: Rod, pairs: Ints, both: Floats, firm: Ints) -> Floats:
    """(2, p) the same of bends at joints, whose half edges bend where others twist.

    With K_i of half an edge, k_i GJ / EI about its tangent and k_i times what is across
    the plane about what is across it, a node that turns freely leaves a pair of edges
    with K_i S^-1 K_j, S the sum of all K there: of two edges, both in series. What
    bends take of it is about the mean of both tangents, where they twist, and across
    that. At an angle f strains grow with these turns as 1 / c, c = cos(f / 2), and
    with one in the plane as 1 / c^2.

    Parameters
    ----------
    both : (2, m) EI across the plane and GJ of edges over their EI in it
    firm : nodes where pairs are held to each other
    """
    joints, table = rod.joints, rod.bends[-len(pairs) :]
    t = np.diff(rod.nodes[table], axis=1)
    t /= np.linalg.norm(t, axis=2, keepdims=True)
    n = np.stack([-t[..., 1], t[..., 0]], axis=-1)
    mean = joints.fold[:, None] * t[:, 0] + t[:, 1]
    c2 = 0.25 * np.sum(mean**2, axis=1)
    u = mean / (2.0 * np.sqrt(c2))[:, None]
    axes = np.stack([np.column_stack([-u[:, 1], u[:, 0]]), u])
    k = joints.half[:, :2] / c2[:, None] ** 2
    across, about = ((k * ratio[pairs])[..., None, None] for ratio in both)
    K = about * t[..., :, None] * t[..., None, :]
    K += across * n[..., :, None] * n[..., None, :]
    found = np.zeros((2, len(pairs)))
    for node in np.unique(table[:, 1]).tolist():
        here = np.flatnonzero(table[:, 1] == node)
        _, first = np.unique(pairs[here], return_index=True)
        S = K[here].reshape(-1, 2, 2)[first].sum(axis=0)
        plane = k[here].prod(axis=1) / k[here].ravel()[first].sum() * c2[here]
        left = K[here, 0] @ np.linalg.solve(S, K[here, 1])
        made = np.einsum("qpa,pab,qpb->qp", axes[:, here], left, axes[:, here])
        if node in firm:
            made = np.full_like(made, STIFF * K[here].max())
        elif made.min() <= 0.0:  # three flat edges, one of them alone
            made = 0.5 * both[:, pairs[here]].sum(axis=2) * plane
        found[:, here] = made / plane
    return found


def _directed(rod: Rod) -> tuple[Ints, Ints]:
    """Edges turned so that rods run from tail to head, and bends as pairs of runs.

    Where an edge runs one way in one bend and the other in another it is backwards in
    the later one, and a bend of a joint that folds back begins with its first edge so.
    """
    m, plain = len(rod.edges), len(rod.bends) - len(rod.joints.fold)
    of = edges_by_nodes(rod.edges)
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


OF_THE_PLANE = "edge_contact works in 2D only: remove it, or set dimension to 2"


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
    if world.edge_contact is not None:
        raise ValueError(OF_THE_PLANE)
    rod, flat = lifted(world.rod, sections), world.rod
    limbs = flat.edge_limb, flat.bend_limb, world.actuator, elements(flat)
    velocity = world.velocity
    if velocity is not None:
        velocity = np.pad(velocity, ((0, 0), (0, 1)))
    return SpaceWorld(
        rod,
        (*world.gravity, 0.0),
        world.damping,
        contact=_contact_model(world, sections),
        limbs=SpaceLimbs(*limbs) if world.schedule else None,
        schedule=world.schedule,
        load=world.load,
        fluid=world.fluid,
        drive=TurningClamps(rod, world.turning) if world.turning else None,
        distributed_loads=tuple(_spread(rod, world)),
        follower_forces=world.follower_forces,
        velocity=velocity,
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


def half_thickness(rod_edges: int, sections: Section | Sequence[Section]) -> Floats:
    """(m,) in the plane, m."""
    own = _each(rod_edges, sections)
    return np.array([0.5 * section.thickness for section in own])


def _each(m: int, sections: Section | Sequence[Section]) -> list[Section]:
    return list(sections) if isinstance(sections, Sequence) else [sections] * m


def _contact_model(
    world: World, sections: Section | Sequence[Section]
) -> ContactModel | None:
    ground = world.ground
    if ground is None:
        return None
    if not isinstance(ground, GroundPlane):
        raise ValueError("ground must be a plane in 3D: choose one, or dimension: 2")
    m = len(world.rod.edges)
    own, radius = _each(m, sections), half_thickness(m, sections)
    flat = [section.width for section in own if isinstance(section, RodMaterial)]
    if 0 < len(flat) < m or np.ptp(radius) > 0.0:
        raise ValueError(
            "ground: rods of different thickness, or flat and round ones, work in 2D "
            "only: set dimension to 2"
        )
    angle = np.radians(ground.angle)
    normal = (-float(np.sin(angle)), float(np.cos(angle)), 0.0)
    height = ground.offset + ground.height * normal[1]
    height -= 0.0 if flat else float(radius.max())
    rims = 0.5 * np.array(flat) if flat else None
    return ContactModel(
        radius, world.friction, LevelGround(normal, height), rims, skins=False
    )
