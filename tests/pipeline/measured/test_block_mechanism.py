"""Records of the block mechanism: what their names say, what is refused, what moves."""

import csv
from pathlib import Path

import numpy as np
import pytest

from analysis.measured.predicted_quantities import curve
from pipeline.io.record_files import FoundRecord
from pipeline.measured.block_mechanism import (
    BlockMechanism,
    Ligaments,
    _with_play,
    travel,
)
from pipeline.terminal import InputError
from sim.core.arrays import Floats

FOLDER = Path("data/circle_square_morpher")
MECHANISM = BlockMechanism(
    str(FOLDER / "geometry"), ((28, 2), (35, 0)), 0.707, step_mm=0.4
)
SOFT = {
    "stretch_L2": 1.4, "shear_L2": 0.2, "turn_L2": 0.8, "offset_L2": 0.0,
    "place_L2": 0.6,
}  # fmt: skip
NAME = "L2_rubber_centerclamp_opentoclose_test9_-1.50_11.00"


def record(name: str = NAME, path: Path = Path("x.csv"), **said: str) -> FoundRecord:
    return FoundRecord(name, path, said)


def written(folder: Path, time: Floats, closing: Floats, force: Floats) -> FoundRecord:
    path = folder / f"{NAME}.csv"
    table = np.column_stack([time, 250.0 + closing, force])
    np.savetxt(
        path, table, delimiter=",", header="time_s,position_mm,force_N", comments=""
    )
    return record(path=path)


def way() -> tuple[Floats, Floats]:
    closing = np.concatenate(
        [np.arange(-1.598, 11, 0.05), np.arange(11, -1.598, -0.05)]
    )
    return 0.08 * np.arange(len(closing)), closing


def test_specimen_and_travel_stand_in_the_name_or_in_the_list():
    named = MECHANISM.inputs(record())
    assert named.words == {"specimen": "L2", "clamps": "as fitted", "support": "base"}
    limits = (named.numbers["travel_min_mm"], named.numbers["travel_max_mm"])
    assert limits == (-1.598, 11.002)  # as the shipped list has them, to the digit
    listed = MECHANISM.inputs(
        record(
            "new_7", specimen="T1-r", loading="centre_clamp", clamps="stiff",
            free_floating="yes", travel_min_mm="-1.0", travel_max_mm="9.0",
        )
    )  # fmt: skip
    assert listed.words == {"specimen": "T1-r", "clamps": "stiff", "support": "free"}
    assert listed.numbers["travel_max_mm"] == 9.0


def test_every_shipped_name_says_the_travel_that_the_list_has():
    """So a record without the list is the one whose prediction was committed."""
    with (FOLDER / "records.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["note"][:4] != "dead"]
    clamped = [row for row in rows if row["loading"] == "centre_clamp"]
    assert len(clamped) >= 5
    for row in clamped:
        listed = float(row["travel_min_mm"]), float(row["travel_max_mm"])
        assert travel(record(Path(row["file"]).stem)) == listed, row["file"]


@pytest.mark.parametrize(
    ("loading", "support"),
    [("centre clamp", "base"), ("Center-Clamp", "base"), ("free_floating", "free"),
     ("centre_clamp, free floating", "free")],
)  # fmt: skip
def test_a_loading_is_told_however_it_is_spelt(loading, support):
    """Tests that float freely are gripped by the same two clamps."""
    found = MECHANISM.inputs(record(specimen="L2", loading=loading))
    assert found.words["support"] == support


@pytest.mark.parametrize(
    ("name", "said", "reason"),
    [
        (
            "T1_rubber_stretch_nuts_0.00_-30.50",
            {},
            "'stretch' is not supported: give centre",
        ),
        (
            "new_7",
            {"specimen": "T1"},
            "unknown loading: set loading to centre_clamp",
        ),
        (NAME, {"note": "dead record: not loaded"}, "dead record: not loaded"),
        (NAME, {"clamps": "counter-rotating"}, "counter-rotating clamps"),
        (NAME, {"loading": "counter_rotating_clamp"}, "counter-rotating clamps"),
        ("new_7", {"loading": "centre_clamp"}, "give its specimen in records"),
        ("L2_centerclamp", {}, "give travel_min_mm and travel_max_mm"),
        (NAME, {"specimen": "T1-r"}, "specimen is L2 in its name, T1-r in records.csv"),
    ],
)
def test_what_cannot_be_predicted_is_named_with_its_reason(name, said, reason):
    with pytest.raises(InputError, match=reason):
        MECHANISM.inputs(record(name, **said))


def test_the_force_that_resists_closing_is_what_is_measured(tmp_path):
    time, closing = way()
    found = MECHANISM.measured(written(tmp_path, time, closing, -2.0 * closing), {})
    np.testing.assert_allclose(found["force"].value, 2 * found["force"].at, atol=1e-6)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("dead", r"varies by only 0\.02. N over the first 10\.8 mm of closing"),
        ("dead but for a stop", "the specimen was not loaded"),
        ("dead but for one sample", "the specimen was not loaded"),
        ("one way", "never opens"),
    ],
)
def test_a_damaged_record_is_refused_in_one_line(tmp_path, fault, reason):
    time, closing = way()
    force = -2.0 * closing
    if fault.startswith("dead"):
        force = 0.001 * force - 40.0 * (closing > 10.9) * ("stop" in fault)
        force[0] += 0.2 * ("sample" in fault)
    else:
        half = len(time) // 2
        time, closing, force = time[:half], closing[:half], force[:half]
    with pytest.raises(InputError, match=reason) as refused:
        MECHANISM.measured(written(tmp_path, time, closing, force), {})
    assert "\n" not in str(refused.value)


