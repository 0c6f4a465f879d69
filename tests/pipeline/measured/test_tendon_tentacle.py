"""Records of the tentacle: what their names say, what is refused, where markers are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.measured.predicted_quantities import RecordInputs
from pipeline.config.build_objects import build
from pipeline.io.record_files import FoundRecord
from pipeline.measured.set_file import read_set
from pipeline.measured.tendon_tentacle import BASE, TendonTentacle, torques_of
from pipeline.terminal import InputError

FOLDER = Path("data/tendon_tentacle")
SET = read_set("tendon_tentacle")
MODEL: TendonTentacle = build(SET.model, "model")
STATED = {name: one.value for name, one in SET.inputs.items()}
MEANS = pd.read_csv(FOLDER / "static_means.csv").set_index("level")
LEVEL = "m1_u018"
FRAMES = len(pd.read_csv(FOLDER / f"{LEVEL}.csv"))


def record(name: str = LEVEL, **said: str) -> FoundRecord:
    return FoundRecord(name, FOLDER / f"{name}.csv", {"rate_Hz": "240", **said})


def changed(folder: Path, **columns: object) -> FoundRecord:
    table = pd.read_csv(FOLDER / f"{LEVEL}.csv").assign(**columns)
    path = folder / f"{LEVEL}.csv"
    table.to_csv(path, index=False)
    return FoundRecord(LEVEL, path, {"rate_Hz": "240"})


@pytest.mark.parametrize(
    ("level", "torques"),
    [
        ("m1_u018", (0.18, 0.0)),
        ("m2_u005", (0.0, 0.05)),
        ("m12_u002", (0.2, 0.2)),
        ("m12_u002001", (0.2, 0.1)),
        ("m12_u0015002", (0.15, 0.2)),
        ("m12_u00050010", (0.05, 0.10)),
    ],
)
def test_names_say_torques(level, torques):
    assert torques_of(level) == torques


def test_all_shipped_names_say_the_torques_of_the_table():
    told = [torques_of(str(level)) for level in MEANS.index]
    torques = MEANS[["torque_1_Nm", "torque_2_Nm"]].to_numpy().tolist()
    assert told == [tuple(row) for row in torques]


def test_frames_have_the_means_of_the_table():
    found = MODEL.measured(record(), {})
    for name, series in found.items():
        expected = 1e3 * MEANS.loc[LEVEL, f"{name}_m"]
        assert series.value[0] == pytest.approx(expected, abs=0.02)
    again = MODEL.measured(
        FoundRecord(LEVEL, FOLDER / "static_means.csv", {}, {"level": LEVEL}), {}
    )
    assert again["marker_4_z"].value[0] == 1e3 * MEANS.loc[LEVEL, "marker_4_z_m"]


def test_inputs_read_no_place_of_a_marker(tmp_path):
    bare = tmp_path / "new_3.csv"
    bare.write_text("time_s\n0.0\n0.005\n0.01\n")
    said = {"torque_1_Nm": "0.12", "torque_2_Nm": "0"}
    found = MODEL.inputs(FoundRecord("new_3", bare, said))
    assert found.numbers["tension_1_N"] == pytest.approx(0.12 / 0.0325)
    assert found.words == {"setup": "200", "mounting": "200a"}


def test_thinned_frames_tell_the_set_up_by_the_base_marker(tmp_path):
    thin = changed(tmp_path)
    said = {"torque_1_Nm": "0.12", "torque_2_Nm": "0"}
    found = MODEL.inputs(replace(thin, inputs=said))
    assert found.words == {"setup": "240", "mounting": "240"}
    moved = changed(tmp_path, base_x_m=0.3)
    with pytest.raises(InputError, match="nor its base marker fits a camera set-up"):
        MODEL.inputs(replace(moved, inputs=said))


def test_frames_in_mm_are_told_by_their_unit(tmp_path):
    """With or without a rate: not as of another rate, nor as of an arm that moves."""
    table = pd.read_csv(FOLDER / f"{LEVEL}.csv")
    places = {name: 1e3 * table[name] for name in table if str(name).endswith("_m")}
    in_mm = changed(tmp_path, **places)
    with pytest.raises(
        InputError, match=r"base marker is 312 from the origin: give metres"
    ):
        MODEL.inputs(replace(in_mm, inputs={}))
    with pytest.raises(InputError, match="give metres"):
        MODEL.measured(in_mm, {})


def test_the_base_marker_tells_mountings_apart():
    """Within one 0.2 mm from their middle at most, 0.6 mm between two at least."""
    base: dict[str, list[np.ndarray]] = {}
    told = pd.read_csv(FOLDER / "records.csv", dtype=str)
    for file, rate in told[["file", "rate_Hz"]].to_numpy().tolist():
        one = record(file.removesuffix(".csv"), rate_Hz=rate)
        places = one.columns(BASE).to_numpy().mean(axis=0)
        base.setdefault(MODEL.inputs(one).words["mounting"], []).append(1e3 * places)
    assert {name: len(own) for name, own in base.items()} == {
        "200a": 3, "200b": 4, "240": 7,
    }  # fmt: skip
    middle = {name: np.mean(own, axis=0) for name, own in base.items()}
    for name, own in base.items():
        assert max(np.linalg.norm(p - middle[name]) for p in own) < 0.2
    names = list(middle)
    for i, a in enumerate(names):
        assert all(np.linalg.norm(middle[a] - middle[b]) > 0.6 for b in names[:i])


def test_means_in_another_unit_are_refused(tmp_path):
    path = tmp_path / "static_means.csv"
    places = [name for name in MEANS if str(name).startswith("marker")]
    (1e3 * MEANS[places]).to_csv(path)
    with pytest.raises(InputError, match="give metres"):
        MODEL.measured(FoundRecord(LEVEL, path, {}, {"level": LEVEL}), {})
    MEANS.loc[[LEVEL, LEVEL]].to_csv(path)
    with pytest.raises(InputError, match=f"has 2 rows of {LEVEL}"):
        MODEL.measured(FoundRecord(LEVEL, path, {}, {"level": LEVEL}), {})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"marker_1_y_m": -0.2}, "give metres, with y downwards"),
        ({"marker_4_x_m": 400.0}, "give metres, with y downwards"),
        ({"marker_1_y_m": 125.0}, "give metres, with y downwards"),
        ({"marker_2_y_m": "lost"}, "must be a finite number"),
        (
            {"marker_3_x_m": lambda t: t["marker_3_x_m"].mask(t.index == 9, 0.9)},
            r"marker_3_x_m moves by .* \(row 11: 0.6",
        ),
        ({"time_s": 0.0}, "from 0 to 0: give each time once, in order"),
        ({"time_s": [*range(FRAMES - 1), FRAMES + 4]}, "fill the gap"),
        ({"time_s": np.linspace(0.0, 4e3, FRAMES)}, "not a few seconds: give s"),
    ],
)
def test_frames_that_cannot_be_are_refused(columns, words, tmp_path):
    with pytest.raises(InputError, match=words):
        MODEL.measured(changed(tmp_path, **columns), {})


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (lambda t: t[t["time_s"] < 0.5], "3 frames in 0.333 s do not show rest"),
        (lambda t: t[::5], "5 frames in 3.33 s .* at most 0.6 s apart"),
        (lambda t: t.assign(marker_3_x_m=t["marker_3_x_m"] + 1e-3 * t["time_s"]),
         "marker_3_x_m moves by .* from the first half"),
    ],
)  # fmt: skip
def test_means_of_what_does_not_show_rest_are_refused(kept, words, tmp_path):
    path = tmp_path / f"{LEVEL}.csv"
    kept(pd.read_csv(FOLDER / path.name)).to_csv(path, index=False)
    with pytest.raises(InputError, match=words):
        MODEL.measured(FoundRecord(LEVEL, path, {"rate_Hz": "240"}), {})


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("arm_7", {}, "its torques are unknown"),
        (LEVEL, {"rate_Hz": "100"}, r"camera set-up \(200, 240 Hz\)"),
        (LEVEL, {"torque_1_Nm": "-0.1", "torque_2_Nm": "0"}, "give 0 to 1"),
        (LEVEL, {"mounting": "3"}, "mounting is 3: give 200a, 200b, 240"),
    ],
)
def test_what_cannot_be_predicted_is_named_with_its_reason(name, said, words):
    with pytest.raises(InputError, match=words):
        MODEL.inputs(record(name, **said))


def test_with_the_constants_of_the_authors_the_model_is_as_good_as_theirs():
    """Theirs, over all levels: 12, 11, 12 and 28 mm by marker, from first to last."""
    of = {**STATED, "modulus_kPa": 315.0, "density": 1318.0}
    hooke = replace(MODEL, law="hooke", edges=12)
    apart = []
    for level in ("m1_u01", "m2_u015", "m12_u001002", "m12_u00100005"):
        found = hooke.predict(of, hooke.inputs(record(level)))
        names = [f"marker_{k}_{axis}" for k in range(1, 5) for axis in "xyz"]
        seen = 1e3 * MEANS.loc[level, [f"{n}_m" for n in names]].to_numpy(float)
        own = np.array([found[n].value[0] for n in names])
        apart.append(np.linalg.norm((own - seen).reshape(4, 3), axis=1))
    rms = np.sqrt(np.mean(np.square(apart), axis=0))
    assert (rms < [12.0, 11.0, 13.0, 28.0]).all()


def test_forces_scale_out_of_the_shape():
    """E, density and tension times one factor: the same places."""
    inputs = MODEL.inputs(record())
    first = MODEL.predict(STATED, inputs)
    twice = {n: 2.0 * STATED[n] for n in ("modulus_kPa", "density", "pull")}
    again = MODEL.predict({**STATED, **twice}, inputs)
    for name, series in first.items():
        assert series.value[0] == pytest.approx(again[name].value[0], abs=1e-4)


def places(inputs: RecordInputs, **changed: float) -> list[float]:
    found = MODEL.predict({**STATED, **changed}, inputs)
    return [series.value[0] for series in found.values()]


def test_tension_arrives_less_what_is_lost_times_shares():
    """0.18 N m at 240 Hz, of which 1 N is lost and 0.9 x 0.8 x 1.25 passed on."""
    inputs = MODEL.inputs(record())
    passed = {"pull": 0.9, "pull_1": 0.8, "pull_240": 1.25}
    arrives = 0.9 * 0.8 * 1.25 * (0.18 / 0.0325 - 1.0)
    there = replace(inputs, numbers={**inputs.numbers, "tension_1_N": arrives})
    expected = pytest.approx(places(there), abs=1e-4)
    assert places(inputs, lost_240=1.0, **passed) == expected
    assert places(inputs, lost_240=1.0, lost_200a=0.5, pull_2=2.0, **passed) == expected


def test_tension_of_a_mounting_reaches_its_levels_only():
    for name, own, other in (("m1_u02", "200a", "200b"), ("m2_u02", "200b", "200a")):
        inputs = MODEL.inputs(record(name, rate_Hz="200"))
        first = places(inputs)
        assert places(inputs, **{f"pull_{other}": 1.3, f"lost_{other}": 0.5}) == first
        assert places(inputs, **{f"pull_{own}": 1.1}) != first


def test_both_tendons_at_200_hz_are_between_its_two_mountings():
    """Which of them is not told: it is an input of which nothing else is known."""
    inputs = MODEL.inputs(record("m12_u002", rate_Hz="200"))
    assert inputs.words["mounting"] == "200"
    assert inputs.u["between"] == 1.0
    told = {"pull_200a": 0.9, "lost_200b": 0.4}
    for word, by in (("200a", -1.0), ("200b", 1.0)):
        one = MODEL.inputs(record("m12_u002", rate_Hz="200", mounting=word))
        end = places(inputs.shifted("between", by), **told)
        assert end == pytest.approx(places(one, **told), abs=1e-4)
    middle = {"pull_200a": 0.95, "lost_200a": 0.2}
    one = MODEL.inputs(record("m12_u002", rate_Hz="200", mounting="200a"))
    assert places(inputs, **told) == pytest.approx(places(one, **middle), abs=1e-4)


def test_a_tendon_that_gets_less_than_is_lost_does_not_pull():
    inputs = MODEL.inputs(record("m2_u005"))
    slack = replace(inputs, numbers={**inputs.numbers, "tension_2_N": 0.0})
    expected = pytest.approx(places(slack), abs=1e-4)
    assert places(inputs, lost_240=2.0) == expected


def test_routes_are_what_tendons_share_and_what_they_differ_by():
    inputs = MODEL.inputs(record())
    expected = pytest.approx(places(inputs, root_1=1.5, tie_1=-0.5), abs=1e-4)
    split = {"root": 1.0, "root_1": 0.5, "tie": -1.0, "tie_1": 0.5}
    assert places(inputs, **split) == expected


def test_half_the_edge_moves_markers_by_little():
    inputs = MODEL.inputs(record())
    fine = MODEL.refined().predict(STATED, inputs)
    for name, series in MODEL.predict(STATED, inputs).items():
        assert abs(series.value[0] - fine[name].value[0]) < 1.5
