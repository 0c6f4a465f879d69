"""Two results folders are the same to the bit, or a line says what differs."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bench.same_numbers import main


def made(folder: Path, E: float = 0.25, x: float = 2.0, name: str = "one") -> Path:
    """A results folder with a run, and the files of a second one by hand."""
    run = folder / "simulate" / name
    run.mkdir(parents=True)
    record = {"key": "0" * 16, "step": "simulate", "name": name, "status": "finished"}
    text = json.dumps(record | {"result": {"E": E, "stop": "change"}})
    (run / "run.json").write_text(text)
    np.savez(run / "steps.npz", r=np.array([0.0, x]))
    (run / "steps.csv").write_text(f"step,E,stop\n0,{E!r},change\n")
    return folder


def test_the_same_numbers_under_another_key_are_the_same(tmp_path, capsys):
    old, new = made(tmp_path / "old"), made(tmp_path / "new")
    record = new / "simulate/one/run.json"
    record.write_text(record.read_text().replace("0" * 16, "1" * 16))
    assert main([str(old), str(new)]) == 0
    assert capsys.readouterr().out == "1 runs, 0 numbers differ\n"


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        (
            {"E": float(np.nextafter(0.25, 1.0))},
            ["steps.csv:E differs by 2.2e-16", "result:E differs by 2.2e-16"],
        ),
        ({"x": 2.5}, ["steps.npz:r differs by 2.5e-01"]),
    ],
)
def test_a_number_that_differs_by_its_last_bit_is_told(
    changed, lines, tmp_path, capsys
):
    old, new = made(tmp_path / "old"), made(tmp_path / "new", **changed)
    assert main([str(old), str(new)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:-1] == [f"simulate/one/{line}" for line in lines]


def test_a_run_that_is_not_there_and_a_folder_without_runs(tmp_path, capsys):
    old, new = made(tmp_path / "old"), made(tmp_path / "new", name="two")
    assert main([str(old), str(new)]) == 1
    assert "simulate/one is not there" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "new" / "simulate"), str(new)])
