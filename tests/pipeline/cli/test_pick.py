"""Seeds given by hand: a file that ingest can read."""

import numpy as np
import pytest

from pipeline.cli.app import called
from pipeline.scans.seed_spheres import read_seeds


@pytest.fixture
def scan(rng, tmp_path):
    path = tmp_path / "scan.npy"
    np.save(path, rng.uniform(-10, 10, (500, 3)))
    return str(path)


def test_places_become_a_seeds_file_in_mm(scan, tmp_path):
    out = tmp_path / "seeds.csv"
    at = ["--at", "-12.5", "3", "40.25", "--at", "0", "0", "-1"]
    assert called(["pick", scan, "--unit", "cm", "--out", str(out), *at]) == 0
    np.testing.assert_array_equal(read_seeds(out), [[-12.5, 3, 40.25], [0, 0, -1]])


@pytest.mark.parametrize(
    ("words", "display", "said"),
    [
        (["--unit", "mm", "--at", "500", "0", "0"], "", "outside the scan"),
        (["--at", "0", "0", "0"], "", "E-UNIT"),
        (["--unit", "mm"], "", "a window needs a display"),
        (["--unit", "mm"], ":9876", ":9876 does not answer"),
    ],
)
def test_what_cannot_be_picked_is_refused(
    scan, words, display, said, tmp_path, refused, monkeypatch
):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if display:
        monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr("sys.platform", "linux")
    out = tmp_path / "seeds.csv"
    assert said in refused("pick", scan, "--out", str(out), *words)
    assert not out.exists()
