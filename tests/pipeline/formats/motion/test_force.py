"""Force by displacement: units stated, signs checked by the work they do."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.formats.motion.force import read_force
from pipeline.terminal.errors import InputError


def write(folder: Path, rows: list[tuple[float, ...]], head: str = "") -> Path:
    lines = [head or "time_s,position_mm,force_N"]
    lines += [",".join(map(repr, row)) for row in rows]
    path = folder / "f.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


LOADED = [(0.1 * k, 10.0 + k, 2.0 * k) for k in range(6)]


def test_force_and_position_come_in_newtons_and_metres(tmp_path: Path) -> None:
    found = read_force(write(tmp_path, LOADED))
    np.testing.assert_allclose(found.position, 1e-3 * (10 + np.arange(6)))
    np.testing.assert_allclose(found.force, 2.0 * np.arange(6))
    assert found.work == pytest.approx(0.5 * 5e-3 * 10.0)
    in_kN = read_force(write(tmp_path, LOADED, "time_s,position_m,force_kN"))
    assert in_kN.force[1] == 2e3
    assert in_kN.position[0] == 10.0


def test_a_wrong_sign_of_force_is_refused(tmp_path: Path) -> None:
    found = read_force(write(tmp_path, LOADED))
    assert found.turned(1, 1).work > 0
    assert found.turned(-1, -1).work == found.work
    with pytest.raises(
        InputError, match=r"does work by itself, 0\.025 J: turn the sign"
    ):
        found.turned(1, -1)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("time_s,position_inch,force_N", "no column position_m or position_cm"),
        ("time_s,position_mm,force_lbf", "no column force_N or force_kN"),
        ("t,position_mm,force_N", "no column time_s"),
    ],
)
def test_another_unit_is_refused(tmp_path: Path, head: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_force(write(tmp_path, LOADED, head))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(0.0, 1.0, 1.0), (5.0, 2.0, 1.0)], "row 2: the time must rise"),
        ([(0.0, 1.0, 1.0), (0.1, 2.0, 1.0), (0.1, 2.0, 1.0)], "row 3: the time"),
        ([(0.0, 1.0, float("nan"))], "force_N is 'nan'"),
        ([(0.0, 1.0, 1.0)], "the time must rise"),
    ],
)
def test_gaps_and_holes_are_refused(
    tmp_path: Path, rows: list[tuple[float, ...]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_force(write(tmp_path, rows))


def test_rows_of_more_values_than_names_are_refused(tmp_path: Path) -> None:
    longer = write(tmp_path, [(0.0, 1.0, 1.0, 2.0), (1.0, 2.0, 3.5, 2.0)])
    with pytest.raises(InputError, match="more values than its header has names"):
        read_force(longer)
