"""What an archive holds and says, and what is not archived."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from pipeline.cli.app import called
from pipeline.runs.step_jobs import content_digest
from tests.pipeline.conftest import command_in, furnish

SMALL = {"comparisons": {}, "figures": {"huang-3": {"cases": ["actuator_law"]}}}
ARCHIVE = "results/morphtrack.crate.zip"


def made_and_archived(folder: Path, workflow: dict[str, object]) -> Path:
    """A folder in which a workflow has run; its archive."""
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    done = command_in(folder)("make")
    assert done.returncode == 0, done.stdout + done.stderr
    with chdir(folder):
        assert called(["archive"]) == 0
    return folder / ARCHIVE


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return made_and_archived(tmp_path_factory.mktemp("archived"), SMALL)


def test_the_description_names_each_run_and_what_made_it(archive):
    with zipfile.ZipFile(archive) as file:
        graph = json.loads(file.read("ro-crate-metadata.json"))["@graph"]
        names = set(file.namelist())
    known = {entity["@id"]: entity for entity in graph}
    root = known["./"]
    assert root["conformsTo"]["@id"] == "https://w3id.org/ro/wfrun/process/0.5"
    assert known[root["license"]["@id"]]["name"] == "MIT License"
    assert known[root["author"]["@id"]]["@type"] == "Organization"
    assert known[root["mainEntity"]["@id"]]["@id"] == "Snakefile"
    runs = [e for e in graph if e["@type"] == "CreateAction"]
    assert {e["@id"] for e in runs} == {e["@id"] for e in _list(root["mentions"])}
    assert [run["name"] for run in runs] == ["simulate actuator_law", "figure huang-3"]
    for run in runs:
        assert known[run["instrument"]["@id"]]["@type"] == "SoftwareApplication"
        assert run["agent"] == root["author"]
        assert run["result"]["@id"] == f"results/runs/{run['identifier']}/"
        assert f"results/runs/{run['identifier']}/run.json" in names
        assert run["startTime"] <= run["endTime"]
    assert runs[1]["object"] == runs[0]["result"]
    for entity in graph:  # every reference leads somewhere
        for value in entity.values():
            for item in _list(value):
                if isinstance(item, dict) and not item["@id"].startswith("http"):
                    assert item["@id"] in known


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def unpacked(archive: Path, place: Path) -> Path:
    """What unzip makes of it, once every digest holds."""
    subprocess.run(["unzip", "-q", str(archive), "-d", str(place)], check=True)
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=place, check=True)
    listed = (place / "SHA256SUMS").read_text().splitlines()
    found = [path for path in place.rglob("*") if path.is_file()]
    assert len(listed) == len(found) - 1
    return place


def test_unzip_and_sha256sum_read_it(archive, tmp_path):
    place = unpacked(archive, tmp_path / "new")
    table = next(place.glob("results/runs/*/steps.csv"))
    table.write_text(table.read_text() + "\n")
    words = ["sha256sum", "-c", "--quiet", "SHA256SUMS"]
    assert subprocess.run(words, cwd=place, capture_output=True).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("bare", [False, True])
def test_it_rebuilds_elsewhere_with_the_same_keys_and_numbers(archive, tmp_path, bare):
    """With its results in place nothing runs again."""
    place = unpacked(archive, tmp_path / "new")
    records = {p: p.read_text() for p in place.glob("results/runs/*/run.json")}
    first = {path.parent.name: content_digest(path.parent) for path in records}
    assert len(first) == 2
    if bare:
        shutil.rmtree(place / "results")
    environment = {**os.environ, "PYTHONPATH": str(place)}
    words = [sys.executable, "-m", "pipeline"]
    for name in ("make", "archive"):
        subprocess.run([*words, name], cwd=place, env=environment, check=True)
    made = {p: p.read_text() for p in place.glob("results/runs/*/run.json")}
    assert (made == records) is not bare
    assert {path.parent.name: content_digest(path.parent) for path in made} == first


def test_code_conf_lock_and_results_are_inside(archive):
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
    for name in (
        "Makefile",
        "Snakefile",
        "requirements.lock",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "morphtrack.py",
        "conf/workflow.yaml",
        "pipeline/workflow/plan.py",
        "sim/rods/plane/actuation.py",
        "results/report/index.html",
        "tests/pipeline/test_export.py",
    ):
        assert name in names
    assert not any("__pycache__" in name for name in names)


def test_metadata_for_zenodo_are_written_with_it(archive):
    text = archive.with_suffix(".zenodo.json").read_text(encoding="utf-8")
    metadata = json.loads(text)["metadata"]
    assert metadata["license"] == "mit"
    assert metadata["creators"] == [{"name": "The morphtrack developers"}]
    cited = [one["identifier"] for one in metadata["related_identifiers"]]
    assert "10.1038/s43246-023-00410-2" in cited


def test_an_edited_run_and_one_of_another_conf_are_not_archived(
    archive, tmp_path, monkeypatch, refused
):
    folder = tmp_path / "copy"
    shutil.copytree(archive.parent.parent, folder, symlinks=True)
    wide = {**SMALL, "style": {"width": 120}}
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(wide))
    monkeypatch.chdir(folder)
    error = refused("archive")
    assert "results/figure/huang-3: configuration or code changed" in error
    assert "run make figures first" in error
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(SMALL))
    run = next(folder.glob("results/runs/*/steps.csv"))
    run.write_text(run.read_text() + "\n")
    assert "steps.csv was edited: remove this folder" in refused("archive")
