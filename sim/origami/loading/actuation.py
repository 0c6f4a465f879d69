"""Moments that turn creases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import is_finite
from sim.origami.loading.checks import Rows, check_increments, check_tolerance
from sim.origami.model.mesh import BarHingeMesh


@dataclass(frozen=True)
class Moments:
    """Moments on creases grow in equal increments, and leave with the phase.

    Parameters
    ----------
    creases : numbers of edges
    moments : N m of each at the end, positive where it raises the panels
    increments : of the whole phase
    tolerance : on the unbalanced force, N
    contact : whether contact acts in this phase
    supports, elastic : in place of the case's own, as in `Load`
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
        if len(self.moments) != len(self.creases):
            raise ValueError(
                f"{len(self.moments)} moments are given for {len(self.creases)} "
                "creases: give one for each"
            )
        for crease, moment in zip(self.creases, self.moments, strict=True):
            if not is_finite(moment):
                raise ValueError(
                    f"crease {crease}: {moment} among moments is not finite"
                )
            if list(self.creases).count(crease) > 1:
                raise ValueError(f"crease {crease} is named twice: give its sum once")

    def targets(self, mesh: BarHingeMesh) -> Floats:
        """(e,) moment on each edge, N m, zero where none is given."""
        out = np.zeros(len(mesh.pattern.edges))
        for crease, moment in zip(self.creases, self.moments, strict=True):
            if crease not in mesh.pattern.creases:
                raise ValueError(
                    f"edge {crease} is not a crease: creases are "
                    f"{mesh.pattern.creases.tolist()}"
                )
            out[crease] = moment
        return out
