"""Figures of [ZF19]: they show the data they are given."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.figures.origami_runs import OrigamiRun
from analysis.figures.origami_sweeps import approach, crossing, even
from analysis.figures.sheets import FoldedSheet, rims, seen_parts
from analysis.figures.style import lay_out
from analysis.figures.zhu_filipov_2019 import (
    SetUp,
    box_folds_itself,
    contact_of_a_node,
    corner_bears_load,
    folding_sequences,
    interlocking_sheets,
    past_limit_points,
    summed_verdicts,
)

SQUARES = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.5], [2, 1, 0.5]]
)
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])


def origami_run(label: str, steps: int = 13) -> OrigamiRun:
    share = np.linspace(0, 1, steps)[:, None, None]
    x = SQUARES * (0.5 + 0.5 * share)
    count = np.arange(steps)
    table = pd.DataFrame(
        {
            "step": count,
            "phase": (count > steps // 2).astype(int),
            "increment": count,
            "strain_energy": 1e-6 * count**2,
            "displacement": 1e-3 * count,
            "load": 1e-3 * count,
        }
    )
    return OrigamiRun(
        label,
        f"{label}-key",
        x,
        np.ones_like(x),
        np.zeros_like(x),
        TRIANGLES,
        np.array([0, 0, 1, 1]),
        2,
        table,
    )


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def pulled(touching: OrigamiRun, free: OrigamiRun) -> Figure:
    """Fig. 11 of two runs, held at one node and loaded at another."""
    return interlocking_sheets(touching, free, SetUp(*np.array([[0], [3], [1], [2]])))


@pytest.mark.parametrize("draw", [corner_bears_load, pulled])
def test_load_curves_show_both_runs_and_name_them(draw: type) -> None:
    figure = draw(origami_run("with"), origami_run("without"))
    curves = [ax for ax in figure.axes if ax.get_ylabel() == "load (mN)"]
    assert len(curves) == 1
    assert len(curves[0].get_lines()) == 2
    x, y = curves[0].get_lines()[0].get_data()
    assert np.asarray(x) == pytest.approx(np.arange(7, 13))
    assert np.asarray(y) == pytest.approx(np.arange(7, 13))
    assert "with-key" in words(figure)
    assert "without-key" in words(figure)


@pytest.mark.parametrize("draw", [corner_bears_load, pulled])
def test_both_ends_of_a_pull_are_drawn_at_one_scale(draw: type) -> None:
    touching, free = origami_run("with"), origami_run("without")
    free.x[-1] *= 2.0
    figure = draw(touching, free)
    lay_out(figure)
    ends = [ax for ax in figure.axes if ax.get_title().startswith("loaded")]
    widths = [np.ptp(ax.get_xlim()) / ax.get_window_extent().width for ax in ends]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], rel=1e-3)


def test_energy_of_the_box_is_plotted_in_microjoules() -> None:
    figure = box_folds_itself(origami_run("box"))
    curve = next(ax for ax in figure.axes if "energy" in ax.get_ylabel())
    _, y = curve.get_lines()[0].get_data()
    assert np.max(np.asarray(y)) == pytest.approx(144.0)


def test_verdicts_that_change_with_increments_are_ambiguous() -> None:
    rows = [("1-1", 30, "lock"), ("1-1", 40, "lock"), ("1-2", 30, "no")]
    rows += [("1-2", 40, "lock"), ("2-1", 30, "no")]
    table = pd.DataFrame(rows, columns=["sequence", "increments", "verdict"])
    said = summed_verdicts(table).set_index("sequence")["verdict"]
    assert said.to_dict() == {"1-1": "lock", "1-2": "ambiguous", "2-1": "no"}
    middles = {"A": np.zeros(3), "B": np.ones(3)}
    figure = folding_sequences([origami_run("1-1")], middles, table)
    named = {text.get_text() for ax in figure.axes for text in ax.texts}
    assert {"A", "B", "1-2"} <= named
    titles = " ".join(ax.get_title() for ax in figure.axes)
    assert "1 lock, 1 no, 1 ambiguous" in titles
    assert "[ZF19]: 7 lock" in titles


def test_fig_5_force_is_continuous_across_zones_and_starts_at_d0() -> None:
    near = approach(even(0.05, 1.5, 60))
    assert (near["force"][near["d"] > 1.0] == 0.0).all()
    assert near["force"].is_monotonic_decreasing
    across = crossing(even(-0.5, 1.3, 721), [0.3, 0.6])
    for _, rows in across.groupby("z"):
        force = rows["force"].to_numpy()
        assert abs(np.diff(force)).max() < 0.02 * force.max()
    figure = contact_of_a_node(near, across)
    assert len(figure.axes) == 6


def test_rims_are_the_outlines_of_panels_not_their_inner_edges() -> None:
    sheet = FoldedSheet(SQUARES, TRIANGLES, np.array([0, 0, 1, 1]), panels=2)
    assert len(rims(sheet)) == 8
    crease = FoldedSheet(SQUARES, TRIANGLES, np.array([0, 0, 2, 2]), panels=2)
    assert len(rims(crease)) == 4


@pytest.mark.parametrize(("gap", "seen"), [(0.01, 3.0), (-0.01, 8.0)])
def test_an_edge_close_behind_another_sheet_is_hidden_where_that_covers_it(
    gap: float, seen: float
) -> None:
    square = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], dtype=float)
    over = np.array([[-1, -1, gap], [1.5, -1, gap], [1.5, 3, gap], [-1, 3, gap]])
    panels = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    sheet = FoldedSheet(
        np.concatenate([square, over]), panels, np.array([0, 0, 1, 1]), panels=2
    )
    top = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    own = [seen_parts(sheet, edge, top) for edge in rims(sheet) if edge.max() < 4]
    length = sum(np.linalg.norm(p[:, 1] - p[:, 0], axis=1).sum() for p in own)
    assert length == pytest.approx(seen, abs=0.1)


def test_a_curve_is_cut_where_a_load_passes_a_limit_point() -> None:
    even, stiffer = np.arange(6.0), np.sqrt(np.arange(9.0))
    assert past_limit_points(even).tolist() == []
    assert past_limit_points(stiffer).tolist() == []
    far, back = even + 5.0 * (even > 2.0), even - 3.0 * (even > 3.0)
    assert past_limit_points(far).tolist() == [2]
    assert past_limit_points(back).tolist() == [3]
