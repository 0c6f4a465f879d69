"""Pictures of runs: what must be seen on them is there, in its own colour."""

import io
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.quiver import Quiver
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.testing import assert_allclose

from analysis.figures.run_picture import (
    BANDS,
    MOUNTAIN,
    VALLEY,
    Drawing,
    run_picture,
    side_strain,
)
from sim.core.arrays import Floats, Ints

NO_LINES, NO_FACES = (np.empty((0, k), dtype=np.int64) for k in (2, 3))


def drawing_of(
    x: Floats, lines: Ints = NO_LINES, faces: Ints = NO_FACES, **more: Any
) -> Drawing:
    """A shape that stays as it began, without a target, in the box around it."""
    box = np.array([x.min(axis=0), x.max(axis=0)])
    none = np.empty((0, 2, 3))
    return replace(Drawing(x, x, lines, faces, none, box), **more)


def pixels(image: Floats, colour: str) -> int:
    return int((np.abs(image[..., :3] - to_rgb(colour)).max(axis=2) < 0.02).sum())


@pytest.mark.parametrize("turned", [-60.0, 30.0, 120.0])
def test_creases_keep_their_colours_on_the_band_of_what_is_missing(turned):
    x = np.array([[0, 0, 0], [1, 0, 0.1], [1, 1, 0], [0, 1, 0.1]], dtype=float)
    rim = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    folds = {"mountain: 9°": np.array([[0, 2]]), "valley: 9°": np.array([[1, 3]])}
    missing = {"closure: at most 5°": np.array([[0, 2], [1, 3]])}
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    view = (60.0, turned)
    drawing = drawing_of(x, rim, faces, missing=missing, view=view, folds=folds)
    file = io.BytesIO()
    run_picture(drawing, {}, "").savefig(file, format="png", dpi=200)
    file.seek(0)
    image = imread(file)
    seen = {colour: pixels(image, colour) for colour in (MOUNTAIN, VALLEY, BANDS[0])}
    assert min(seen.values()) > 300, seen
    assert seen[BANDS[0]] > seen[MOUNTAIN]


def test_creases_that_missed_their_target_are_dashed_on_a_sheet_without_dots():
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    folds = {"valley: 9°": np.array([[0, 2]]), "valley, missed: 0°": np.array([[1, 3]])}
    creases = np.array([[0, 2, 4], [1, 3, 5]])
    drawing = drawing_of(x, creases[:, :2], folds=folds, creases=creases, dotted=False)
    for axes in run_picture(drawing, {}, "").axes:
        blue = [
            c for c in axes.collections if to_rgb(VALLEY) == tuple(c.get_color()[0, :3])
        ]
        assert [c.get_linestyle()[0][1] is None for c in blue] == [True, False]
        assert not any(isinstance(c, PathCollection) for c in axes.collections)


def test_a_picture_in_space_has_axes_of_a_round_length():
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.12, 0.02]])
    drawing = drawing_of(x, np.array([[0, 1], [1, 2]]))
    (axes,) = run_picture(drawing, {}, "").axes
    said = [text.get_text() for text in axes.texts]
    assert said == ["x", "y", "z", "axes 0.02 long"]
    (axes,) = run_picture(replace(drawing, unit="m"), {}, "").axes
    assert axes.texts[-1].get_text() == "axes 20 mm long"
    flat = replace(drawing, unit="m", flat=True)
    (axes,) = run_picture(flat, {}, "").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (mm)", "y (mm)")
    ticks = axes.xaxis.get_major_formatter().format_ticks([0.0, 0.05, 0.1])
    assert ticks == ["0", "50", "100"]
    (axes,) = run_picture(replace(flat, box=10.0 * flat.box), {}, "").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "y (m)")


def test_the_diagonal_of_a_flat_panel_is_not_drawn():
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    faces, drawn = np.array([[0, 1, 2], [0, 2, 3]]), {}
    for name, inner in {"all": NO_LINES, "rim": np.array([[2, 0]])}.items():
        figure = run_picture(drawing_of(x, faces=faces, inner=inner), {}, "")
        lines = [c for c in figure.axes[0].collections if hasattr(c, "_segments3d")]
        drawn[name] = [len(c._segments3d) for c in lines]
    assert drawn == {"all": [5, 5], "rim": [4, 4]}


@pytest.mark.parametrize("view", [(25.0, -60.0), (90.0, -90.0), (0.0, 45.0)])
@pytest.mark.parametrize("size", [(1, 1, 0), (8, 1, 0.1), (0.1, 0.1, 2), (1, 1, 1)])
def test_no_corner_is_cut_and_the_legend_and_the_axes_have_room(size, view):
    x = np.array(list(product(*([0.0, s] for s in size))))
    lines = np.array([[0, 7], [1, 6]])
    folds = {"mountain: 9°": lines[:1], "valley: 9°": lines[1:]}
    figure = run_picture(drawing_of(x, lines, view=view, folds=folds), {}, "")
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text.get_position_3d() for text in axes.texts[:-1]]
    assert len(names) == (2 if view == (90.0, -90.0) else 3)
    every = np.concatenate([x, names]).T
    flat = np.stack(proj3d.proj_transform(*every, axes.get_proj())[:2], axis=-1)
    places = axes.transData.transform(flat)
    frame, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
    assert (places > frame.min).all()
    assert (places < frame.max).all()
    assert places[:, 1].max() < legend.y0
    assert np.ptp(places, axis=0).max() > 0.5 * frame.width
    assert places[:, 1].min() > axes.texts[-1].get_window_extent().y1


