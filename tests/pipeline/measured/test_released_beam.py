"""A released beam: synthetic records that the model itself made; the shipped set."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.measured.predicted_quantities import RecordInputs
from pipeline.io.record_files import FoundRecord, RecordSource, find_records
from pipeline.measured.compare import run_step as compare
from pipeline.measured.predict import run_step as predict
from pipeline.measured.prediction_file import (
    POSTERIOR,
    committed,
    read_posterior,
    read_prediction,
)
from pipeline.measured.records import SetAtHand, at_hand, held_out_records, records_in
from pipeline.measured.released_beam import ReleasedBeam
from pipeline.measured.set_file import read_set
from pipeline.terminal import InputError
from sim.core.arrays import Floats

PARAMETERS = {
    "modulus": 2.4e5, "share": 0.15, "exponent": 0.28, "turning": 8.0,
    "beyond": 0.0, "spring": 280.0, "retardation": 0.009, "lever": 0.0,
    "held_for": 3.0, "tilt": 0.0,
    "density": 1070.0, "poisson": 0.499, "gravity": 9.81,
}  # fmt: skip
HELD, FRAMES = 0.006, 500
GIVEN = RecordInputs(
    "x",
    {
        "mass_kg": 0.052, "held_m": HELD, "frame_s": 0.01, "rested_s": 4.0,
        "released_s": 0.0,
    },
)  # fmt: skip
FORMS = [
    RecordSource(files=r"own_weight(_.*)?\.csv", defaults={"mass_g": "0"}),
    RecordSource(files=r"plus_(?P<mass_g>\d+)g(_.*)?\.csv"),
]
PLACES = {
    "tip_1": (0.02, 0.03, 0.075), "tip_2": (0.009, 0.05, 0.075),
    "tip_3": (-0.009, 0.01, 0.07), "base_1": (-0.01, 0.06, -0.02),
    "base_2": (0.017, 0.01, -0.02), "base_3": (-0.007, 0.01, -0.02),
}  # fmt: skip
TURNED = {
    f"{name}_{axis}_m": f"{name}_{turned}_m"
    for name in PLACES
    for axis, turned in (("x", "z"), ("z", "x"))
}


def table(height: Floats) -> pd.DataFrame:
    """Markers of a tip at a height above the base's mean, and of a base at rest."""
    columns = {"time_s": np.arange(len(height)) / 100.0}
    for name, place in PLACES.items():
        for axis, value in zip("xyz", place, strict=True):
            moves = axis == "x" and name.startswith("tip")
            still = np.full(len(height), value + 0.06)
            columns[f"{name}_{axis}_m"] = still + height if moves else still
    return pd.DataFrame(columns)


def held_then(heights: Floats, rest: float) -> Floats:
    """Held for half a second at the first height, then as given, then at rest."""
    left = np.full(FRAMES - 50 - len(heights), rest)
    return np.concatenate([np.full(50, heights[0]), heights, left])


@pytest.fixture
def beam(tmp_path):
    """A beam whose reference is at rest at -10 mm, held 6 mm above that."""
    time = np.arange(400) / 100.0
    swing = HELD * np.exp(-2.5 * time) * np.cos(48.0 * time)
    path = tmp_path / "own_weight_a.csv"
    table(held_then(-0.010 + swing, -0.010)).to_csv(path, index=False)
    return ReleasedBeam([str(path)], 0.1, 0.03, 0.03)


def record_of(beam: ReleasedBeam, path: Path, shift: float = 0.0) -> FoundRecord:
    """A record that the model made, all markers shifted by the same."""
    made = beam.predict(PARAMETERS, GIVEN)
    rest = beam.own_weight.rest - made["lowering"].value[0] / 1e3
    whole = table(held_then(made["tip_height"].value / 1e3, rest))
    whole[[c for c in whole if c.endswith("_m")]] += shift
    whole.to_csv(path, index=False)
    return FoundRecord(path.stem, path, {"mass_g": "52"})


@pytest.mark.slow
def test_what_the_model_made_is_measured_as_it_was_made(beam, tmp_path):
    record = record_of(beam, tmp_path / "plus_52g_a.csv")
    given = beam.inputs(record)
    assert given.numbers["held_m"] == pytest.approx(HELD, abs=1e-6)
    predicted = beam.predict(PARAMETERS, GIVEN)
    measured = beam.measured(record, predicted)
    for name in ("period", "damping_ratio", "lowering"):
        assert measured[name].value == pytest.approx(predicted[name].value, rel=2e-3)


def test_a_record_shifted_in_space_gives_the_same_inputs_and_values(beam, tmp_path):
    here = record_of(beam, tmp_path / "plus_52g_a.csv")
    there = record_of(beam, tmp_path / "renamed.csv", shift=0.37)
    one, other = beam.inputs(here), beam.inputs(there)
    assert dict(one.numbers) == pytest.approx(dict(other.numbers), abs=1e-9)
    first, second = (beam.measured(r, {}) for r in (here, there))
    assert first["lowering"].value == pytest.approx(second["lowering"].value, abs=1e-6)


