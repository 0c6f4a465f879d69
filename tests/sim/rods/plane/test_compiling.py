"""What the first rod of a machine has to compile: counted, not timed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
FIRST_STEPS = "from tests.compiling import first_steps; first_steps('own_rod')"
OF_ALL = {
    "at_time", "lean_to_middle", "list_contact", "meeting_time",
    "stabilisation_velocity",
}  # fmt: skip


@pytest.mark.long
def test_a_first_rod_compiles_nothing_of_contact_of_edges(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", FIRST_STEPS], env=env, check=True)
    made = {
        (folder.name.rpartition("-")[0], file.name.partition("-")[0].rpartition(".")[2])
        for folder in tmp_path.iterdir()
        for file in folder.rglob("*.nbc")
    }
    assert {name for module, name in made if module.endswith("edge_contact")} == OF_ALL
    assert not any(module.endswith("contact_geometry") for module, _ in made)
    assert 60 < len(made) <= 150
