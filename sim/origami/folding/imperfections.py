"""How a folding ends if the sheet is not quite as drawn: shares, and what they decide.

Where a panel meets another edge-on, either side is reached without collision, and
statics does not say which. The folding is therefore repeated with vertices, creases and
their speeds off by a little, and with other distances at which contact begins, which no
sheet has. Each draw has its own random numbers, the same for every sheet and sequence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta

from sim.arrays import Floats
from sim.limits import refuse_negative, refuse_unless_count
from sim.origami.folding.sheet import Sheet
from sim.origami.loading.phases import Fold, Phase
from sim.origami.loading.sequences import SequenceVerdict
from sim.origami.model.mesh import BarHingeMesh

SURE = 0.9  # share of draws above which an end is said to be that of the sequence
RISK = 0.05  # that a share at most as large is taken for one above


@dataclass(frozen=True)
class Imperfections:
    """By how much sheets differ from the one that is drawn.

    Parameters
    ----------
    draws : at most; fewer where the verdict does not hang on the others any more
    vertices : standard deviation of each coordinate of a vertex, m
    angles : of the fold that a crease has at rest before it is folded, degrees
    speeds : of the speeds of creases, of their mean
    reach : least and greatest d0, m, drawn evenly in its logarithm; d0 as it is where
        nothing is given
    seed : of the random numbers
    """

    draws: int = 200
    vertices: float = 2e-4
    angles: float = 1.0
    speeds: float = 0.1
    reach: Sequence[float] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unless_count(self, "draws", of="imperfections")
        refuse_negative(self, "vertices", "angles", "speeds", of="imperfections")
        ends = list(self.reach)
        if ends and not (len(ends) == 2 and 0 < ends[0] <= ends[1] < np.inf):
            raise ValueError(
                f"imperfections: reach is {ends}: give the least and the greatest d0, m"
            )
        if needed(self.draws) > self.draws:
            raise ValueError(
                f"imperfections: {self.draws} draws decide nothing, even if all end "
                f"alike: give {LEAST} or more"
            )


def lower_bound(hits: int, draws: int, risk: float = RISK) -> float:
    """Share that `hits` of `draws` are above, but for this risk: Clopper and Pearson.

    Biometrika 26, 1934; one-sided.
    """
    return float(beta.ppf(risk, hits, draws - hits + 1)) if hits else 0.0


def needed(draws: int) -> int:
    """Fewest hits by which a share is above `SURE`; draws + 1 where none are enough."""
    hits = (h for h in range(draws + 1) if lower_bound(h, draws) > SURE)
    return next(hits, draws + 1)


LEAST = next(n for n in range(1, 200) if needed(n) <= n)  # draws that can decide


@dataclass(frozen=True)
class Tally:
    """How the draws made so far ended.

    Parameters
    ----------
    most : draws at most
    """

    most: int
    ends: tuple[SequenceVerdict | None, ...] = ()

    def with_end(self, end: SequenceVerdict | None) -> "Tally":
        """One draw more; None where it found no equilibrium."""
        return replace(self, ends=(*self.ends, end))

    def count(self, end: SequenceVerdict) -> int:
        return self.ends.count(end)

    @property
    def verdict(self) -> SequenceVerdict | None:
        """What is decided, whatever the draws that are left; None while it is open.

        A test with `most` draws, ended as soon as its outcome is certain, so that its
        risk is that of the whole test.
        """
        enough, left = needed(self.most), self.most - len(self.ends)
        decided = (SequenceVerdict.LOCK, SequenceVerdict.NO, SequenceVerdict.JAMMED)
        for end in decided:
            if self.count(end) >= enough:
                return end
        if all(self.count(end) + left < enough for end in decided):
            return SequenceVerdict.UNDECIDED
        return None

    def interval(self, end: SequenceVerdict) -> tuple[float, float]:
        """Bounds of the share of an end, each but for a risk of 2.5 %."""
        n, hits = len(self.ends), self.count(end)
        low = lower_bound(hits, n, 0.5 * RISK)
        return low, 1.0 - lower_bound(n - hits, n, 0.5 * RISK)


def drawn(
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
