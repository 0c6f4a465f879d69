"""A sheet that is brought to a state at rest, let go, and moves in time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.origami import OrigamiCase
from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.contact.potential import smallest_distance
from sim.limits import is_count
from sim.origami.folding.folding import run
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.problem import near_at
from sim.origami.folding.sheet import StartError, build_problem, check_phase
from sim.origami.loading.actuation import Moments
from sim.origami.loading.phases import Phase
from sim.origami.mechanics.motion import (
    MotionSettings,
    MovingSheet,
    motion,
    node_masses,
)
from sim.origami.mechanics.moving_state import MovingState


@dataclass(frozen=True, eq=False)
class FoldMotionCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    of : its phases bring the sheet to where it is let go; loads and moments leave then,
        rest angles and the supports of the last phase stay
    motion : masses, damping, and the time
    supports : rows (node, x, y, z) of the sheet once it is let go, without springs;
        those of the last phase, with its springs, where nothing is given
    watch, axis : the node and the coordinate (0, 1, 2) that is recorded
    """

    of: OrigamiCase
    motion: MotionSettings
    watch: int = 0
    axis: int = 2
    supports: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        nodes = len(self.of.mesh.rest)
        if not is_count(self.watch, least=0) or self.watch >= nodes:
            raise ValueError(
                f"watch is node {self.watch}, but nodes are numbered 0 to {nodes - 1}"
            )
        if self.axis not in (0, 1, 2):
            raise ValueError(f"axis is {self.axis}: it must be 0, 1 or 2")
        check_phase(self.of.sheet, self._last)
        touches = self.of.sheet.contact.enabled and self._last.contact
        if self.motion.friction and not touches:
            raise ValueError(
                f"friction is {self.motion.friction}, but nothing touches: switch "
                "contact on, in the sheet and its last phase"
            )

    @property
    def _last(self) -> Phase:
        """The last phase, with the supports of the sheet that moves."""
        last = self.of.phases[-1]
        if self.supports is None:
            return last
        return replace(last, supports=self.supports, elastic=())

    @cached_property
    def _let_go(self) -> tuple[MovingSheet, Floats]:
        """The sheet as it moves, and (n, 3) where it begins, m."""
        of = self.of
        try:
            steps = list(run(of.sheet, of.phases))
        except StartError as error:
            raise InputError(str(error)) from None
        turned = [isinstance(of.phases[s.phase], Moments) and s.s > 0 for s in steps]
        own = [
            s.angles for s, moments in zip(steps, turned, strict=True) if not moments
        ]
        moving = MovingSheet(
            of.mesh, build_problem(of.sheet, self._last), own[-1],
            node_masses(of.mesh, of.material, self.motion), self.motion,
        )  # fmt: skip
        return moving, steps[-1].x

    def steps(self) -> Iterator[tuple[int, MovingState]]:
        moving, x = self._let_go
        try:
            yield from enumerate(motion(moving, moving.at_rest(x)))
        except StartError as error:
            raise InputError(str(error)) from None

    def recorder(self) -> "FoldMotionRecorder":
        return FoldMotionRecorder(self)

    def distance(self, state: MovingState) -> float:
        """Of the pairs that touch, m; inf where there is none."""
        problem = self._let_go[0].problem
        pairs = near_at(problem, state.x, 0.0).pairs
        return smallest_distance(pairs, state.x, True)[0]


@dataclass(eq=False)
class FoldMotionRecorder:
    """Records energies and folds, and how well energies balance."""

    case: FoldMotionCase
    rows: list[Row] = field(default_factory=list)

    def see(self, step: tuple[int, MovingState]) -> None:
        self.rows.append(self.row(step))

    def row(self, step: tuple[int, MovingState]) -> Row:
        number, state = step
        folds = reached_folds(self.case.of.mesh, state.x)
        return {
            "step": number,
            "time": state.time,
            "watched": float(state.x[self.case.watch, self.case.axis]),
            "largest_fold_deg": float(np.degrees(np.abs(folds).max(initial=0.0))),
            "kinetic_energy": state.kinetic,
            "strain_energy": float(state.energies[:4].sum()),
            "contact_energy": float(state.energies[4]),
            "support_energy": float(state.energies[5]),
            "weight_energy": state.height,
            "lost_energy": state.lost,
            "friction_energy": state.rubbed,
            "total_energy": state.total,
            "smallest_distance": self.case.distance(state),
            "complementarity": state.residual,
            "parts": state.parts,
            "iterations": state.iterations,
        }

    def arrays(self, step: tuple[int, MovingState]) -> Arrays:
        _, state = step
        folds = reached_folds(self.case.of.mesh, state.x)
        return {"x": state.x, "v": state.v, "folds": folds}

    def progress(self, step: tuple[int, MovingState]) -> str:
        return f"{step[1].time:.3e} s"

    def documents(self) -> Documents:
        return self.case.of.recorder().documents()

    def fixed_arrays(self) -> Arrays:
        return self.case.of.recorder().fixed_arrays()

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        """`imbalance`: how far energies leave their sum, of the largest kinetic one."""
        total = np.array([row["total_energy"] for row in self.rows], dtype=np.float64)
        kinetic = max(float(row["kinetic_energy"]) for row in self.rows)
        away = float(np.abs(total - total[0]).max())
        names = ("time", "watched", "kinetic_energy", "strain_energy", "lost_energy",
                 "friction_energy")  # fmt: skip
        return {
            "stop": "all steps done",
            "steps": len(self.rows) - 1,
            **{name: self.rows[-1][name] for name in names},
            "imbalance": away / kinetic if kinetic else away,
        }
