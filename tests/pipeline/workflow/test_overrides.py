"""Overrides on the command line reach the plan and the jobs, and nothing after."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.config.workflow_file import read_workflow
from pipeline.store.plan_file import read_document, read_documents, read_plan
from pipeline.studies.file import read_study
from pipeline.terminal.errors import InputError
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.graph import Graph
from pipeline.workflow.study import planned_runs, written_plan
from tests.pipeline.conftest import Command, refusal

SHARED = "shared: {sphere_radius_mm: 6.0, scale_mm: 40.0, input_draws: 0}\n"
ONE = "  one: {case: triangles_circle, scan: {virtual: {seed: 1}}}\n"
TWO = "  two: {case: triangles_circle, scan: {virtual: {seed: 2}}}\n"
SHOWN = "figures: {dejong-3: {comparisons: [one]}}\n"
WORD = "comparisons.one.scale_mm=50"


def write(project: Path, *lines: str) -> None:
    text = SHARED + "comparisons:\n" + "".join(lines)
    (project / "conf" / "workflow.yaml").write_text(text)


def scale_of(name: str) -> float:
    """The scale that the plan's file says of a name."""
    config: dict[str, Any] = read_document(name)["jobs"][0]["config"]
    return float(config["scale_mm"])


def test_a_plan_holds_only_for_the_words_it_was_made_with(project: Path) -> None:
    write(project, ONE, TWO)
    fresh_plan()
    assert scale_of("compare/one") == 40.0
    fresh_plan(words=[WORD])
    assert (scale_of("compare/one"), scale_of("virtual_scan/one")) == (50.0, 50.0)
    assert scale_of("compare/two") == 40.0
    fresh_plan()
    assert scale_of("compare/one") == 40.0


@pytest.mark.slow
def test_the_command_plans_and_runs_what_it_was_told(
    project: Path, command: Command
) -> None:
    write(project, ONE)
    done = command("plan", WORD)
    assert done.returncode == 0, done.stderr
    assert scale_of("virtual_scan/one") == 50.0
    for name in ("simulate/triangles_circle", "virtual_scan/one"):
        done = command("run", name, WORD)
        assert done.returncode == 0, done.stderr
    record = json.loads(Path("results/virtual_scan/one/run.json").read_text())
    assert record["config"]["scale_mm"] == 50.0
    # Snakemake by itself means what the file says.
    assert "no update" not in summary_of(project, "results/made/virtual_scan/one")
    assert scale_of("virtual_scan/one") == 40.0


def summary_of(project: Path, receipt: str) -> str:
    """What Snakemake by itself would do about a receipt."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--summary", receipt],
        cwd=project, env=os.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = [row for row in done.stdout.splitlines() if row.startswith(receipt)]
    return line


STUDIED = (
    "case: triangles_circle\ndesign: grid\nfixed: {case.max_steps: 1}\n"
    "vary: {case.target.radius: [1.8, 2.0, -1.0]}\n"
)


def test_a_name_that_is_not_planned_is_told_from_its_neighbours(project: Path) -> None:
    write(project, ONE, TWO)
    fresh_plan()
    with pytest.raises(InputError, match=r"compare/onne': did you mean compare/one\b"):
        read_document("compare/onne")
    with pytest.raises(ValueError, match=r"compare/onne: did you mean compare/one\b"):
        Graph().made("compare", "spheres")(["onne"])


def test_a_study_takes_overrides_and_its_plan_spoils_no_other(project: Path) -> None:
    (project / "conf" / "study" / "radii.yaml").write_text(STUDIED)
    drawn = "figures: {dejong-3: {study: radii}}\n"
    (project / "conf" / "workflow.yaml").write_text(drawn)
    before = read_documents(fresh_plan())
    study = read_study("radii", ["vary={case.target.radius: [1.7, 2.1]}"])
    jobs = planned_runs(study)
    assert [job.config["case"]["target"]["radius"] for job in jobs] == [1.7, 2.1]
    written_plan(study, jobs, retry=False)
    assert fresh_plan()["names"].keys() == before.keys()
    assert read_documents(read_plan()) == before


def test_a_wrong_override_of_a_study_is_refused(
    project: Path, command: Command
) -> None:
    assert "there is no sample" in refusal(command("study", "sheet_size", "sample=3"))
    assert not (project / "results").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["comparisons.one.scale=5"], "there is no comparisons.one.scale"),
        (["comparisons.one.scale_mm=-5"], "must be a positive number, not -5"),
        (["dejong-3", "dejong-5"], "give one name"),
    ],
)
@pytest.mark.parametrize("name", ["make", "plan"])
def test_wrong_words_are_refused_and_leave_nothing(
    project: Path, command: Command, name: str, words: list[str], said: str
) -> None:
    write(project, ONE, SHOWN)
    assert said in refusal(command(name, *words))
    assert not (project / "results").exists()


BAD = {
    "a value": "  bad: {case: triangles_circle, scan: [gone.ply], scale_mm: -1}\n",
    "a file": "  bad: {case: triangles_circle, scan: [gone.ply]}\n",
    "a case": "  bad: {case: no_such, scan: {virtual: {seed: 2}}}\n",
    "a setting": (
        "  bad: {case: triangles_circle, scan: {virtual: {}}, settings: {kk: 1}}\n"
    ),
}
SHOWS_BAD = (
    "figures: {dejong-3: {comparisons: [one]}, dejong-5: {comparisons: [bad]}}\n"
)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_entry_is_left_out_where_a_figure_does_not_need_it(
    project: Path, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, ONE, bad, SHOWS_BAD)
    plan = fresh_plan(goal="dejong-3")
    assert (plan["figures"], list(plan["comparisons"])) == (["dejong-3"], ["one"])
    warned = capsys.readouterr().err.splitlines()
    assert len(warned) == 2  # the entry, and the figure that shows it
    assert all(line.startswith("warning: left out") for line in warned)
    for words in ({"goal": "dejong-5"}, {}):
        with pytest.raises(InputError):
            fresh_plan(**words)


def test_a_figure_that_is_not_there_is_refused(project: Path) -> None:
    write(project, ONE, SHOWN)
    with pytest.raises(InputError, match="no figure 'dejong-33': did you mean"):
        read_workflow(goal="dejong-33")
