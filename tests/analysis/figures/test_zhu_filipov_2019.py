"""Figures of [ZF19]: they show the data they are given."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.figures.figure_interface import ShownRun, draw_with_runs
from analysis.figures.folded_sheets import FoldedSheet, rims, seen_parts
from analysis.figures.style import lay_out
from analysis.figures.zhu_filipov_2019 import (
    SHOWN_SEQUENCES,
    draw_zhu_filipov_8,
    draw_zhu_filipov_9,
    draw_zhu_filipov_10,
    draw_zhu_filipov_11,
    past_limit_points,
    summed_verdicts,
)

SQUARES = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.5], [2, 1, 0.5]]
)
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])


def origami_run(label: str, steps: int = 13, **result: Any) -> ShownRun:
    share = np.linspace(0, 1, steps)[:, None, None]
    x = SQUARES * (0.5 + 0.5 * share)
    count = np.arange(steps)
    table = pd.DataFrame(
        {
            "step": count,
            "phase": (count > steps // 2).astype(int),
            "increment": count,
            "strain_energy": 1e-6 * count**2,
            "contact_energy": 0.0 * count,
            "displacement": 1e-3 * count,
            "load": 1e-3 * count,
        }
    )
    arrays = {"x": x, "contact_force": np.ones_like(x), "triangles": TRIANGLES}
    arrays["triangle_panel"] = np.array([0, 0, 1, 1])
    files = {"steps.npz": arrays, "steps.csv": table}
    files["pattern.fold"] = {
        "faces_vertices": [[0, 1, 2, 3], [1, 4, 5, 2]],
        "vertices_coords": SQUARES,
        "edges_vertices": [[0, 1], [1, 2]],
    }
    supports = [[0, 1, 1, 1], [3, 0, 1, 0]]
    turned = {"creases": [0, 1], "increments": 30}
    pulled = {"nodes": [2], "elastic": [[1]], "supports": supports}
    case = {"sequence": label, "phases": [turned, pulled]}
    return ShownRun(label, f"{label}-key", files.get, result, case)


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


PULLED = pytest.mark.parametrize("draw", [draw_zhu_filipov_9, draw_zhu_filipov_11])


@PULLED
def test_load_curves_show_both_runs_and_name_them(draw):
    runs = [origami_run("with"), origami_run("without")]
    figure = draw_with_runs(draw, runs).figure
    curves = [ax for ax in figure.axes if ax.get_ylabel() == "load (mN)"]
    assert len(curves) == 1
    assert len(curves[0].get_lines()) == 2
    x, y = curves[0].get_lines()[0].get_data()
    assert np.asarray(x) == pytest.approx(np.arange(7, 13))
    assert np.asarray(y) == pytest.approx(np.arange(7, 13))
    assert "with-key" in words(figure)
    assert "without-key" in words(figure)


@PULLED
def test_both_ends_of_a_pull_are_drawn_at_one_scale(draw):
    touching, free = origami_run("with"), origami_run("without")
    free.arrays["x"][-1] *= 2.0
    figure = draw([touching, free]).figure
    lay_out(figure)
    ends = [ax for ax in figure.axes if ax.get_title().startswith("loaded")]
    widths = [np.ptp(ax.get_xlim()) / ax.get_window_extent().width for ax in ends]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], rel=1e-3)


def test_energy_of_the_box_is_plotted_in_microjoules():
    figure = draw_zhu_filipov_8([origami_run("box")]).figure
    curve = next(ax for ax in figure.axes if "energy" in ax.get_ylabel())
    _, y = curve.get_lines()[0].get_data()
    assert np.max(np.asarray(y)) == pytest.approx(144.0)


def test_verdicts_that_change_with_increments_are_ambiguous():
    rows = [("1-1", 30, "lock"), ("1-1", 40, "lock"), ("1-2", 30, "no")]
    rows += [("1-2", 40, "lock"), ("2-1", 30, "no")]
    table = pd.DataFrame(rows, columns=["sequence", "increments", "verdict"])
    said = summed_verdicts(table).set_index("sequence")["verdict"]
    assert said.to_dict() == {"1-1": "lock", "1-2": "ambiguous", "2-1": "no"}
    ended = [("1-1", "lock"), ("1-2", "no"), ("1-2", "lock"), ("2-1", "no")]
    drawn = [("1-1", "lock")] * SHOWN_SEQUENCES
    runs = [
        origami_run(name, verdict=verdict, unconverged=0)
        for name, verdict in (*drawn, *ended)
    ]
    figure = draw_zhu_filipov_10(runs).figure
    named = {text.get_text() for ax in figure.axes for text in ax.texts}
    assert {"A", "B", "1-2"} <= named
    titles = " ".join(ax.get_title() for ax in figure.axes)
    assert "1 lock, 1 no, 1 ambiguous" in titles
    assert "[ZF19]: 7 of 75 lock" in titles


def test_rims_are_the_outlines_of_panels_not_their_inner_edges():
    sheet = FoldedSheet(SQUARES, TRIANGLES, np.array([0, 0, 1, 1]), panels=2)
    assert len(rims(sheet)) == 8
    crease = FoldedSheet(SQUARES, TRIANGLES, np.array([0, 0, 2, 2]), panels=2)
    assert len(rims(crease)) == 4


@pytest.mark.parametrize(("gap", "seen"), [(0.01, 3.0), (-0.01, 8.0)])
def test_an_edge_close_behind_another_sheet_is_hidden_where_that_covers_it(gap, seen):
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


def test_a_curve_is_cut_where_a_load_passes_a_limit_point():
    even, stiffer = np.arange(6.0), np.sqrt(np.arange(9.0))
    assert past_limit_points(even).tolist() == []
    assert past_limit_points(stiffer).tolist() == []
    far, back = even + 5.0 * (even > 2.0), even - 3.0 * (even > 3.0)
    assert past_limit_points(far).tolist() == [2]
    assert past_limit_points(back).tolist() == [3]
