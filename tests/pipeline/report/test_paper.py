"""The LaTeX article: filled, its macros defined, its files there."""

import re
import shutil
import subprocess

import pytest
from matplotlib.figure import Figure

from pipeline.report.manuscript import FIGURES, write_paper, write_result_tables
from pipeline.runs.sidecars import Origin
from pipeline.steps.figure import write_caption
from pipeline.terminal import InputError
from tests.pipeline.report.test_result_tables import compared  # noqa: F401

MACRO = re.compile(r"\\([a-z]+[A-Z]\w*)")  # ours; LaTeX's own have no capitals


def test_the_article_is_filled_and_all_it_names_is_there(compared, tmp_path):  # noqa: F811
    control = compared | {"name": "far", "expect": "differs"}
    rows = [compared | {"name": "part 2"}, control]
    write_result_tables(rows, tmp_path)
    with pytest.raises(InputError, match="no figure chain: run `make figure-chain"):
        write_paper(rows, tmp_path)
    for name in FIGURES:
        folder = tmp_path / "figure" / name
        folder.mkdir(parents=True)
        write_caption(f"**{name}.** After [dJ23].", folder, Origin())
        Figure().savefig(folder / f"{name}.pdf")
    path = write_paper(rows, tmp_path)
    text = path.read_text()
    assert not re.search(r"<[<%]|[%>]>", text)
    assert r"part 2 has $\mathcal{S}$ = \partTwoSSimulated{}" in text
    assert "The far" not in text
    defined = re.findall(r"newcommand\{\\(\w+)", (tmp_path / "numbers.tex").read_text())
    assert set(MACRO.findall(text)) <= set(defined)
    named = re.findall(r"\\(?:input|includegraphics.*?)\{(\.\..*?)\}", text)
    assert len(named) == 2 + 2 * len(FIGURES)
    for name in named:
        file = path.parent / name
        assert file.is_file() or file.with_name(f"{file.name}.tex").is_file()
    plain = re.sub(r"(?m)\\.|%.*", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    if shutil.which("pdflatex"):
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
        assert subprocess.run(words, cwd=path.parent).returncode == 0


def test_without_a_comparison_nothing_is_filled(tmp_path):
    with pytest.raises(InputError, match="no comparison has finished: run `make demo"):
        write_paper([], tmp_path)
