import numpy as np
import pandas as pd
import pytest

from pipeline.commands.compare_series import main


@pytest.fixture
def folders(tmp_path):
    """A run with x_c = t^2, measurements of it, and a place for the outcome."""
    run = tmp_path / "run"
    run.mkdir()
    time = np.linspace(0.0, 2.0, 101)
    pd.DataFrame({"time": time, "x_c": time**2}).to_csv(run / "steps.csv", index=False)
    at = np.array([0.5, 1.0, 1.5])
    rows = {"quantity": "x_c", "at": at, "value": at**2 + 0.1, "u": 0.02}
    measured = tmp_path / "markers.csv"
    pd.DataFrame(rows | {"part": "held out"}).to_csv(measured, index=False)
    return measured, run, tmp_path / "out"


def words(folders):
    return [
        part
        for flag, path in zip(
            ("--measured", "--simulated", "--out"), folders, strict=True
        )
        for part in (flag, str(path))
    ]


def test_a_series_is_compared_and_drawn(folders, capsys):
    assert main(words(folders)) == 0
    assert "rms_x_c_held_out 0.1" in capsys.readouterr().out
    table = pd.read_csv(folders[2] / "series.csv")
    assert table["bias"][0] == pytest.approx(-0.1, abs=1e-9)
    assert (folders[2] / "series.pdf").is_file()


def test_bad_measurements_end_in_one_line(folders, capsys):
    folders[0].write_text("quantity,at,value,u,part\nx_c,0,abc,0,fit\n")
    assert main(words(folders)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "row 1: value is 'abc'" in said
    assert not folders[2].exists()
