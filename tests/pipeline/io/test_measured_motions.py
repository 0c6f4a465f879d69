"""Markers in time: the same motion from every table; bad ones refused."""

from collections.abc import Callable
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.io import measured_motions as c3d
from pipeline.io.measured_motions import read_motion
from pipeline.terminal import InputError
from sim.core.arrays import Floats

NAMES = ["tip_1", "base"]
TIME = np.arange(6) / 100.0
Made = Callable[[Path, Floats], Path]


@pytest.fixture
def places(rng):
    """(6, 2, 3) mm."""
    return rng.uniform(-200.0, 200.0, (6, 2, 3))


def as_csv(folder: Path, places: Floats, unit: str = "mm") -> Path:
    head = [f"{n}_{axis}_{unit}" for n in NAMES for axis in "xyz"]
    lines = [",".join(["time_s", *head])]
    for t, row in zip(TIME, places.reshape(len(places), -1), strict=True):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
        lines.append(",".join([repr(float(t)), *cells]))
    path = folder / "m.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def as_c3d(
    folder: Path, places: Floats, names: list[str] = NAMES, unit: str = "mm", *more: str
) -> Path:
    """Written by ezc3d, residuals negative where a marker is nan; `more` are angles."""
    file, lost = ezc3d.c3d(), np.isnan(places).any(axis=2)
    said = {"RATE": [100.0], "UNITS": [unit], "LABELS": names[:255], "ANGLES": more}
    for name, value in (said | {"LABELS2": names[255:]}).items():
        if value:
            file.add_parameter("POINT", name, value)
    file["data"]["points"] = np.where(lost[..., None], 0.5, places).transpose(2, 1, 0)
    file["data"]["meta_points"]["residuals"] = np.where(lost, -1.0, 0.0).T[None]
    file.write(str(folder / "m.c3d"))
    return folder / "m.c3d"


def as_motive(folder: Path, places: Floats) -> Path:
    """With a body, where its markers should be, a time code and a quality."""
    kinds = ["Rigid Body"] * 3 + ["Rigid Body Marker"] * 4 + ["Marker"] * 6
    names = ["arm"] * 3 + ["arm:tip_1"] * 4 + [n for n in NAMES for _ in "xyz"]
    what = ["Position"] * 6 + ["Marker Quality"] + ["Position"] * 6
    axes = [*"XYZ", *"XYZ", "", *"XYZ", *"XYZ"]
    lines = [
        "\ufeffFormat Version,1.23,Take Name,a,Export Frame Rate,100.0,Length Units,"
        "Millimeters,Coordinate Space,Global",
        "",
        ",".join(["", "Type", "", *kinds]),
        ",".join(["", "Name", "", *names]),
        ",".join(["", "ID", "", *[f'"{k}"' for k in range(len(kinds))]]),
        ",".join(["", "Parent", "", *[""] * len(kinds)]),
        ",".join(["", "", "", *what]),
        ",".join(["Frame", "Time (Seconds)", "TimeCode", *axes]),
    ]
    for k, (t, row) in enumerate(zip(TIME, places.reshape(6, -1), strict=True)):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
        lines.append(",".join([str(k), f"{t:.6f}", "", *["9"] * 7, *cells]))
    path = folder / "m.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def as_motive_bare(folder: Path, places: Floats) -> Path:
    """Without the rows that say what columns are; blank ones stand there."""
    path = as_motive(folder, places)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], "", "", *lines[7:]]), encoding="utf-8")
    return path


@pytest.mark.parametrize("made", [as_csv, as_c3d, as_motive])
def test_every_format_gives_the_same_motion(tmp_path, places, made):
    motion = read_motion(made(tmp_path, places))
    assert motion.names == tuple(NAMES)
    np.testing.assert_allclose(motion.time, TIME, atol=1e-9)
    np.testing.assert_allclose(motion.places, places / 1e3, atol=6e-6)
    np.testing.assert_allclose(motion.marker("base"), places[:, 1] / 1e3, atol=6e-6)


@pytest.mark.parametrize("made", [as_csv, as_c3d, as_motive])
def test_a_marker_counts_in_the_frames_that_see_it(tmp_path, places, made):
    places[3, 0, 1] = np.nan
    motion = read_motion(made(tmp_path, places))
    assert len(motion.marker("base")) == 6
    seen = np.delete(places[:, 0], 3, axis=0) / 1e3
    np.testing.assert_allclose(motion.marker("tip_1"), seen, atol=6e-6)
    with pytest.raises(InputError, match="has no marker 'tip_2': did you mean tip_1"):
        motion.marker("tip_2")
    places[:, 0, 2] = np.nan
    with pytest.raises(InputError, match="tip_1 is lost in all 6 frames from 0 to"):
        read_motion(made(tmp_path, places)).marker("tip_1")


