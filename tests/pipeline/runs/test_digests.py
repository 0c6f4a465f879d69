import subprocess
from pathlib import Path

import pytest

from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import edits, identity


@pytest.fixture
def run(tmp_path):
    """A finished run with a file, and one in a folder."""

    def body(out: Path) -> dict[str, float]:
        (out / "steps.csv").write_text("step\n0\n")
        (out / "pictures").mkdir()
        (out / "pictures" / "a b.txt").write_text("of the scan")
        return {"E": 0.5}

    job = Job("simulate", "toy", identity("simulate", {}), {})
    return run_once(job, body, tmp_path)


def test_a_run_leaves_digests_that_sha256sum_accepts(run):
    assert edits(run) == []
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=run,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "pictures/a b.txt: OK",
        "run.json: OK",
        "steps.csv: OK",
    ]


def test_what_was_edited_or_removed_is_named(run):
    (run / "run.json").write_text("{}")
    (run / "steps.csv").unlink()
    assert edits(run) == ["run.json was edited", "steps.csv is gone"]
    (run / "SHA256SUMS").unlink()
    assert edits(run) == ["SHA256SUMS is missing"]
