"""Robots of rods from files in JSON or YAML, see `pipeline.io.rod_entries`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipeline.config.config_files import checked, located
from pipeline.io.length_units import unit_named
from pipeline.io.rod_entries import Place, RodEntry, RodFile
from pipeline.io.rod_places import (
    DrawnFile,
    RodPlaces,
    in_unit,
    refuse_apart,
    refuse_overlap,
)
from pipeline.io.yaml_and_json import read_entries
from sim.rods.plane.builders import RodDraft
from sim.rods.plane.ground import Ground, GroundPlane
from sim.rods.plane.rod import GRAVITY, RodMaterial, RoundSection, Section
from sim.rods.prescribed_motion import UP, PrescribedMotion, TurningEdge

if TYPE_CHECKING:
    from pipeline.io.rod_file_in_space import SpaceRobot


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnRod(DrawnFile):
    """What a rod file describes in the plane, in m.

    sections : of each edge
    sprung : whether hinges have springs
    """

    sections: list[Section]
    sprung: bool


def read_rod(path: str, finer: float = 1.0) -> "DrawnRod | SpaceRobot":
    """Read a rod file; errors begin with the file's name.

    Parameters
    ----------
    finer : by which every spacing is divided
    """
    entries = read_entries(path, "rod file", "`rods`")
    content = checked(RodFile, entries, path, entries)
    try:
        if content.dimension == 3:
            from pipeline.io.rod_file_in_space import DrawnInSpace  # slow to import

            return DrawnInSpace(content, finer).read()
        return _Drawing(content, finer).read()
    except ValueError as error:
        metre = unit_named(content.unit).mm / 1000.0
        raise ValueError(
            f"{path}: {in_unit(str(error), content.unit, metre)}"
        ) from None


class _Drawing(RodPlaces):
    """Draws the content of a file in the plane."""

    def __init__(self, content: RodFile, finer: float) -> None:
        super().__init__(content, finer)
        self.draft = RodDraft()
        self.chains: list[list[int]] = []
        self.edges: list[list[int]] = []  # of each rod

    def read(self) -> DrawnRod:
        content, draft = self.content, self.draft
        for k, rod in enumerate(content.rods):
            with located(f"rods[{k}]"):
                self._draw(rod)
        points = np.array(draft.points) / self.m
        refuse_apart(self.chains, points, content.unit)
        draft.hinges |= {self._node(one.at): one.spring for one in content.turning}
        refuse_overlap(self.chains, points, content.unit, draft.hinges)
        draft.pins += [self._node(at) for at in content.pins]
        draft.clamps += [
            (self._node(c.at), np.inf if c.stiffness is None else c.stiffness)
            for c in content.clamps
        ]
        draft.masses += [(self._node(m.at), m.mass) for m in content.masses]
        values = self.alike(
            draft.rod(),
            self._node,
            self.edges,
            turning=self._turning(),
            driven=tuple(self._driven()),
            ground=self._ground(),
            gravity=content.gravity or (0.0, -GRAVITY),
        )
        sprung = any(draft.hinges.values())
        return DrawnRod(sections=draft.all_sections(), sprung=sprung, **values)

    def _draw(self, rod: RodEntry) -> None:
        points, of = self.points(rod), rod.material or self.content.material
        a, b, is_round = self.section_of(rod)
        kind = RoundSection if is_round else RodMaterial
        section = kind(of.modulus, of.density, a, b)
        first = len(self.draft.edges)
        self.draft.curve(points, section, limb=rod.limb, closed=rod.closed)
        edges = self.draft.edges[first:]
        self.edges.append(list(range(first, len(self.draft.edges))))
        self.chains.append([edges[0][0], *(j for _, j in edges)])

    def _node(self, at: Place) -> int:
        x, y = self.place(at)
        return self.draft.node((x, y))

    def _turning(self) -> tuple[TurningEdge, ...]:
        """The edges behind clamps, which come after all edges of rods."""
        first, found = len(self.draft.edges), []
        for k, clamp in enumerate(self.content.clamps):
            x, y = self.draft.points[self.draft.clamps[k][0]]
            way = self.way(f"clamps[{k}]", clamp)
            if way is not None:
                motion = PrescribedMotion((x, y, 0.0), UP, *way)
                found.append(TurningEdge(first + k, motion))
        return tuple(found)

    def _driven(self) -> Iterator[tuple[int, PrescribedMotion]]:
        """Nodes of hinges, and how their springs turn."""
        for k, hinge in enumerate(self.content.turning):
            if hinge.turns is not None:
                with located(f"hinges[{k}]"):
                    times, degrees = np.transpose(hinge.turns)
                    turns = times.tolist(), np.radians(degrees).tolist()
                    yield self._node(hinge.at), PrescribedMotion((0.0,) * 3, UP, *turns)

    def _ground(self) -> Ground | None:
        given, curve = self.content.ground, self.curved_ground()
        if given is None or curve is not None:
            return curve
        return GroundPlane(given.angle, self.m * given.height)