def test_creases_are_numbered_once_on_the_sheet_as_it_began():
    x = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [2, 1, 0]], dtype=float)
    creases = np.array([[0, 1, 7], [1, 2, 7], [3, 4, 12]])  # one of them in two lines
    drawing = drawing_of(x, creases[:, :2], creases=creases, last=x + 5.0)
    _, sheet = run_picture(drawing, {}, "").axes
    told = {text.get_text(): text.get_position() for text in sheet.texts}
    assert told == {"7": (0.5, 0.0), "12": (1.0, 1.0)}


@pytest.mark.parametrize("stretch", [1.0, 1.02])
def test_panels_have_the_colour_of_the_stretch_of_their_sides(stretch):
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=float)
    faces = np.array([[0, 1, 2], [1, 3, 2]])
    last = x.copy()
    last[3] = [stretch, 1.0, 0.0]  # side 2-3 of the second face
    strain = side_strain(x, last, faces)
    assert_allclose(strain, [0.0, stretch - 1.0], atol=1e-12)
    box = np.array([[0, 0, 0], [1.02, 1, 1]])
    more = {"last": last, "box": box, "strain": float(strain.max())}
    drawing = drawing_of(x, faces=faces, **more)
    axes, *bar = run_picture(drawing, {}, "").axes
    (shown,) = (c for c in axes.collections if isinstance(c, Poly3DCollection))
    axes.figure.canvas.draw()
    assert len(np.unique(shown.get_facecolor(), axis=0)) == len(bar) + 1
    assert [one.get_xlim()[1] for one in bar] == pytest.approx([2.0] * len(bar))
    assert len(bar) == (stretch > 1.0)


def test_a_long_title_is_broken_to_the_width_of_the_picture():
    title = "simulate pattern: " + ", ".join(f"F_{k} = 0.{k}12345" for k in range(9))
    figure = run_picture(None, {"step": np.arange(3.0), "F": np.arange(3.0)}, title)
    figure.canvas.draw()
    heading = figure.get_suptitle()
    assert "\n" in heading
    assert heading.replace("\n", " ") == title
    box = figure.texts[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("steps", [1, 2])
def test_numbers_of_a_single_step_have_no_empty_chart(steps):
    drawing = drawing_of(np.array([[0, 0, 0], [1, 0, 0.0]]), np.array([[0, 1]]))
    columns = {name: np.ones(steps) for name in ("step", "E", "S")}
    assert len(run_picture(drawing, columns, "").axes) == (1 if steps == 1 else 3)


def test_what_is_held_and_loads_are_marked_and_a_centre_is_in_mm_as_the_shape_is():
    x, links = np.array([[0, 0, 0], [0.1, 0, 0.0]]), np.array([[0, 1]])
    drawing = drawing_of(
        x, links, box=np.array([x[0], [0.1, 0, 0.02]]), flat=True, unit="m",
        held=x[:1], loads=np.array([x[1:], [[0.1, 0, 0.02]]]),
    )  # fmt: skip
    columns = {"time": np.array([0.0, 1.0]), "x_c": np.array([0.05, 0.051])}
    shape, chart = run_picture(drawing, columns, "").axes
    assert shape.get_legend_handles_labels()[1] == ["at the start", "held", "load"]
    (arrow,) = (one for one in shape.collections if isinstance(one, Quiver))
    assert (arrow.XY.tolist(), arrow.U, arrow.V) == ([[0.1, 0.0]], [0.0], [0.02])
    assert chart.get_ylabel() == "centroid $x_c$ (mm)"
    assert chart.lines[0].get_ydata() == pytest.approx([50.0, 51.0])


def test_each_start_has_a_curve_of_its_own_with_a_dot_at_its_end():
    columns = {
        "step": np.array([0.0, 1.0, 0.0, 1.0, 1.0]),
        "E": np.array([4.0, 2.0, 5.0, 1.0, 1.0]),
        "start": np.array([0.0, 0.0, 1.0, 1.0, 1.0]),
    }
    (axes,) = run_picture(None, columns, "").axes
    curves = [line.get_ydata() for line in axes.lines]
    assert [np.asarray(E).tolist() for E in curves] == [[4.0, 2.0], [5.0, 1.0, 1.0]]
    assert {line.get_marker() for line in axes.lines} == {"o"}


def test_the_legend_names_the_grey_shape_above_a_flat_panel():
    x, links = np.array([[0, 0, 0], [1, 0, 1.0]]), np.array([[0, 1]])
    drawing = drawing_of(x, links, last=x + 1.0, flat=True, began="at step 1")
    figure = run_picture(drawing, {}, "")
    figure.canvas.draw()
    (axes,) = figure.axes
    assert axes.get_legend_handles_labels()[1] == ["at step 1"]
    legend = axes.get_legend().get_window_extent()
    assert legend.y0 >= axes.get_window_extent().y1 - 1


def test_a_planar_mechanism_shows_its_plane_targets_numbers_and_doubled_bodies():
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.12, 0], [0.1, 0, 0]])
    links = np.array([[0, 1], [1, 2], [2, 3]])
    drawing = drawing_of(
        x, links, view=(90.0, -90.0), aims=np.array([[0.05, 0.1, 0.0]]),
        doubled=links[1:], names=["0", "1", "2", "B3"],
    )  # fmt: skip
    (axes,) = run_picture(drawing, {}, "").axes
    said = [text.get_text().strip() for text in axes.texts]
    assert said == ["0", "1, B3", "2", "x", "y", "axes 0.02 long"]  # one place
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["at the start", "bodies that coincide", "target of a node"]
