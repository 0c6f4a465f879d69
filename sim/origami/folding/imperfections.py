"""Imperfect sheets, and how many of them have to be folded.

Where a panel meets another edge-on, either side is reached without collision, and
statics does not say which. The folding is therefore repeated with vertices, creases and
their speeds off by a little, and with other distances at which contact begins, which no
sheet has. Each draw has its own random numbers, the same for every sheet and sequence.

How many draws end alike decides, by a group-sequential test (`Tally`). Draws are made
in stages. After each, a sequence is decided if few enough draws ended otherwise, or
given up if too many did; the others go on. A share of `SURE` or less is taken for one
above it with a risk of `RISK`, over all stages together: the risk is spent in
proportion to the draws (Lan & DeMets, Biometrika 70, 1983, 659: alpha*_3), each stage's
part by the exact binomial law of those that are still open (Armitage, McPherson & Rowe,
J. R. Stat. Soc. A 132, 1969, 235).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.stats import beta, binom

from sim.core.arrays import Floats
from sim.core.options import Checked, NotNegative, is_count
from sim.origami.fold_and_load_phases import Fold, Phase, SequenceVerdict
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
                f"conclusion: give {LEAST} or more"
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


SURE = 0.9  # share of draws above which an end counts as that of the sequence
RISK = 0.05  # that a share at most as large is taken for one above


def lower_bound(hits: int, draws: int, risk: float = RISK) -> float:
    """Share that `hits` of `draws` are above, but for this risk: Clopper and Pearson.

    Biometrika 26, 1934; one-sided.
    """
    return float(beta.ppf(risk, hits, draws - hits + 1)) if hits else 0.0


@cache
def allowed(stages: tuple[int, ...]) -> tuple[int, ...]:
    """Most draws of each stage that may end otherwise; -1 where it decides nothing.

    Of one stage these are the bounds of Clopper and Pearson.

    Parameters
    ----------
    stages : draws made after each, rising
    """
    limits: list[int] = []
    still, made, spent = np.ones(1), 0, 0.0  # law of those that go on, by misses
    for draws in stages:
        more = draws - made
        still = np.convolve(still, binom.pmf(np.arange(more + 1), more, 1.0 - SURE))
        risk = spent + np.cumsum(still)
        part = RISK * draws / stages[-1]
        limits.append(int(np.searchsorted(risk, part, side="right")) - 1)
        if limits[-1] >= 0:
            spent = float(risk[limits[-1]])
            still[: limits[-1] + 1] = 0.0
        made = draws
    return tuple(limits)


@cache
def given_up(stages: tuple[int, ...]) -> tuple[int, ...]:
    """Draws of each stage which, if they end otherwise, leave an end undecided.

    More than one in ten do then, but for a risk of `RISK` at each stage, or the last
    stage cannot decide any more. This takes verdicts away and gives none, so that the
    risk of a wrong one only falls.
    """
    most = allowed(stages)[-1] + 1
    return tuple(
        next((h for h in range(most) if lower_bound(h, draws) > 1.0 - SURE), most)
        for draws in stages
    )


LEAST = next(n for n in range(1, 200) if allowed((n,))[0] >= 0)  # draws that decide


@dataclass(frozen=True)
class Tally:
    """How the draws made so far ended.

    Parameters
    ----------
    stages : draws made after each at most, rising
    """

    stages: tuple[int, ...]
    ends: tuple[SequenceVerdict | None, ...] = ()

    def with_end(self, end: SequenceVerdict | None) -> "Tally":
        """One draw more; None where it found no equilibrium."""
        return replace(self, ends=(*self.ends, end))

    def count(self, end: SequenceVerdict) -> int:
        return self.ends.count(end)

    @property
    def stage(self) -> int:
        """That of the last draw, from 0."""
        return int(np.searchsorted(self.stages, len(self.ends)))

    @property
    def verdict(self) -> SequenceVerdict | None:
        """What is decided; None while it is open.

        A stage ends as soon as its outcome is certain whatever its draws that are left,
        so that its risk is that of the whole stage.
        """
        draws, most = self.stages[self.stage], allowed(self.stages)[self.stage]
        enough = draws - most if most >= 0 else draws + 1
        decided = (SequenceVerdict.LOCK, SequenceVerdict.NO, SequenceVerdict.JAMMED)
        for end in decided:
            if self.count(end) >= enough:
                return end
        many, made = given_up(self.stages)[self.stage], len(self.ends)
        if all(made - self.count(end) >= many for end in decided):
            return SequenceVerdict.UNDECIDED
        return None

    def interval(self, end: SequenceVerdict) -> tuple[float, float]:
        """Bounds of the share of an end, each but for a risk of 2.5 %.

        Those of Clopper and Pearson at that risk over the number of stages
        (Bonferroni); of fixed draws they would miss the share in 11 of 100 series.
        """
        n, hits, risk = len(self.ends), self.count(end), 0.5 * RISK / len(self.stages)
        return lower_bound(hits, n, risk), 1.0 - lower_bound(n - hits, n, risk)
