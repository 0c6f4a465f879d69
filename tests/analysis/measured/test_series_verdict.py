"""The verdict on a measured series: known answers of ASME V&V 20's rule."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.assumptions import SeriesTerms
from analysis.comparison.verdict_and_budget import Verdict
from analysis.measured.prediction_verdicts import series_verdicts

AT = np.linspace(0.0, 1.0, 50)


def rows(off, u=0.0, part="held out", quantities=("tip_x_mm", "tip_y_mm")):
    """Values that a run misses by `off` in every coordinate."""
    return pd.concat(
        [
            pd.DataFrame(
                {"quantity": q, "at": AT, "value": AT, "u": u, "part": part}
            ).assign(simulated=AT + off)
            for q in quantities
        ],
        ignore_index=True,
    )


@pytest.mark.parametrize(
    ("off", "terms", "verdict", "said"),
    [
        (
            0.5,
            SeriesTerms(u=0.2, margin=1),
            Verdict.DIFFERS,
            "k u_val is 0.4 mm: larger",
        ),
        (
            0.5,
            SeriesTerms(u=0.2),
            Verdict.DIFFERS,
            "larger than the uncertainty; largest error",
        ),
        (0.3, SeriesTerms(u=0.2, margin=1), Verdict.AGREES, "the aim of 1 mm"),
        (
            0.3,
            SeriesTerms(u=0.2, margin=0.6),
            Verdict.INCONCLUSIVE,
            "reduce u",
        ),
        (0.3, SeriesTerms(u=0.2), Verdict.INCONCLUSIVE, "give a margin"),
        (0.3, SeriesTerms(margin=1), Verdict.INCONCLUSIVE, "uncertainty of the measur"),
        (0.5, SeriesTerms(0.2, 0.2, 1.2), Verdict.AGREES, "k u_val is 0.566 mm"),
    ],
)
def test_differs_beyond_chance_and_agrees_within_the_margin(off, terms, verdict, said):
    (found,) = series_verdicts(rows(off), terms)
    assert (found.name, found.verdict, found.count) == ("tip", verdict, 100)
    assert said in found.why


def test_what_the_file_states_of_a_row_stands_before_what_is_said_of_all():
    (found,) = series_verdicts(rows(0.5, u=0.3), SeriesTerms(u=0.1, margin=2))
    assert found.verdict is Verdict.AGREES
    assert found.k_u_val == pytest.approx(0.6)


def test_half_the_step_tells_the_discretisation():
    """A change of 0.1 at order one leaves 0.2: 1.25 of it, over 1.15, is u_num."""
    (found,) = series_verdicts(rows(0.3), SeriesTerms(u=0.1), rows(0.2))
    assert found.u_num == pytest.approx(1.25 * 0.2 / 1.15)
    assert found.k_u_val == pytest.approx(2 * np.hypot(0.1, found.u_num))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "simulation is taken as 0" not in found.why
    (without,) = series_verdicts(rows(0.3), SeriesTerms(u=0.1))
    assert without.verdict is Verdict.DIFFERS
    assert "the simulation is taken as 0" in without.why


def test_the_worst_place_of_a_marker_and_what_the_run_does_not_reach_are_named():
    off = np.zeros(50)
    off[20] = -9.0
    beyond = rows(off).assign(simulated=lambda t: t["simulated"].where(t["at"] < 0.5))
    (found,) = series_verdicts(beyond, SeriesTerms(u=0.1))
    assert "largest error: tip_x_mm at 0.408163: -9" in found.why
    assert "50 of 100 values lie outside the range of the run" in found.why


def test_each_marker_has_a_verdict_and_what_was_fitted_has_none():
    two = rows(0.0, quantities=("tip_x_mm", "tip_y_mm", "foot_y_mm", "load"))
    found = series_verdicts(two, SeriesTerms(u=1, margin=3))
    assert [v.name for v in found] == ["tip", "foot", "load"]
    assert series_verdicts(rows(0.0, part="fit"), SeriesTerms(u=1)) == []


@pytest.mark.long
def test_chance_alone_hardly_ever_differs():
    rng = np.random.default_rng(1)
    many = [rows(rng.normal(0, 0.2, 50)) for _ in range(200)]
    found = [series_verdicts(one, SeriesTerms(u=0.2, margin=2))[0] for one in many]
    assert all(v.verdict is Verdict.AGREES for v in found)


def test_terms_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"margin must be 0 or more, not -1\.0"):
        SeriesTerms(margin=-1.0)
