"""Places and curves of a rod file in m, in the plane or in space."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel

from pipeline.formats.rod_drawing import RodEntry
from pipeline.formats.rod_driven import DrivenEntry
from pipeline.formats.rod_entries import RodFile
from pipeline.formats.rod_numbers import Place, endless
from pipeline.scans.reading.units import unit_named
from sim.arrays import Floats, Ints
from sim.rod.actuation.actuation import Pulses
from sim.rod.rod.draft import NEAR, along_arc, along_curve, along_line
from sim.rod.stepping.markers import Marker
from sim.rod.stepping.surroundings import (
    DistributedLoad,
    Edged,
    Fluid,
    FollowerForce,
    end_edge,
)
from sim.rod.stepping.turning import refuse_table

Tables = tuple[list[float], list[float], list[list[float]]]  # times, angles, moves

MOST_NODES = 5000
NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"
IN_M = re.compile(
    rf"(?P<at>\((?:{NUMBER}, )*{NUMBER}\)|(?<![\w.]){NUMBER}) m(?![\w/^])"
)


def _places_of(content: object, given: object, name: str = "") -> Iterator[str]:
    """By which name, such as .pins[0], the entries of a file hold this very place."""
    if content is given:
        yield name
    elif isinstance(content, BaseModel):
        for key, value in content:
            yield from _places_of(value, given, f"{name}.{key}")
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _places_of(value, given, f"{name}.{key}")
    elif isinstance(content, list):
        for k, value in enumerate(content):
            yield from _places_of(value, given, f"{name}[{k}]")


def in_unit(text: str, unit: str, metre: float) -> str:
    """A message of the solver, its places and lengths in m told in a file's unit."""

    def told(found: re.Match[str]) -> str:
        place = re.sub(NUMBER, lambda n: f"{float(n[0]) / metre:.6g}", found["at"])
        return f"{place} {unit}"

    return IN_M.sub(told, text)


@dataclass(frozen=True, eq=False)
class RodMarkers:
    """Points of rods that are recorded by name.

    Attributes
    ----------
    ends : (k, 2) nodes of the edge that each is on
    share : (k,) of the way along it
    unit, metre : in which places are told
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


class RodPlaces:
    """What a file says of places, in m."""

    def __init__(self, content: RodFile, finer: float = 1.0) -> None:
        self.content = content
        self.finer = finer
        self.many = 0  # nodes so far
        self.m = unit_named(content.unit).mm / 1000.0

    @property
    def fluid(self) -> Fluid | None:
        """What resists all rods."""
        given = self.content.fluid
        return None if given is None else Fluid(given.along, given.across)

    @property
    def pulses(self) -> Pulses | None:
        """Which limb is switched on when."""
        given = sorted(self.content.pulses, key=lambda pulse: pulse.time)
        if not given:
            return None
        return Pulses([pulse.time for pulse in given], [pulse.limb for pulse in given])

    def spread(self, edges: Sequence[list[int]]) -> tuple[DistributedLoad, ...]:
        """Loads along rods, of which each has these edges."""
        found = []
        for given in self.content.distributed_loads:
            if given.rod >= len(edges):
                raise ValueError(
                    f"distributed_loads: there is no rod {given.rod}: choose 0 to "
                    f"{len(edges) - 1}"
                )
            force = self.numbers_of(given.force) if given.force else (0.0, 0.0)
            load = DistributedLoad(
                edges[given.rod], tuple(force), given.along, given.across, given.start,
                endless(given.duration),
            )  # fmt: skip
            found.append(load)
        return tuple(found)

    def followers(
        self, rod: Edged, node: Callable[[Place], int]
    ) -> tuple[FollowerForce, ...]:
        """Forces on ends of a rod, which has a node at each place."""
        found = []
        for given in self.content.follower_forces:
            at, lasts = node(given.at), endless(given.duration)
            end_edge(rod, at)
            one = FollowerForce(at, given.along, given.across, given.start, lasts)
            found.append(one)
        return tuple(found)

    def numbers_of(self, given: Place) -> list[float]:
        """Two numbers, or three in space."""
        found = [value for value in given if value is not None]
        wanted = self.content.dimension
        if len(found) == wanted:
            return found
        where = next(_places_of(self.content, given), "").removeprefix(".")
        said = f"{where}: {found}" if where else f"{found}"
        if wanted == 2:
            raise ValueError(
                f"{said} has three numbers: say `dimension: 3` for rods in space"
            )
        raise ValueError(f"{said} has two numbers: give x, y and z in space")

    def place(self, at: Place) -> list[float]:
        """The same in m."""
        return [self.m * value for value in self.numbers_of(at)]

    def way(self, where: str, driven: DrivenEntry) -> Tables | None:
        """Times, s, and angles, rad, of a clamp or a body, and rows of 3 or 4 of time,
        s, and way, m; None where it stays.
        """
        if driven.turns is None and driven.moves is None:
            return None
        width = 1 + self.content.dimension
        rows = [[v for v in row if v is not None] for row in driven.moves or ()]
        for row in rows:
            if len(row) != width:
                told = "time, x and y in the plane" if width == 3 else "time, x, y, z"
                raise ValueError(
                    f"{where}.moves: {row} has {len(row)} numbers: give {told}"
                )
        ways = np.array(rows or [[0.0] * width]) * [1.0, *[self.m] * (width - 1)]
        times, degrees = np.array(driven.turns or [(0.0, 0.0)]).T
        refuse_table(f"{where}.turns", times, degrees[:, None], "degrees")
        refuse_table(f"{where}.moves", ways[:, 0], ways[:, 1:], "m")
        return times.tolist(), np.radians(degrees).tolist(), ways.tolist()

    def markers(self, nodes: Floats, edges: Ints) -> RodMarkers:
        """On the axes of rods, as near as they are to where the file has them.

        Raises
        ------
        ValueError
            where no axis is nearer than half an edge
        """
        a, way = nodes[edges[:, 0]], nodes[edges[:, 1]] - nodes[edges[:, 0]]
        length = np.linalg.norm(way, axis=1)
        own, shares = [], []
        for name, given in self.content.markers.items():
            at = np.array(self.place(given))
            share = np.clip(((at - a) * way).sum(axis=1) / length**2, 0.0, 1.0)
            apart = np.linalg.norm(a + share[:, None] * way - at, axis=1)
            k = int(np.argmin(apart))
            if not apart[k] <= NEAR * length[k]:
                raise ValueError(
                    f"markers: {name} is {apart[k]:.3g} m from the axis of any rod: "
                    "name a point of one"
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
                f"spacing {(rod.spacing or self.content.spacing) / self.finer:g} asks "
                f"for more than {MOST_NODES} nodes: make it larger"
            )
