"""What [ZF19] says of its figures, beside the numbers that ours plot."""

import numpy as np
import pandas as pd
import pytest

from pipeline.figures.read_runs import draw
from pipeline.terminal import InputError
from tests.pipeline.figure_runs import rows_of

Tables = dict[str, pd.DataFrame]
D0 = 1.0  # of Fig. 5


def test_fig_5_bc_nothing_acts_from_d0_on_and_no_force_holds_at_the_panel():
    """ "approaching infinity"; "will not generate any ... unless (d < d0)"."""
    near = draw("zhu-filipov-5", []).tables["approach"].sort_values("d")
    apart = near[near["d"] >= D0]
    assert len(apart) > 10
    assert (apart[["force", "stiffness"]] == 0).all(axis=None)
    closer = near[near["d"] < D0]
    assert (closer["force"] > 0).all()
    assert closer["force"].is_monotonic_decreasing
    assert closer["stiffness"].is_monotonic_decreasing
    force, stiffness = (
        np.interp([0.04, 0.02], closer["d"], closer[x]) for x in ("force", "stiffness")
    )
    assert force[1] > 1.9 * force[0]  # as 1/d and 1/d^2: without a bound
    assert stiffness[1] > 3.8 * stiffness[0]


def test_fig_5_ef_forces_are_continuous_over_all_zones_at_each_height():
    across = draw("zhu-filipov-5", []).tables["crossing"]
    assert across["z"].nunique() == 3
    for _, rows in across.groupby("z"):
        jump = np.abs(np.diff(rows["force"]))
        assert rows["force"].max() > 0
        assert jump.max() < 0.03 * rows["force"].max()  # 400 steps, no jump


@pytest.fixture(scope="module")
def fig_7(tmp_path_factory):
    rows = rows_of("zhu-filipov-7", tmp_path_factory.mktemp("fig7"))
    return draw("zhu-filipov-7", rows).tables


@pytest.mark.slow
def test_fig_7g_a_stiff_contact_stops_at_2_mm_and_a_soft_one_does_not(fig_7):
    """ "When ke = 0.02 or higher ... practically stops at z = 2 mm"."""
    last = fig_7["ke"].groupby("value")["height"].last()
    assert last[0.02] == pytest.approx(2e-3, abs=4e-4)
    assert last[0.2] == pytest.approx(2e-3, abs=4e-4)
    assert last[0.002] < last[0.02] < last[0.2]


@pytest.mark.slow
def test_fig_7h_panels_stay_apart_by_about_d0(fig_7):
    """ "exactly around the value of d0", "larger d0 ... earlier initiation of contact".

    Ours are apart by d0 and up to a third more: 5.3 mm for 4 mm.
    """
    last = fig_7["d0"].groupby("value")["height"].last()
    assert last.is_monotonic_increasing
    for d0, height in last.items():
        assert 0.9 < height / float(str(d0)) < 1.35


@pytest.mark.slow
def test_fig_7i_edges_carry_at_a_small_ratio_and_centres_at_a_large_one(fig_7):
    """ "less than 0.7"."""
    ratio = fig_7["ratio"]
    assert (ratio[ratio["ratio"] < 0.7]["edge"] > 0.9).all()
    assert ratio["centre"].iloc[-1] > 0.5
    assert (ratio["centre"] + ratio["edge"]).to_numpy() == pytest.approx(1.0)


@pytest.mark.slow
def test_fig_7_names_the_runs_that_it_lacks(tmp_path):
    rows = rows_of("zhu-filipov-7", tmp_path)
    for few, part in (
        (rows[:2], "2 rows"),
        (rows[:12], "'ke'"),
        (rows[13:], "'single'"),
    ):
        with pytest.raises(InputError, match=part):
            draw("zhu-filipov-7", few)


@pytest.mark.slow
def test_fig_7jk_reactions_are_those_of_statics(fig_7):
    reactions = fig_7["reactions"]
    assert set(reactions["case"]) == {"single fold", "double fold"}
    scale = np.abs(reactions["statics"]).max()
    off = np.abs(reactions["simulated"] - reactions["statics"])
    assert off.max() < 5e-3 * scale


def loaded(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last phase."""
    return table[table["phase"] == table["phase"].max()]


@pytest.mark.slow
def test_fig_9b_contact_makes_the_corner_stiffer(tmp_path):
    """ "a higher force for the same displacement"."""
    tables = draw("zhu-filipov-9", rows_of("zhu-filipov-9", tmp_path)).tables
    with_it, without = (loaded(tables[f"{x}-contact"]) for x in ("with", "without"))
    at = np.linspace(0.3, 0.95, 8) * with_it["load"].max()
    pulled = np.interp(at, with_it["load"], with_it["displacement"])
    free = np.interp(at, without["load"], without["displacement"])
    assert (pulled < free).all()


@pytest.mark.slow
def test_fig_11b_contact_makes_a_jump_in_stiffness(tmp_path):
    """ "the only resisting force is the fictitious elastic support" without it."""
    tables = draw("zhu-filipov-11", rows_of("zhu-filipov-11", tmp_path)).tables
    with_it, without = (loaded(tables[f"{x}-contact"]) for x in ("with", "without"))
    free = np.polyfit(without["displacement"], without["load"], 1)
    left = without["load"] - np.polyval(free, without["displacement"])
    assert np.abs(left).max() < 0.02 * without["load"].max()  # springs: a line
    u, f = with_it["displacement"].to_numpy(), with_it["load"].to_numpy()
    stiffness = np.diff(f) / np.diff(u)
    assert stiffness[-3:].min() > 5 * stiffness[:2].max()
