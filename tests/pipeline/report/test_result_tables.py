import copy
import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from analysis.figures.captions import latex_text
from pipeline.report.manuscript import (
    MACROS,
    collect_series,
    letters,
    macros,
    once_each,
    write_result_tables,
)
from pipeline.runs.provenance import find_origin
from pipeline.steps.compare import run_step as compare
from pipeline.steps.figure import STOP, numerical_u
from pipeline.steps.settings import ComparisonSettings
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """One comparison as the report collects it."""
    folder, rng = tmp_path_factory.mktemp("compared"), np.random.default_rng(0)
    mechanism, other = random_mechanism(12, rng)
    run = write_run(folder / "run", mechanism, other)
    ingest = write_ingest(folder / "ingest", scanned(mechanism.nodes_mm, rng))
    found = compare(ComparisonSettings(SCALE_MM), ingest, run, folder / "out")
    budget = pd.read_csv(folder / "out" / "budget.csv").to_dict("records")
    more = {"name": "part_2", "key": "k1", "expect": "", "budget": budget}
    return found | more


@pytest.fixture
def row(compared):
    """A comparison that a test may change."""
    return copy.deepcopy(compared)


def series_rows():
    """A measured series as the report collects it."""
    row = {"name": "star way", "key": "s1", "quantity": "x_c", "part": "held out"}
    row |= {"count": 18, "bias": -1.4e-3, "rms": 1.5e-3, "u": 3e-4, "outside": 0}
    return [
        row
        | {
            "baseline_rms": 0.035,
            "skill": 0.998,
            "synthetic": True,
            "verdict": "differs",
        }
    ]


def test_tables_and_macros_are_written(row, tmp_path):
    write_result_tables([row], tmp_path, series_rows())
    names = {p.name for p in (tmp_path / "tables").iterdir()}
    assert names == {
        "budgets.csv",
        "budgets.trace.json",
        "comparisons.csv",
        "comparisons.tex",
        "comparisons.trace.json",
        "series.csv",
        "series.tex",
        "series.trace.json",
    }
    table = pd.read_csv(tmp_path / "tables" / "comparisons.csv")
    assert table["S_scanned"][0] == row["S_scanned"]


def test_a_series_has_its_table_and_macros(tmp_path):
    write_result_tables([], tmp_path, series_rows())
    text = (tmp_path / "numbers.tex").read_text()
    assert r"\newcommand{\starWayXCHeldOutRms}{0.0015}" in text
    table = (tmp_path / "tables" / "series.tex").read_text()
    assert r"star way\textsuperscript{s} & x\_c & 18 & -0.0014 & 0.0015" in table
    sidecar = json.loads((tmp_path / "numbers.trace.json").read_text())
    assert sidecar["keys"] == ["s1"]


def test_the_macros_lead_to_all_runs_behind_them(row, tmp_path):
    control = row | {"name": "far", "key": "k3", "expect": "differs", "S_error": 0.3}
    rows = [row, row | {"name": "other", "key": "k2", "S_error": 1e-3}, control]
    write_result_tables(rows, tmp_path, series_rows())
    found = find_origin(tmp_path / "numbers.tex", tmp_path)
    assert set(found.origin.all_keys) == {"k1", "k2", "k3", "s1"}
    assert not found.trouble


def test_series_are_collected_from_the_finished_runs_alone(tmp_path):
    rows = pd.DataFrame(series_rows()).drop(columns=["name", "key"])
    rows.to_csv(tmp_path / "series.csv", index=False)
    job = {"step": "compare_series", "name": "star way", "key": "s1"}
    done = job | {"status": "finished", "directory": tmp_path}
    lost = job | {"status": "missing", "directory": None}
    assert collect_series([done, lost]) == series_rows()


def test_what_nothing_stands_behind_any_more_is_removed(row, tmp_path):
    write_result_tables([row], tmp_path, series_rows())
    write_result_tables([], tmp_path, series_rows())
    names = {p.name for p in (tmp_path / "tables").iterdir()}
    assert names == {"series.csv", "series.tex", "series.trace.json"}
    assert "partTwo" not in (tmp_path / "numbers.tex").read_text()
    write_result_tables([], tmp_path)
    assert not list((tmp_path / "tables").iterdir())
    assert not (tmp_path / "numbers.tex").exists()


def test_E_that_was_not_measured_is_a_dash(row, tmp_path):
    assert math.isnan(row["E_error"])
    write_result_tables([row], tmp_path)
    text = (tmp_path / "numbers.tex").read_text()
    assert r"\newcommand{\partTwoEScanned}{--}" in text
    assert "nan" not in text


