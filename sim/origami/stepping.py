"""A sheet that a controller folds: observe, act, step.

    world = FoldWorld(sheet)
    seen = world.observe()                    # FoldSeen: x, angles, energies, gap, ...
    world.act({12: 0.5, 13: -0.5})            # fold of creases at rest, rad
    seen = world.step(0.0625)                 # part of a stage

A step ends at the equilibrium with these rest angles, found as an increment of
`sim.origami.folding` is: with the same rest angles and parts it is the same, to the
last bit. Parts tell how far extrapolation may trust the last steps; the angles move in
proportion where a step has to be divided. A step that does not converge leaves the
world as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.newton import NotConvergedError
from sim.origami.controls import settle
from sim.origami.driving import crease_folds
from sim.origami.equilibrium import Outcome
from sim.origami.phases import Fold
from sim.origami.problem import near_at
from sim.origami.sheet import (
    Sheet,
    State,
    build_problem,
    check_start,
    contact_force,
    hinge_angles,
    smallest_distance,
)

HALVINGS = 10  # of a step that does not converge


class FoldSeen(NamedTuple):
    """A sheet at rest.

    Attributes
    ----------
    part : of the stage that is done
    x : (n, 3) m
    folds : (c,) of the creases, rad, zero when flat
    angles : (h,) rest angles of the hinges, rad
    energies : (6,) J, see `sim.origami.assembly.System`
    contact_force : (n, 3) N
    gap : smallest distance of the pairs that touch, m; inf where there is none
    residual : norm of the unbalanced force, N
    """

    part: float
    x: Floats
    folds: Floats
    angles: Floats
    energies: Floats
    contact_force: Floats
    gap: float
    residual: float


@dataclass(frozen=True, eq=False)
class SavedFold:
    """Where a world was, and what it was told."""

    state: State
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
        check_start(sheet.mesh, self._problem)
        rest = sheet.mesh.rest
        self._state = State(
            x=rest,
            angles=hinge_angles(sheet.mesh, rest),
            near=near_at(self._problem, rest, self._problem.skin),
            factor=0.0,
            past=(np.zeros(1), rest[None]),
        )
        self._told = self._state.angles
        self._seen = self._record(np.zeros(6), 0.0)

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
                    f"crease {edge} is told to fold by {fold}: at most pi, either way"
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

    def _rest(self, state: State, part: float, angles: Floats) -> tuple[State, Outcome]:
        load = np.zeros(len(self._problem.model.first))
        tolerance = self._phase.tolerance
        return settle(self._sheet, self._problem, state, part, angles, load, tolerance)

    def _record(self, energies: Floats, residual: float) -> FoldSeen:
        state = self._state
        return FoldSeen(
            part=state.factor,
            x=state.x,
            folds=crease_folds(self._sheet.mesh, state.x),
            angles=state.angles,
            energies=energies,
            contact_force=contact_force(self._problem, state),
            gap=smallest_distance(state),
            residual=residual,
        )

    def new_stage(self) -> None:
        """Begin to count parts anew, as every stage of a folding does."""
        x = self._state.x
        self._state = replace(self._state, factor=0.0, past=(np.zeros(1), x[None]))

    def save(self) -> SavedFold:
        """Where the world is, to come back to."""
        return SavedFold(self._state, self._told, self._seen)

    def restore(self, saved: SavedFold) -> None:
        """Go back to where the world was."""
        self._state, self._told, self._seen = saved.state, saved.told, saved.seen
