"""Places and curves of a rod file in m, in the plane or in space."""

import numpy as np

from pipeline.formats.rod_entries import Place, RodEntry, RodFile
from pipeline.scans.reading.units import unit_named
from sim.arrays import Floats
from sim.rod.rod.draft import along_arc, along_curve, along_line

MOST_NODES = 5000


class RodPlaces:
    """What a file says of places, in m."""

    def __init__(self, content: RodFile) -> None:
        self.content = content
        self.many = 0  # nodes so far
        self.m = unit_named(content.unit).mm / 1000.0

    def numbers_of(self, given: Place) -> list[float]:
        """Two numbers, or three in space."""
        found = [value for value in given if value is not None]
        wanted = self.content.dimension
        if len(found) == wanted:
            return found
        if wanted == 2:
            raise ValueError(
                f"{found} has three numbers: say `dimension: 3` for rods in space"
            )
        raise ValueError(f"{found} has two numbers: give x, y and z in space")

    def place(self, at: Place) -> list[float]:
        """The same in m."""
        return [self.m * value for value in self.numbers_of(at)]

    def points(self, rod: RodEntry) -> Floats:
        """(n, 2 or 3) nodes of a rod; too many are refused before they are made."""
        spacing = self.m * (rod.spacing or self.content.spacing)
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
                f"spacing {rod.spacing or self.content.spacing:g} asks for more than "
                f"{MOST_NODES} nodes: make it larger"
            )
