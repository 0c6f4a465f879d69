"""How figures are laid out: sizes, letters, lines below, numbers in print."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis.figures import style
from analysis.figures.panel_3d import PaintedScene
from analysis.figures.style import (
    PanelGrid,
    compare,
    freeze_layout,
    lay_out,
    legend_below,
    number,
    page_width,
    put_letter,
    say_below,
    scale_bar,
    sheet,
    styled,
)

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


def sound() -> tuple[Figure, list[Axes]]:
    """Two curves a panel, a drawing in space, a legend, runs below."""
    with styled():
        figure, (panels,) = sheet(PanelGrid(3, 42.0, 40.0), more=6.0)
        for ax, letter in zip(panels, "abc", strict=True):
            put_letter(ax, letter, "what is shown")
        for ax in panels[:2]:
            ax.plot([0, 1, 2], [0, 1, 3], "-", color="#0072B2", label="one")
            ax.plot([0, 1, 2], [0, 2, 1], "--", color="#000000", label="other")
            ax.set_xlabel("time $t$ (s)")
            ax.set_ylabel("way (mm)")
        compare(panels[:2])
        scene = PaintedScene((90.0, -90.0), 1.0)
        scene.faces([SQUARE], "#9BC4E2")
        scene.paint(panels[2], SQUARE)
        scale_bar(panels[2], 0.5, "mm")
        legend_below(figure, *panels[0].get_legend_handles_labels())
        say_below(figure, [("one", "0123456789ab")])
    return figure, panels


@pytest.mark.parametrize(("rows", "tall"), [(3, 210.0), (4, 235.0), (6, 420.0)])
def test_panels_keep_room_where_a_page_has_none(rows, tall):
    figure, _ = sheet(PanelGrid(rows, 150.0, 70.0))
    assert figure.get_figheight() * 25.4 == pytest.approx(tall)


def test_texts_are_as_wide_where_they_are_laid_out_as_in_print():
    """Hinted, a long name is 5 % narrower at 100 dots an inch than at 600."""
    widths = []
    for dpi in (100.0, 600.0):
        with styled():
            figure = Figure(dpi=dpi)
            text = figure.text(0.0, 0.0, "L2 rubber opentoclose test5 part1")
            figure.draw_without_rendering()
            widths.append(text.get_window_extent().width / dpi)
    assert widths[0] == pytest.approx(widths[1], abs=0.015)  # a pixel and a half


def test_lines_below_the_art_lie_outside_of_it_and_are_saved():
    figure, _ = sound()
    box = freeze_layout(figure)
    (line,) = (text for text in figure.texts if text.get_gid() == "identity")
    assert line.get_window_extent().y1 <= 0.0
    assert line.get_window_extent().y0 >= box.y0 * figure.dpi


def test_a_narrow_page_has_panels_below_each_other():
    figure, panels = sound()
    assert figure.get_figwidth() == pytest.approx(183 / 25.4)
    with page_width(89):
        narrow, below = sound()
    assert narrow.get_figwidth() == pytest.approx(89 / 25.4)
    rows = [
        len({round(ax.get_position(original=True).y0, 3) for ax in own})
        for own in (panels, below)
    ]
    assert rows == [1, 2]


def test_many_panels_are_as_tall_as_a_page_and_no_taller():
    for width, tall in ((89, 235.0), (183, 120.0)):
        with page_width(width), styled():
            figure, (panels,) = sheet(PanelGrid(12, 42.0, 40.0))
        assert figure.get_figheight() * 25.4 == pytest.approx(tall)
        assert len(panels) == 12


def test_a_width_that_is_none_is_refused():
    with (
        pytest.raises(ValueError, match="give one of 89, 120, 183, slide"),
        page_width(100),
    ):
        pass


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.089, "0.089"), (2.6e-5, r"$2.6 \times 10^{-5}$"),
     (1e-8, r"$1.0 \times 10^{-8}$"), (0.0, "0"), (-0.5, "$-0.50$"),
     (0.00999, "0.010"), (14.34, "14")],
)  # fmt: skip
def test_numbers_are_printed_with_powers_of_ten(value, said):
    assert number(value) == said
    assert number(1e-8, 1) == r"$10^{-8}$"


def test_what_is_nearer_is_painted_later():
    scene = PaintedScene((90.0, -90.0), 1.0)
    scene.faces([np.add(SQUARE, [0, 0, 1.0])], "red")
    scene.faces([SQUARE], "blue")
    ax = Figure().subplots()
    scene.paint(ax, SQUARE)
    colours = ax.collections[0].get_facecolor()
    np.testing.assert_allclose(colours, [[0, 0, 1, 1], [1, 0, 0, 1]])


def test_letters_in_a_row_are_level_whatever_their_titles_lines():
    with styled():
        figure = Figure(figsize=(4.0, 4.0), layout="constrained")
        panels = figure.subplots(2, 3).ravel()
        texts = ("one\ntwo", "one", "", "a", "b\nc\nd", "c")
        for ax, letter, text in zip(panels, "abcdef", texts, strict=True):
            put_letter(ax, letter, text)
        lay_out(figure)
        every = [text for ax in panels for text in ax.findobj(Text)]
    bold = [text for text in every if text.get_weight() == "bold"]
    tops = {text.get_text().strip(): text.get_window_extent().y1 for text in bold}
    assert tops["a"] == pytest.approx(tops["b"]) == pytest.approx(tops["c"])
    assert tops["d"] == pytest.approx(tops["e"]) == pytest.approx(tops["f"])
    assert tops["a"] > tops["d"] + 50.0
    for ax, letter in zip(panels[[1, 3]], bold[1:4:2], strict=True):
        assert ax.title.get_window_extent().x0 > letter.get_window_extent().x1


def test_the_line_below_names_runs_while_it_can():
    few, many = [("one", "0123456789abcdef"), ("two", "")], [("x", "k")] * 13
    assert style.runs_line(few) == "Runs: one 0123456789ab"
    assert style.runs_line(many) == "Runs: 13, their keys are in the .trace.json file"
    assert style.runs_line([]) == style.runs_line([("x", "")] * 13) == ""
