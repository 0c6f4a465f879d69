import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.figures.dejong_2023 import (
    FirstStep,
    draw_dejong_2,
    selected_steps,
)
from analysis.figures.mechanisms import view_of
from analysis.figures.panel_3d import PaintedScene, axes_of
from analysis.figures.shown import ShownRun, draw_with_runs
from analysis.figures.style import IDENTITY, lines_below


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
    first = FirstStep(modes, one.r[1] + 0.1, one.r[1])
    figure = draw_dejong_2([one], [first]).figure
    letters = [ax.get_title(loc="left").strip() for ax in figure.axes]
    assert letters == ["a", "b", "c", "d", "e", "", "", ""]
    assert "$s$ = 0:" in figure.axes[4].get_title()
    flat = first.projected @ axes_of(view_of(one.r))[:2].T  # nodes after eq. (11)
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
