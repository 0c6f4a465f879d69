"""A draft of a manuscript from runs: filled, cited, labelled, true to its numbers."""

import re
from copy import deepcopy
from pathlib import Path

import pandas as pd
import pytest
import yaml
from PIL import Image

from analysis.captions.digits import with_u
from pipeline.commands.paper import (
    NO_ARCHIVE,
    archive_said,
    compiled,
    compilers,
    leave_out_runs,
)
from pipeline.config.paper_file import paper_names, read_paper
from pipeline.pages.bibliography import bibtex, references
from pipeline.pages.manuscript import (
    Heading,
    Manuscript,
    PaperTable,
    as_latex,
    as_markdown,
    as_page,
)
from pipeline.pages.paper import availability, manuscript, paper_facts, write_paper
from pipeline.results import saved_figure
from pipeline.steps.compare import ComparisonSettings
from pipeline.steps.compare import run_step as compare
from pipeline.steps.figure import FigureConfig, run_step
from pipeline.store.files import write_json
from pipeline.terminal.errors import FAILED, InputError
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import rows_of

CASE = {
    "method": "projection",
    "tolerance": 1e-6,
    "residual": 1e-10,
    "structure": {"rows": 2, "columns": 2, "variation": 0.1, "seed": 1},
}
SCAN = {"seed": 1, "scale_sd": 1e-3, "printing_sd_mm": 0.02, "joint_play_mm": 0.05}
SCAN |= {"views": 10, "noise_mm": 0.05}
SETTINGS = {"scale_mm": 40.0, "k": 2.0, "S_margin": 0.02, "node_margin_mm": 3.0}
NAMES = ("circle", "cylinder", "ellipsoid")


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def finished(tmp_path, rng):
    """Jobs and comparisons as the report collects them, and the results' folder."""
    mechanism, other = random_mechanism(12, rng)
    run = write_run(tmp_path / "run", mechanism, other)
    ingest = write_ingest(tmp_path / "ingest", scanned(mechanism.nodes_mm, rng))
    found = compare(ComparisonSettings(SCALE_MM), ingest, run, tmp_path / "out")
    budget = pd.read_csv(tmp_path / "out" / "budget.csv").to_dict("records")
    row = found | {"expect": "", "budget": budget}
    comparisons = [row | {"name": name, "key": f"k{name}"} for name in NAMES]
    jobs = [job("simulate", "s", {"case": CASE}), job("virtual_scan", "v", SCAN)]
    jobs.append(job("ingest", "i", {"sphere_radius_mm": 6.0}, {"scan": "v"}))
    roles = {"simulated": "s", "spheres": "i"}
    jobs += [job("compare", f"k{name}", SETTINGS, roles) for name in NAMES]
    for name in ("chain", "dejong-3"):
        folder = tmp_path / "figure" / name
        folder.mkdir(parents=True)
        (folder / "caption.md").write_text(
            f"**{name}.** After [dJ23].\n\n<!-- key -->\n"
        )
        for suffix in (".pdf", ".png"):
            (folder / f"{name}{suffix}").write_bytes(b"a picture")
        jobs.append(job("figure", name, {}) | {"name": name, "directory": folder})
    (tmp_path / "numbers.tex").write_text("% numbers")
    return jobs, comparisons, tmp_path


def job(step, key, config, roles=None):
    done = {"step": step, "key": key, "name": key, "status": "finished"}
    return done | {"config": config, "roles": roles or {}, "directory": None}


def drafted(jobs, comparisons, paper=None):
    paper = paper or read_paper("shape_factors").model_dump()
    facts = paper_facts(jobs, comparisons, paper["comparisons"])
    digests = dict.fromkeys(NAMES, "d" * 64)
    return manuscript(paper, facts, jobs, availability(facts["rows"], "a", digests))


def test_the_draft_is_whole_in_all_three_forms(finished):
    jobs, comparisons, results = finished
    draft = drafted(jobs, comparisons)
    out = results / "paper" / "shape_factors"
    texts = [p.read_text() for p in write_paper("shape_factors", draft, results, out)]
    S = with_u(comparisons[0]["S_scanned"], comparisons[0]["S_scanned_u"])
    for text in texts:
        assert not re.search(r"\{\{ |\{% |Undefined|None\b|\bnan\b", text)
        assert "synthetic" in text
        assert S in text
    assert {p.name for p in (out / "figures").iterdir()} == {
        "chain.pdf", "chain.png", "dejong-3.pdf", "dejong-3.png",
    }  # fmt: skip


