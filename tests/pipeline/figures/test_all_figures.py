"""Every figure, drawn from runs: its files, its fonts, and what an editor finds.

The runs are those that conf/workflow.yaml names, the longest ones cut short; figures of
a study, which stand on many runs, are left to the tests of their papers where those
runs are not short. Measured sets are compared with the prediction committed of them.
"""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from PIL import Image

from analysis.figures.style import SLIDE, letters_of, page_width, rc
from pipeline.figures.read_runs import Row, draw
from pipeline.steps import figure as drawing
from pipeline.steps.figure import caption_in
from pipeline.steps.settings import FigureConfig
from tests.figure_faults import caption_faults, faults
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
ROWS: dict[Path, list[Row]] = {}  # of each figure, by its folder


@pytest.fixture(scope="module")
def made(request, tmp_path_factory):
    """A figure's name, the folder it is in, and the figure itself."""
    name, shown = request.param, []
    folder = tmp_path_factory.mktemp(name)
    patch = pytest.MonkeyPatch()
    patch.chdir(ROOT)
    save = drawing.save
    patch.setattr(
        drawing,
        "save",
        lambda f, *rest, **how: (shown.append(f), save(f, *rest, **how))[1],
    )
    try:
        rows = ROWS[folder / "figure"] = rows_of(name, folder / "runs")
        config = FigureConfig(name, tuple(row.label for row in rows))
        drawing.run_step(config, rows, folder / "figure")
    finally:
        patch.undo()
    return name, folder / "figure", shown[0]


every_figure = pytest.mark.parametrize("made", FIGURES, indirect=True)


@pytest.mark.slow
@every_figure
def test_a_figure_is_a_pdf_a_png_and_the_plotted_numbers(made):
    name, folder, _ = made
    assert (folder / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
    with Image.open(folder / f"{name}.png") as picture:
        assert picture.width >= 900
    tables = sorted(folder.glob(f"{name}-*.csv"))
    assert tables
    for path in tables:
        table = pd.read_csv(path)
        assert len(table) >= 1 + (path.stem != f"{name}-verdicts")  # may be of one
        assert table.select_dtypes("number").shape[1] >= 1


@pytest.mark.slow
@every_figure
def test_a_figure_has_a_caption_that_names_its_runs_and_no_key(made):
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
def test_every_font_of_a_figure_is_embedded_truetype(made):
    name, folder, _ = made
    pdf = (folder / f"{name}.pdf").read_bytes()
    described = pdf.count(b"/Type /FontDescriptor")
    assert described >= 1
    assert pdf.count(b"/FontFile2") == described
    assert b"/Type3" not in pdf


@pytest.mark.slow
@every_figure
def test_an_editor_finds_no_fault_in_a_figure(made):
    name, folder, figure = made
    assert faults(figure) == []
    assert caption_faults(caption_in(folder), letters_of(figure)) == []
    for width in (89, 120, SLIDE):
        with page_width(width):
            assert faults(draw(name, ROWS[folder]).figure) == [], width


def test_the_fonts_are_set_to_truetype_everywhere():
    with mpl.rc_context(rc()):
        assert mpl.rcParams["pdf.fonttype"] == 42
