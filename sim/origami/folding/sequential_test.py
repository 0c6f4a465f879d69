"""How many imperfect sheets have to be folded: a group-sequential test.

How many draws end alike decides (`Tally`). Draws are made in stages. After each, a
sequence is decided if few enough draws ended otherwise, or given up if too many did;
the others go on. A share of `SURE` or less is taken for one above it with a risk of
`RISK`, over all stages together: the risk is spent in proportion to the draws (Lan &
DeMets, Biometrika 70, 1983, 659: alpha*_3), each stage's part by the exact binomial law
of those that are still open (Armitage, McPherson & Rowe, J. R. Stat. Soc. A 132, 1969,
235).
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.origami.fold_and_load_phases import SequenceVerdict

SURE = 0.9  # share of draws above which an end counts as that of the sequence
RISK = 0.05  # that a share at most as large is taken for one above


def lower_bound(hits: int, draws: int, risk: float = RISK) -> float:
    """Share that `hits` of `draws` are above, but for this risk: Clopper and Pearson.

    Biometrika 26, 1934; one-sided.
    """
    from scipy.stats import beta  # slow to import

    return float(beta.ppf(risk, hits, draws - hits + 1)) if hits else 0.0


@cache
def allowed(stages: tuple[int, ...]) -> tuple[int, ...]:
    """Most draws of each stage that may end otherwise; -1 where it decides nothing.

    Of one stage these are the bounds of Clopper and Pearson.

    Parameters
    ----------
    stages : draws made after each, rising
    """
    from scipy.stats import binom  # slow to import

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


def fewest_draws() -> int:
    """Draws without which nothing is decided."""
    return next(n for n in range(1, 200) if allowed((n,))[0] >= 0)


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