def test_metres_and_millimetres_are_told_apart(tmp_path, places):
    motion = read_motion(as_csv(tmp_path, places, "m"))
    np.testing.assert_allclose(motion.places, places)


def test_angles_and_frames_at_zero_are_no_places(tmp_path):
    names, places = [f"m{k}" for k in range(300)], np.full((6, 300, 3), 7.0)
    places[1, 298], places[2, 298] = 0.0, np.nan
    motion = read_motion(as_c3d(tmp_path, places, names, "m", "m299"))
    assert motion.names == tuple(names[:299])
    np.testing.assert_allclose(motion.marker("m298"), np.full((4, 3), 7.0))


def test_a_c3d_that_cannot_be_used_is_one_line(tmp_path, places, monkeypatch):
    with pytest.raises(InputError, match=r"units ft, .* export it with m, cm or mm"):
        read_motion(as_c3d(tmp_path, places, NAMES, "ft"))
    path = as_c3d(tmp_path, places)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(InputError, match="cannot be read as C3D: is it damaged"):
        read_motion(path)
    monkeypatch.setattr(c3d, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"the package ezc3d.*make formats"):
        read_motion(path)


def test_of_two_markers_of_one_name_none_is_taken(tmp_path, places):
    path = as_motive(tmp_path, places)
    path.write_text(path.read_text().replace("base", "tip_1"))
    with pytest.raises(InputError, match="has 2 markers of the name 'tip_1': rename"):
        read_motion(path).marker("tip_1")


HEAD = "time_s,a_x_m,a_y_m,a_z_m\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,a_x_m\n0,1\n", "has no column time_s"),
        ("time_s,a_x_ft,a_y_ft,a_z_ft\n0,1,1,1\n", "a_x_ft does not end in an axis"),
        ("time_s,a_x_m,a_y_m\n0,1,1\n", "marker a has no z"),
        ("time_s,a_x_m,a_y_m,a_z_mm\n0,1,1,1\n", "marker a has two units: use one"),
        (HEAD + "0,1,1,1\n1,1,1,1\n5,1,1,1\n6,1,1,1\n", "jumps from 1 to 5 s"),
        (HEAD + "0,1,1,1\n1,1,1,1\n0.5,1,1,1\n", "usual step .* s"),
        (HEAD + "0,1,1,1\n", "frames, not 1"),
        (HEAD + "0,1,1,1\n1,1,oops,1\n", "row 3: a_y_m must be a finite"),
        ("time_s\n0\n1\n", "has a marker"),
        (HEAD + "1e308,1,1,1\n-1e308,1,1,1\n", "jumps from 1e.308 to"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, text, words):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_motion(tmp_path / "m.csv")


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 700, b"\2P" + b"\0" * 2000, b"\xff" * 999]
)
@pytest.mark.parametrize("name", ["m.c3d", "m.csv"])
def test_garbage_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_motion(path)


def test_another_format_is_refused(tmp_path):
    (tmp_path / "m.bvh").write_text("x")
    with pytest.raises(InputError, match=r"markers are read from \.csv, \.c3d"):
        read_motion(tmp_path / "m.bvh")
    with pytest.raises(InputError, match="does not exist"):
        read_motion(tmp_path / "lost.csv")


@pytest.mark.parametrize(
    ("made", "there", "instead", "told"),
    [
        (as_motive, "Millimeters", "Furlongs", "Length Units is Furlongs: give one of"),
        (as_motive, ",Marker", ",Bone", "no column of type Marker: export it with"),
        (as_motive, "Frame,Time", "Frame,When", "has no rows Type, Name and Frame"),
        (as_motive_bare, "Frame,", "Frame,", "has no rows Type, Name and Frame"),
        (
            as_motive,
            "0.010000,,9",
            "b.010000,,9",
            "row 10: .* of column 2 must be a fin",
        ),
    ],
)
def test_tables_that_were_exported_otherwise_are_refused(
    tmp_path, places, made, there, instead, told
):
    path = made(tmp_path, places)
    text = path.read_text(encoding="utf-8")
    assert there in text
    path.write_text(text.replace(there, instead), encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_motion(path)
