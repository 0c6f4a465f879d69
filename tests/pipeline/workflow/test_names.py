"""Results by name, as those who know Snakemake expect them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.commands.plan import main as plan_command
from pipeline.commands.run import main as run_command
from pipeline.store import keys
from pipeline.store.plan_file import read_documents, read_plan
from pipeline.store.receipts import content_digest, read_receipt
from pipeline.store.runs import finished
from pipeline.store.standing import standings
from pipeline.workflow import fresh
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.run import perform_name
from tests.pipeline.conftest import ROOT, furnish

WORKFLOW = {
    "series": {
        "way": {"case": "actuator_law", "measured": "way.csv", "synthetic": True}
    },
    "figures": {"huang-3": {"cases": ["actuator_law"]}},
}
NAMES = {"simulate/actuator_law", "compare_series/way", "figure/huang-3"}
SIMULATE = "simulate/actuator_law"


def tiny(folder: Path) -> None:
    """A project of three results: a run, its comparison with a series, its figure."""
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    (folder / "way.csv").write_text(
        "quantity,at,value,u,part\nmodulus,0.5,1,0,held out\n"
    )


def snakemake(folder: Path, *words: str, status: int = 0) -> str:
    """What bare `snakemake` says; without the interpreter's folder on the PATH."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(Path(sys.executable).parent / "snakemake"), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def would_run(folder: Path, *words: str) -> set[str]:
    """The names that Snakemake would make."""
    said = snakemake(folder, "-n", *words)
    return set(re.findall(r"output: results/made/(\S+)", said))


