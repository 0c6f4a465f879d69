"""A measured set compared: inputs first, then the committed prediction, then values."""

import gzip
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.measured.fit_with_model_error import FittedRecords, Input, Linear
from analysis.measured.prediction_verdicts import COLUMNS
from pipeline.cli import measured
from pipeline.cli.app import called
from pipeline.measured.compare import run_step as compare
from pipeline.measured.fit import determined_by_others, left_out_groups
from pipeline.measured.fit import run_step as fit
from pipeline.measured.predict import run_step as predict
from pipeline.measured.prediction_file import (
    POSTERIOR,
    committed,
    read_posterior,
    read_prediction,
)
from pipeline.measured.records import SetAtHand, at_hand, records_in
from pipeline.measured.set_file import MeasuredSet, read_set, set_names
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import write_digests
from pipeline.terminal import InputError
from pipeline.workflow import make_step


@pytest.mark.parametrize(
    ("name", "conditions", "each"), [("lce_lattices", 4, 3), ("silicone_beam", 2, 2)]
)
def test_records_of_one_condition_are_left_out_together(name, conditions, each):
    at = at_hand(read_set(name).model_dump(mode="json"))
    chosen = records_in(at, at.folder)
    groups = left_out_groups(at, chosen)
    assert len(groups) == conditions
    for group in groups:
        assert len({name[:-2] for name in group}) == 1
        assert len(group) == each
    single = at.of.records.model_copy(update={"conditions": ()})
    alone = replace(at, of=at.of.model_copy(update={"records": single}))
    assert left_out_groups(alone, chosen) == [[name] for name in chosen.inputs]


def test_a_record_that_alone_tells_an_input_is_not_left_out():
    """Without b nothing changes with the second input; d changes with none."""
    rows = pd.DataFrame({"record": ["a", "a", "b", "c", "d"]})
    free = [Input(name, 1.0, np.inf, fitted=True) for name in "pq"]
    of = FittedRecords(lambda *_: {}, {}, rows, free)
    J = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 3.0], [1.0, 0.0], [0.0, 0.0]])
    near = Linear(of, {}, np.zeros(5), J, np.zeros((5, 0)), np.zeros((5, 0)))
    told = {name: determined_by_others(near, [name]) for name in "abcd"}
    assert told == {"a": True, "b": False, "c": True, "d": False}
    assert not determined_by_others(near, ["a", "b", "c", "d"])
    none = replace(near, of=replace(of, inputs=()), J=J[:, :0])
    assert not determined_by_others(none, ["a"])
    inputs = [free[0], replace(free[1], u=0.5)]
    prior = replace(near, of=replace(of, inputs=inputs))
    assert determined_by_others(prior, ["b"])
    assert not determined_by_others(replace(prior, J=J * [[0.0, 1.0]]), ["b"])


def test_a_record_is_as_far_as_the_nearest_fitted_one():
    at = at_hand(read_set("tendon_tentacle").model_dump(mode="json"))
    records = records_in(at, at.folder).inputs
    known = [records[name] for name in ("m1_u02", "m2_u02")]
    assert at.distance(records["m1_u02"], known) == 0.0
    both = records["m12_u002"]
    assert at.distance(both, known) == pytest.approx(0.2 / 0.0325 / 7.7)
    spheres = at_hand(read_set("nist_spheres").model_dump(mode="json"))
    assert spheres.distance(both, known) == 0.0


def spheres() -> SetAtHand:
    return at_hand(read_set("nist_spheres").model_dump(mode="json"))


def centres(folder: Path, rows: dict[str, str]) -> Path:
    folder.mkdir()
    head = "scan,note,x_m,y_m,z_m,free_radius_mm"
    lines = [f"{scan},n,{cells}" for scan, cells in rows.items()]
    text = "\n".join([head, *lines]) + "\n"
    (folder / "centres_from_segmented.csv").write_text(text)
    (folder / "other.csv").write_text("nothing of ours\n")
    return folder


