"""Targets in structure files: one shape, or a place for each node that is named.

target  {sphere: {radius: 2, centre: [0, 0, 1]}}
        {cylinder: {radius: 2, axis: [1, 0, 0]}}, circle, plane, ellipsoid
        {nodes: [[node, x, y, z], ...]}, which also are the ones that lead
"""

from typing import Annotated

from pipeline.config.models import Entry, OneOf, Point, Positive, Rows, numbers
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.protocol import Target
from sim.morph.targets.surfaces import Circle, Cylinder, Plane, Sphere

ORIGIN = (0.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)


class SphereEntry(Entry):
    radius: Positive
    centre: Point = ORIGIN


class CircleEntry(SphereEntry):
    normal: Point = UP


class CylinderEntry(SphereEntry):
    axis: Point = UP


class PlaneEntry(Entry):
    centre: Point = ORIGIN
    normal: Point = UP


class EllipsoidEntry(Entry):
    semi_axes: Point
    centre: Point = ORIGIN


class TargetEntry(OneOf):
    """One of the shapes, or places for nodes."""

    remedy = "give one shape, or nodes with places"

    sphere: SphereEntry | None = None
    circle: CircleEntry | None = None
    cylinder: CylinderEntry | None = None
    plane: PlaneEntry | None = None
    ellipsoid: EllipsoidEntry | None = None
    nodes: Rows[Annotated[tuple[int, float, float, float], numbers(4)]]

    @property
    def shape(self) -> Target | None:
        """The shape, None for places of nodes."""
        made = (
            (Sphere, self.sphere),
            (Circle, self.circle),
            (Cylinder, self.cylinder),
            (Plane, self.plane),
            (Ellipsoid, self.ellipsoid),
        )
        shapes = [shape(**dict(entry)) for shape, entry in made if entry is not None]
        return shapes[0] if shapes else None
