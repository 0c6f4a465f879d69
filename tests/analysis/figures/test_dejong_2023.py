from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.figures.dejong_2023 import (
    draw_dejong_2,
    draw_dejong_3,
    selected_steps,
)
from analysis.figures.figure_interface import ShownRun, draw_with_runs
from analysis.figures.mechanisms import best_view, faces, view_of
from analysis.figures.panel_3d import PaintedScene, axes_of
from analysis.figures.style import IDENTITY, lines_below

DISTANCE = r"distance error $\mathcal{E}$ (-)"
FACTOR = r"shape factor $\mathcal{S}$ (-)"
SHEET = np.array(
    [[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [2, 0, 0], [3, 0, 0], [2.5, 1, 0]]
)
FINAL = SHEET * [0.9, 1.0, 1.0] + [0, 0, 0.3]
BODIES = ((0, 1, 2), (3, 4, 5), (1, 3))
SQUARE = {
    "target_vertices": SHEET[:4],
    "target_edges": np.array([[0, 1], [1, 2], [2, 3]]),
}


def shape(label="circle", **change):
    """A simulated shape with its scan, 0.01 off in every direction."""
    files = {
        "steps.npz": {"r": np.stack([SHEET, FINAL]), **SQUARE},
        "steps.csv": pd.DataFrame({"E": [0.3, 0.01, 0.0], "S": [1.0, 0.92, 0.9]}),
        "structure.json": {"bodies": BODIES},
    }
    compared = {
        "S_scanned": 0.91, "S_scanned_u": 0.002, "S_simulated": 0.9, "rms_mm": 0.2,
        "E_scanned": 0.004, "E_scanned_u": 0.001, "E_simulated": 1e-6,
        "E_margin": 0.02, "basis": "all nodes", "k": 2.0,
        "verdict": "agrees", "synthetic": True, "scale_mm": 40.0,
    }  # fmt: skip
    nodes = {
        f"{name}_{axis}_mm": 40.0 * r[:, k]
        for name, r in (("simulated", FINAL), ("scanned", FINAL + 0.01))
        for k, axis in enumerate("xyz")
    }
    of_scan = {
        "comparison.csv": pd.DataFrame([compared | change]),
        "nodes.csv": pd.DataFrame(nodes),
    }
    scan = ShownRun(label, "fed987", lambda _, default=None: default)
    return ShownRun(
        label, "abc123def4567890", files.get,
        spheres=scan, comparison=replace(scan, read=of_scan.get),
    )  # fmt: skip


def figure_of(*shapes) -> Figure:
    return draw_with_runs(draw_dejong_3, shapes).figure


def texts(figure: Figure) -> str:
    drawn = [t.get_text() for t in figure.texts]
    return " ".join(drawn + [t.get_text() for ax in figure.axes for t in ax.texts])


def test_fig_3_has_initial_final_scan_and_steps_for_each_target():
    figure = figure_of(shape(), shape("cylinder"))
    in_space = [ax for ax in figure.axes if not ax.axison]
    assert len(in_space) == 6
    assert len({ax.get_xlim() for ax in in_space}) == 1  # one scale
    assert {ax.get_ylabel() for ax in figure.axes} >= {DISTANCE, FACTOR}


@pytest.mark.parametrize(
    ("axis", "value", "u"), [(FACTOR, 0.91, 0.002), (DISTANCE, 0.004, 0.001)]
)
def test_a_scan_is_drawn_at_its_S_and_E_with_k_times_u(axis, value, u):
    drawn = next(ax for ax in figure_of(shape()).axes if ax.get_ylabel() == axis)
    marker, _, bars = drawn.containers[0]
    assert marker.get_ydata()[0] == value
    low, high = bars[0].get_segments()[0][:, 1]
    assert (low, high) == (pytest.approx(value - 2 * u), pytest.approx(value + 2 * u))


def test_the_E_up_to_which_a_scan_agrees_is_drawn():
    drawn = next(a for a in figure_of(shape()).axes if a.get_ylabel() == DISTANCE)
    (line,) = (one for one in drawn.get_lines() if one.get_linestyle() == ":")
    assert line.get_ydata() == pytest.approx([0.020001] * 2)


def test_a_scan_that_does_not_show_its_target_has_no_E():
    figure = figure_of(shape(E_scanned=np.nan))
    assert not next(a for a in figure.axes if a.get_ylabel() == DISTANCE).containers


def test_a_figure_names_its_runs_and_says_that_a_scan_is_synthetic():
    said = texts(figure_of(shape()))
    assert "circle: simulated abc123def456, spheres fed987" in said
    assert "synthetic" in said
    assert "The scans of [dJ23] are not public" in said
    measured = texts(figure_of(shape(synthetic=False)))
    assert "synthetic" not in measured
    assert "not public" not in measured


def test_S_of_a_subset_is_marked_as_such():
    assert "seen nodes only" in texts(figure_of(shape(basis="seen nodes")))
    assert "seen nodes only" not in texts(figure_of(shape()))


def test_a_row_without_a_scan_and_no_row_at_all_are_refused():
    with pytest.raises(ValueError, match="circle has no scan: give a comparison"):
        draw_dejong_3([replace(shape(), comparison=None)])
    with pytest.raises(ValueError, match="shows no case"):
        draw_dejong_3([])


def test_the_plotted_numbers_are_those_given():
    tables = draw_dejong_3([shape()]).tables
    steps, nodes = tables["steps"], tables["nodes"]
    assert steps["E"].tolist()[:3] == [0.3, 0.01, 0.0]
    assert steps["S"].tolist()[:3] == [1.0, 0.92, 0.9]
    scan = steps.iloc[-1]
    assert scan[["E", "E_u", "S", "S_u"]].tolist() == [0.004, 0.001, 0.91, 0.002]
    assert scan["s"] == "scanned (synthetic)"
    scanned = nodes[nodes["state"] == "scanned"][["x", "y", "z"]].to_numpy()
    np.testing.assert_allclose(scanned, FINAL + 0.01, atol=1e-9)


def test_a_flat_body_is_one_outline_and_a_solid_one_is_its_triangles():
    square = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0.0]])
    (outline,) = faces(square, (0, 1, 2, 3))
    sides = np.linalg.norm(outline - np.roll(outline, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 1.0)  # no diagonal: the nodes go around
    square[3, 2] = 0.8
    assert len(faces(square, (0, 1, 2, 3))) == 4


def test_a_flat_shape_is_seen_from_above():
    assert best_view(SHEET, SHEET)[0] == 60.0
    upright = SHEET[:, [0, 2, 1]]
    assert best_view(upright, upright)[0] == 30.0


def test_the_legend_and_the_names_of_axes_fit_the_page():
    figure = figure_of(shape())
    (legend,) = figure.legends
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0.0
    foot = next(t for t in figure.texts if t.get_text().startswith("Runs"))
    assert foot.get_window_extent().y1 <= 0.0  # below the art
    named = [ax for ax in figure.axes if ax.axison]
    for ax in named:
        assert ax.yaxis.label.get_window_extent().x1 < figure.bbox.x1


def path(rng, steps=6):
    r = rng.standard_normal((steps, 5, 3))
    target = {"target_vertices": rng.standard_normal((3, 3))}
    target |= {"target_edges": np.array([[0, 1], [1, 2]])}
    S = np.linspace(1.0, 0.5, steps)
    files = {
        "steps.npz": {"r": r, "g": r + 0.1, **target},
        "steps.csv": pd.DataFrame({"E": S, "S": S}),
        "structure.json": {"bodies": [[0, 1], [1, 2, 3]]},
    }
    return ShownRun("one", "ab12", files.get)


def test_the_first_and_the_last_step_are_always_among_those_shown():
    S = np.array([1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7])
    assert selected_steps(S).tolist() == [0, 1, 2, 6]


def test_shown_steps_lie_equally_far_apart_in_shape():
    S = 1.0 - np.linspace(0.0, 1.0, 31) ** 2
    shown = S[selected_steps(S)]
    np.testing.assert_allclose(np.diff(shown), -1 / 3, atol=0.07)


def test_a_shape_that_does_not_change_shows_its_ends():
    assert selected_steps(np.ones(4)).tolist() == [0, 3]


def test_every_panel_tells_its_step_with_E_and_S(rng):
    figure = draw_with_runs(draw_dejong_2, [path(rng), path(rng)]).figure
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == 8
    assert "$s$ = 0:" in titles[0]
    assert titles[3].startswith("$s$ = 5:")
    assert all("mathcal{E}" in title for title in titles)
    assert "ab12" in lines_below(figure)[IDENTITY]


@pytest.mark.parametrize("flat", [True, False])
def test_a_structure_in_a_plane_is_seen_from_above(rng, flat):
    shown = path(rng)
    if flat:
        shown.r[..., 2] = 0.3
    assert (view_of(shown.r)[0] == 90.0) == flat


def test_first_step_has_a_panel_for_each_of_its_four_parts(rng):
    one = path(rng)
    modes = rng.standard_normal((2, 5, 3))
    first = modes, one.r[1] + 0.1, one.r[1]
    figure = draw_dejong_2([one], [first]).figure
    letters = [ax.get_title(loc="left").strip() for ax in figure.axes]
    assert letters == ["a", "b", "c", "d", "e", "", "", ""]
    assert "$s$ = 0:" in figure.axes[4].get_title()
    flat = first[1] @ axes_of(view_of(one.r))[:2].T  # nodes after eq. (11)
    paths = figure.axes[2].collections[0].get_paths()
    drawn = np.array([path.vertices[:2].mean(axis=0) for path in paths])
    away = np.linalg.norm(drawn[:, None] - flat, axis=2).min(axis=0)
    np.testing.assert_allclose(away, 0.0, atol=1e-9)


def test_a_line_in_pieces_is_one_stroke_where_nothing_comes_between():
    """Pieces that meet are darker there; a polygon keeps all of its edges."""
    scene = PaintedScene((90.0, -90.0), 1.0)
    scene.lines(np.array([[[0, 0, 0], [1, 0, 0]], [[0, 1, 0], [0.5, 1, 0]]]), "k", 1.0)
    square = np.array([[0, 0, -1], [1, 0, -1], [1, 1, -1], [0, 1, -1]], dtype=float)
    scene.faces([square], "#9BC4E2", edge=None)
    axes = Figure().add_subplot()
    scene.paint(axes, square)
    (painted,) = axes.collections
    face, long, short = (path.vertices for path in painted.get_paths())
    rim = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    assert face == pytest.approx(rim, abs=1e-12)
    assert long[[0, -1]] == pytest.approx(np.array([[0, 0], [1, 0]]), abs=1e-12)
    assert short[[0, -1]] == pytest.approx(np.array([[0, 1], [0.5, 1]]), abs=1e-12)