def test_a_force_in_another_unit_is_refused(tmp_path):
    time, closing = way()
    predicted = {"force": curve(closing[:9], np.linspace(-1.0, 4.0, 9))}
    found = MECHANISM.measured(written(tmp_path, time, closing, -closing), predicted)
    assert np.abs(found["force"].value).max() == pytest.approx(10.8)
    milli = written(tmp_path, time, closing, -1e3 * closing)
    with pytest.raises(InputError, match=r"force_N reaches 1.08e.04, .* about 4 N"):
        MECHANISM.measured(milli, predicted)
    in_newtons = {"force": curve(closing[:9], np.linspace(-9.8, 98.0, 9))}
    kilogrammes = written(tmp_path, time, closing, -closing)
    with pytest.raises(
        InputError, match=r"reaches 10.8, but about 98 N is predicted: give it in N"
    ):
        MECHANISM.measured(kilogrammes, in_newtons)


@pytest.mark.parametrize(("low", "high"), [("-3.0", "14.0"), ("-1.5", "8.0")])
def test_a_travel_that_the_record_has_not_is_refused(tmp_path, low, high):
    time, closing = way()
    path = written(tmp_path, time, closing, -closing).path
    listed = record(path=path, travel_min_mm=low, travel_max_mm=high)
    with pytest.raises(InputError, match=r"spans 12\.5.*correct the tra"):
        MECHANISM.measured(listed, {})


def test_force_scales_with_stiffness_and_moves_with_the_offset():
    one = MECHANISM.inputs(record())
    soft = MECHANISM.predict(SOFT, one)["force"]
    assert (soft.at[0], soft.at[-1]) == (-1.4, 10.8)
    stiff = ("stretch", "shear", "turn")
    stiffer = {k: 2.0 * v if k.startswith(stiff) else v for k, v in SOFT.items()}
    hard = MECHANISM.predict(stiffer, one)["force"]
    np.testing.assert_allclose(hard.value, 2.0 * soft.value, rtol=1e-4, atol=1e-5)
    moved = MECHANISM.predict({**SOFT, "offset_L2": 0.4}, one)["force"]
    np.testing.assert_allclose(moved.value[:-2], soft.value[2:], atol=1e-9)
    assert soft.value[-1] > 1.0 > soft.value[7]


def test_stiff_clamps_do_not_give():
    given = {**SOFT, "give_L2": 0.5}
    firm = MECHANISM.inputs(record(NAME + "_stiff"))
    loose = MECHANISM.predict(given, MECHANISM.inputs(record()))["force"]
    held = MECHANISM.predict(given, firm)["force"]
    assert held.value[-1] > 1.1 * loose.value[-1]
    np.testing.assert_allclose(held.value, MECHANISM.predict(SOFT, firm)["force"].value)


def test_play_moves_what_lies_beyond_its_force():
    """By its length, with a flat piece at the force where it is gone through."""
    one = MECHANISM.inputs(record())
    firm = MECHANISM.predict(SOFT, one)["force"]
    found = MECHANISM.predict({**SOFT, "play_L2": 1.0, "seat_L2": 1.0}, one)["force"]
    i = int(np.flatnonzero(firm.value > 1.0)[0])
    flat = slice(i + 2, i + 3)
    np.testing.assert_allclose(found.value[: i - 2], firm.value[: i - 2], atol=1e-9)
    np.testing.assert_allclose(found.value[flat], 1.0, atol=1e-9)
    np.testing.assert_allclose(found.value[i + 7 :], firm.value[i + 2 : -5], atol=1e-9)


def test_a_snap_into_play_ends_at_its_force():
    """From -3 N a snap to 2 N is stopped where the play of 1 mm begins to be gone."""
    driving, force = np.array([4.0, 2.0, 2.0, 0.0]), np.array([3.0, -3.0, 2.0, -2.0])
    x, F = _with_play(driving, force, -1, Ligaments(1.0, 1.0, 1.0, play=1.0, seat=0.5))
    assert (np.diff(x) <= 0.0).all()
    np.testing.assert_allclose(np.interp([1.9, 1.0, 0.5], x[::-1], F[::-1]),
                               [0.5, 0.0, -1.0])  # fmt: skip
