import numpy as np
import pandas as pd
import pytest

from pipeline.cli.app import called


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
    assert called(["compare_series", *words(folders)]) == 0
    assert "rms errors: x_c_held_out 0.1" in capsys.readouterr().out
    table = pd.read_csv(folders[2] / "series.csv")
    assert table["bias"][0] == pytest.approx(-0.1, abs=1e-9)
    assert (folders[2] / "series.pdf").is_file()


TIP = "time_s,tip_x_mm,tip_y_mm\n0.5,0.25,1\n1,1.1,1\n1.5,2.2,\n"


@pytest.fixture
def tip(folders):
    """A run whose tip goes along x as t^2, and a file of the tip, once lost in y."""
    measured, run, _ = folders
    measured.write_text(TIP)
    table = pd.read_csv(run / "steps.csv")
    table.assign(tip_x_mm=table["time"] ** 2, tip_y_mm=1.0).to_csv(run / "steps.csv")
    return folders


def test_a_measured_tip_comes_to_a_verdict(tip, capsys):
    assert called(["compare_series", *words(tip), "--u", "0.1", "--margin", "0.5"]) == 0
    assert "tip: agrees: rms of E" in capsys.readouterr().out
    (row,) = pd.read_csv(tip[2] / "series-verdicts.csv").to_dict("records")
    assert (row["name"], row["verdict"], row["count"]) == ("tip", "agrees", 5)
    assert row["rms"] == pytest.approx(np.sqrt((0.1**2 + 0.05**2) / 5), rel=1e-3)
    assert set(pd.read_csv(tip[2] / "series.csv")["verdict"]) == {"agrees"}
    assert called(["compare_series", *words(tip), "--u", "0.01"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("tip: differs: ")
    assert "tip_x_mm at 1: -0.1 mm, simulated minus measured" in told
    assert set(pd.read_csv(tip[2] / "series-curve.csv")["u"]) == {0.01}


def test_a_refined_run_tells_what_is_discretised(tip, capsys):
    run, finer = tip[1], tip[1].with_name("finer")
    finer.mkdir()
    table = pd.read_csv(run / "steps.csv")
    table.assign(tip_x_mm=table["tip_x_mm"] + 0.1).to_csv(finer / "steps.csv")
    given = [*words(tip), "--u", "0.01", "--margin", "1", "--refined", str(finer)]
    assert called(["compare_series", *given]) == 0
    assert "tip: agrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TIP.replace("tip", "head"), "to record a point, add `markers: {head: ["),
        (TIP.replace("tip_x_mm", "tipp_x_mm"), "; did you mean tip?"),
        (
            TIP.replace("_mm", "_cm"),
            "the run has tip_x_mm: give tip_x in mm, not cm",
        ),
        (
            TIP.replace("tip_x_mm", "x"),
            "the column x is not a coordinate: name",
        ),
        (
            TIP.replace("1.1", "?"),
            "row 3: tip_x_mm must be a finite number or empty, not '?'",
        ),
        (
            TIP.replace("time_s", "time"),
            "no column time_s or quantity: give time_s, tip_x_mm",
        ),
        (
            "quantity,at,value,u,part\nx_c,0,abc,0,fit\n",
            "row 1: value must be a finite number, not 'abc'",
        ),
    ],
)
def test_a_file_of_markers_that_cannot_be_compared_is_refused(tip, text, said, refused):
    tip[0].write_text(text)
    assert said in refused("compare_series", *words(tip))
    assert not tip[2].exists()
