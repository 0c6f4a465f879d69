"""Robots of rods in space from a rod file, and their overlaps by name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.config.config_files import located
from pipeline.io.rod_entries import DrivenEntry, RigidEntry, RodEntry, RodFile
from pipeline.io.rod_pieces_in_space import (
    RodPiece,
    TendonRoom,
    joints_of,
    natural_of,
    pieces_of,
    refuse_missed,
    tendon_of,
)
from pipeline.io.rod_places import DrawnFile, RodPlaces, Tables
from sim.core.arrays import Floats, Ints
from sim.rods.plane.builders import NEAR, node_near, shown
from sim.rods.plane.rod import GRAVITY, PASSIVE
from sim.rods.prescribed_motion import PrescribedMotion, TurningEdge
from sim.rods.space.contact_detection import (
    ContactModel,
    LevelGround,
    OverlapError,
    body_of,
)
from sim.rods.space.joints import (
    HingeAxis,
    Stubs,
    clamped_end,
    edges_at,
    holding,
    joined,
    settled,
    turned_section,
    with_stubs,
)
from sim.rods.space.rigid_bodies import (
    BarBody,
    Body,
    DrivenBody,
    HeightField,
    PlateBody,
    SphereBody,
    swept,
    tabled,
)
from sim.rods.space.rod import (
    SpaceMaterial,
    SpaceRod,
    clamped,
    rectangle,
    through,
    tube,
)
from sim.rods.space.tendons import Tendon
from sim.rods.space.world import TurningClamps


@dataclass(frozen=True, eq=False, kw_only=True)
class SpaceRobot(DrawnFile):
    """What a rod file describes in space, in m.

    Attributes
    ----------
    radii : (m,) half the thickness of each edge
    rods : (m,) of the file, of each edge
    bodies : besides a ground
    limbs : (m,), (b,) of edges and bends, -1 for none
    """

    radii: Floats
    rods: Ints
    ground: LevelGround | HeightField | None
    bodies: tuple[Body, ...]
    limbs: tuple[Ints, Ints] | None

    def contact_model(self, friction: float) -> ContactModel | None:
        """What rods touch; nothing where there is neither a ground nor a body."""
        field = (self.ground,) if isinstance(self.ground, HeightField) else ()
        bodies: tuple[Body, ...] = (*self.bodies, *field)
        level = self.ground if isinstance(self.ground, LevelGround) else None
        if level is None and not bodies:
            return None
        return ContactModel(self.radii, friction, level, bodies=bodies)

    def overlap(self, error: OverlapError) -> str:
        """What starts within what, as a file names it."""
        own, rod = self.rods[error.edge], self.world["rod"]
        at = rod.nodes[rod.edges[error.edge, 0]]
        begin = f"at the start rods[{own}] penetrates"
        by = f"by {error.depth:.3g} m, near {shown(at)} m"
        body = body_of(error.other)
        if 0 <= body < len(self.bodies):
            return f"{begin} bodies[{body}] {by}: move them apart"
        if error.other < 0:
            return f"{begin} the ground {by}: lift the rod"
        return (
            f"{begin} rods[{self.rods[error.other]}] {by}: move them apart, make them "
            "thinner, join them at 60 degrees or more, or remove `ground` (contact "
            "needs a ground)"
        )


UP = (0.0, 0.0, 1.0)


class DrawnInSpace(RodPlaces):
    """Draws the content of a file in space."""

    def __init__(self, content: RodFile, finer: float) -> None:
        super().__init__(content, finer)
        whole = []
        for k, entry in enumerate(content.rods):
            with located(f"rods[{k}]"):
                whole.append(self._rod(entry))
        closed = [rod.closed for rod in content.rods]
        hinges = [
            (
                self.place(hinge.at),
                hinge.axis and HingeAxis(hinge.axis, hinge.spring, hinge.friction),
            )
            for hinge in content.turning
        ]
        self.joints, by_node = joints_of(whole, closed, hinges)
        half = [self._half(rod) for rod in content.rods]
        refuse_missed(whole, closed, by_node, half)
        self.pieces: list[RodPiece] = []
        self.rods: list[SpaceRod] = []
        for k, (rod, own) in enumerate(zip(whole, by_node, strict=True)):
            if own:
                self.pieces += pieces_of(k, rod, closed[k], own)
            else:
                free = RodPiece(k, rod.nodes, rod.directors, 0.0, (-1, -1))
                self.pieces.append(free)
        self._cut(whole, by_node)
        self.lasts = [len(rod.nodes) - 1 for rod in self.rods]
        self.sprung: list[tuple[int, int]] = []  # pieces, and bends of soft clamps

    def _cut(self, whole: list[SpaceRod], by_node: list[dict[int, int]]) -> None:
        """The rods of all pieces, with stubs where they are joined rigidly."""
        for p, piece in enumerate(self.pieces):
            for end, joint in enumerate(piece.joints):
                if joint >= 0:
                    self.joints[joint].ends.append((p, end))
        stubs = {
            end: stub
            for joint in self.joints
            for end, stub in joint.stubs(self.pieces).items()
        }
        ends = range(len(self.pieces))
        self.stubs: list[Stubs] = [(stubs.get((p, 0)), stubs.get((p, 1))) for p in ends]
        drafts: dict[int, tuple[SpaceRod, Floats, Stubs]] = {}
        for p, (piece, at) in enumerate(zip(self.pieces, self.stubs, strict=True)):
            if by_node[piece.rod]:
                nodes, d = with_stubs(piece.points, piece.directors, at)
                rod = self.content.rods[piece.rod]
                drafts[p] = self._made(rod, nodes, d[0], False), d, at
        self.held = holding([rod for rod, _, _ in drafts.values()]) if drafts else 0.0
        for p, piece in enumerate(self.pieces):
            made = settled(*drafts[p], self.held) if p in drafts else whole[piece.rod]
            self.rods.append(made)

    def read(self) -> SpaceRobot:
        content, (rod, held_edges) = self.content, self._joined()
        mass, held = rod.mass.copy(), rod.held.copy()
        for one in content.masses:
            mass[_node(rod, self.place(one.at))] += one.mass
        for pin in content.pins:
            held[_node(rod, self.place(pin))] = True
        whose = np.repeat(
            [piece.rod for piece in self.pieces], [len(own.edges) for own in self.rods]
        )
        edges = [np.flatnonzero(whose == k) for k in range(len(content.rods))]
        more: dict[str, Any] = {}
        if content.tendons:
            more["pulling"] = self._pulling
        if content.natural:
            parts = self.pieces, self.rods, self.stubs, rod
            more["natural"] = natural_of(content.natural, *parts)
        values = self.alike(
            replace(rod, mass=mass, held=held),
            lambda at: _node(rod, self.place(at)),
            [own[~np.isin(own, held_edges)].tolist() for own in edges],
            force=self._forces(rod),
            gravity=content.gravity or (0.0, 0.0, -GRAVITY),
            tendons=tuple(self._tendon(k) for k in range(len(content.tendons))),
            drive=self._drive(rod, held_edges),
            **more,
        )
        return SpaceRobot(
            radii=np.array([self._half(one) for one in content.rods])[whose],
            rods=whose,
            ground=self._ground(),
            bodies=tuple(self._body(k, body) for k, body in enumerate(content.bodies)),
            limbs=self._limbs(rod, whose),
            **values,
        )

    def _limbs(self, rod: SpaceRod, whose: Ints) -> tuple[Ints, Ints] | None:
        """Of edges and bends; what holds rods together at joints has none, nor has what
        a clamp holds by a spring that is softer than the half edge before it.
        """
        if not self.content.pulses:
            return None
        limbs = np.array([one.limb for one in self.content.rods])
        of_bends, at = np.full(len(rod.bends), PASSIVE), 0
        for p, (piece, own) in enumerate(zip(self.pieces, self.rods, strict=True)):
            of_bends[at : at + len(own.bends)] = limbs[piece.rod]
            of_bends[[at + b for q, b in self.sprung if q == p]] = PASSIVE
            at += len(own.bends)
        return limbs[whose], of_bends

    def _drive(self, rod: SpaceRod, held: Sequence[int]) -> TurningClamps | None:
        """Of clamps that turn or move; `held` is the edge of each clamp."""
        found = []
        for k, clamp in enumerate(self.content.clamps):
            edge, way = held[k], self._way(f"clamps[{k}]", clamp)
            if way is None:
                continue
            ends, at = rod.nodes[rod.edges[edge]], self.place(clamp.at)
            about = ends[np.argmin(np.linalg.norm(ends - at, axis=1))]
            motion = PrescribedMotion(about, clamp.axis or UP, *way)
            found.append(TurningEdge(edge, motion))
        return TurningClamps(rod, found) if found else None

    def _way(self, where: str, driven: DrivenEntry) -> Tables | None:
        """As `way`, which turns about an axis."""
        if (driven.turns is None) != (driven.axis is None):
            raise ValueError(
                f"{where}: turns need an axis, such as `axis: [0, 0, 1]`: give both or "
                "neither"
            )
        return self.way(where, driven)

    def _joined(self) -> tuple[SpaceRod, list[int]]:
        """All rods as one, held where clamps are, and the edge of each clamp."""
        held = [
            self._clamp(self.place(clamp.at), clamp.stiffness or np.inf)
            for clamp in self.content.clamps
        ]
        places = [
            [(p, self.lasts[p] if end else 0) for p, end in joint.ends]
            for joint in self.joints
        ]
        rigid = [not joint.turns for joint in self.joints]
        axes = [joint.axis for joint in self.joints]
        rod, at = joined(self.rods, places, rigid, self.held, axes)
        before = np.cumsum([0, *(len(own.edges) for own in self.rods)])
        edges = [
            edges_at(rod, at[k])[0] if p < 0 else int(before[p]) + k for p, k in held
        ]
        return clamped(rod, *edges), edges

    def _forces(self, rod: SpaceRod) -> Floats:
        """(n, 3) N."""
        force, load = np.zeros(rod.nodes.shape), self.content.load
        if load is None or load.timed:
            return force
        for at in load.at:
            force[_node(rod, self.place(at))] += load.force
        return force

    def _tendon(self, k: int) -> Tendon:
        entry = self.content.tendons[k]
        with located(f"tendons[{k}]"):
            if entry.rod < len(self.content.rods) and self._is_ring(entry.rod):
                raise ValueError(f"rods[{entry.rod}] is closed: open it for a tendon")
            pieces, rods, stubs = self.pieces, self.rods, self.stubs
            return tendon_of(entry, self.m, pieces, rods, stubs, self._room)

    def _is_ring(self, k: int) -> bool:
        """Whether a rod is closed, and joined to nothing."""
        own = [piece for piece in self.pieces if piece.rod == k]
        return self.content.rods[k].closed and own[0].joints[0] < 0

    def _room(self, k: int) -> TendonRoom:
        """Where in the section of a rod a tendon may run."""
        a, b, is_round = self.section_of(self.content.rods[k])
        return TendonRoom(0.5 * a, 0.5 * b, is_round)

    def _pulling(self, time: float) -> Floats:
        """(tendons,) shares of their tensions."""
        shares = [
            np.clip((time - one.start) / one.rise, 0.0, 1.0)
            if one.rise > 0.0
            else float(time >= one.start)
            for one in self.content.tendons
        ]
        return np.array(shares)

    def _rod(self, rod: RodEntry) -> SpaceRod:
        if rod.closed and rod.twist:
            raise ValueError("a closed rod has no end to twist: open it")
        points = self.points(rod)
        if rod.closed and np.allclose(points[0], points[-1]):
            points = points[:-1]
        made = self._made(rod, points, _across(rod, points), rod.closed)
        return turned_section(made, np.radians(rod.twist)) if rod.twist else made

    def _made(
        self, rod: RodEntry, points: Floats, first: Sequence[float], closed: bool
    ) -> SpaceRod:
        of = rod.material or self.content.material
        material = SpaceMaterial(of.modulus, of.density, of.poisson)
        a, b, is_round = self.section_of(rod)
        section = tube(0.5 * a, 0.5 * b) if is_round else rectangle(a, b)
        return through(points, material, section, first=first, closed=closed)

    def _half(self, rod: RodEntry) -> float:
        """Half the thickness, m."""
        return 0.5 * self.section_of(rod)[0]

    def _clamp(self, at: list[float], stiffness: float) -> tuple[int, int]:
        """Hold the end of a rod that is nearest: the piece and its edge, or -1 and the
        joint that is to be held.
        """
        free = [
            (p, end)
            for p, piece in enumerate(self.pieces)
            for end in (0, 1)
            if piece.joints[end] < 0
        ]
        nodes = [self.rods[p].nodes[self.lasts[p] if end else 0] for p, end in free]
        places = np.array([*nodes, *(joint.at for joint in self.joints)])
        apart = np.linalg.norm(places.reshape(-1, 3) - at, axis=1)
        k = int(np.argmin(apart))
        longest = max(float(rod.rest_length.max()) for rod in self.rods)
        if apart[k] > NEAR * longest:
            raise ValueError(
                f"the clamp at {shown(at)} m is not at the end of a rod: divide the "
                "rod there into two"
            )
        if k >= len(free):
            joint = self.joints[k - len(free)]
            if joint.turns or stiffness < np.inf:
                other = "hinge" if joint.turns else "stiffness"
                raise ValueError(
                    f"the clamp at {shown(at)} m, where rods meet, cannot have a "
                    f"{other}: clamp a free end, or remove the {other}"
                )
            return -1, k - len(free)
        p, end = free[k]
        self.rods[p] = clamped_end(
            self.rods[p], self.lasts[p] if end else 0, stiffness=stiffness
        )
        made = self.rods[p]
        both = made.bending[-1].min() / made.voronoi[-1]  # half edge and spring
        if stiffness < 2.0 * both:  # the softer
            self.sprung.append((p, len(made.bends) - 1))
        return p, len(self.rods[p].edges) - 1

    def _ground(self) -> LevelGround | HeightField | None:
        given = self.content.ground
        if given is None:
            return None
        if (curve := self.curved_ground()) is not None:
            return swept(curve)
        if given.heights is not None:
            table = given.heights
            return tabled(table.x, table.y, table.z, self.m)
        if not abs(given.angle) <= 80.0:
            raise ValueError(f"ground: angle is {given.angle:g}: choose -80 to 80")
        angle = np.radians(given.angle)
        c, s = float(np.cos(angle)), float(np.sin(angle))
        return LevelGround((-s, 0.0, c), c * self.m * given.height)

    def _body(self, k: int, given: RigidEntry) -> Body:
        """At rest, or on its way."""
        body, middle = self._drawn_body(given)
        if (way := self._way(f"bodies[{k}]", given)) is None:
            return body
        about = middle if given.about is None else self.place(given.about)
        return DrivenBody(body, PrescribedMotion(about, given.axis or UP, *way))

    def _drawn_body(self, given: RigidEntry) -> tuple[Body, list[float]]:
        """A body, and the place of its middle."""
        if given.sphere is not None:
            x, y, z = self.place(given.sphere.centre)
            return SphereBody((x, y, z), self.m * given.sphere.radius), [x, y, z]
        if given.plate is not None:
            x, y, z = self.place(given.plate.centre)
            a, b, c = (self.m * side for side in given.plate.size)
            return PlateBody((x, y, z), (a, b, c)), [x, y, z]
        assert given.bar is not None  # or the file was refused
        (a, b, c), (x, y, z) = self.place(given.bar.begin), self.place(given.bar.end)
        bar = BarBody((a, b, c), (x, y, z), self.m * given.bar.radius)
        return bar, [0.5 * (a + x), 0.5 * (b + y), 0.5 * (c + z)]


def _across(rod: RodEntry, points: Floats) -> tuple[float, float, float]:
    """The direction of the thickness where a rod begins."""
    if rod.across is not None:
        return rod.across
    run = np.abs(points[1] - points[0])
    rises = run[2] > np.hypot(run[0], run[1])
    return (1.0, 0.0, 0.0) if rises else (0.0, 0.0, 1.0)


def _node(rod: SpaceRod, at: list[float]) -> int:
    """The node at a place, or half an edge from it."""
    return node_near(at, rod.nodes, rod.edges, rod.rest_length)
