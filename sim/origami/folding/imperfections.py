"""Imperfect sheets: draws of what no print and no machine does exactly.

Where a panel meets another edge-on, either side is reached without collision, and
statics does not say which. The folding is therefore repeated with vertices, creases and
their speeds off by a little, and with other distances at which contact begins, which no
sheet has. Each draw has its own random numbers, the same for every sheet and sequence.

How many draws are made: `sim.origami.folding.sequential_test`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import Checked, NotNegative, is_count
from sim.origami.fold_and_load_phases import Fold, Phase
from sim.origami.folding.sequential_test import allowed, fewest_draws
from sim.origami.folding.sheet import Sheet
from sim.origami.model.mesh import BarHingeMesh


@dataclass(frozen=True)
class Imperfections(Checked):
    """By how much sheets differ from the perfect one.

    Parameters
    ----------
    draws : at most, or made at most after each stage of a group-sequential test; fewer
        where the verdict does not hang on the others any more
    vertices : standard deviation of each coordinate of a vertex, m
    angles : of the fold that a crease has at rest before it is folded, degrees
    speeds : of the speeds of creases, of their mean
    reach : least and greatest d0, m, sampled evenly in its logarithm; d0 as it is where
        nothing is given
    seed : of the random numbers
    """

    draws: int | Sequence[int] = 200
    vertices: NotNegative = 2e-4
    angles: NotNegative = 1.0
    speeds: NotNegative = 0.1
    reach: Sequence[float] = ()
    seed: int = 0
    of: ClassVar[str] = "imperfections"

    def __post_init__(self) -> None:
        stages = list(self.stages)
        if not (all(map(is_count, stages)) and stages == sorted({*stages})):
            raise ValueError(
                f"imperfections: draws is {self.draws}: give a whole number from 1 up, "
                "or a list of increasing totals, one for each stage"
            )
        super().__post_init__()
        ends = list(self.reach)
        if ends and not (len(ends) == 2 and 0 < ends[0] <= ends[1] < np.inf):
            raise ValueError(
                f"imperfections: reach is {ends}: give the smallest and largest d0 in m"
            )
        if not stages or allowed(self.stages)[-1] < 0:
            raise ValueError(
                f"imperfections: {max(stages, default=0)} draws are too few for a "
                f"conclusion: give {fewest_draws()} or more"
            )

    @property
    def stages(self) -> tuple[int, ...]:
        """Draws made after each, at most."""
        return tuple(self.draws) if isinstance(self.draws, Sequence) else (self.draws,)


def sampled(
    imperfections: Imperfections, number: int, sheet: Sheet, phases: Sequence[Phase]
) -> tuple[Sheet, list[Phase]]:
    """The sheet and its phases in draw `number`.

    Only creases that a phase names are off, each in its first fold; in a stage the
    slowest is done at its end.
    """
    rng = np.random.default_rng([imperfections.seed, number])
    mesh, contact = sheet.mesh, sheet.contact
    shape = mesh.pattern.vertices.shape
    moves = imperfections.vertices * rng.standard_normal(shape)
    folds = imperfections.angles * rng.standard_normal(len(mesh.pattern.edges))
    speeds = 1.0 + imperfections.speeds * rng.standard_normal(len(mesh.pattern.edges))
    place = rng.uniform()
    if imperfections.reach:
        low, high = imperfections.reach
        d0 = float(low * (high / low) ** place)
        contact = replace(contact, d0_edge=d0, d0_centre=d0)
    off = mesh.adjusted(mesh.rest + node_moves(mesh, moves))
    return replace(sheet, mesh=off, contact=contact), [
        _off(phase, folds, speeds) if isinstance(phase, Fold) else phase
        for phase in phases
    ]


def node_moves(mesh: BarHingeMesh, moves: Floats) -> Floats:
    """(n, 3) moves of nodes with the vertices that they stem from, moves (v, 3), m."""
    out = np.zeros_like(mesh.rest)
    for node, (one, other) in enumerate(mesh.tag):
        if one < len(moves):
            out[node] = moves[one] if other < 0 else 0.5 * (moves[one] + moves[other])
    for panel, node in zip(mesh.pattern.panels, mesh.centre, strict=True):
        out[node] = moves[list(panel)].mean(axis=0)
    return out


def _off(phase: Fold, folds: Floats, speeds: Floats) -> Fold:
    """A phase whose creases start elsewhere, and are not equally fast."""
    if not phase.creases:
        return phase
    creases, own = list(phase.creases), np.array(phase.speeds or [1.0])
    fast = np.maximum(speeds[creases], 0.1) * own
    stages = np.array(phase.stages or [1] * len(creases))
    for stage in set(stages.tolist()):
        fast[stages == stage] /= fast[stages == stage].min() / own.min()
    start = [float(fold) for fold in folds[creases]]
    return replace(phase, speeds=[float(v) for v in fast], start=start)
