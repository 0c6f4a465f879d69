"""What drives creases other than rest angles of their own: heat, and moments."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import is_finite, is_positive
from sim.origami.loading.checks import (
    Rows,
    check_each,
    check_increments,
    check_tolerance,
)
from sim.origami.model.mesh import BarHingeMesh


def by_edge(
    mesh: BarHingeMesh, creases: Sequence[int], values: Sequence[float]
) -> Floats:
    """(e,) value of each edge, zero where none is given."""
    out = np.zeros(len(mesh.pattern.edges))
    for crease, value in zip(creases, values, strict=True):
        if crease not in mesh.pattern.creases:
            raise ValueError(
                f"edge {crease} is not a crease: creases are "
                f"{mesh.pattern.creases.tolist()}"
            )
        out[crease] = value
    return out


@dataclass(frozen=True)
class Heat:
    """Creases are heated by a power; their plies curl as far as they are warm.

    Steady, rises of temperature go in equal parts from those before to those that last.
    In time, power and surroundings are constant from the beginning of the phase on.

    Parameters
    ----------
    creases : numbers of the edges that take power; none for warm surroundings alone
    powers : W of each
    surroundings : K by which they are warmer than when the sheet was made flat
    duration : of the phase, s; steady where nothing is given
    increments : of the whole phase
    tolerance : on the unbalanced force, N
    contact : whether contact acts in this phase
    supports, elastic : in place of the case's own, as in `Load`
    """

    creases: Sequence[int] = ()
    powers: Sequence[float] = ()
    surroundings: float = 0.0
    duration: float | None = None
    increments: int = 20
    tolerance: float = 1e-6
    contact: bool = True
    supports: Rows | None = None
    elastic: Rows = ()

    def __post_init__(self) -> None:
        check_increments(self.increments)
        check_tolerance(self.tolerance)
        check_each("powers", self.creases, self.powers)
        if not is_finite(self.surroundings):
            raise ValueError(f"surroundings must be finite, not {self.surroundings}")
        if self.duration is not None and not is_positive(self.duration):
            raise ValueError(
                f"duration must be positive, not {self.duration}: leave it out for "
                "what lasts"
            )

    @property
    def power(self) -> float:
        """Of all creases, W."""
        return float(sum(self.powers))

    def targets(self, mesh: BarHingeMesh) -> Floats:
        """(e,) power of each edge, W."""
        return by_edge(mesh, self.creases, self.powers)


@dataclass(frozen=True)
class Moments:
    """Moments on creases grow in equal increments, and leave with the phase.

    Parameters
    ----------
    creases : numbers of edges
    moments : N m of each at the end, positive where it raises the panels
    increments, tolerance, contact, supports, elastic : as in `Heat`
    """

    creases: Sequence[int]
    moments: Sequence[float]
    increments: int = 20
    tolerance: float = 1e-6
    contact: bool = True
    supports: Rows | None = None
    elastic: Rows = ()

    def __post_init__(self) -> None:
        check_increments(self.increments)
        check_tolerance(self.tolerance)
        if not self.creases:
            raise ValueError("moments name no creases: name those that are turned")
        check_each("moments", self.creases, self.moments)

    def targets(self, mesh: BarHingeMesh) -> Floats:
        """(e,) moment on each edge, N m."""
        return by_edge(mesh, self.creases, self.moments)
