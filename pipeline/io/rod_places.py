"""Places and curves of a rod file in m, and ends that miss each other."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.io.length_units import unit_named
from pipeline.io.rod_entries import DrivenEntry, Place, RodEntry, RodFile
from sim.core.arrays import Floats, Ints
from sim.core.options import refuse_missing
from sim.rods.fluid_drag import Edged, Fluid
from sim.rods.plane.actuation import Pulses
from sim.rods.plane.builders import NEAR, along_arc, along_curve, along_line
from sim.rods.plane.contact_geometry import from_segments
from sim.rods.plane.ground import Terrain, Wave
from sim.rods.plane.markers import Marker
from sim.rods.plane.world import DistributedLoad, FollowerForce, NodeLoad, end_edge
from sim.rods.prescribed_motion import refuse_table

Tables = tuple[list[float], list[float], list[list[float]]]  # times, angles, moves

MOST_NODES = 5000
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
IN_M = re.compile(
    rf"(?P<at>\((?:{NUMBER}, )*{NUMBER}\)|(?<![\w.]){NUMBER}) m(?![\w/^])"
)


def in_unit(text: str, unit: str, metre: float) -> str:
    """A message of the solver, its places and lengths in m given in a file's unit."""

    def converted(found: re.Match[str]) -> str:
        place = re.sub(NUMBER, lambda n: f"{float(n[0]) / metre:.6g}", found["at"])
        return f"{place} {unit}"

    return IN_M.sub(converted, text)


