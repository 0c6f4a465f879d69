"""Records of a folder: by name, by columns, by records.csv; the rest left alone."""

import re
from pathlib import Path

import numpy as np
import pytest

from pipeline.io.record_files import RecordSource, find_records
from pipeline.terminal import InputError

BEAM = RecordSource(
    files=r"(own_weight|plus_(?P<mass_g>\d+)g)_(?P<repeat>\w)\.csv",
    defaults={"mass_g": "0"},
)
TRACKS = RecordSource(
    files=r"tracks_(?P<design>\w+)\.csv", columns=("design", "specimen")
)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".csv").write_text(text, encoding="latin-1")
    return folder


def test_names_of_files_say_inputs_and_those_they_do_not_are_refused(tmp_path):
    text = "time_s,x\n0,1\n"
    write(tmp_path, own_weight_a=text, plus_101g_b=text, notes="nothing")
    found, odd = find_records(tmp_path, [BEAM])
    assert [record.name for record in found] == ["own_weight_a", "plus_101g_b"]
    assert [record.number("mass_g") for record in found] == [0.0, 101.0]
    assert found[1].inputs["repeat"] == "b"
    assert not odd
    with pytest.raises(InputError, match="has no level: give it in"):
        found[0].number("level")
    with pytest.raises(InputError, match="repeat must be a number, not 'a'"):
        found[0].number("repeat")


def test_rows_of_one_file_are_told_apart_by_columns(tmp_path):
    rows = "design,specimen,temperature_C,x_mm\nA,1,22,0.5\nA,2,22,0.7\nA,1,30,0.6\n"
    write(tmp_path, tracks_A=rows)
    found, _ = find_records(tmp_path, [TRACKS])
    assert [record.name for record in found] == ["A_1", "A_2"]
    table = found[0].columns(["temperature_C", "x_mm"])
    np.testing.assert_allclose(table.to_numpy(), [[22, 0.5], [30, 0.6]])


@pytest.mark.parametrize("listed", [False, True])
def test_a_record_s_name_has_at_most_255_letters(tmp_path, *, listed):
    """Said by columns or by records.csv; patterns of names end soon for so many."""
    names = []
    for letters in (251, 252):
        specimen = "s" * letters
        own = "x_mm\n1\n" if listed else f"design,specimen,x_mm\nlid,{specimen},1\n"
        write(tmp_path, tracks_lid=own)
        if listed:
            write(tmp_path, records=f"file,specimen\ntracks_lid.csv,{specimen}\n")
        found, _ = find_records(tmp_path, [TRACKS])
        names.append(found[0].name)
    assert names == ["lid_" + "s" * 251, "tracks_lid"]
    words = (
        "the record's name, built from design and specimen, has 256 characters: "
        "shorten it to 255"
    )
    assert re.search(words, found[0].broken)


def test_a_table_of_records_names_any_file(tmp_path):
    write(tmp_path, one="t,x\n0,1\n", plus_5g_a="t,x\n0,1\n")
    (tmp_path / "records.csv").write_text(
        "file,mass_g\none.csv,7.5\nplus_5g_a.csv,5.4\nlost.csv,1\n"
    )
    found, odd = find_records(tmp_path, [BEAM])
    assert {r.name: r.number("mass_g") for r in found} == {"one": 7.5, "plus_5g_a": 5.4}
    assert odd == {
        "lost": f"{tmp_path / 'records.csv'} names lost.csv, which does not exist"
    }


def test_a_listed_file_that_tells_too_little_is_not_said_to_be_missing(tmp_path):
    form = RecordSource(
        files=r"tracks_(?P<design>.+)\.csv", columns=("design", "specimen")
    )
    (tmp_path / "tracks_all.csv").write_text("specimen,x\n1,2\n")
    (tmp_path / "other.csv").write_text("x\n2\n")
    (tmp_path / "records.csv").write_text("file,design\nother.csv,all\n")
    found, odd = find_records(tmp_path, [form])
    assert [record.name for record in found] == ["all_1"]
    assert odd["other"].endswith(
        "not all inputs: give the columns file,design,specimen"
    )


