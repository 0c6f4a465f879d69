"""What a morph asks of its target shape."""

from typing import NamedTuple, Protocol

from sim.arrays import Floats, Ints


class Wireframe(NamedTuple):
    """Vertices (p, 3) on the target, and edges (q, 2) between them."""

    vertices: Floats
    edges: Ints


class Target(Protocol):
    def closest(self, points: Floats) -> Floats:
        """The nearest point of the target to each of `points` (n, 3)."""

    def wireframe(self, around: Floats) -> Wireframe:
        """Lines on the target where a structure with nodes `around` will be."""
