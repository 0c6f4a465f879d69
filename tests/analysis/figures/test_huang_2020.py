"""Figures of [Hu20] show the numbers they are given."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from analysis.figures.huang_2020 import (
    CYCLOID,
    ROLLS,
    RobotDistance,
    RodShape,
    RollingRibbon,
    actuator_law,
    boundary_paths,
    computing_times,
    jumper_paths,
    ribbon_routes,
    ribbon_shapes,
    robot_ways,
    snapshots,
)
from analysis.figures.style import lines_below

RUNS = [("ribbon", "0123456789abcdef")]
CIRCLE = np.column_stack([np.cos(np.arange(8)), 1.0 + np.sin(np.arange(8))])
EDGES = np.array([[0, 1], [1, 2], [2, 3], [1, 4]])


def said(figure: Figure) -> str:
    """What stands below the art."""
    return " ".join(" ".join(lines_below(figure).values()).split())


def test_each_gamma_has_its_series_of_delta_between_the_two_limits() -> None:
    table = pd.DataFrame(
        {"gamma": [1.0, 1.0, 5.0], "ratio": [1.0, 0.0, 0.5], "delta": [1.2, 1.0, 1.1]}
    )
    (ax,) = ribbon_routes(table, RUNS).axes
    *limits, one, other, printed = ax.lines
    series = [one, other]
    assert set(printed.get_xdata()) == {ROLLS}  # type: ignore[arg-type]
    assert [float(line.get_ydata()[0]) for line in limits] == [1.0, CYCLOID]  # type: ignore[index]
    assert [list(line.get_xdata()) for line in series] == [[0.0, 1.0], [0.5]]  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in series] == [[1.0, 1.2], [1.1]]  # type: ignore[arg-type]


def test_a_figure_names_the_runs_it_shows() -> None:
    figure = ribbon_shapes([(1.0, CIRCLE)], RUNS)
    assert "ribbon 0123456789ab" in said(figure)


def test_where_the_paper_shows_measured_points_ours_says_they_are_not_public() -> None:
    table = pd.DataFrame({"time": [0.0, 3.0], "way_over_H": [0.0, 0.3]})
    figure = robot_ways([RobotDistance("0°", table)], RUNS)
    assert "measured are not public" in said(figure)
    assert "ribbon 0123456789ab" in said(figure)
    assert "public" not in said(ribbon_shapes([(1.0, CIRCLE)], RUNS))


def test_a_ribbon_is_drawn_closed_and_centred() -> None:
    for ax in ribbon_shapes([(0.8, CIRCLE), (3.0, CIRCLE + np.array([4.0, 0.0]))]).axes:
        x = np.asarray(ax.lines[1].get_xdata())
        assert x[0] == x[-1]
        assert x[:-1].mean() == pytest.approx(0.0, abs=1e-12)


def test_the_limbs_that_are_switched_on_have_their_own_colour() -> None:
    shape = RodShape("t = 0 s", CIRCLE, EDGES, np.empty((0, 2)), np.array([1, 2]))
    (ax,) = snapshots([shape]).axes
    passive, actuated = (c for c in ax.collections if isinstance(c, LineCollection))
    assert len(passive.get_segments()) == 2
    assert len(actuated.get_segments()) == 2
    assert not np.array_equal(passive.get_color(), actuated.get_color())


def test_every_ground_has_its_panel() -> None:
    table = pd.DataFrame({"time": [0.0, 3.0], "way_over_H": [0.0, 0.3]})
    shape = RodShape("t = 0 s", CIRCLE, EDGES, np.zeros((2, 2)), np.empty(0))
    ways = [
        RobotDistance("star_robot_up_3", table, [shape]),
        RobotDistance("a hill", table),
    ]
    figure = robot_ways(ways)
    titles = [ax.get_title() for ax in figure.axes if ax.lines]
    up = "+3\N{DEGREE SIGN}"
    assert titles == [up, up, "a hill"]


def test_curves_are_those_of_the_table() -> None:
    time = [0.0, 0.1, 0.2]
    law = pd.DataFrame({"time": time, "curvature": [1, 0.2, 0.3], "modulus": [1, 3, 2]})
    left, right = actuator_law(law).axes
    assert list(left.lines[0].get_ydata()) == [1, 0.2, 0.3]  # type: ignore[arg-type]
    assert list(right.lines[0].get_ydata()) == [1, 3, 2]  # type: ignore[arg-type]
    jump = pd.DataFrame({"time": time, "x_first": [1.0, 2, 3], "y_first": [1.0, 1, 2]})
    shape = RodShape("t = 0 s", CIRCLE, EDGES, np.empty((0, 2)), np.empty(0))
    first = jumper_paths([shape], jump, 0.5).axes[1]
    assert list(first.lines[0].get_ydata()) == [0.0, 2.0, 4.0]  # type: ignore[arg-type]
    times = pd.DataFrame({"scenario": "plane", "h": [1e-3, 2e-3], "ratio": [0.1, 0.05]})
    (ax,) = computing_times(times).axes
    assert list(ax.lines[0].get_xdata()) == [1.0, 2.0]  # type: ignore[arg-type]
    ribbon = RollingRibbon(0.5, [CIRCLE, CIRCLE], CIRCLE, CIRCLE)
    (ax,) = boundary_paths([ribbon]).axes
    assert len(ax.lines) == 5  # the ground, two shapes, two routes
