"""Shares of sheets that end alike, and what they decide: by series of chance alone."""

import numpy as np
import pytest
from scipy.stats import binom

from pipeline.config.hydra import Composer
from sim.origami.fold_and_load_phases import SequenceVerdict
from sim.origami.folding.sequential_test import (
    RISK,
    SURE,
    Tally,
    allowed,
    fewest_draws,
    given_up,
    lower_bound,
)

LOCK, NO = SequenceVerdict.LOCK, SequenceVerdict.NO
UNDECIDED = SequenceVerdict.UNDECIDED
SHIPPED = (61, 200, 600, 1800)
SERIES = 2000


def needed(draws: int) -> int:
    return draws - allowed((draws,))[0]


def test_lower_bounds_of_shares_are_those_of_clopper_and_pearson():
    assert lower_bound(29, 29) == pytest.approx(0.05 ** (1 / 29))
    assert lower_bound(0, 29) == 0.0
    assert lower_bound(95, 100) == pytest.approx(0.8977, abs=2e-4)  # binomial tail 0.05
    assert [needed(n) for n in (28, 29, 45, 46, 200)] == [29, 29, 45, 45, 188]
    assert all(
        lower_bound(needed(n), n) > SURE >= lower_bound(needed(n) - 1, n)
        for n in range(fewest_draws(), 300)
    )
    assert fewest_draws() == 29


def test_the_stages_that_ship_are_those_whose_risk_is_tried_here():
    composer = Composer()
    config = composer.compose("simulate", ["case=folding_sequence"])
    assert tuple(config["case"]["imperfections"]["draws"]) == SHIPPED


def after(stages: tuple[int, ...], ends: str) -> SequenceVerdict | None:
    """What is decided after draws that ended l(ock), n(o) or without equilibrium."""
    made = Tally(stages)
    for end in ends:
        made = made.with_end({"l": LOCK, "n": NO}.get(end))
    return made.verdict


@pytest.mark.parametrize(
    ("stages", "ends", "verdict"),
    [
        ((29,), "l" * 28, None),
        ((29,), "l" * 29, LOCK),
        ((29,), "n" * 29, NO),
        ((29,), "ln", UNDECIDED),
        ((29,), "l", None),
        ((46,), "l" * 44 + "n", None),
        ((46,), "l" * 45 + "n", LOCK),
        ((200,), "l" * 12 + "n" * 13, None),
        ((200,), "l" * 13 + "n" * 13, UNDECIDED),
        ((29,), "?", UNDECIDED),  # no equilibrium is no end
        (SHIPPED, "n" * 60, None),
        (SHIPPED, "n" * 61, NO),
        (SHIPPED, "n" * 60 + "l", None),
        (SHIPPED, "l" + "n" * 190, None),  # 9 of 200 may lock
        (SHIPPED, "l" + "n" * 191, NO),
        (SHIPPED, "ln" * 10 + "l", None),
        (SHIPPED, "ln" * 11, UNDECIDED),
        (SHIPPED, "l" * 11 + "n" * 50, UNDECIDED),
        (SHIPPED, "l" * 10 + "n" * 51, None),
    ],
)
def test_draws_decide_as_soon_as_the_others_cannot_turn_it(stages, ends, verdict):
    assert after(stages, ends) is verdict


def ended(stages: tuple[int, ...], locks: np.ndarray) -> tuple[SequenceVerdict, int]:
    """The verdict of one series, looked at after every stage, and the draws made."""
    for draws in stages:
        ends = tuple(LOCK if lock else NO for lock in locks[:draws])
        said = Tally(stages, ends).verdict
        if said is not None:
            return said, draws
    raise AssertionError


@pytest.mark.parametrize("share", [0.02, 0.08, 0.5])
def test_a_stage_that_ends_early_ends_as_the_whole_stage(share):
    for locks in np.random.default_rng(8).random((4, SHIPPED[-1])) < share:
        said, made = ended(SHIPPED, locks)
        early = Tally(SHIPPED)
        while early.verdict is None:
            early = early.with_end(LOCK if locks[len(early.ends)] else NO)
        assert early.verdict is said
        assert SHIPPED[early.stage] == made


