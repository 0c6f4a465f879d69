"""What a morph asks of its target shape."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sim.arrays import Floats, Ints

SHOWN = 2000  # points of a cloud in its wireframe


class Wireframe(NamedTuple):
    """Vertices (p, 3) on the target, and edges (q, 2) between them."""

    vertices: Floats
    edges: Ints


class Target(Protocol):
    def closest(self, points: Floats) -> Floats:
        """The nearest point of the target to each of `points` (n, 3)."""

    def wireframe(self, around: Floats) -> Wireframe:
        """Lines on the target where a structure with nodes `around` will be."""


@runtime_checkable
class RoughTarget(Protocol):
    """A target whose nearest points jump."""

    @property
    def smooth(self) -> Target:
        """The same for Newton's steps, whose goals must not jump."""


@runtime_checkable
class FacetedTarget(Protocol):
    """A target of facets, each of which may hold nodes that would go on."""

    @property
    def rounded(self) -> Target | None:
        """A smooth surface close to it, if there is one."""


def rounded_of(target: Target) -> Target | None:
    """A smooth surface close to a target of facets, if it is one and has one."""
    return target.rounded if isinstance(target, FacetedTarget) else None


def smoothed(target: Target) -> Target:
    """What Newton's steps follow in place of a target."""
    return target.smooth if isinstance(target, RoughTarget) else target


def slopes_of(target: Target, points: Floats, goals: Floats) -> Floats | None:
    """(n, 3, 3) dg/dr of a target by its own `slopes`, if it has them, else None."""
    known = getattr(target, "slopes", None)  # a protocol takes as long as the slopes
    found: Floats | None = None if known is None else known(points, goals)
    return found


def shown(points: Floats) -> Wireframe:
    """Points only, evenly thinned: a cloud has no lines."""
    none: Ints = np.zeros((0, 2), dtype=np.int64)
    return Wireframe(points[:: max(1, len(points) // SHOWN)], none)
