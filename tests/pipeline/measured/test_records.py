"""Records as others hand them in: renamed, shifted, among other files, damaged."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.measured.compare import run_step as compare
from pipeline.measured.prediction_file import committed, digest_of
from pipeline.measured.records import SetAtHand, at_hand, records_in
from pipeline.measured.set_file import read_set

TEST = "T1_rubber_centerclamp_opentoclose_test3_-1.50_11.00"
TRACKS = "tracks_HTNI_all"
Change = Callable[[pd.DataFrame], pd.DataFrame]


def renamed(folder: Path, table: pd.DataFrame) -> dict[str, Any]:
    """The verdict where a beam's table is called plus_52g_new."""
    at = at_hand(read_set("silicone_beam").model_dump(mode="json"))
    place = folder / "records"
    place.mkdir()
    table.to_csv(place / "plus_52g_new.csv", index=False)
    before, one = committed(at.folder), records_in(at, place).inputs["plus_52g_new"]
    assert before is not None
    made = replace(
        before,
        table=before.of("plus_52g_b").assign(record="plus_52g_new"),
        records={"plus_52g_new": digest_of(one)},
        fitted=(),
    )
    compare(at, place, made, folder / "out", folder)
    return dict(json.loads((folder / "out" / "verdict.json").read_text()))


@pytest.mark.parametrize(
    ("change", "of"),
    [
        (lambda t: t, "plus_52g_b"),
        (lambda t: t[9:].assign(time_s=t["time_s"] + 2.0).round(5), "plus_52g_b"),
        (lambda t: t.assign(tip_2_x_m=t["tip_2_x_m"] + 5e-4 * (t.index > 70)), None),
    ],
)
def test_a_fitted_record_counts_as_fitted_under_any_name(tmp_path, change, of):
    """Known by its values, however they are written; another's are predicted."""
    table = pd.read_csv("data/silicone_beam/plus_52g_b.csv", comment="#")
    said = renamed(tmp_path, change(table))
    assert said["fitted"] == (["plus_52g_new"] if of else [])
    assert said["values_of"] == ({"plus_52g_new": of} if of else {})
    part = "fitted" if of else "predicted"
    assert {row["part"] for row in said["verdicts"]} == {part}
    assert (said["inside"] == {}) is (of is not None)


