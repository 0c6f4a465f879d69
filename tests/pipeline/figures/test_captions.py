"""What stands below the figures: every one has it, filled, and true to its runs."""

import re
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.nodes import Call, Getattr
from jinja2.sandbox import modifies_known_mutable
from PIL import Image

from analysis.figures.captions import LATEX, as_html, written
from pipeline.cli.app import called
from pipeline.figures.figure_names import entry_of
from pipeline.figures.read_runs import Row
from pipeline.steps.compare import run_step as compare
from pipeline.steps.figure import CAPTION_FILE, caption_in, caption_of, run_step
from pipeline.steps.settings import ComparisonSettings, FigureConfig
from pipeline.terminal import InputError
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import WORKFLOW, rows_of, run_of

KEY = re.compile(r"[0-9a-f]{12,}")
IDENTITY = re.compile(r"^(<!-- .* -->|% .*)$\n?", re.MULTILINE)


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def template_of(name: str) -> str:
    return entry_of(name).template


def drawn(name: str, rows: list[Row], out: Path) -> str:
    """The caption that a figure leaves in its folder."""
    run_step(FigureConfig(name, tuple(row.label for row in rows)), rows, out)
    return caption_in(out)


def check_caption(text: str) -> None:
    """No placeholder, no key, and it can be printed."""
    assert not re.search(r"\{[{%]|[%}]\}|None|nan\b|Undefined", text)
    assert not KEY.search(text)
    assert "[" not in re.sub(r"\[(dJ23|ZF19|Hu20|VV20)\]", "", text)
    as_html(text)
    written(text, LATEX)


@pytest.mark.parametrize("name", WORKFLOW.figures)
def test_every_figure_has_a_template_that_begins_with_what_is_shown(name):
    template = template_of(name)
    for call in Environment().parse(template).find_all(Call):
        changed = call.node.attr if isinstance(call.node, Getattr) else ""
        assert not any(modifies_known_mutable(one, changed) for one in ({}, [], set()))
    assert re.match(r"\s*({% set [^%]*%}\s*)?\*\*.*\.?\*\*", template)
    assert not re.search(r"\d\.\d{3}", template.replace("1.5}}", ""))  # results fill it
    of_paper = name.startswith(("dejong", "zhu", "huang"))
    assert not of_paper or re.search(r"after\s+Fig. \d+[abc]?\s+of\s+\[", template)


def test_a_caption_is_filled_and_its_last_line_alone_names_the_runs_by_key(tmp_path):
    rows = rows_of("huang-3", tmp_path / "runs")
    text = drawn("huang-3", rows, tmp_path / "figure")
    check_caption(text)
    assert "All data are computed; none are measured." in text
    for label in WORKFLOW.figures["huang-3"].cases:
        assert f"`{label}`" in text
    for name in (CAPTION_FILE, "caption.tex"):
        text = (tmp_path / "figure" / name).read_text()
        assert KEY.search(text)
        assert not KEY.search(IDENTITY.sub("", text))


def test_synthetic_scans_are_said_and_the_numbers_are_those_of_the_comparison(
    tmp_path, rng
):
    mechanism, other = random_mechanism(12, rng)
    run = write_run(tmp_path / "run", mechanism, other)
    ingest = write_ingest(tmp_path / "ingest", scanned(mechanism.nodes_mm, rng))
    found = compare(ComparisonSettings(SCALE_MM), ingest, run, tmp_path / "compared")
    row = Row("circle", run, tmp_path / "compared", ingest)
    for name in ("dejong-3", "chain"):
        text = drawn(name, [row], tmp_path / name)
        check_caption(text)
        assert "Synthetic data: computed by simulation, not measured." in text
        shown = re.search(r"([\d.]+)\((\d+)\)\s+scanned", text)
        assert shown is not None
        digits = len(shown[1].partition(".")[2])
        assert float(shown[1]) == pytest.approx(
            found["S_scanned"], abs=0.5 * 10**-digits
        )
        u = int(shown[2]) * 10.0**-digits
        assert u == pytest.approx(found["S_scanned_u"], rel=0.15)


def test_a_folder_holds_one_figure(tmp_path, capsys):
    run = run_of("law", ("case=actuator_law",), tmp_path / "law")
    rows = ["--row", "law", str(run.simulated), "--out", str(tmp_path / "out")]
    assert called(["figure", "huang-3", *rows]) == 0
    text = caption_in(tmp_path / "out")
    assert called(["figure", "dejong-5", *rows]) == 2
    own = f"another folder, such as --out {tmp_path / 'out' / 'dejong-5'}"
    assert own in capsys.readouterr().err
    assert caption_in(tmp_path / "out") == text
    assert called(["figure", "huang-3", *rows]) == 0  # the same again is drawn over


def test_runs_that_leave_out_what_the_caption_names_are_refused(tmp_path):
    row = Row("other", tmp_path)
    with pytest.raises(InputError, match="the caption of huang-3 cannot be filled"):
        caption_of("huang-3", template_of("huang-3"), [row], {})


def everything(out: Path, values: dict[str, str]) -> dict[str, bytes]:
    """The files of two figures, without what names keys.

    Parameters
    ----------
    values : the rate of the limb, by figure
    """
    cases = {"huang-3": "actuator_law", "rod-motion": "own_rod"}
    found = {}
    for name, case in cases.items():
        words = (f"case={case}", *values.get(name, "").split())
        rows = [run_of(case, words, out / "runs" / name)]
        drawn(name, rows, out / name)
        for path in sorted((out / name).iterdir()):
            if path.suffix in (".md", ".tex", ".csv", ".svg"):
                text = IDENTITY.sub("", path.read_text())
                found[f"{name}/{path.name}"] = text.encode()
            elif path.suffix == ".png":
                found[f"{name}/{path.name}"] = Image.open(path).tobytes()
    return found


@pytest.mark.slow
def test_a_number_of_conf_changes_the_captions_numbers_and_figures_that_hold_it(
    tmp_path,
):
    before = everything(tmp_path / "before", {})
    after = everything(tmp_path / "after", {"huang-3": "case.actuator.delay=1.5"})
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {name for name in before if name.startswith("huang-3/")}
    one, other = (x["huang-3/caption.md"].decode().split() for x in (before, after))
    assert len(one) == len(other)
    words = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert words == [("1.4", "1.5"), ("0.997", "0.995")]  # the modulus ends at 1.01
