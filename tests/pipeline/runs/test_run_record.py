"""run.json, read by one function: a damaged one is refused with what to do."""

import json

import pytest

from pipeline.runs.run_directory import run_record
from pipeline.terminal import InputError


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"key": "a", "config": {',
        "[]",
        '"key"',
        '{"key": "a", "config": [1]}',
        '{"key": "a", "result": 3}',
        '{"key": "a", "needs": "b"}',
        '{"key": "a", "tags": ["x"]}',
        '{"key": "a", "identity": true}',
        '{"key": "a", "identity": {"config": 3}}',
        '{"key": "a", "identity": {"versions": [1]}}',
        '{"key": ["a"]}',
        '{"key": "a", "paths": 3}',
        '{"key": "a", "wall_s": "long"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_record_is_one_line_with_what_to_do(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json .* remove the damaged folder"):
        run_record(tmp_path)


def test_an_entry_that_was_cut_out_is_named(tmp_path):
    (tmp_path / "run.json").write_text('{"key": "a"}')
    record = run_record(tmp_path)
    assert record["key"] == "a"
    with pytest.raises(InputError, match=r"run\.json has no step: remove the"):
        record["step"]
    assert record.get("step", "none") == "none"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("killed", "was interrupted: gone"),
        ("failed", "failed: gone"),
        ("finished", "remove the damaged folder"),
    ],
)
def test_a_run_that_did_not_finish_is_not_called_damaged(tmp_path, status, said):
    (tmp_path / "run.json").write_text(json.dumps({"status": status, "reason": "gone"}))
    with pytest.raises(InputError, match=f"has no result: (it )?{said}"):
        run_record(tmp_path)["result"]


@pytest.mark.parametrize("part", ["config", "result", "needs", "tags"])
def test_a_part_that_a_failed_run_lacks_is_no_damage(tmp_path, part):
    whole = {"key": "a", "config": {}, "result": {}, "needs": {}, "tags": {}}
    for record in (whole | {part: None}, {k: v for k, v in whole.items() if k != part}):
        (tmp_path / "run.json").write_text(json.dumps(record))
        assert run_record(tmp_path) == record


def test_a_record_that_may_not_be_read_is_not_called_damaged(tmp_path):
    (tmp_path / "run.json").mkdir()
    with pytest.raises(InputError, match=r"cannot be read: Is a directory$"):
        run_record(tmp_path)
