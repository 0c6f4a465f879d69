"""A sheet that a controller folds: observe, act, step.

    world = FoldWorld(sheet)
    seen = world.observe()                    # FoldSeen: x, angles, energies, gap, ...
    world.act({12: 0.5, 13: -0.5})            # fold of creases at rest, rad
    seen = world.step(0.0625)                 # part of a stage

A step ends at the equilibrium with these rest angles, found as an increment of
`sim.origami.folding.folding` is: with the same rest angles and parts it is the same, to
the last bit. Parts tell how far extrapolation may trust the last steps; the angles move
in proportion where a step has to be divided. A step that does not converge leaves the
world as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.origami.folding.equilibrium import NewtonResult
from sim.origami.folding.leaving import left_flat
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.resting import equilibrate
from sim.origami.folding.sheet import (
    Sheet,
    SheetState,
    build_problem,
    check_start,
    contact_force,
    flat_state,
    smallest_distance,
)
from sim.origami.loading.phases import Fold

HALVINGS = 10  # of a step that does not converge


class FoldSeen(NamedTuple):
    """A sheet at rest.

    Attributes
    ----------
    part : of the stage that is done
    x : (n, 3) m
    folds : (c,) of the creases, rad, zero when flat
    angles : (h,) rest angles of the hinges, rad
    energies : (6,) J, see `sim.origami.model.assembly.EquilibriumSystem`
    contact_force : (n, 3) N
    smallest_distance : of the pairs that touch, m; inf where there is none
    residual : norm of the unbalanced force, N
    """

    part: float
    x: Floats
    folds: Floats
    angles: Floats
    energies: Floats
    contact_force: Floats
    smallest_distance: float
    residual: float


@dataclass(frozen=True, eq=False)
class SavedFold:
    """Where a world was, and what it was told."""

    state: SheetState
    told: Floats
    seen: FoldSeen


class FoldWorld:
    """A sheet whose creases change their rest angles.

    Parameters
    ----------
    phase : its supports, contact and tolerance
    """

    def __init__(self, sheet: Sheet, phase: Fold | None = None) -> None:
        self._sheet, self._phase = sheet, phase or Fold()
        self._problem = build_problem(sheet, self._phase)
        self._state = flat_state(sheet.mesh, self._problem)
        check_start(sheet.mesh, self._problem, self._state.fronts)
        self._told = self._state.angles
        self._seen = self._record(np.zeros(6), 0.0)
        if len(sheet.mesh.pattern.assignment):
            self._state = left_flat(sheet, self._phase, self._problem, self._state)

    def observe(self) -> FoldSeen:
        """Nodes, folds, energies and contact at the last rest."""
        return self._seen

    def act(self, folds: Mapping[int, float] | Floats) -> None:
        """Tell what creases are to be folded by at rest after the next step.

        Parameters
        ----------
        folds : rad by the number of the edge, zero when flat, valleys positive; or the
            (h,) rest angles of all hinges
        """
        mesh = self._sheet.mesh
        if isinstance(folds, np.ndarray):
            if folds.shape != self._told.shape:
                raise ValueError(
                    f"rest angles have shape {folds.shape}: give {len(self._told)}"
                )
            self._told = folds.copy()
            return
        told = self._told.copy()
        for edge, fold in folds.items():
            chosen = mesh.hinge_crease == edge
            if not chosen.any():
                raise ValueError(
                    f"edge {edge} is not a crease: creases are "
                    f"{mesh.pattern.creases.tolist()}"
                )
            if not abs(fold) <= np.pi:
                raise ValueError(
                    f"{mesh.pattern.crease_name(edge)} is told to fold by {fold}: at "
                    "most pi, either way"
                )
            told[chosen] = np.pi + mesh.hinge_share[chosen] * fold
        self._told = told

    def step(self, part: float) -> FoldSeen:
        """Come to rest at the rest angles told.

        Raises
        ------
        NotConvergedError
            where no equilibrium is found; the world is where it was.
        """
        if not (np.isfinite(part) and part > 0.0):
            raise ValueError(f"part is {part}: give a positive number")
        start, end = self._state, self._told
        state, ahead = start, [start.factor + part]
        while ahead:
            done = (ahead[-1] - start.factor) / part
            angles = end if len(ahead) == 1 else (1 - done) * start.angles + done * end
            reached, out = self._rest(state, ahead[-1], angles)
            if out.converged:
                state = reached
                ahead.pop()
            elif len(ahead) <= HALVINGS:
                ahead.append(0.5 * (state.factor + ahead[-1]))
            else:
                raise NotConvergedError(
                    f"the unbalanced force is {out.residual:.1e} after "
                    f"{out.iterations} iterations: fold less in a step",
                    best=self._seen,
                )
        self._state = state
        self._seen = self._record(out.energies, out.residual)
        return self._seen

    def _rest(
        self, state: SheetState, part: float, angles: Floats
    ) -> tuple[SheetState, NewtonResult]:
        load = np.zeros(len(self._problem.model.first))
        tolerance = self._phase.tolerance
        return equilibrate(
            self._sheet, self._problem, state, part, angles, load, tolerance
        )

    def _record(self, energies: Floats, residual: float) -> FoldSeen:
        state = self._state
        return FoldSeen(
            part=state.factor,
            x=state.x,
            folds=reached_folds(self._sheet.mesh, state.x),
            angles=state.angles,
            energies=energies,
            contact_force=contact_force(self._problem, state),
            smallest_distance=smallest_distance(state),
            residual=residual,
        )

    def save(self) -> SavedFold:
        """Where the world is, to come back to."""
        return SavedFold(self._state, self._told, self._seen)

    def restore(self, saved: SavedFold) -> None:
        """Go back to where the world was."""
        self._state, self._told, self._seen = saved.state, saved.told, saved.seen