@pytest.mark.parametrize("stages", [(29,), (46,), (200,), SHIPPED])
def test_a_share_that_is_not_above_the_limit_is_rarely_taken_for_one(stages):
    """Series that lock with a share of exactly 0.9, and of 0.1."""
    for share, wrong in ((SURE, LOCK), (1.0 - SURE, NO)):
        series = np.random.default_rng(5).random((SERIES, stages[-1])) < share
        taken = np.mean([ended(stages, locks)[0] is wrong for locks in series])
        assert 0.005 < taken < RISK + 3.0 * np.sqrt(RISK / SERIES)


def risk_of(stages: tuple[int, ...], misses: tuple[int, ...]) -> float:
    """That a share of `SURE` passes at any stage: by a walk of each draw in turn."""
    law, risk, made = np.ones(1), 0.0, 0
    for draws, most in zip(stages, misses, strict=True):
        for _ in range(draws - made):
            law = np.append(law * SURE, 0.0) + np.append(0.0, law * (1.0 - SURE))
        made = draws
        risk += law[: most + 1].sum()
        law[: most + 1] = 0.0
    return float(risk)


def test_the_risk_over_all_stages_is_that_of_one_test():
    """Exactly, without giving up; a miss more at any stage spends too much by then."""
    limits = allowed(SHIPPED)
    assert limits == (0, 9, 43, 157)
    assert risk_of(SHIPPED, limits) == pytest.approx(0.0466, abs=1e-4)
    for stage, draws in enumerate(SHIPPED):
        spent = RISK * draws / SHIPPED[-1]
        upto, known = SHIPPED[: stage + 1], limits[: stage + 1]
        assert risk_of(upto, known) <= spent
        assert risk_of(upto, (*known[:-1], known[-1] + 1)) > spent
    each_alone = tuple(allowed((n,))[0] for n in SHIPPED)
    assert risk_of(SHIPPED, each_alone) > 2.0 * RISK  # what looking anew would risk


def test_what_is_given_up_is_above_a_tenth():
    assert given_up(SHIPPED) == (11, 28, 73, 158)
    for draws, many in zip(SHIPPED[:-1], given_up(SHIPPED), strict=False):
        assert binom.sf(many - 1, draws, 1.0 - SURE) <= RISK
        assert binom.sf(many - 2, draws, 1.0 - SURE) > RISK
    assert given_up((61,)) == (allowed((61,))[0] + 1,)


def ended_early(locks: np.ndarray) -> Tally:
    """A series as it is stopped within a stage, found from its counts."""
    hits = np.cumsum(locks)
    misses, draws = np.arange(1, len(locks) + 1) - hits, np.arange(1, len(locks) + 1)
    most = np.array(allowed(SHIPPED))[np.searchsorted(SHIPPED, draws)]
    many = np.array(given_up(SHIPPED))[np.searchsorted(SHIPPED, draws)]
    enough = np.array(SHIPPED)[np.searchsorted(SHIPPED, draws)] - most
    over = (np.maximum(hits, misses) >= enough) | (np.minimum(hits, misses) >= many)
    n = int(over.argmax()) + 1
    return Tally(SHIPPED, tuple(LOCK if lock else NO for lock in locks[:n]))


def test_intervals_hold_the_share_however_a_series_is_stopped():
    """Of fixed draws (one stage's risk) they would hold 0.095 in 89 of 100 only."""
    low, high = Tally((200,), (LOCK,) * 6 + (NO,) * 4).interval(LOCK)
    assert low == pytest.approx(0.2624, abs=1e-4)
    assert high == pytest.approx(0.8784, abs=1e-4)
    rng = np.random.default_rng(3)
    for share in (0.005, 0.06, 0.08, 0.09, 0.095, 0.1, 0.12, 0.4):
        held = []
        for locks in rng.random((500, SHIPPED[-1])) < share:
            made = ended_early(locks)
            assert made.verdict is not None
            low, high = made.interval(LOCK)
            held.append(low <= share <= high)
        assert np.mean(held) >= 1.0 - RISK
