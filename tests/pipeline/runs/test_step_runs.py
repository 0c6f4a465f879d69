"""What of a run other runs read, and its files where a person opens them."""

import os
from pathlib import Path

import pytest

from pipeline.runs.atomic_files import write_text
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job, run_record
from pipeline.runs.step_runs import content_digest, link_files, planned_digest


def made(results: Path, code: str, *names: str, table: str = "E\n0.5\n") -> Path:
    """A run that leaves files of these names."""

    def body(out: Path) -> dict[str, float]:
        for name in names:
            write_text(out / name, table)
        return {"E": 0.5}

    return run_once(Job("toy", "one", {"code": code}, {"n": 1}), body, results)


@pytest.fixture
def run(tmp_path):
    return made(tmp_path, "a", "steps.csv", "sub/more.csv", "picture.png")


def test_runs_that_hold_the_same_have_the_same_content(run, tmp_path):
    other = made(tmp_path, "b", "steps.csv", "sub/more.csv")
    assert run_record(run)["key"] != run_record(other)["key"]
    assert content_digest(run) == content_digest(other)
    different = made(tmp_path, "c", "steps.csv", "sub/more.csv", table="E\n0.6\n")
    assert content_digest(run) != content_digest(different)


def test_what_is_put_beside_the_files_of_a_run_is_no_content(run):
    before = content_digest(run)
    (run / "notes.csv").write_text("mine")
    assert content_digest(run) == before
    (run / "steps.csv").write_text("E\n0.7\n")
    assert content_digest(run) != before


def test_a_folder_that_a_person_made_is_all_content(tmp_path):
    (tmp_path / "spheres.csv").write_text("x")
    before = content_digest(tmp_path)
    (tmp_path / "points.csv").write_text("y")
    assert content_digest(tmp_path) != before


def test_configuration_and_code_are_planned_and_inputs_are_not():
    known = {"config": {"n": 1}, "code": "c", "files": ["f"], "upstream": {"run": "u"}}
    planned = planned_digest(known)
    assert planned_digest({**known, "files": [], "upstream": {}}) == planned
    assert planned_digest({**known, "code": "d"}) != planned


@pytest.mark.parametrize("links", [True, False])
def test_the_files_of_a_run_replace_those_of_the_run_before(
    run, tmp_path, monkeypatch, links
):
    def refused(*_: object) -> None:
        raise OSError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    out = tmp_path / "out"
    link_files(run, out)
    (out / "notes.txt").write_text("mine")
    for name in ("steps.csv", "sub/more.csv", "picture.png", "run.json", "SHA256SUMS"):
        assert (out / name).read_bytes() == (run / name).read_bytes()
        assert (out / name).samefile(run / name) is links
    other = made(tmp_path, "b", "spheres.csv")
    link_files(other, out)
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert files == ["SHA256SUMS", "notes.txt", "run.json", "spheres.csv"]
    assert run_record(out)["key"] == other.name
    assert (run / "steps.csv").is_file()
