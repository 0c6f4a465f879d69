"""Seeds given by hand: a file that ingest can read."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.pick import main
from pipeline.scans.seeds import read_seeds


@pytest.fixture
def scan(rng: np.random.Generator, tmp_path: Path) -> str:
    path = tmp_path / "scan.npy"
    np.save(path, rng.uniform(-10, 10, (500, 3)))
    return str(path)


def test_places_become_a_seeds_file_in_mm(scan: str, tmp_path: Path) -> None:
    out = tmp_path / "seeds.csv"
    at = ["--at", "-12.5", "3", "40.25", "--at", "0", "0", "-1"]
    assert main([scan, "--unit", "cm", "--out", str(out), *at]) == 0
    np.testing.assert_array_equal(read_seeds(out), [[-12.5, 3, 40.25], [0, 0, -1]])


def test_a_display_that_does_not_answer_is_refused(
    scan: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":9876")
    monkeypatch.setattr("sys.platform", "linux")
    out = tmp_path / "seeds.csv"
    assert main([scan, "--unit", "mm", "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert ":9876 does not answer" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--unit", "mm", "--at", "500", "0", "0"], "outside the scan"),
        (["--at", "0", "0", "0"], "E-UNIT"),
        (["--unit", "mm", "--at", "0", "0"], "expected 3 arguments"),
        (["--unit", "mm"], "no display"),
    ],
)
def test_what_cannot_be_picked_is_refused(
    scan: str,
    words: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    out = tmp_path / "seeds.csv"
    assert main([scan, "--out", str(out), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not out.exists()
