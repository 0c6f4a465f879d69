"""The command that turns repeated ingests into an error term."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.spheres.picks import FittedSphere, Picks
from pipeline.commands.repeatability import main
from pipeline.scans.picks import write_tables

SPHERE = FittedSphere(
    np.zeros(3), np.diag([1e-4, 1e-4, 1e-4]), 6.0, 0.05, 400, 6.0, 0.01, 0.4, 1
)


def ingest_at(folder: Path, shift: float, free_radius: float) -> str:
    """An ingest with one sphere."""
    sphere = replace(SPHERE, centre=np.full(3, shift), free_radius=free_radius)
    folder.mkdir()
    picks = Picks((sphere,), (), sphere.covariance, 0.05)
    write_tables(folder, picks, synthetic=False)
    return str(folder)


def test_the_scatter_of_repeated_ingests_is_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [ingest_at(tmp_path / f"{s}", s, 6 + s / 2) for s in (-0.2, 0.0, 0.2)]
    assert main(words) == 0
    said = capsys.readouterr().out
    # Three values 0.2 apart have a variance of 0.04, of which 0.0001 was stated.
    assert "centre beyond its stated errors: 0.1997 mm" in said
    assert "radius beyond its stated errors: 0.0995 mm" in said
    assert "state --repeatability-mm 0.2\n" in said


@pytest.mark.parametrize(
    ("many", "said"), [(1, "two or more"), (0, "the following arguments")]
)
def test_too_few_ingests_are_refused(
    tmp_path: Path, many: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [ingest_at(tmp_path / f"{i}", 0.0, 6.0) for i in range(many)]
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_folder_without_spheres_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([ingest_at(tmp_path / "a", 0.0, 6.0), str(tmp_path / "none")]) == 2
    assert "run morphtrack ingest first" in capsys.readouterr().err