def test_two_names_that_fall_together_leave_a_file_that_latex_takes(row, tmp_path):
    write_result_tables([row, row | {"name": "part-2"}], tmp_path)
    lines = (tmp_path / "numbers.tex").read_text().splitlines()
    made = [x.partition("}")[0] for x in lines if x.startswith(r"\newcommand")]
    assert len(made) == len(set(made))
    assert any("this name is taken" in line for line in lines)


def test_a_macro_holds_each_number_under_a_name_of_letters(row):
    row |= numerical_u(row["budget"])
    text = once_each(macros({row["name"]: row}, MACROS))
    value = re.search(r"\\newcommand\{\\partTwoSScanned\}\{(.*)\}", text)
    assert float(value.group(1)) == pytest.approx(row["S_scanned"], abs=5e-5)
    for name in re.findall(r"\\newcommand\{\\(.*?)\}", text):
        assert name.isalpha()
    assert "% part\\_2: synthetic" in text


def test_nothing_is_written_of_nothing(tmp_path):
    write_result_tables([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_macros_that_say_the_same_are_not_written_again(row, tmp_path):
    write_result_tables([row], tmp_path)
    before = (tmp_path / "numbers.tex").stat().st_mtime_ns
    write_result_tables([row], tmp_path)
    assert (tmp_path / "numbers.tex").stat().st_mtime_ns == before


def test_names_survive_latex():
    assert latex_text("a_b & 5 %\\x") == r"a\_b \& 5 \%\textbackslash{}x"
    assert letters("case-3 rms_mm") == "caseThreeRmsMm"


def test_every_macro_has_the_digits_that_its_uncertainty_allows(row, tmp_path):
    """What a solver leaves of E is no 0.0000, and nothing has an e in it."""
    small = row | {"E_simulated": 3.77e-6, "E_scanned": 3.7e-4, "E_error": -3.66e-4}
    small |= {"E_scanned_u": 9.8e-5, "E_u_val": 6.2e-4}
    stop = next(x for x in row["budget"] if x["source"] == STOP)
    budget = [stop | {"E_u": 3.76e-6}]
    write_result_tables([small | {"budget": budget}], tmp_path, series_rows())
    text = (tmp_path / "numbers.tex").read_text()
    found = dict(re.findall(r"\\newcommand\{\\partTwo(\w+)\}\{(.*)\}", text))
    assert found["ESimulated"] == r"\ensuremath{4 \times 10^{-6}}"
    assert found["EScanned"] == r"\ensuremath{3.7 \times 10^{-4}}"
    assert (found["EScannedU"], found["EError"]) == (
        r"\ensuremath{1.0 \times 10^{-4}}",
        r"\ensuremath{-4 \times 10^{-4}}",
    )
    assert not re.search(r"\de[-+]\d", text)
    assert "$" not in text  # so that a macro may stand in a formula


def test_a_quantity_and_its_u_have_one_power_of_ten_over_all_comparisons(row, tmp_path):
    """Controls too, whose error is a hundred times larger, take that of the others."""
    read = {
        "one": (-3.66e-4, 9.17e-4),
        "two": (4.2e-4, 1.08e-3),
        "far": (5.38e-2, 1.1e-3),
    }
    rows = [row | {"name": n, "S_error": e, "S_u_val": u} for n, (e, u) in read.items()]
    rows[-1]["expect"] = "differs"
    write_result_tables(rows, tmp_path)
    text = (tmp_path / "numbers.tex").read_text()
    text = re.sub(r"\\ensuremath\{(.*)\}\}", r"\1}", text)
    found = dict(re.findall(r"\\newcommand\{\\(\w+)\}\{(.*?)\}\n", text))
    said = {n: (found[n + "SError"], found[n + "SUVal"]) for n in read}
    power = r" \times 10^{-3}"
    assert said == {
        "one": ("-0.4" + power, "0.9" + power),
        "two": ("+0.4" + power, "1.1" + power),
        "far": ("+53.8" + power, "1.1" + power),
    }
    assert found["oneSScannedU"].startswith("0.0")  # as its value is told


def test_a_column_has_one_power_of_ten_in_its_heading(row, tmp_path):
    others = [
        row | {"name": str(k), "S_error": error, "S_u_val": u}
        for k, (error, u) in enumerate([(-3.66e-4, 6.17e-4), (5.339e-3, 9.33e-4)])
    ]
    write_result_tables(others, tmp_path)
    lines = (tmp_path / "tables" / "comparisons.tex").read_text().splitlines()
    heads, *body = [line.split(" & ") for line in lines if " & " in line]
    column = heads.index(r"error of $\mathcal{S}$ ($10^{-3}$)")
    assert [cells[column] for cells in body] == ["$-0.4(6)$", "$+5.3(9)$"]
