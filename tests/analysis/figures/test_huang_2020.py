"""Figures of [Hu20] show the numbers of the runs they are given."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from analysis.figures.figure_interface import DrawnFigure, ShownRun, draw_with_runs
from analysis.figures.huang_2020 import (
    CYCLOID,
    ROLLS,
    draw_huang_2a,
    draw_huang_2b,
    draw_huang_2c,
    draw_huang_3,
    draw_huang_4,
    draw_huang_5,
    draw_huang_6,
    draw_huang_7,
)
from analysis.figures.style import lines_below

CIRCLE = np.column_stack([np.cos(np.arange(8)), 1.0 + np.sin(np.arange(8))])
TIMES = [0.0, 0.1, 0.2]


def run(label: str, table: dict[str, Any] | None = None, **result: float) -> ShownRun:
    """Eight nodes that rest, three limbs switched on in turn."""
    arrays = {
        "x": np.stack([CIRCLE] * 3),
        "edges": np.array([[0, 1], [1, 2], [2, 3], [1, 4]]),
        "edge_limb": np.array([0, 3, 3, 1]),
        "ground": np.array([[0.0, 0.0], [9.0, 0.0]]),
    }
    columns = {"time": TIMES, "way_over_H": [0.0, 0.1, 0.3]} | (table or {})
    files = {"steps.csv": pd.DataFrame(columns), "steps.npz": arrays}
    return ShownRun(label, "0123456789abcdef", files.get, result)


def below(drawn: DrawnFigure) -> str:
    """What stands below the art."""
    return " ".join(" ".join(lines_below(drawn.figure).values()).split())


def lines(drawn: DrawnFigure, panel: int = 0) -> list[tuple[list[float], list[float]]]:
    """x and y of the lines of a panel."""
    found = drawn.figure.axes[panel].lines
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in found]  # type: ignore[arg-type]


def test_each_gamma_has_its_series_of_delta_between_the_two_limits():
    points = [(1.0, 1.0, 1.2), (1.0, 0.0, 1.0), (5.0, 0.5, 1.1)]
    runs = [run("r", gamma=g, ratio=r, delta=d) for g, r, d in points]
    *limits, one, other, printed = lines(draw_huang_2b(runs))
    assert set(printed[0]) == {ROLLS}
    assert [y[0] for _, y in limits] == [1.0, CYCLOID]
    assert [one, other] == [([0.0, 1.0], [1.0, 1.2]), ([0.5], [1.1])]


def test_a_ribbon_is_drawn_closed_and_centred():
    runs = [run("a", gamma=0.8), run("b", gamma=3.0)]
    runs[1].arrays["x"][:] += [4.0, 0.0]
    for k in (0, 1):
        x, _ = lines(draw_huang_2c(runs), k)[1]
        assert x[0] == x[-1]
        assert np.mean(x[:-1]) == pytest.approx(0.0, abs=1e-12)


def test_the_limbs_that_are_switched_on_have_their_own_colour():
    ax = draw_huang_4([run("star")]).figure.axes[0]
    passive, actuated = (c for c in ax.collections if isinstance(c, LineCollection))
    assert len(passive.get_segments()) == 2
    assert len(actuated.get_segments()) == 2
    assert not np.array_equal(passive.get_color(), actuated.get_color())


def test_every_ground_has_its_panel_and_measured_points_are_not_public():
    drawn = draw_with_runs(draw_huang_5, [run("star_robot_up_3"), run("a hill")])
    titles = [ax.get_title() for ax in drawn.figure.axes if ax.lines]
    assert titles == ["+3\N{DEGREE SIGN}", "+3\N{DEGREE SIGN}", "a hill"]
    assert lines(drawn, -1) == [(TIMES, [0.0, 0.1, 0.3])]
    assert "measured are not public" in below(drawn)
    assert "a hill 0123456789ab" in below(drawn)
    ribbons = draw_with_runs(draw_huang_2c, [run("r", gamma=1.0)])
    assert "public" not in below(ribbons)


def test_curves_are_those_of_the_table():
    law = run("law", {"curvature": [1, 0.2, 0.3], "modulus": [1, 3, 2]})
    assert lines(draw_huang_3([law])) == [(TIMES, [1, 0.2, 0.3])]
    assert lines(draw_huang_3([law]), 1) == [(TIMES, [1, 3, 2])]
    way = {"x_first": np.array([1.0, 2, 3]), "y_first": np.array([1.0, 1, 2])}
    jump = draw_huang_7([run("jumper", way)])
    assert lines(jump, -2)[0][1] == pytest.approx([0.0, 200.0, 400.0])  # over R_0
    hours = {"step": [0, 1, 2], "h": [1e-3, 2e-3, 4e-3], "plane": [0.1, 0.05, 0.2]}
    files = {"steps.csv": pd.DataFrame(hours | {"plane_most": [0.2, 0.1, 0.4]})}
    (times, *_) = lines(draw_huang_6([ShownRun("times", "", files.get)]))
    assert times == ([1.0, 2.0, 4.0], [0.1, 0.05, 0.2])
    assert len(lines(draw_huang_2a([run("rolls", ratio=0.5)]))) == 8  # 5 shapes