def handed_in(
    folder: Path, name: str, table: pd.DataFrame, given: str, change: Change
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Rows and reasons, where a changed record lies among other files.

    Parameters
    ----------
    given : the file's name without suffix
    """
    at: SetAtHand = at_hand(read_set(name).model_dump(mode="json"))
    place = folder / "records"
    place.mkdir()
    change(table).to_csv(place / f"{given}.csv", index=False)
    (place / "summary.csv").write_text("mean,of\n1,2\n")
    said = "T1,centre_clamp,-1.598,11.002" if given == TEST else ",,,"
    head = "file,specimen,loading,travel_min_mm,travel_max_mm"
    (place / "records.csv").write_text(f"{head}\n{given}.csv,{said}\n")
    (place / "notes.txt").write_text("mounted twice\n")
    compare(at, place, committed(at.folder), folder / "out", folder)
    said = json.loads((folder / "out" / "verdict.json").read_text())
    return pd.read_csv(folder / "out" / "measured.csv"), said["refused"]


def loop() -> pd.DataFrame:
    return pd.read_csv(f"data/circle_square_morpher/records/{TEST}.csv")


def tracks() -> pd.DataFrame:
    table = pd.read_csv(f"data/lce_lattices/{TRACKS}.csv")
    return table[table["specimen"] == 2].reset_index(drop=True)


def test_a_shifted_loop_is_measured_as_it_was(tmp_path):
    tables = []
    for k, change in enumerate([
        lambda t: t,
        lambda t: t.assign(position_mm=t["position_mm"] + 500, time_s=t["time_s"] + 9),
    ]):  # fmt: skip
        folder = tmp_path / str(k)
        folder.mkdir()
        rows, refused = handed_in(folder, "circle_square_morpher", loop(), TEST, change)
        assert refused == {}
        assert set(rows["record"]) == {TEST}
        tables.append(rows)
    pd.testing.assert_frame_equal(*tables, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.drop(columns="force_N"), "has no column force_N"),
        (lambda t: t.assign(position_mm=t["position_mm"] / 1e3), "12.6 mm: give mm"),
        (lambda t: t.assign(force_N=t["force_N"] / 1e3), "was not loaded"),
        (lambda t: t.assign(force_N=-t["force_N"]), "N from open to closed"),
        (lambda t: t.assign(position_mm=-t["position_mm"]), "reverse the sign"),
        (
            lambda t: t.assign(time_s=t["time_s"] + 9 * (t.index > 500)),
            "with gaps up to",
        ),
        (lambda t: t.assign(time_s=t["time_s"] * 1e3), "give s, in order"),
        (lambda t: t.assign(force_N=t["force_N"].mask(t.index == 40)), "row 42: force"),
        (lambda t: t.assign(force_N=t["force_N"] / 4.448), "give it in N"),
        (lambda t: t.assign(time_s=t["time_s"] / 60), "give time_s in s"),
        (
            lambda t: t.assign(position_mm=-t["position_mm"], force_N=-t["force_N"]),
            "reverse position_mm and force_N",
        ),
        (
            lambda t: t.assign(force_N=t["force_N"].mask(t.index == 300, 900.0)),
            "row 302: force_N is 900",
        ),
        (lambda t: t[:120], "spans 6.26359"),
    ],
)
def test_a_damaged_loop_has_no_rows_and_one_line(tmp_path, change, reason):
    rows, refused = handed_in(tmp_path, "circle_square_morpher", loop(), TEST, change)
    assert rows.empty
    assert reason in refused[TEST]
    assert "\n" not in refused[TEST]
    said = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert said["compared_with"] == {}  # only what has rows


def test_what_is_taken_over_a_whole_loop_needs_the_whole_loop(tmp_path):
    """Opened again by a third only, work and hysteresis would be of other places."""
    table = loop()
    x = table["position_mm"] - table["position_mm"].min()
    last = int(((x > 12.0) & (x.index < 300)).to_numpy().nonzero()[0][-1]) + 60
    rows, refused = handed_in(
        tmp_path, "circle_square_morpher", table, TEST, lambda t: t[:last]
    )
    assert 9 < (rows["quantity"] == "force").sum() < 40
    assert not {"work", "half_hysteresis"} & set(rows["quantity"])
    assert set(refused) == {f"work of {TEST}", f"half_hysteresis of {TEST}"}
    assert "of 62 predicted points" in refused[f"work of {TEST}"]


def test_a_record_that_is_only_listed_is_named(tmp_path):
    at: SetAtHand = at_hand(read_set("circle_square_morpher").model_dump(mode="json"))
    loop().to_csv(tmp_path / f"{TEST}.csv", index=False)
    (tmp_path / "records.csv").write_text("file,specimen\nother.cvs,T1\n")
    found = records_in(at, tmp_path)
    assert list(found.inputs) == [TEST]
    listed = f"{tmp_path / 'records.csv'} names other.cvs, which does not exist"
    assert found.refused == {"other": listed}


@pytest.mark.slow
def test_shifted_tracks_are_measured_and_placed(tmp_path):
    rows, refused = handed_in(
        tmp_path, "lce_lattices", tracks(), TRACKS,
        lambda t: t.assign(x_mm=t["x_mm"] + 33.0, y_mm=-t["y_mm"]),
    )  # fmt: skip
    assert refused == {}
    assert (len(rows), set(rows["record"])) == (84 * 23, {"HTNI_all_2"})
    nodes = rows[rows["quantity"].str.startswith("node")]
    assert 2.0 * (nodes["E"] ** 2).mean() < 0.25**2  # mm^2 of node distance
    said = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert 0 <= said["placed"]["HTNI_all_2"]["placement"] < 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.drop(300), "HTNI_all_2 has 40 points at 55 C"),
        (lambda t: t.assign(x_mm=t["x_mm"] / 1e3, y_mm=t["y_mm"] / 1e3), "in mm, and"),
        (
            lambda t: t.assign(temperature_C=t["temperature_C"] + t["row"] / 99),
            "has 1 points at 22 C",
        ),
        (lambda t: t[t["temperature_C"].isin([22, 130])], "no prediction from these"),
        (lambda t: t.assign(y_mm=0.9 * t["y_mm"]), "0.903 to 0.995 times as"),
        (
            lambda t: t.assign(x_mm=t["x_mm"] + 25.0 * (t.index == 300)),
            "frame 7 (55 C): a node is",
        ),
        (lambda t: t.drop(columns="y_mm"), "has no column y_mm"),
        (lambda t: t.assign(temperature_C=t["temperature_C"] + 273), "295 to 403, but"),
    ],
)
def test_damaged_tracks_have_no_rows_and_one_line(tmp_path, change, reason):
    rows, refused = handed_in(tmp_path, "lce_lattices", tracks(), TRACKS, change)
    assert rows.empty
    assert reason in refused["HTNI_all_2"]
    assert "\n" not in refused["HTNI_all_2"]