def test_renamed_records_say_their_mass_in_a_table(beam, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    record_of(beam, folder / "first.csv")
    (folder / "records.csv").write_text("file,mass_g\nfirst.csv,52\n")
    (found,), odd = find_records(folder, FORMS)
    assert beam.inputs(found).numbers["mass_kg"] == 0.052
    assert not odd


def test_own_weight_has_no_lowering(beam):
    record = FoundRecord("own", Path(beam.reference[0]), {"mass_g": "0"})
    assert "lowering" not in beam.predict(PARAMETERS, beam.inputs(record))
    assert "lowering" not in beam.measured(record, {})


def test_a_mass_on_a_link_falls_behind_and_the_tip_stops_for_a_moment(beam):
    """Hung, the tip falls faster at first, then slower than on its way on."""
    hung, rigid = (
        beam.predict({**PARAMETERS, "retardation": 0.001, "spring": c}, GIVEN)
        for c in (285.0, 1e5)
    )
    speed, steady = (-np.diff(one["tip_height"].value[:8]) for one in (hung, rigid))
    assert speed[:2].sum() > 1.15 * steady[:2].sum()
    assert min(speed[3:6]) < 0.9 * min(speed[2], speed[6])
    assert (np.diff(steady[:6]) > 0.0).all()


def test_a_heavier_mass_lowers_more_and_rings_slower(beam):
    heavy = GIVEN.shifted("mass_kg", 0.05)
    one, two = (beam.predict(PARAMETERS, each) for each in (GIVEN, heavy))
    assert two["lowering"].value[0] > 1.7 * one["lowering"].value[0]
    assert two["period"].value[0] > 1.2 * one["period"].value[0]


def test_a_record_that_is_not_there_is_predicted_from_what_is_said(beam):
    said = {"mass_g": "52", "held_mm": "6", "u_held_mm": "0.3", "rested_s": "4"}
    kept = beam.inputs(FoundRecord("kept", Path("none.csv"), said))
    assert dict(kept.numbers) == pytest.approx(dict(GIVEN.numbers))
    assert kept.u["held_m"] == pytest.approx(3e-4)


def test_half_the_step_changes_little(beam):
    coarse = beam.predict(PARAMETERS, GIVEN)
    fine = beam.refined().predict(PARAMETERS, GIVEN)
    assert coarse["period"].value == pytest.approx(fine["period"].value, rel=3e-3)
    assert coarse["lowering"].value == pytest.approx(fine["lowering"].value, rel=3e-3)


def stray(table: pd.DataFrame, column: str, by: float, at: int = 70) -> pd.DataFrame:
    """One sample, at 0.7 s unless told, moved by m."""
    return table.assign(**{column: table[column] + by * (table.index == at)})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda t: t.drop(columns="tip_3_x_m"), "tip_3_x_m"),
        (lambda t: t.assign(**{c: 1e3 * t[c] for c in t if c != "time_s"}), "metres"),
        (lambda t: t.drop(index=range(80, 90)), "row 82: time_s goes from 0.79 to 0.9"),
        (lambda t: t.assign(**{c: -t[c] for c in t if c != "time_s"}), "upwards"),
        (lambda t: t.rename(columns=TURNED), "give x upwards, z along the beam"),
        (lambda t: t.assign(time_s=1e3 * t["time_s"]), "and time in s"),
        (lambda t: t.iloc[60:], "still held"),
        (lambda t: t.iloc[:60], "60 frames"),
        (lambda t: t.loc[t.index.repeat(2)], "from 0 to 0: give each time once"),
        (lambda t: t.iloc[[*range(90), *range(88, 500)]], "0.89 to 0.88: give each"),
        (lambda t: stray(t, "tip_2_z_m", 0.5), "tip_2 is 0.5 m off .* at 0.7 s"),
        (lambda t: stray(t, "base_2_x_m", 0.006), "72: base_2 is 0.006 m off"),
        (
            lambda t: stray(t, "tip_2_z_m", 0.1, 0),
            "row 2: tip_2 is 0.1 m off .* at 0 ",
        ),
        (lambda t: stray(t, "base_1_x_m", 0.1, 1), "row 3: base_1 is 0.1 m off"),
        (
            lambda t: stray(t, "base_1_x_m", 0.1, len(t) - 1),
            f"row {FRAMES + 1}: base_1 is 0.1 m off",
        ),
    ],
)
def test_records_that_are_none_are_refused_in_one_line(beam, tmp_path, spoil, words):
    path = tmp_path / "plus_52g_a.csv"
    record = record_of(beam, path)
    spoil(pd.read_csv(path)).to_csv(path, index=False)  # type: ignore[operator]
    with pytest.raises(InputError, match=words):
        beam.inputs(record)


