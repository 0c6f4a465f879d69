import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from pipeline.cli.app import called
from pipeline.figures.read_runs import Row
from pipeline.runs.atomic_files import write_json
from pipeline.steps.compare import run_step as compare
from pipeline.steps.figure import run_step
from pipeline.steps.settings import ComparisonSettings, FigureConfig
from pipeline.terminal import InputError
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """Run, comparison and ingest behind one row."""
    folder, rng = tmp_path_factory.mktemp("row"), np.random.default_rng(0)
    mechanism, other = random_mechanism(12, rng)
    run = write_run(folder / "run", mechanism, other, key="0123456789abcdef")
    scan = scanned(mechanism.nodes_mm, rng)
    ingest = write_ingest(folder / "ingest", scan)
    compare(ComparisonSettings(SCALE_MM), ingest, run, folder / "compared")
    return run, folder / "compared", ingest


def draw(row, out, labels=("circle",)):
    rows = [Row(label, *row) for label in labels]
    return run_step(FigureConfig("dejong-3", tuple(labels)), rows, out)


@pytest.fixture(scope="module")
def drawn(row, tmp_path_factory):
    """What drawing it told, and the folder it is drawn in, which no test changes."""
    folder = tmp_path_factory.mktemp("drawn") / "figure"
    return draw(row, folder), folder


def test_a_figure_is_written_as_pdf_and_png_with_its_numbers(drawn):
    result, folder = drawn
    names = sorted(p.name for p in folder.iterdir())
    assert names == [
        "caption.md",
        "caption.tex",
        "caption.trace.json",
        "dejong-3-nodes.csv",
        "dejong-3-nodes.trace.json",
        "dejong-3-small.png",
        "dejong-3-steps.csv",
        "dejong-3-steps.trace.json",
        "dejong-3.pdf",
        "dejong-3.png",
        "dejong-3.trace.json",
    ]
    assert result["shows"] == "0123456789abcdef"
    pdf = (folder / "dejong-3.pdf").read_bytes()
    assert b"/FontFile2" in pdf  # TrueType, embedded
    assert b"/Type3" not in pdf
    assert b"0123456789abcdef" in pdf


def test_the_same_runs_give_the_same_files(row, drawn, tmp_path):
    draw(row, tmp_path)
    for name in ("dejong-3.pdf", "dejong-3.png", "dejong-3-nodes.csv", "caption.tex"):
        one, two = drawn[1] / name, tmp_path / name
        assert one.read_bytes() == two.read_bytes()


def test_scanned_nodes_are_drawn_in_the_frame_and_unit_of_the_simulation(drawn):
    nodes = pd.read_csv(drawn[1] / "dejong-3-nodes.csv")
    final, seen = (
        nodes[nodes["state"] == state][["x", "y", "z"]].to_numpy()
        for state in ("final", "scanned")
    )
    known = np.isfinite(seen[:, 0])
    assert known.sum() >= 10
    assert np.abs(final - seen)[known].max() * SCALE_MM < 0.3


def test_a_row_without_a_scan_is_refused_where_the_figure_shows_scans(row, tmp_path):
    with pytest.raises(InputError, match="circle has no scan"):
        draw(row[:1], tmp_path / "figure")
    assert not (tmp_path / "figure").exists()


def test_an_unknown_figure_and_two_rows_of_one_name_are_refused():
    with pytest.raises(InputError, match="unknown figure 'dejong-9': did you mean"):
        FigureConfig("dejong-9", ("a",))
    with pytest.raises(InputError, match="two rows of dejong-3 are called 'a'"):
        FigureConfig("dejong-3", ("a", "a"))


def as_made(row, project):
    """The results that conf/workflow.yaml names for dejong-3, of the row's runs."""
    one = {"case": "triangles_circle", "scan": {"virtual": {"seed": 1}}}
    sizes = {"sphere_radius_mm": 6.0, "scale_mm": SCALE_MM}
    figures = {"dejong-3": {"comparisons": ["circle"]}}
    workflow = {"comparisons": {"circle": one | sizes}, "figures": figures}
    (project / "conf/workflow.yaml").write_text(yaml.safe_dump(workflow))
    names = ("simulate/triangles_circle", "compare/circle", "ingest/circle")
    for folder, name in zip(row, names, strict=True):
        shutil.copytree(folder, project / "results" / name)
        if not (folder / "run.json").is_file():
            write_json(project / "results" / name / "run.json", {"key": "made"})


def test_a_figure_is_drawn_at_another_width_from_what_the_workflow_names(
    row, project, capsys, refused
):
    as_made(row, project)
    assert called(["figure", "dejong-3", "--width", "89"]) == 0
    assert "wrote results/drawn/dejong-3-89/dejong-3.pdf" in capsys.readouterr().out
    with Image.open("results/drawn/dejong-3-89/dejong-3.png") as picture:
        assert picture.width / picture.info["dpi"][0] * 25.4 == pytest.approx(89, abs=1)
    shutil.rmtree("results/compare/circle")
    said = refused("figure", "dejong-3", "--width", "89")
    assert "dejong-3 shows results/compare/circle, which does not exist yet" in said
    assert "run `make figure-dejong-3`" in said