def test_latex_is_balanced_and_refers_to_what_is_there(finished):
    draft = drafted(*finished[:2])
    text = as_latex(draft)
    plain = re.sub(r"\\\\|\\[{}$%]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    begun, ended = (re.findall(rf"\\{w}\{{(\w+)", text) for w in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert set(re.findall(r"\\ref\{(.*?)\}", text)) <= set(
        re.findall(r"\\label\{(.*?)\}", text)
    )
    cited = set(re.findall(r"\\cite\{(.*?)\}", text))
    assert cited == set(draft.cited) == {"dJ23", "VV20"}
    assert "@article{dJ23," in bibtex(draft.cited)
    assert "@misc{VV20," in bibtex(draft.cited)
    assert r"howpublished = {ASME V\&V 20-2009}" in bibtex(draft.cited)
    assert not re.search(r"\[(dJ23|fig:|tab:)", text)
    within = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
    assert text.count(within) == text.count(r"\begin{tabular}") > 0
    assert text.count(r"\centering\asdrawn{figures/") == 2  # at their own size


def test_names_in_references_are_text_and_no_commands() -> None:
    who = [{"name": r"\input{x} & Sons"}, {"family-names": "A_b", "given-names": "%"}]
    one = {"authors": who, "title": "a", "journal": "b", "year": 2020, "start": "1&2"}
    entry = bibtex({"k": one})
    assert r"{\textbackslash{}input\{x\} \& Sons} and A\_b, \%" in entry
    assert r"pages = {1\&2}" in entry


def test_markdown_and_html_refer_in_their_own_words(finished):
    draft = drafted(*finished[:2])
    assert "(@fig-chain)" in as_markdown(draft)
    assert "{#tbl-comparisons}" in as_markdown(draft)
    assert "[@dJ23]" in as_markdown(draft)
    assert "Fig. 2 and Table 1 show all 3" in as_page(draft)
    assert "de Jong" in as_page(draft)
    assert "ASME V&amp;V 20-2009 (2009)" in as_page(draft)


def test_a_draft_survives_the_characters_of_its_titles_names_and_cells():
    odd = 'Größe "α_max" & 5 % | #1 \\x'
    cells = [["a|b_c", "$< 0.001$"]]
    blocks = [Heading(odd), PaperTable("t_1", "See [tab:t_1].", ["a|b", "u"], cells)]
    draft = Manuscript(odd, [odd, "Zoe\u0308 O'Brien"], odd, blocks, {})
    text = as_markdown(draft)
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["title"] == head["abstract"] == r'Größe "α\_max" & 5 % \| \#1 \\x'
    assert len(head["author"]) == 2
    assert r"| a\|b\_c | $< 0.001$ |" in text
    assert ": See @tbl-t_1. {#tbl-t_1}" in text
    said = r'Größe "\ensuremath{\alpha}\_max" \& 5 \% | \#1 \textbackslash{}x'
    assert rf"\title{{{said}}}" in as_latex(draft)
    assert "Zoë" in as_latex(draft)
    assert r"See Table~\ref{tab:t_1}." in as_latex(draft)


def test_a_number_of_conf_changes_the_words_that_hold_it_and_no_others(finished):
    jobs, comparisons, _ = finished
    changed = [
        j | {"config": SETTINGS | {"S_margin": 0.03}} if j["step"] == "compare" else j
        for j in jobs
    ]
    one, other = (
        as_latex(drafted(each, comparisons)).split() for each in (jobs, changed)
    )
    assert len(one) == len(other)
    words = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert words == [("0.02", "0.03")]


def test_what_is_not_there_is_refused_with_the_remedy(finished):
    jobs, comparisons, _ = finished
    with pytest.raises(InputError, match="'circle' has not finished: run make demo"):
        drafted(jobs, comparisons[1:])
    with pytest.raises(InputError, match="'chain' is not drawn: make figure-chain"):
        drafted([j for j in jobs if j["name"] != "chain"], comparisons)
    paper = read_paper("shape_factors").model_dump()
    with pytest.raises(InputError, match=r"no figure 'chian': did you mean chain\?"):
        drafted(jobs, comparisons, paper | {"abstract": "See [fig:chian]."})
    with pytest.raises(InputError, match="'x' is undefined"):
        drafted(jobs, comparisons, paper | {"abstract": "{{ x }}"})
    with pytest.raises(InputError, match="has no paper 'shape_factor': did you mean"):
        read_paper("shape_factor")


def test_the_figures_of_a_draft_fit_its_text_and_have_no_line_of_runs(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(saved_figure, "PNG_DPI", 100)
    rows = rows_of("huang-3", tmp_path / "runs")
    config = {"figure": "huang-3", "labels": [row.label for row in rows]}
    needs = {"simulated": config["labels"]}
    drawn = tmp_path / "figure" / "huang-3"
    run_step(FigureConfig(**config), rows, drawn)
    write_json(drawn / "run.json", {"key": "k", "config": config, "needs": needs})
    leave_out_runs("huang-3", tmp_path, tmp_path)
    heights = []
    for folder in (drawn, tmp_path):
        with Image.open(folder / "huang-3.png") as picture:
            heights.append(picture.height)
    assert 8 <= heights[0] - heights[1] <= 20  # pixels of a line of 2.6 mm


def test_every_shipped_draft_can_be_read():
    for name in paper_names():
        paper = read_paper(name)
        figures = [figure for section in paper.sections for figure in section.figures]
        assert figures
        assert paper.comparisons


def test_the_references_are_those_of_the_citation_file():
    assert list(references()) == ["dJ23", "ZF19", "Hu20", "VV20"]


def test_an_archive_is_named_by_its_digest_and_an_old_one_is_not(tmp_path: Path):
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "plan.json").write_text("{}")
    archive = tmp_path / "a.zip"
    assert archive_said(archive, tmp_path) == NO_ARCHIVE
    archive.write_bytes(b"")
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest in archive_said(archive, tmp_path)


def test_without_latex_nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert compilers("draft") == []


def test_what_latex_stumbles_over_is_said(tmp_path, monkeypatch, capsys):
    latex = tmp_path / "latexmk"
    latex.write_text("#!/bin/sh\necho '! LaTeX Error: Unicode 中' > x.log\nexit 12\n")
    latex.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert compiled("x", tmp_path) == FAILED
    said = "error: latexmk failed: LaTeX Error: Unicode 中: "
    assert capsys.readouterr().out == f"{said}{tmp_path}/x.log says more\n"


def test_a_budget_is_told_in_one_power_of_ten_a_column_header_says_which(finished):
    jobs, comparisons, _ = finished
    tables = [b for b in drafted(jobs, comparisons).blocks if hasattr(b, "heads")]
    (table,) = [b for b in tables if b.heads[0] == "source"]
    power = int(table.heads[1].partition("10^{")[2].partition("}")[0])
    rows = {row[0]: float(row[1]) * 10.0**power for row in table.rows}
    for line in comparisons[0]["budget"]:
        name = line["source"].replace("u_val", r"$u_{\mathrm{val}}$")
        name = name.replace("k =", "$k$ =")
        assert rows[name] == pytest.approx(line["S_u"], rel=0.06)


def test_a_source_that_adds_nothing_is_told_as_less_than_a_thousandth(finished):
    jobs, comparisons, _ = finished
    comparisons = deepcopy(comparisons)
    small, other = comparisons[0]["budget"][:2]
    small["S_u"] = 1e-5 * max(line["S_u"] for line in comparisons[0]["budget"])
    other["S_u"] = 0.0
    tables = [b for b in drafted(jobs, comparisons).blocks if hasattr(b, "heads")]
    (table,) = [b for b in tables if b.heads[0] == "source"]
    said = {row[0]: row[1] for row in table.rows}
    assert (said[small["source"]], said[other["source"]]) == ("$< 0.001$", "0")
    assert not any("times" in cell for row in table.rows for cell in row[1:])