GOOD = "-5.895832,3.628941,-1.561256,50.05"


def test_records_of_a_folder_are_compared_with_the_committed_prediction(tmp_path):
    at, out = spheres(), tmp_path / "out"
    before = committed(at.folder)
    assert before is not None
    rows = {"SPH101": GOOD, "SPH999": GOOD, "SPH102": "1,1,oops,50", "": GOOD}
    outside = "../nist_spheres/SPH101"  # a scan is a name, not a path
    rows[outside] = GOOD
    compare(at, centres(tmp_path / "r", rows), None, out, tmp_path)
    table = pd.read_csv(out / "measured.csv")
    assert list(table.columns) == list(COLUMNS)
    assert set(table["record"]) == {"SPH101"}
    assert set(table["quantity"]) == {"centre_x", "centre_y", "centre_z", "radius"}
    assert (table["E"] - (table["predicted"] - table["measured"])).abs().max() < 1e-9
    inside = (table["E"].abs() <= table["half_width"]).to_list()
    assert table["inside95"].to_list() == inside
    assert "true" in (out / "measured.csv").read_text()
    said = json.loads((out / "verdict.json").read_text())
    assert said["prediction"]["sha256"] == before.sha256
    assert said["prediction"]["committed"]
    assert "has no scan 'SPH999': did you mean SPH109" in said["refused"]["SPH999"]
    assert "z_m must be a finite number, not 'oops'" in said["refused"]["SPH102"]
    for name in ("", outside):
        assert f"has no scan {name!r}" in said["refused"][name]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("-5895.832,3628.941,-1561.256,50.05", "give centres in m from"),
        ("-5.895832,3.628941,-1.561256,0.05005", "radius of SPH101 is 50.0"),
        ("-5.895832,3.628941,-1.561256,5.005", "radius of SPH101 is 45.0"),
        ("-5.895832,3.628941,,50.05", "z_m must be a finite number, not ''"),
        (f"{GOOD}\nSPH101,n,{GOOD}", "has 2 rows of SPH101: keep one"),
        ("5.895832,3.628941,-1.561256,50.05", "give centres in m from the scanner"),
    ],
)
def test_a_centre_that_is_none_of_the_scan_has_no_rows(cells, words, tmp_path):
    at, out = spheres(), tmp_path / "out"
    compare(at, centres(tmp_path / "r", {"SPH101": cells}), None, out, tmp_path)
    assert pd.read_csv(out / "measured.csv").empty
    assert words in json.loads((out / "verdict.json").read_text())["refused"]["SPH101"]


def test_a_missing_axis_and_an_empty_file_are_named(tmp_path):
    folder = centres(tmp_path / "r", {})
    path = folder / "centres_from_segmented.csv"
    for text, name, words in (
        ("scan,x_m,z_m\nSPH101,1,1\n", "SPH101", "has no column y_m"),
        ("", "centres_from_segmented", "is empty: give"),
    ):
        path.write_text(text)
        compare(spheres(), folder, None, tmp_path / "out", tmp_path)
        assert pd.read_csv(tmp_path / "out" / "measured.csv").empty
        said = json.loads((tmp_path / "out" / "verdict.json").read_text())
        assert words in said["refused"][name]


def test_what_is_kept_aside_does_not_count_as_fitted():
    for name in set_names():
        at = at_hand(read_set(name).model_dump(mode="json"))
        before = committed(at.folder)
        assert before is not None
        assert not set(before.fitted) & set(at.of.records.held_out)


