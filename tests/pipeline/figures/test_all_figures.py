"""Every figure, drawn from runs: its files, its fonts, and whether grey tells it.

The runs are those that conf/workflow.yaml names, the longest ones cut short; figures of
a study, which stand on many runs, are left to the tests of their papers where those
runs are not short.
"""

from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from analysis.figures.style import RC
from pipeline.results.saved_figure import caption_in
from pipeline.steps import figure as drawing
from pipeline.steps.figure import FigureConfig
from sim.arrays import Floats
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import WORKFLOW, rows_of
from tests.pipeline.figures.test_captions import check_caption

TOO_LONG = {"huang-2a", "huang-5", "huang-6", "zhu-filipov-10"}
SHORT_STUDIES = {"zhu-filipov-7"}
FIGURES = [
    name
    for name, drawn in WORKFLOW.figures.items()
    if name not in TOO_LONG and (not drawn.study or name in SHORT_STUDIES)
]
LEAST = 0.1  # of lightness, 0 to 1, between two lines that colour alone tells apart
DEUTERANOPE = np.array(  # Machado, Oliveira, Fernandes (2009), severity 1, linear RGB
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
GREY = np.array([0.2126, 0.7152, 0.0722])


@pytest.fixture(scope="module")
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Figure]:
    """A figure's name, the folder it is in, and the figure itself."""
    name, shown = request.param, []
    folder = tmp_path_factory.mktemp(name)
    patch = pytest.MonkeyPatch()
    patch.chdir(ROOT)
    save = drawing.save
    patch.setattr(
        drawing, "save", lambda f, *rest: (shown.append(f), save(f, *rest))[1]
    )
    try:
        rows = rows_of(name, folder / "runs")
        config = FigureConfig(name, tuple(row.label for row in rows))
        drawing.run_step(config, rows, folder / "figure")
    finally:
        patch.undo()
    return name, folder / "figure", shown[0]


every_figure = pytest.mark.parametrize("made", FIGURES, indirect=True)


@pytest.mark.slow
@every_figure
def test_a_figure_is_a_pdf_a_png_and_the_plotted_numbers(
    made: tuple[str, Path, Figure],
) -> None:
    name, folder, _ = made
    assert (folder / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
    with Image.open(folder / f"{name}.png") as picture:
        assert picture.width >= 900
    tables = sorted(folder.glob(f"{name}-*.csv"))
    assert tables
    for path in tables:
        table = pd.read_csv(path)
        assert len(table) >= 2
        assert table.select_dtypes("number").shape[1] >= 1


@pytest.mark.slow
@every_figure
def test_a_figure_has_a_caption_that_names_its_runs_and_no_key(
    made: tuple[str, Path, Figure],
) -> None:
    name, folder, _ = made
    text = caption_in(folder)
    check_caption(text)
    drawn = WORKFLOW.figures[name]
    for label in [*drawn.cases, *drawn.comparisons, *drawn.parts]:
        assert f"`{label}`" in text
    synthetic = drawn.comparisons or drawn.calibrations or name == "rod-fit"
    assert ("Synthetic data: computed" in text) == bool(synthetic)


@pytest.mark.slow
@every_figure
def test_every_font_of_a_figure_is_embedded_truetype(
    made: tuple[str, Path, Figure],
) -> None:
    name, folder, _ = made
    pdf = (folder / f"{name}.pdf").read_bytes()
    described = pdf.count(b"/Type /FontDescriptor")
    assert described >= 1
    assert pdf.count(b"/FontFile2") == described
    assert b"/Type3" not in pdf


@pytest.mark.slow
@every_figure
def test_lines_differ_in_grey_and_to_the_colour_blind_or_in_shape(
    made: tuple[str, Path, Figure],
) -> None:
    for ax in made[2].axes:
        for one, other in combinations(told_by_colour(ax), 2):
            if to_rgb(one.get_color()) == to_rgb(other.get_color()):
                continue
            pair = [one, other]
            said = " and ".join(f"{x.get_label()} {x.get_color()}" for x in pair)
            if same_looks(*pair):
                grey = [lightness(linear(x.get_color()) @ GREY) for x in pair]
                assert abs(grey[0] - grey[1]) >= LEAST, f"{said} in grey"
                seen = [DEUTERANOPE @ linear(x.get_color()) for x in pair]
                assert np.linalg.norm(seen[0] - seen[1]) >= LEAST, (
                    f"{said}, deuteranope"
                )


def told_by_colour(ax: Axes) -> list[Line2D]:
    """The curves of a panel that a legend names."""
    return [x for x in ax.get_lines() if not str(x.get_label()).startswith("_")]


def same_looks(one: Line2D, other: Line2D) -> bool:
    """Whether dash and mark are the same."""
    looks = [
        (x.get_linestyle(), x.get_marker(), x.get_mfc() == "none") for x in (one, other)
    ]
    return looks[0] == looks[1]


def linear(colour: object) -> Floats:
    """Linear RGB (3,) of a colour."""
    c = np.array(to_rgb(colour))  # type: ignore[arg-type]
    found: Floats = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return found


def lightness(Y: float) -> float:
    """CIE lightness of a luminance, 0 to 1."""
    return float(1.16 * np.cbrt(Y) - 0.16) if Y > 0.008856 else float(9.033 * Y)


def test_the_fonts_are_set_to_truetype_everywhere() -> None:
    with mpl.rc_context(RC):
        assert mpl.rcParams["pdf.fonttype"] == 42
