"""The same study here and on Slurm."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.pipeline.conftest import command_in, furnish

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("slurm")]

STUDY = {
    "case": "triangles_cylinder",
    "design": "grid",
    "vary": {
        "case.structure.rows": [2, 3],
        "case.target.radius": {"low": 2.0, "high": 4.0, "count": 4},
    },
}


def made_in(folder: Path, *words: str) -> dict[str, bytes]:
    """Run the study in a folder of its own; return the files that it leaves."""
    folder.mkdir()
    furnish(folder)
    (folder / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    done = command_in(folder)("study", "mine", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    place = folder / "results" / "study" / "mine"
    files = (path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


def test_a_study_on_slurm_leaves_the_same_bytes(tmp_path):
    here = made_in(tmp_path / "here")
    there = made_in(tmp_path / "there", "--profile", "conf/profile/slurm")
    asked = ["squeue", "--states=COMPLETED", "--noheader"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert len(ran.splitlines()) >= 2, "Slurm ran nothing"
    assert {"members.json", "batches/1-of-2.csv", "table.csv"} < set(here)
    assert set(here) == set(there)
    differing = {name for name in here if here[name] != there[name]}
    assert differing <= {"costs.csv", "costs.trace.json"}  # seconds, and their digest