def started(folder: Path) -> dict[str, int]:
    """When each run was made."""
    runs = (folder / "results" / "runs").glob("*/run.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in runs}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that bare `snakemake` has made."""
    folder = tmp_path_factory.mktemp("names")
    tiny(folder)
    assert would_run(folder) == NAMES
    assert would_run(folder, "results/made/figure/huang-3") == NAMES - {
        "compare_series/way"
    }
    snakemake(folder, "--cores", "2")
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """The same elsewhere, without Snakemake's memory; its newest files the oldest."""
    place = tmp_path / "copied"
    shutil.copytree(
        made, place, symlinks=True, ignore=shutil.ignore_patterns(".snakemake")
    )
    files = [p for p in place.rglob("*") if p.is_file() and not p.is_symlink()]
    files.sort(key=lambda path: path.stat().st_mtime_ns)
    for age, path in enumerate(files):
        os.utime(path, (1e9 - age, 1e9 - age))
    return place


def test_a_receipt_holds_the_digest_of_its_run_and_then_its_key(made: Path) -> None:
    for name in NAMES:
        lines = (made / "results" / "made" / name).read_text().splitlines()
        digest, key = lines
        directory = made / "results" / "runs" / key
        assert digest == content_digest(directory)
    assert len(started(made)) == 3


def test_nothing_is_made_twice(made: Path) -> None:
    before = started(made)
    assert would_run(made) == set()
    (made / "conf" / "workflow.yaml").touch()
    for path in (made / "results" / "plan").rglob("*.json"):
        path.touch()
    assert would_run(made) == set()
    assert started(made) == before


@pytest.mark.slow
def test_a_project_copied_with_other_times_makes_nothing_twice(copied: Path) -> None:
    before = started(copied)
    assert would_run(copied) == set()
    snakemake(copied, "--cores", "1")
    assert started(copied) == before


def test_an_edited_file_makes_again_what_reads_it(copied: Path) -> None:
    way = copied / "way.csv"
    way.write_text(way.read_text().replace("0.5,1", "0.5,2"))
    assert would_run(copied) == {"compare_series/way"}
    before = started(copied)
    snakemake(copied, "--cores", "1")
    assert len(started(copied)) == len(before) + 1
    assert would_run(copied) == set()


@pytest.mark.slow
def test_a_receipt_whose_run_is_gone_is_made_again_and_what_reads_it_is_not(
    copied: Path,
) -> None:
    receipts = copied / "results" / "made"
    kept = {name: (receipts / name).read_text() for name in NAMES}
    key = kept[SIMULATE].split()[1]
    shutil.rmtree(copied / "results" / "runs" / key)
    before = started(copied)
    assert SIMULATE in would_run(copied)
    plan = (copied / "results" / "plan" / f"{SIMULATE}.json").read_text()
    assert "its run is gone" in plan
    snakemake(copied, "--cores", "1")
    after = started(copied)
    assert before.items() <= after.items()
    assert after.keys() - before.keys() == {key}
    assert {name: (receipts / name).read_text() for name in NAMES} == kept
    assert would_run(copied) == set()


@pytest.mark.slow
def test_a_receipt_from_elsewhere_is_made_again(copied: Path) -> None:
    receipt = copied / "results" / "made" / SIMULATE
    whole = receipt.read_text()
    receipt.write_text("0" * 64 + "\n" + "0" * 16 + "\n")
    assert SIMULATE in would_run(copied)
    snakemake(copied, "--cores", "1")
    assert receipt.read_text() == whole


@pytest.mark.parametrize("words", [["--dag"], ["--summary"], ["--rulegraph"]])
def test_snakemake_tells_of_the_names(made: Path, words: list[str]) -> None:
    said = snakemake(made, *words)
    assert "compare_series" in said
    if words == ["--dag"]:
        assert said.count("digraph") == 1


def test_the_linter_misses_only_an_environment_that_is_kept_elsewhere(
    made: Path,
) -> None:
    said = snakemake(made, "--lint", status=1)
    named = re.findall(r"^ +\* (.+):$", said, re.MULTILINE)
    assert set(named) == {"Specify a conda environment or container for each rule."}


@pytest.fixture
def in_process(project: Path) -> Callable[[], set[str]]:
    """The tiny project made here; what would be made of it now."""
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    (project / "way.csv").write_text(
        "quantity,at,value,u,part\nmodulus,0.5,1,0,held out\n"
    )
    for name in fresh_plan()["names"]:
        assert perform_name(name) == 0

    def undone() -> set[str]:
        now = standings(read_documents(read_plan()))
        return {name for name, one in now.items() if one.state != "done"}

    return undone


def told_by_plan(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The state of each name as `morphtrack plan` says it."""
    capsys.readouterr()
    assert plan_command([]) == 0
    said = capsys.readouterr().out.splitlines()
    lines = [line.split()[:2] for line in said if re.match(r"\w+ +\w+/", line)]
    told = {name: state for state, name in lines}
    (counts,) = (line for line in said if re.match(r"\d", line))
    assert sum(map(int, re.findall(r"\d+", counts))) == len(told)
    return told


@pytest.mark.usefixtures("in_process")
def test_the_plan_tells_by_name_what_is_done_and_what_is_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told_by_plan(capsys) == dict.fromkeys(NAMES, "done")
    receipt = read_receipt("compare_series/way")
    assert receipt is not None
    shutil.rmtree(f"results/runs/{receipt.key}")
    gone = {"compare_series/way": "gone"}
    assert told_by_plan(capsys) == dict.fromkeys(NAMES, "done") | gone


def test_code_that_leaves_a_run_as_it_was_makes_nothing_after_it_run(
    in_process: Callable[[], set[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert in_process() == set()
    code = keys._code

    def other(modules: frozenset[str]) -> Any:
        digest, foreign = code(modules)
        changed = "pipeline.steps.simulate" in modules
        return digest[::-1] if changed else digest, foreign

    monkeypatch.setattr(keys, "_code", other)
    before, runs = read_receipt(SIMULATE), set(Path("results/runs").iterdir())
    with Path("conf/workflow.yaml").open("a") as file:
        file.write("# planned again\n")
    fresh_plan()
    assert in_process() == NAMES  # until the run is there, nobody can say more
    assert told_by_plan(capsys) == dict.fromkeys(NAMES, "kept") | {SIMULATE: "wanted"}
    assert perform_name(SIMULATE) == 0
    after = read_receipt(SIMULATE)
    assert before is not None
    assert after is not None
    assert after.digest == before.digest
    assert after.key != before.key
    assert in_process() == set()
    new = {path.name for path in set(Path("results/runs").iterdir()) - runs}
    assert new == {after.key}
    for name in NAMES:
        assert perform_name(name) == 0  # each finds its run and ends at once
    assert {p.name for p in set(Path("results/runs").iterdir()) - runs} == new


def test_a_name_that_a_person_runs_is_planned_again_where_its_case_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = {"figures": WORKFLOW["figures"]}
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(alone))
    monkeypatch.setattr(fresh, "plan_without_compiling", fresh.fresh_plan)
    fresh_plan()
    case = Path("conf/case/actuator_law.yaml")
    case.write_text(case.read_text().replace("duration: 3.0", "duration: 4.0"))
    ends = Path("results/simulate/actuator_law/run.json")
    asked = {}
    for words in (["--planned", SIMULATE], [SIMULATE]):
        assert run_command(words) == 0
        asked[len(words)] = json.loads(ends.read_text())["config"]["case"]["duration"]
    assert asked == {2: 3.0, 1: 4.0}
    said = capsys.readouterr().out
    assert said.count("curvature_at_end = ") == 1  # a job of a workflow says nothing
    assert said.endswith("run      results/simulate/actuator_law\n")


@pytest.mark.usefixtures("in_process")
def test_times_pictures_and_keys_are_not_in_the_digest_of_a_run() -> None:
    receipt = read_receipt("figure/huang-3")
    assert receipt is not None
    directory = finished(receipt.key)
    assert directory is not None
    sums = directory / "SHA256SUMS"
    lines = sums.read_text().splitlines()
    for line in lines:
        digest, _, name = line.partition("  ")
        sums.write_text("\n".join([*lines, f"{digest[::-1]}  {name}"]) + "\n")
        same = content_digest(directory) == receipt.digest
        left_out = (".pdf", ".png", ".svg", ".trace.json", "run.json")
        assert same is name.endswith(left_out), name