def shipped() -> SetAtHand:
    return at_hand(read_set("silicone_beam").model_dump(mode="json"))


def test_exchanged_axes_are_told_by_where_the_tip_moves(tmp_path):
    """Measured ones move 3.5 times as far along x as along any other."""
    at, path = shipped(), tmp_path / "plus_52g_a.csv"
    table = pd.read_csv(at.folder / path.name, comment="#")
    exchanged = {f"{m}_{a}_m": f"{m}_{b}_m" for m in PLACES for a, b in ("xy", "yx")}
    table.rename(columns=exchanged).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"moves most along y.*give x upwards"):
        at.experiment.inputs(FoundRecord(path.stem, path, {"mass_g": "52"}))


def test_the_committed_prediction_is_of_the_shipped_records_and_those_kept():
    at = shipped()
    before, records = committed(at.folder), records_in(at, at.folder)
    assert before is not None
    kept = held_out_records(at, records.found).inputs
    assert set(kept) == {"plus_101g_a", "plus_101g_b"}
    for one in [*records.inputs.values(), *kept.values()]:
        assert before.holds(one)
    assert set(before.fitted) == set(records.inputs)
    limits = {"lowering": 0.04, "period": 0.02, "damping_ratio": 0.3}
    for name, share in limits.items():
        own = before.table["record"].isin(before.fitted)
        rows = before.table[own & (before.table["quantity"] == name)]
        most = share * rows["value"] * (1.0 + 1e-8)  # both have nine digits
        assert (rows["half_width"] <= most).all()


def test_a_load_left_out_is_inside_its_own_interval_only():
    """Period by load: as wide as at fitted loads, an interval would miss all four."""
    at = at_hand(read_set("silicone_beam").model_dump(mode="json"))
    rows = pd.read_csv(at.folder / "prediction" / "left_out.csv")
    period = rows[rows["quantity"] == "period"]
    after = read_posterior(at.folder / "prediction" / POSTERIOR)
    known = replace(at, repeat_sd=after.repeat_sd).families({})("period")
    assert (period["E"].abs() > known.widest(period["predicted"].to_numpy())).all()
    assert rows.groupby("record")["inside95"].mean().min() > 0.95


def test_an_interval_grows_with_the_load():
    at = at_hand(read_set("silicone_beam").model_dump(mode="json"))
    rows = pd.read_csv(at.folder / "prediction" / "prediction.csv")
    for quantity in ("lowering", "period", "damping_ratio"):
        own = rows[rows["quantity"] == quantity].set_index("record")
        share = own["half_width"] / own["value"]
        assert share["plus_101g_a"] > 1.2 * share["plus_52g_a"]


def test_measured_records_are_as_their_readme_describes_them():
    """Periods within 0.5 %, damping to the last digit, lowering from the clamp."""
    at = shipped()
    records = records_in(at, at.folder).found
    found = {n: at.experiment.measured(one, {}) for n, one in records.items()}
    stated = {
        "own_weight_a": (0.1315, 0.050), "own_weight_b": (0.1314, 0.053),
        "plus_52g_a": (0.2338, 0.055), "plus_52g_b": (0.2347, 0.050),
    }  # fmt: skip
    for name, (period, damping) in stated.items():
        assert found[name]["period"].value == pytest.approx(period, rel=5e-3)
        assert found[name]["damping_ratio"].value == pytest.approx(damping, abs=8e-4)
    lowered = [found[f"plus_52g_{which}"]["lowering"].value[0] for which in "ab"]
    assert np.mean(lowered) == pytest.approx(10.7, abs=0.05)


@pytest.mark.long
def test_shifted_and_renamed_records_are_predicted_anew_and_compared(tmp_path):
    at, folder = shipped(), tmp_path / "new"
    folder.mkdir()
    whole = pd.read_csv(at.folder / "plus_52g_b.csv", comment="#").iloc[12:]
    whole[[c for c in whole if c.endswith("_m")]] += 0.21
    whole.assign(time_s=whole["time_s"] + 3.0).to_csv(folder / "x.csv", index=False)
    (folder / "records.csv").write_text("file,mass_g\nx.csv,52\n")
    after = read_posterior(at.folder / "prediction" / POSTERIOR)
    predict(at, folder, after, "key", tmp_path / "predicted")
    made = read_prediction(tmp_path / "predicted")
    compare(at, folder, made, tmp_path / "out", at.folder / "prediction")
    rows = pd.read_csv(tmp_path / "out" / "measured.csv")
    before = committed(at.folder)
    assert before is not None
    assert set(rows["record"]) == {"x"}
    own = before.of("plus_52g_b")
    assert rows["predicted"].to_numpy() == pytest.approx(
        own["value"].to_numpy(), rel=1e-3
    )
    assert rows["inside95"].mean() > 0.9
