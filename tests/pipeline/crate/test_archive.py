"""What an archive holds and says, and what is not archived."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
import yaml

from pipeline.crate import description
from pipeline.crate.description import _tool_id, nameless
from pipeline.store.digests import write_digests
from tests.pipeline.conftest import command_in, furnish

SMALL = {"comparisons": {}, "figures": {"huang-3": {"cases": ["actuator_law"]}}}
ARCHIVE = "results/morphtrack.crate.zip"


def made_and_archived(folder: Path, workflow: dict[str, object]) -> Path:
    """A folder in which a workflow has run; its archive."""
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    for name in ("make", "archive"):
        done = command_in(folder)(name)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / ARCHIVE


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_and_archived(tmp_path_factory.mktemp("archived"), SMALL)


def test_the_description_follows_the_workflow_run_profile(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        graph = json.loads(file.read("ro-crate-metadata.json"))["@graph"]
        names = set(file.namelist())
    known = {entity["@id"]: entity for entity in graph}
    root = known["./"]
    profiles = {p["@id"] for p in root["conformsTo"]}
    for profile in ("process", "workflow", "provenance"):
        assert f"https://w3id.org/ro/wfrun/{profile}/0.5" in profiles
    workflow = known[root["mainEntity"]["@id"]]
    assert workflow["@type"] == [
        "File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"
    ]  # fmt: skip
    assert known[root["author"]["@id"]]["@type"] == "Organization"
    assert root["publisher"] == root["author"]
    assert known[workflow["output"]["@id"]]["name"] == "results"  # one is no list
    steps = [known[s["@id"]] for s in workflow["step"]]
    assert all(known[s["workExample"]["@id"]]["url"] for s in steps)
    assert [s["name"] for s in steps] == ["simulate", "figure"]
    tools = {t["@id"] for t in workflow["hasPart"]}
    assert {s["workExample"]["@id"] for s in steps} == tools
    runs = [e for e in graph if e["@id"].startswith("#run-") and "identifier" in e]
    assert len(runs) == 2
    for run in runs:
        assert run["@type"] == "CreateAction"
        assert run["instrument"]["@id"] in tools
        assert run["agent"] == root["author"]
        assert f"results/runs/{run['identifier']}/run.json" in names
        assert run["startTime"] <= run["endTime"]
    drawn = next(r for r in runs if r["name"] == "figure huang-3")
    other = next(r for r in runs if r is not drawn)
    assert {o["@id"] for o in _list(drawn["object"])} == {
        r["@id"] for r in _list(other["result"])
    }
    (organise,) = (e for e in graph if e["@type"] == "OrganizeAction")
    controls = {c["@id"] for c in organise["object"]}
    assert controls == {e["@id"] for e in graph if e["@type"] == "ControlAction"}
    for entity in graph:  # every reference leads somewhere
        for value in entity.values():
            for item in _list(value):
                if isinstance(item, dict) and not item["@id"].startswith("http"):
                    assert item["@id"] in known


def test_steps_are_known_by_the_address_of_the_project_where_it_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _tool_id("ingest") == "#pipeline.ingest"
    cited = {"url": "https://example.org/morph"}
    monkeypatch.setattr(description, "_cited", lambda: cited)
    assert _tool_id("ingest") == "https://example.org/morph#pipeline.ingest"


def test_what_gives_no_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ada = {"name": "Ada", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    cited = {"url": "https://example.org/morph", "authors": [ada]}
    monkeypatch.setattr(description, "_cited", lambda: cited)
    assert nameless() == ""
    cited["authors"] = [ada, {"name": "Grace"}]
    assert nameless() == "website: or orcid: of each author"
    del cited["url"]
    assert nameless() == "url: and website: or orcid: of each author"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def test_code_conf_lock_and_results_are_inside(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
    for name in (
        "Makefile",
        "Snakefile",
        "requirements.lock",
        "conf/workflow.yaml",
        "pipeline/workflow/workflow.py",
        "sim/rod/actuation/actuation.py",
        "results/report/index.html",
        "tests/pipeline/crate/test_archive.py",
    ):
        assert name in names
    assert not any("__pycache__" in name for name in names)


def test_an_edited_run_and_a_plan_of_another_conf_are_not_archived(
    archive: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(archive.parent.parent, folder, symlinks=True)
    run = next(folder.glob("results/runs/*/steps.csv"))
    run.write_text(run.read_text() + "\n")
    done = command_in(folder)("archive")
    assert done.returncode == 2
    assert "steps.csv was edited: remove this folder" in done.stderr
    write_digests(run.parent)
    (folder / "conf" / "workflow.yaml").write_text("figures: {zhu-filipov-5: {}}")
    done = command_in(folder)("archive")
    assert done.returncode == 2
    assert "run make figures first" in done.stderr
