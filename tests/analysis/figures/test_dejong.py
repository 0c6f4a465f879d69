import numpy as np
import pytest
from matplotlib.figure import Figure

from analysis.figures.dejong import (
    MorphedShape,
    ScannedShape,
    plotted_nodes,
    plotted_steps,
    shapes_beside_scans,
)
from analysis.figures.shapes import LineDrawing, best_view, faces

DISTANCE = r"distance error $\mathcal{E}$ (-)"
FACTOR = r"shape factor $\mathcal{S}$ (-)"
SHEET = np.array(
    [[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [2, 0, 0], [3, 0, 0], [2.5, 1, 0]]
)
BODIES = ((0, 1, 2), (3, 4, 5), (1, 3))
SQUARE = LineDrawing(SHEET[:4], np.array([[0, 1], [1, 2], [2, 3]]))


def shape(scan=True, **change):
    final = SHEET * [0.9, 1.0, 1.0] + [0, 0, 0.3]
    scanned = ScannedShape(
        final + 0.01,
        np.empty((0, 3)),
        0.91,
        0.002,
        0.9,
        change.get("whole", True),
        2.0,
        "agrees",
        0.2,
        change.get("synthetic", True),
        change.get("E", 0.004),
        0.001,
    )
    return MorphedShape(
        change.get("title", "circle"),
        SHEET,
        final,
        BODIES,
        SQUARE,
        np.array([0.3, 0.01, 0.0]),
        np.array([1.0, 0.92, 0.9]),
        scanned if scan else None,
        (("circle: simulated", "abc123def4567890"),),
    )


def texts(figure: Figure) -> str:
    drawn = [t.get_text() for t in figure.texts]
    return " ".join(drawn + [t.get_text() for ax in figure.axes for t in ax.texts])


def test_fig_3_has_initial_final_scan_and_steps_for_each_target():
    figure = shapes_beside_scans([shape(), shape(title="cylinder")])
    in_space = [ax for ax in figure.axes if not ax.axison]
    assert len(in_space) == 6
    assert {ax.get_ylabel() for ax in figure.axes} >= {
        DISTANCE,
        FACTOR,
    }


def test_the_three_drawings_of_a_row_have_one_scale():
    in_space = [ax for ax in shapes_beside_scans([shape()]).axes if not ax.axison]
    assert len({ax.get_xlim() for ax in in_space}) == 1


def test_the_scan_is_drawn_at_its_S_with_k_times_u():
    figure = shapes_beside_scans([shape()])
    right = next(ax for ax in figure.axes if ax.get_ylabel() == FACTOR)
    marker, _, bars = right.containers[0]
    assert marker.get_ydata()[0] == 0.91
    low, high = bars[0].get_segments()[0][:, 1]
    assert (low, high) == (pytest.approx(0.906), pytest.approx(0.914))


def test_the_scan_is_drawn_at_its_E_where_it_shows_the_target():
    figure = shapes_beside_scans([shape()])
    left = next(ax for ax in figure.axes if ax.get_ylabel() == DISTANCE)
    marker, _, bars = left.containers[0]
    assert marker.get_ydata()[0] == 0.004
    low, high = bars[0].get_segments()[0][:, 1]
    assert (low, high) == (pytest.approx(0.002), pytest.approx(0.006))
    without = shapes_beside_scans([shape(E=np.nan)])
    left = next(ax for ax in without.axes if ax.get_ylabel() == DISTANCE)
    assert not left.containers


def test_a_figure_names_its_runs_and_says_that_a_scan_is_synthetic():
    assert "abc123def456" in texts(shapes_beside_scans([shape()]))
    assert "synthetic" in texts(shapes_beside_scans([shape()]))
    assert "Those of [dJ23] are not public" in texts(shapes_beside_scans([shape()]))
    own = texts(shapes_beside_scans([shape(synthetic=False)]))
    assert "synthetic" not in own
    assert "not public" not in own


def test_S_of_a_subset_is_marked_as_such():
    assert "seen nodes only" in texts(shapes_beside_scans([shape(whole=False)]))
    assert "seen nodes only" not in texts(shapes_beside_scans([shape()]))


def test_a_row_without_a_scan_says_so():
    assert "no scan" in texts(shapes_beside_scans([shape(scan=False)]))


def test_the_plotted_numbers_are_those_given():
    steps = plotted_steps([shape()])
    assert steps["E"].tolist()[:3] == [0.3, 0.01, 0.0]
    assert steps.iloc[-1][["E", "E_u", "S", "S_u"]].tolist() == [
        0.004,
        0.001,
        0.91,
        0.002,
    ]
    assert steps.iloc[-1]["s"] == "scanned (synthetic)"
    nodes = plotted_nodes([shape()])
    scanned = nodes[nodes["state"] == "scanned"][["x", "y", "z"]].to_numpy()
    np.testing.assert_allclose(scanned, SHEET * [0.9, 1, 1] + [0, 0, 0.3] + 0.01)


def test_no_case_is_refused():
    with pytest.raises(ValueError, match="no case to show"):
        shapes_beside_scans([])


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


def test_legend_fits_the_page():
    figure = shapes_beside_scans([shape()])
    (legend,) = figure.legends
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0.0
    foot = next(t for t in figure.texts if t.get_text().startswith("Runs"))
    assert foot.get_window_extent().y1 <= 0.0  # below the art


def test_names_of_axes_fit_the_page():
    figure = shapes_beside_scans([shape()])
    figure.draw_without_rendering()
    for ax in figure.axes:
        if ax.axison:
            assert ax.yaxis.label.get_window_extent().x1 < figure.bbox.x1
