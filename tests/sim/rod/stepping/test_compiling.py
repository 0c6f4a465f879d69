"""What the first rod of a machine has to compile: counted, not timed."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
FIRST_STEPS = "from tests.compiling import first_steps; first_steps('own_rod')"
OF_EDGES = {"closing"}  # which is one line, of all contacts


@pytest.mark.long
def test_a_first_rod_compiles_each_kernel_once_and_nothing_of_contact_of_edges(
    tmp_path: Path,
) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", FIRST_STEPS], env=env, check=True)
    kept = Counter(
        (file.parent.name.rpartition("-")[0], file.name.rpartition("-")[0])
        for file in tmp_path.glob("*/*.nbc")
    )
    assert set(kept.values()) == {1}
    assert {name for module, name in kept if module.endswith("touches")} == OF_EDGES
    assert not any(module.endswith("nearest") for module, _ in kept)
    assert 60 < len(kept) <= 110
