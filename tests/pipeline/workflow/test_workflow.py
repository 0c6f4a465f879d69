"""A small workflow from a scan to a figure, made for real by bare `snakemake`."""

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.tables import rows_of
from tests.pipeline.conftest import furnish
from tests.pipeline.workflow.conftest import (
    SERIES,
    edit,
    snakemake,
    started,
    write_workflow,
)

SMALL = ["case.structure.rows=1", "case.structure.columns=1", "case.target.radius=1.6"]
SHEET = {"case": "triangles_cylinder", "overrides": SMALL}
WORKFLOW = {
    "shared": {
        "sphere_radius_mm": 6.0,
        "scale_mm": 40.0,
        "input_draws": 0,
        "settings": {"node_margin_mm": 3.0},
    },
    "comparisons": {
        "same": {**SHEET, "scan": {"virtual": {"seed": 1}}, "input_draws": 4}
    },
    "series": {"way": SERIES},
    "figures": {"dejong-3": {"comparisons": ["same"]}},
}
STEPS = Counter(
    simulate=2, virtual_scan=1, ingest=1, deviation=1, input_uncertainty=1, compare=1,
    compare_series=1, figure=1,
)  # fmt: skip
SAME = "results/compare/same/comparison.csv"
WAY = "results/compare_series/way/series.csv"


def coarse(folder: Path) -> None:
    """A virtual lab of few points."""
    scanner = folder / "conf" / "scanner.yaml"
    edit(scanner, "views: 10", "views: 4")
    edit(scanner, "pitch_mm: 0.5", "pitch_mm: 0.8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project that bare `snakemake` has made; its tests leave it as it is."""
    folder = tmp_path_factory.mktemp("workflow")
    furnish(folder)
    coarse(folder)
    write_workflow(folder, WORKFLOW)
    snakemake(folder)
    return folder


@pytest.fixture
def copied(made, tmp_path):
    """The same elsewhere, as `cp -a` copies it."""
    place = tmp_path / "copied"
    shutil.copytree(made, place, symlinks=True)
    return place


def jobs_in(said: str) -> set[str]:
    """The results of the jobs in what Snakemake says."""
    return set(re.findall(r"^ +log: results/log/(\S+)\.log", said, re.MULTILINE))


def comparison(folder: Path) -> dict[str, str]:
    (row,) = rows_of(folder / SAME)
    return row


def test_each_step_ran_once_and_its_files_are_where_a_person_looks(made):
    results = made / "results"
    records = [json.loads(p.read_text()) for p in results.glob("runs/*/run.json")]
    assert Counter(record["step"] for record in records) == STEPS
    for record in records:
        run = results / "runs" / record["key"]
        shown = results / record["step"] / record["name"]
        for file in run.iterdir():
            assert file.samefile(shown / file.name)
    assert not list((results / "running").iterdir())


def test_a_faithful_scan_agrees_and_says_everywhere_that_it_is_synthetic(made):
    assert comparison(made)["verdict"] == "agrees"
    results = made / "results"
    for scan in (results / "virtual_scan" / "same").glob("*.ply"):
        assert b"synthetic" in scan.read_bytes()[:400]
    spheres = (results / "ingest" / "same" / "spheres.csv").read_text().splitlines()
    assert spheres[0].endswith(",synthetic")
    assert all(line.lower().endswith(",true") for line in spheres[1:])
    assert comparison(made)["synthetic"].lower() == "true"
    for step in ("virtual_scan", "ingest", "compare"):
        record = json.loads((results / step / "same" / "run.json").read_text())
        assert record["tags"]["synthetic"] == "true"


def test_comments_other_times_and_the_order_of_keys_run_nothing(copied):
    for path in (copied / "conf").rglob("*.yaml"):
        path.write_text(f"# a remark\n{path.read_text()}")
    with (copied / "Snakefile").open("a") as file:
        file.write("# a remark\n")
    for path in [*copied.glob("results/ingest/*/*"), copied / "way.csv"]:
        path.touch()  # written again with the same content
    said = snakemake(copied, "-n")
    assert "Nothing to be done" in said


def test_a_changed_value_is_named_before_and_now_with_what_depends_on_it(made):
    said = snakemake(made, "-n", "--config", "set=comparisons.same.scale_mm=50")
    assert "Params have changed" in said
    before, now = re.search(
        r"rule deviation:.*?before: (.*?) now: (.*?)\n", said, re.DOTALL
    ).groups()
    assert ("--scale-mm 40.0" in before, "--scale-mm 50.0" in before) == (True, False)
    assert ("--scale-mm 50.0" in now, "--scale-mm 40.0" in now) == (True, False)
    changed = ("virtual_scan", "deviation", "input_uncertainty", "compare")
    assert jobs_in(said) == {
        *(f"{step}/same" for step in (*changed, "ingest")),
        "figure/dejong-3",
    }


def test_an_edited_file_runs_again_what_reads_it_and_nothing_else(copied):
    edit(copied / "way.csv", "0.5,1", "0.5,2")
    before = started(copied)
    said = snakemake(copied)
    assert jobs_in(said) == {"compare_series/way"}
    assert len(started(copied)) == len(before) + 1
    assert before.items() <= started(copied).items()


def test_a_copy_without_snakemakes_memory_computes_nothing_again(copied):
    """Its files have other times, the newest the oldest; its links are copies."""
    shutil.rmtree(copied / ".snakemake")
    files = [path for path in copied.rglob("*") if path.is_file()]
    files.sort(key=lambda path: path.stat().st_mtime_ns)
    for age, path in enumerate(files):
        os.utime(path, (1e9 - age, 1e9 - age))
    before = started(copied)
    said = snakemake(copied, WAY)
    assert jobs_in(said) == {"compare_series/way"}
    assert started(copied) == before
    assert "Nothing to be done" in snakemake(copied, "-n", WAY)


def test_results_that_were_removed_are_put_back_without_computing(copied):
    before = started(copied)
    shutil.rmtree(copied / "results" / "compare")
    snakemake(copied, SAME)
    assert started(copied) == before
    assert comparison(copied)["verdict"] == "agrees"


def test_an_unknown_target_is_refused_with_the_nearest_names(made):
    target = "results/compar/same/comparison.csv"
    assert "did you mean compare" in snakemake(made, "-n", target, status=1)


def test_the_report_holds_figures_and_tables(made, tmp_path):
    page = tmp_path / "report.html"
    snakemake(made, "--report", str(page))
    text = page.read_text()
    for name in ("dejong-3.png", "labels.png", "picture.png", "series.png"):
        assert name in text
    for name in ("comparison.csv", "budget.csv", "spheres.csv", "series.csv"):
        assert name in text
    for category in ("Comparisons", "Figures", "Series", "Spheres found"):
        assert f'"{category}"' in text
    assert page.stat().st_size < 12e6


@pytest.mark.slow  # that nothing is left to do is asked by -n as well
@pytest.mark.parametrize("option", ["--summary", "--dag", "--rulegraph"])
def test_snakemake_shows_what_depends_on_what(made, option):
    output = snakemake(made, option)
    for step in ("simulate", "virtual_scan", "ingest", "deviation", "compare"):
        assert step in output
    assert option != "--summary" or "update pending" not in output