def test_a_set_is_compared_from_any_folder(tmp_path, monkeypatch, capsys):
    """By whatever code it was predicted: it says so where that was another."""
    centres(tmp_path / "r", {"SPH101": GOOD})
    before = committed(spheres().folder)
    assert before is not None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipeline.cli.measured.measured_by_hand", elsewhere)
    assert called(["measured", "nist_spheres", "--records", "r", "--out", "out"]) == 0
    assert len(pd.read_csv(tmp_path / "out" / "measured.csv")) == 4
    capsys.readouterr()
    for now, said in ((before.code, False), ("0", True)):
        monkeypatch.setattr(
            "pipeline.cli.measured.code_of_prediction", lambda _, now=now: now
        )
        assert (
            called(["measured", "nist_spheres", "--records", "r", "--out", "out"]) == 0
        )
        line = f"was {before.code[:16]} when the prediction was made, is now 0; the"
        assert (line in capsys.readouterr().out) is said


def elsewhere(of: MeasuredSet, folder: Path, _: str) -> Path:
    """The comparison in a folder of its own, not among the project's runs."""
    at = at_hand(of.model_dump(mode="json"))
    run = folder.parent / "run"
    compare(at, folder, None, run, folder.parent)
    write_json(run / "run.json", {})
    write_digests(run)
    return run


def test_a_file_under_another_name_is_another_record(tmp_path, monkeypatch):
    """What it holds does not tell which record it is: the name says its load."""
    keys = []
    monkeypatch.setattr(make_step, "run_once", lambda job, *_: keys.append(job.key))
    of = read_set("tendon_tentacle")
    for name in ("m1_u013", "m1_u014"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.csv").write_text("time_s\n0\n")
        measured.predicted_by_hand(of, folder)
    assert keys[0] != keys[1]


def test_a_prediction_does_not_read_what_was_measured(tmp_path):
    at = spheres()
    fit(at, tmp_path / "fit")
    after = read_posterior(tmp_path / "fit" / POSTERIOR)
    tables = []
    for name, cells in (("a", GOOD), ("b", "not yet,not yet,not yet,not yet")):
        folder = centres(tmp_path / name, {"SPH102": cells})
        predict(at, folder, after, "0" * 16, tmp_path / f"{name}-out")
        tables.append((tmp_path / f"{name}-out" / "prediction.csv").read_bytes())
    assert tables[0] == tables[1]
    again = read_prediction(tmp_path / "a-out")
    held = committed(at.folder)
    assert held is not None
    pd.testing.assert_frame_equal(
        again.table, held.of("SPH102").reset_index(drop=True), rtol=1e-6
    )


def test_a_run_on_the_files_of_a_run_names_that_run(tmp_path, monkeypatch):
    """Not the folder that the files were opened from: results/fit_measured/<set>."""
    fitted = tmp_path / "fit_measured" / "tendon_tentacle"
    fitted.mkdir(parents=True)
    write_json(fitted / "run.json", {"key": "0123abcd"})
    jobs: list[Job] = []
    monkeypatch.setattr(make_step, "run_once", lambda job, *_: jobs.append(job))

    of = read_set("tendon_tentacle")
    measured.predicted_by_hand(of, None, fit=fitted)
    measured.measured_by_hand(of, None, fit=fitted)
    assert [job.needs["fit"] for job in jobs] == ["0123abcd", "0123abcd"]


def test_a_packed_prediction_is_the_same_and_checked_inside(tmp_path):
    """Of any packing: the SHA-256 is that of the table; a damaged file is refused."""
    folder = spheres().folder / "prediction"
    plain = (folder / "prediction.csv").read_bytes()
    shutil.copy(folder / "prediction.json", tmp_path)
    path = tmp_path / "prediction.csv.gz"
    path.write_bytes(gzip.compress(plain, mtime=0))
    before, again = read_prediction(folder), read_prediction(tmp_path)
    pd.testing.assert_frame_equal(before.table, again.table)
    assert again.sha256 == before.sha256 == hashlib.sha256(plain).hexdigest()
    path.write_bytes(gzip.compress(plain.replace(b"radius,0.0,4", b"radius,0.0,5")))
    with pytest.raises(InputError, match="has changed since it was made"):
        read_prediction(tmp_path)
    for damaged in (b"", b"no gzip", gzip.compress(plain)[:-9]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="restore it"):
            read_prediction(tmp_path)
