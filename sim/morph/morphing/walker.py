"""Steps along the constraints of a structure: eq. (11) of [dJ23], and back by (12)."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.projection import (
    admissible,
    satisfy_constraints,
    with_multipliers,
)
from sim.morph.equations.system import ConstraintSystem, linearise
from sim.morph.mobility.freedom import motions_of_the_whole
from sim.morph.obstacles.volume import Obstacles

TOLERANCE = 1e-12  # residual at the end of a step, dimensionless
STILL = 1e-9  # admissible part of a direction that is none
NEAR = 0.1  # share of a step below which a target counts as reached
HALVINGS = 5  # of a step that the constraints or obstacles refuse


@dataclass(frozen=True, eq=False)
class Walker:
    """What a step along the constraints has to keep."""

    system: ConstraintSystem
    obstacles: Obstacles | None

    def direction(self, z: Floats, direction: Floats) -> Floats | None:
        """The admissible part of a direction, without motions of the whole, or None."""
        n = self.system.n
        rigid = motions_of_the_whole(linearise(self.system, z), z[:n])
        flat = direction.ravel() - rigid @ (rigid.T @ direction.ravel())
        dz = admissible(self.system, z, flat.reshape(n, 3))
        if float(np.abs(dz[:n]).max()) <= STILL * max(
            float(np.abs(direction).max()), 1e-300
        ):
            return None
        return with_multipliers(self.system, z, dz)

    def step(
        self, z: Floats, direction: Floats, farthest_move: float, *, beyond: bool = True
    ) -> Floats | None:
        """The configuration a step along `direction` comes to; None if there is none.

        Parameters
        ----------
        farthest_move : of a node
        beyond : whether a step may be longer than `direction`; if not, and its end is
            near, there is no step
        """
        n = self.system.n
        dz = self.direction(z, direction)
        if dz is None:
            return None
        share = farthest_move / float(np.abs(dz[:n]).max())
        if not beyond and share * NEAR > 1.0:
            return None
        dz *= share if beyond else min(1.0, share)
        for _ in range(HALVINGS):
            try:
                moved = satisfy_constraints(
                    self.system, z + dz, tolerance=TOLERANCE, max_iterations=12
                )
            except NotConvergedError:
                moved = None
            if moved is not None and self._allows(z, moved, 2.0 * farthest_move):
                return moved
            dz = 0.5 * dz
        return None

    def _allows(self, before: Floats, after: Floats, farthest: float) -> bool:
        """Whether a step is short, passes nothing and keeps to its ranges."""
        n = self.system.n
        if float(np.abs(after[:n] - before[:n]).max()) > farthest:
            return False
        if self.obstacles is None:
            return True
        free = self.obstacles.smallest_clearance(after) > 0.0
        return free and self.obstacles.allows(before[:n], after[:n])