@dataclass(frozen=True, eq=False)
class RodMarkers:
    """Points of rods that are recorded by name.

    Attributes
    ----------
    ends : (k, 2) nodes of the edge that each is on
    share : (k,) of the way along it
    unit, metre : of the places
    """

    names: tuple[str, ...]
    ends: Ints
    share: Floats
    unit: str
    metre: float

    def columns(self, x: Floats) -> dict[str, float]:
        """NAME_x_mm and so on, of nodes (n, 2 or 3) in m."""
        a, b = x[self.ends[:, 0]], x[self.ends[:, 1]]
        at = (a + self.share[:, None] * (b - a)) / self.metre
        return {
            f"{name}_{axis}_{self.unit}": float(value)
            for name, place in zip(self.names, at, strict=True)
            for axis, value in zip("xyz", place, strict=False)
        }

    def weighted(self, x: Floats) -> dict[str, Marker]:
        """Each of `columns` as weights of the nodes."""
        weight = np.zeros((len(self.names), len(x)))
        each = np.arange(len(self.names))
        weight[each, self.ends[:, 0]] = (1.0 - self.share) / self.metre
        weight[each, self.ends[:, 1]] += self.share / self.metre
        names, axes = list(self.columns(x)), x.shape[1]
        return {
            name: Marker(weight[k // axes], k % axes) for k, name in enumerate(names)
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnFile:
    """What a rod file describes in the plane and in space alike, in m.

    Attributes
    ----------
    world : values of the `World` or `SpaceWorld`, its rod among them
    markers : points that are recorded
    unit, metres : of the file, and how long it is
    limits : warnings of rods that the model describes badly
    """

    world: dict[str, Any]
    markers: RodMarkers
    duration: float
    unit: str
    metres: float
    limits: list[str]


SLENDER = 5.0  # lengths over thickness, and edges of a rod, without a warning
PART = 0.25  # of the longest rod, below which one only joins others


class RodPlaces:
    """What a file says in the plane and in space alike, in m."""

    def __init__(self, content: RodFile, finer: float = 1.0) -> None:
        self.content = content
        self.finer = finer
        self.many = 0  # nodes so far
        self.m = unit_named(content.unit).mm / 1000.0

    def alike(
        self, rod: Edged, node: Callable[[Place], int], edges: Sequence[list[int]],
        **world: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """The values of a `DrawnFile`.

        Parameters
        ----------
        node : at a place
        edges : of each rod of the file
        world : further values of the world
        """
        content = self.content
        fluid, load = content.fluid, content.load
        pulses = sorted(content.pulses, key=lambda pulse: pulse.time)
        timed = load is not None and (load.timed or content.dimension == 2)
        if pulses:
            world["schedule"] = Pulses(
                [p.time for p in pulses], [p.limb for p in pulses]
            )
        if load is not None and timed:
            nodes = [node(at) for at in load.at]
            world["load"] = NodeLoad(nodes, load.force, *load.acts)
        if content.velocities:
            world["velocity"] = self._velocity(rod, edges)
        world |= {
            "rod": rod,
            "fluid": fluid and Fluid(fluid.along, fluid.across),
            "distributed_loads": self.spread(edges),
            "follower_forces": self.followers(rod, node),
        }
        return {
            "world": world,
            "markers": self.markers(rod.nodes, rod.edges),
            "duration": content.duration,
            "unit": content.unit,
            "metres": self.m,
            "limits": self._limits_of_model(rod, edges),
        }

    def _limits_of_model(self, rod: Edged, edges: Sequence[list[int]]) -> list[str]:
        """A warning of the first rod that is short, by its thickness or its edges.

        The end of a cantilever of a solid rectangular section moves by 0.9 (t / L)^2 of
        its deflection more by shear, at Poisson's ratio 0.5.
        """
        lengths = [float(rod.rest_length[own].sum()) for own in edges]
        for k, (own, length) in enumerate(zip(edges, lengths, strict=True)):
            thickness = self.section_of(self.content.rods[k])[0]
            if length < PART * max(lengths):
                continue
            if length < (1.0 - 1e-6) * SLENDER * thickness:
                return [
                    f"rods[{k}] is {length / thickness:.2g} times as long as thick, "
                    f"below {SLENDER:g}: the model omits shear, so a cantilever would "
                    f"bend {90.0 * (thickness / length) ** 2:.0f} % more than computed"
                ]
            if len(own) < SLENDER:
                spacing = length / SLENDER / self.m
                return [
                    f"rods[{k}] has {len(own)} edges, fewer than {SLENDER:g}: set its "
                    f"spacing to {spacing:.3g} {self.content.unit} or less"
                ]
        return []

    def section_of(self, rod: RodEntry) -> tuple[float, float, bool]:
        """Thickness and width, or diameter and bore, m; whether it is round."""
        size = rod.section or self.content.section
        if size.flat is not None:
            return self.m * size.flat.thickness, self.m * size.flat.width, False
        assert size.round is not None  # one of the two is there
        return self.m * size.round.diameter, self.m * size.round.bore, True

    def curved_ground(self) -> Wave | Terrain | None:
        """A wave, or a curve through points."""
        given = self.content.ground
        if given is not None and given.wave is not None:
            wave = given.wave
            sizes = wave.amplitude, wave.wavelength, wave.start
            return Wave(*(self.m * size for size in sizes))
        if given is not None and given.points is not None:
            return Terrain([self.place(at) for at in given.points])
        return None

    def spread(self, edges: Sequence[list[int]]) -> tuple[DistributedLoad, ...]:
        """Loads along rods, of which each has these edges."""
        found = []
        for given in self.content.distributed_loads:
            message = "distributed_loads: rod {} does not exist"
            refuse_missing(message, [given.rod], len(edges), "choose")
            force = given.force or (0.0, 0.0)
            along = given.along, given.across
            load = DistributedLoad(edges[given.rod], force, *along, *given.acts)
            found.append(load)
        return tuple(found)

    def _velocity(self, rod: Edged, edges: Sequence[list[int]]) -> Floats:
        """(n, 2 or 3) m/s of the nodes of rods; where two meet, of the later one."""
        found = np.zeros_like(rod.nodes)
        for given in self.content.velocities:
            message = "velocities: rod {} does not exist"
            refuse_missing(message, [given.rod], len(edges), "choose")
            found[rod.edges[edges[given.rod]]] = given.velocity
        return np.where(rod.held, 0.0, found)

    def followers(
        self, rod: Edged, node: Callable[[Place], int]
    ) -> tuple[FollowerForce, ...]:
        """Forces on ends of a rod, which has a node at each place."""
        found = []
        for given in self.content.follower_forces:
            at = node(given.at)
            end_edge(rod, at)
            own = given.along, given.across, given.moment
            one = FollowerForce(at, *own, *given.acts)
            found.append(one)
        return tuple(found)

    def place(self, at: Sequence[float]) -> list[float]:
        """The same in m."""
        return [self.m * value for value in at]

    def way(self, where: str, driven: DrivenEntry) -> Tables | None:
        """Times, s, and angles, rad, of a clamp or a body, and rows of 4 of time, s,
        and way, m; None where it stays.
        """
        if driven.turns is None and driven.moves is None:
            return None
        dimension = self.content.dimension
        at_rest = (0.0,) * (1 + dimension)
        ways = np.array(driven.moves or [at_rest]) * [1.0, *[self.m] * dimension]
        times, degrees = np.array(driven.turns or [(0.0, 0.0)]).T
        refuse_table(f"{where}.turns", times, degrees[:, None], "degrees")
        refuse_table(f"{where}.moves", ways[:, 0], ways[:, 1:], "m")
        ways = np.pad(ways, ((0, 0), (0, 3 - dimension)))
        return times.tolist(), np.radians(degrees).tolist(), ways.tolist()

    def markers(self, nodes: Floats, edges: Ints) -> RodMarkers:
        """On the axes of rods, as near as they are to where the file has them.

        Raises
        ------
        ValueError
            where no axis is nearer than half an edge
        """
        a, b = nodes[edges[:, 0]], nodes[edges[:, 1]]
        length = np.linalg.norm(b - a, axis=1)
        own, shares = [], []
        for name, given in self.content.markers.items():
            apart, share = from_segments(self.place(given), a, b)
            k = int(np.argmin(apart))
            if not apart[k] <= NEAR * length[k]:
                raise ValueError(
                    f"markers: {name} is {apart[k]:.3g} m from the nearest rod's axis: "
                    "give a point on an axis"
                )
            own.append(k)
            shares.append(share[k])
        names = tuple(self.content.markers)
        unit = self.content.unit
        return RodMarkers(names, edges[own], np.array(shares), unit, self.m)

    def points(self, rod: RodEntry) -> Floats:
        """(n, 2 or 3) nodes of a rod; too many are refused before they are made."""
        spacing = self.m * (rod.spacing or self.content.spacing) / self.finer
        if rod.arc is None:
            found = self._through(rod, spacing)
        else:
            x, y = self.place(rod.arc.centre)
            start, end = np.radians([rod.arc.start, rod.arc.end]).tolist()
            radius = self.m * rod.arc.radius
            self._refuse_many(rod, radius * abs(end - start) / spacing)
            found = along_arc((x, y), radius, start, end, spacing)
        self._refuse_many(rod, len(found))
        self.many += len(found)
        return found

    def _through(self, rod: RodEntry, spacing: float) -> Floats:
        """Of a line or a curve."""
        corners = list(rod.line or rod.curve or ())
        if rod.line is not None and rod.closed:
            corners.append(corners[0])
        through = np.array([self.place(at) for at in corners])
        chord = np.linalg.norm(np.diff(through, axis=0), axis=1)
        self._refuse_many(rod, float(chord.sum()) / spacing)
        if rod.line is not None:
            return along_line(through, spacing)
        return along_curve(through, spacing, self._stops(rod))

    def _stops(self, rod: RodEntry) -> list[int]:
        """Inner points of a curve that other rods have too, and so become nodes."""
        others = {
            tuple(at)
            for one in self.content.rods
            if one is not rod
            for at in one.curve or one.line or ()
        }
        inner = (rod.curve or [])[1:-1]
        return [k for k, at in enumerate(inner, 1) if tuple(at) in others]

    def _refuse_many(self, rod: RodEntry, nodes: float) -> None:
        if not self.many + nodes <= MOST_NODES:
            raise ValueError(
                f"a spacing of {(rod.spacing or self.content.spacing) / self.finer:g} "
                f"needs more than {MOST_NODES} nodes: increase the spacing"
            )


LIES = 1e-3  # rad between two rods at a point, below which one lies on the other


def refuse_apart(rods: Sequence[Sequence[int]], points: Floats, unit: str) -> None:
    """Refuse rods of the plane that are not all joined, by the nearest end.

    Parameters
    ----------
    rods : the nodes of each, from end to end
    points : (n, 2) places of nodes in `unit`

    Raises
    ------
    ValueError
        with the end, the rod that is nearest of those it is not joined to, and how far
    """
    piece = _pieces(rods)
    apart = [
        (float(distance.min()), -a, b, chain[int(distance.argmin())])
        for a, own in enumerate(rods)
        for b, chain in enumerate(rods)
        if piece[a] != piece[b]
        for end in (own[0], own[-1])
        for distance in [np.linalg.norm(points[list(chain)] - points[end], axis=1)]
    ]
    if not apart:
        return
    distance, minus_a, b, node = min(apart)
    what = "that" if node in (rods[b][0], rods[b][-1]) else "a node"
    raise ValueError(
        f"the end of rods[{-minus_a}] is {distance:.2g} {unit} from {what} of "
        f"rods[{b}]: to join them, give both the same point in line or curve"
    )


def refuse_overlap(
    rods: Sequence[Sequence[int]], points: Floats, unit: str, hinges: Collection[int]
) -> None:
    """Refuse rods that lie on each other from the point on at which they are joined.

    Parameters
    ----------
    rods, points, unit : as of `refuse_apart`
    hinges : nodes at which rods turn freely

    Raises
    ------
    ValueError
        with both rods and the place
    """
    leaving: dict[int, list[tuple[int, Floats]]] = {}
    for k, chain in enumerate(rods):
        for a, b in pairwise(chain):
            leaving.setdefault(a, []).append((k, points[b] - points[a]))
            leaving.setdefault(b, []).append((k, points[a] - points[b]))
    for node in leaving.keys() - hinges:
        for (one, u), (other, v) in combinations(leaving[node], 2):
            if abs(u[0] * v[1] - u[1] * v[0]) < LIES * (u @ v):
                x, y = points[node]
                raise ValueError(
                    f"rods[{one}] and rods[{other}] start in the same direction at "
                    f"({x:.6g}, {y:.6g}) {unit}: change the direction of one (an arc "
                    "by its `end`), or add a hinge at this point"
                )


def _pieces(rods: Sequence[Sequence[int]]) -> list[int]:
    """The number of the piece that each rod is part of."""
    whose = np.repeat(np.arange(len(rods)), [len(nodes) for nodes in rods])
    nodes = np.concatenate(rods)
    has = coo_array((np.ones(len(nodes)), (whose, nodes))).tocsr()
    return list(connected_components(has @ has.T, directed=False)[1].tolist())