@pytest.mark.parametrize(
    ("source", "name", "listed", "words"),
    [
        (BEAM, "plus_5g_a", "mass_g\nplus_5g_a.csv,6", "mass_g is 5 in its name or"),
        (
            RecordSource(files=r"(?P<level>m1_u\d+)\.csv"),
            "m1_u30",
            "level\nm1_u30.csv,m1_u60",
            "level is m1_u30 in its name or columns, m1_u60 in records.csv: correct",
        ),
        (
            RecordSource(files="means.csv", columns=("scan",)),
            "means",
            "scan\nmeans.csv,SPH102",
            "scan is SPH101 in its name or columns, SPH102 in records.csv",
        ),
    ],
)
def test_a_list_that_contradicts_a_record_breaks_it(
    tmp_path, source, name, listed, words
):
    """By one rule for all forms: the list won, and a mass of 5 g was judged as 6 g."""
    write(tmp_path, **{name: "scan,x\nSPH101,1\n"})
    (tmp_path / "records.csv").write_text(f"file,{listed}\n")
    (found,), _ = find_records(tmp_path, [source])
    assert found.name == name
    assert words in found.broken


def test_only_columns_that_are_asked_for_are_read(tmp_path):
    write(tmp_path, plus_5g_a="t,x\n0,not measured yet\n1,2\n")
    (record,), _ = find_records(tmp_path, [BEAM])
    np.testing.assert_allclose(record.columns(["t"])["t"], [0.0, 1.0])
    with pytest.raises(InputError, match=r"row 2: x must be a finite number"):
        record.columns(["x"])


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("t,x\n0,\n", "y", "has no column y: it has t, x"),
        ("t,x\n0,\n", "x", "x must be a finite number, not ''"),
        ("t,x\n", "t", r"plus_5g_a\.csv has no row"),
    ],
)
def test_a_bad_column_is_one_line(tmp_path, text, column, words):
    write(tmp_path, plus_5g_a=text)
    (record,), _ = find_records(tmp_path, [BEAM])
    with pytest.raises(InputError, match=words):
        record.columns([column])


def test_a_folder_without_records_is_refused(tmp_path):
    write(tmp_path, other="t,x\n0,1\n")
    called = BEAM.model_copy(update={"columns": ("specimen",)})
    said = "like plus_5g_a.csv, or list them in records.csv with the columns file,"
    with pytest.raises(InputError, match=said + ".*,specimen$"):
        find_records(tmp_path, [called], ["plus_5g_a.csv"])
    with pytest.raises(InputError, match="is not a folder"):
        find_records(tmp_path / "lost", [BEAM])


def test_a_column_that_is_missing_is_said_by_name_or_table(tmp_path):
    rows = "specimen,x_mm\n1,0.5\n2,0.7\n"
    write(tmp_path, tracks_A=rows, other=rows, tracks_C="design,specimen,x_mm\nB,1,0\n")
    (tmp_path / "records.csv").write_text("file,design\nother.csv,D\ntracks_C.csv,C\n")
    found, odd = find_records(tmp_path, [TRACKS])
    assert [r.name for r in found] == ["A_1", "A_2", "B_1", "D_1", "D_2"]
    assert [r.inputs["design"] for r in found] == ["A", "A", "C", "D", "D"]
    assert found[4].columns(["x_mm"])["x_mm"].tolist() == [0.7]
    assert not odd


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x_mm\n0.5\n", "has no column specimen"),
        ("", "is empty: give a header and its rows"),
        ("design,specimen\nA,1\xe9\n", "is not UTF-8"),
        ("design,specimen,x_mm\n", "has no row"),
        ("design;specimen;x_mm\nA;1;0,5\n", "its columns are separated by semicolons"),
        ("design\tspecimen\tx_mm\nA\t1\t0.5\n", "its columns are separated by tabs"),
    ],
)
def test_a_file_that_cannot_be_told_into_records_leaves_others_alone(
    text, words, tmp_path
):
    write(tmp_path, tracks_A=text, tracks_B="design,specimen,x_mm\nB,1,2\n")
    found, _ = find_records(tmp_path, [TRACKS])
    assert [one.name for one in found] == ["B_1", "tracks_A"]
    assert not found[0].broken
    assert words in found[1].broken


def test_blanks_beside_commas_do_not_count(tmp_path):
    write(tmp_path, tracks_A="design , specimen, x_mm \n A, 1 , 0.5 \n")
    (record,), _ = find_records(tmp_path, [TRACKS])
    assert record.name == "A_1"
    assert record.columns(["x_mm"])["x_mm"].tolist() == [0.5]


def test_a_file_is_a_record_of_one_form_only(tmp_path):
    """One listed with a level and one that is not; or a file of the other form."""
    write(tmp_path, frames="time_s\n0\n", table="level,value\na,1\nb,2\n")
    (tmp_path / "records.csv").write_text("file,level\nframes.csv,c\ntable.csv,\n")
    forms = [
        RecordSource(files="run_.*"),
        RecordSource(files="means.csv", columns=("level",)),
    ]
    found, _ = find_records(tmp_path, forms)
    assert [one.name for one in found] == ["a", "b", "frames"]
