"""Aliases of YAML stand for what they name, and never for more than can be held."""

from pathlib import Path

import pytest

from pipeline.cli.app import called
from pipeline.io import yaml_and_json
from pipeline.io.yaml_and_json import read_entries, read_text
from pipeline.runs.study_members import read_study
from pipeline.terminal import InputError

LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
)
KEYS = "a0: &a0 {k: 1, l: 1, m: 1}\n" + "".join(
    f"a{i}: &a{i} {{k: *a{i - 1}, l: *a{i - 1}, m: *a{i - 1}}}\n" for i in range(1, 13)
)
LONG = f"a: &a '{'x' * 100_000}'\nb: [{','.join(['*a'] * 1000)}]\n"
MERGED = "a0: &a0 {k: [1]}\n" + "".join(
    f"a{i}: &a{i} {{<<: *a{i - 1}, k{i}: [*a{i - 1}, *a{i - 1}]}}\n"
    for i in range(1, 20)
)
BOMBS = {"lists": LAUGHS, "keys": KEYS, "text": LONG, "merged": MERGED}


def read(path: Path) -> dict[str, object]:
    return read_entries(str(path), "structure file", "nodes")


@pytest.mark.parametrize("name", BOMBS)
def test_a_few_lines_that_stand_for_billions_of_values_are_refused(tmp_path, name):
    (tmp_path / "bomb.yaml").write_text(BOMBS[name])
    said = r"bomb.yaml.*\(\*name\) expand to .* values, more than 100,000"
    with pytest.raises(InputError, match=said):
        read(tmp_path / "bomb.yaml")


def test_what_stands_within_itself_or_too_deep_is_refused(tmp_path):
    file = tmp_path / "deep.yaml"
    file.write_text("a: &a [*a]\n")
    with pytest.raises(InputError, match=r"alias .* contains itself: remove it"):
        read(file)
    for content in ("[" * 1000 + "]" * 1000, "{a: " * 100 + "1" + "}" * 100):
        file.write_text(f"a: {content}")
        with pytest.raises(
            InputError, match=r"deep.yaml .*nested too deep: use at most 40"
        ):
            read(file)
    file.write_text("a: &a " + "[" * 20 + "]" * 20 + "\nb: &b [[*a]]\nc: [*b]\n")
    read(file)
    file.write_text("a: &a " + "[" * 39 + "1" + "]" * 39 + "\nb: [*a]\n")
    with pytest.raises(InputError, match="nested too deep"):
        read(file)
    (tmp_path / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(
        ValueError, match=r"deep.json is nested too deep: give a struct"
    ):
        read_entries(str(tmp_path / "deep.json"), "structure file", "nodes")


@pytest.mark.parametrize("text", ["9", '"-1"', "some words"])
def test_a_file_of_one_value_is_refused(tmp_path, text):
    (tmp_path / "one.yaml").write_text(text)
    with pytest.raises(InputError, match=r"one.yaml has no keys: give lines"):
        read(tmp_path / "one.yaml")


def test_values_that_are_written_count_for_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(yaml_and_json, "MOST_UNFOLDED", 6)  # those of two points
    file, many = tmp_path / "large.yaml", [*range(100)]
    file.write_text(f"at: &at [1.0, 2.0]\nagain: [*at, *at]\nmany: {many}\n")
    assert read(file)["again"] == [[1.0, 2.0], [1.0, 2.0]]
    file.write_text(f"at: &at [1.0, 2.0]\nagain: [*at, *at, *at]\nmany: {many}\n")
    with pytest.raises(InputError, match="expand to 9 values"):
        read(file)


def test_a_file_of_more_than_can_be_read_in_minutes_is_refused(tmp_path):
    file = tmp_path / "long.yaml"
    file.write_bytes(b"a: 1\n#" + b"x" * yaml_and_json.LARGEST_YAML)
    with pytest.raises(InputError, match=r"long.yaml .*more than 16 MB"):
        read(file)


def test_a_file_in_another_encoding_is_named_and_listed(project, capsys):
    (project / "conf" / "case" / "old.yaml").write_bytes(b"# gr\xfcn\na: 1\n")
    assert called(["simulate", "case=old"]) == 2
    said = capsys.readouterr().err
    assert said == "error: conf/case/old.yaml is not UTF-8: save it as UTF-8\n"
    assert called(["list", "cases"]) == 0
    assert "gr\N{REPLACEMENT CHARACTER}n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "value", ["!!set {a}", "!!binary aGVs", "!foo 1", "!!python/name:os.system"]
)
def test_a_tag_is_refused_with_its_line(tmp_path, value):
    (tmp_path / "odd.yaml").write_text(f"nodes: []\nzz: {value}\n")
    with pytest.raises(
        InputError, match=r"odd.yaml, line 2: the tag .* is not supported"
    ):
        read(tmp_path / "odd.yaml")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max_steps: ${nope}", "case.max_steps: Interpolation key 'nope' not found: "),
        ("max_steps: ${case.seed}\nseed: ${case.max_steps}", ": Recursive interpolat"),
        ("max_steps: ${", "max_steps: no viable alternative at input '${': write"),
        ("1: 2", "case: keywords must be strings"),
    ],
)
def test_a_value_made_of_what_is_not_there_is_told_by_its_place(
    project, line, said, capsys
):
    (project / "conf" / "case" / "odd.yaml").write_text(
        f"defaults: [pentapod, _self_]\n{line}\n"
    )
    assert called(["simulate", "case=odd"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_files_that_are_not_there_are_told_without_places_of_the_machine(
    project, recwarn
):
    file = project / "conf" / "study" / "odd.yaml"
    file.write_text("defaults: [/case/pentapod]\ncase: pentapod\n")
    with pytest.raises(InputError) as refused:
        read_study("odd")
    assert str(refused.value) == "In 'odd': Could not load 'case/pentapod'."
    assert not recwarn.list


def test_a_file_of_any_size_is_refused_before_it_is_read(tmp_path):
    """It took twice its size of memory."""
    for name in ("long.yaml", "long.json", "long.svg"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(5_000_000_000)
        with pytest.raises(InputError, match=r"long.* has more than 200 MB"):
            read_text(str(tmp_path / name), "structure file")
