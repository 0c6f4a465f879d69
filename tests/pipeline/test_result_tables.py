import re

import pandas as pd
import pytest

from pipeline.compare import Comparison
from pipeline.compare import run_step as compare
from pipeline.result_tables import (
    escaped,
    latex_macros,
    letters,
    write_result_tables,
)
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run


@pytest.fixture
def row(tmp_path, rng):
    """One comparison as the report collects it."""
    mechanism, other = random_mechanism(12, rng)
    run = write_run(tmp_path / "run", mechanism, other)
    ingest = write_ingest(tmp_path / "ingest", scanned(mechanism.nodes_mm, rng))
    found = compare(Comparison(SCALE_MM), ingest, run, tmp_path / "out")
    budget = pd.read_csv(tmp_path / "out" / "budget.csv").to_dict("records")
    more = {"name": "part_2", "key": "k1", "expect": "", "budget": budget}
    return found | more


def test_tables_macros_and_plot_are_written(row, tmp_path):
    summary = write_result_tables([row], tmp_path)
    names = {p.name for p in (tmp_path / "tables").iterdir()}
    assert names == {
        "budgets.csv",
        "budgets.trace.json",
        "comparisons.csv",
        "comparisons.pdf",
        "comparisons.png",
        "comparisons.tex",
        "comparisons.trace.json",
    }
    table = pd.read_csv(tmp_path / "tables" / "comparisons.csv")
    assert table["S_scanned"][0] == row["S_scanned"]
    assert summary.bias == pytest.approx(row["S_error"])


def test_a_macro_holds_each_number_under_a_name_of_letters(row):
    text = latex_macros([row])
    value = re.search(r"\\newcommand\{\\partTwoSScanned\}\{(.*)\}", text)
    assert float(value.group(1)) == pytest.approx(row["S_scanned"], abs=5e-5)
    for name in re.findall(r"\\newcommand\{\\(.*?)\}", text):
        assert name.isalpha()
    assert "synthetic scan" in text


def test_controls_are_shown_but_do_not_count(row, tmp_path):
    control = row | {"name": "other", "expect": "differs", "S_error": 5.0}
    summary = write_result_tables([row, control], tmp_path)
    assert summary.count == 1
    assert write_result_tables([control], tmp_path) is None
    assert write_result_tables([], tmp_path / "none") is None
    assert not (tmp_path / "none").exists()


def test_macros_that_say_the_same_are_not_written_again(row, tmp_path):
    write_result_tables([row], tmp_path)
    before = (tmp_path / "numbers.tex").stat().st_mtime_ns
    write_result_tables([row], tmp_path)
    assert (tmp_path / "numbers.tex").stat().st_mtime_ns == before


def test_names_survive_latex():
    assert escaped("a_b & 5 %\\x") == r"a\_b \& 5 \%\textbackslash{}x"
    assert letters("case-3 rms_mm") == "caseThreeRmsMm"
