"""A tiny results folder, and what is said when a copy of it differs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bench.same_numbers.__main__ import main

R = np.array([[0.0, 1.0], [2.0, 4.0]])
SHEET = {"_target_": "sim.mechanism.sheets.sheet", "rows": 4, "path": "conf/sheet.json"}

Said = Callable[..., tuple[int, list[str]]]


def put(results: Path, key: str, step: str, name: str, **record: Any) -> Path:
    """One finished run with arrays, a table, a document, a picture and a trace."""
    directory = results / "runs" / key
    directory.mkdir(parents=True)
    given = {"config": {}, "needs": {}, "result": {}, "ended": "1", **record}
    content = {"key": key, "step": step, "name": name, "status": "finished", **given}
    (directory / "run.json").write_text(json.dumps({**content, "wall_s": len(key)}))
    np.savez(directory / "steps.npz", r=R, step=np.arange(2))
    (directory / "steps.csv").write_text("step,E\n0,0.5\n1,0.25\n")
    (directory / "structure.json").write_text('{"nodes": [0.0, 1.0], "free": true}')
    (directory / "picture.png").write_text(key)
    (directory / "a.trace.json").write_text(json.dumps({"run": key}))
    return directory


def sheet(**values: Any) -> dict[str, Any]:
    return {"case": {"structure": {**SHEET, **values}}}


@pytest.fixture
def old(tmp_path):
    """A simulation, two runs of a study, and a figure that shows all three."""
    results = tmp_path / "old"
    put(results, "a1", "simulate", "sheet", config=sheet(), result={"S": 0.5, "n": 3})
    put(results, "a2", "simulate", "study", config=sheet(rows=5))
    put(results, "a3", "simulate", "study", config=sheet(rows=6))
    needs = {"simulated": ["a1", "a2", "a3"]}
    put(results, "a4", "figure", "f", needs=needs, result={"shows": "a1 a2 a3"})
    return results


@pytest.fixture
def new(old):
    """The same numbers once more, as a folder of its own."""
    return Path(shutil.copytree(old, old.parent / "new"))


@pytest.fixture
def said(capsys):
    """Exit status and lines of a comparison."""

    def compared(*words: object) -> tuple[int, list[str]]:
        status = main(["compare", *map(str, words)])
        return status, capsys.readouterr().out.splitlines()

    return compared


def edit(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads((directory / "run.json").read_text())
    change(record)
    (directory / "run.json").write_text(json.dumps(record))


def test_a_copy_is_the_same_to_the_bit(old, new, said):
    status, lines = said(old, new)
    assert status == 0
    assert lines[-1] == "4 runs, 4 the same to the bit, 0 differ"


def test_a_stored_file_stands_for_its_folder(old, new, tmp_path, said):
    stored = tmp_path / "numbers.json.gz"
    assert main(["store", str(old), str(stored)]) == 0
    assert said(stored, new)[0] == 0
    (new / "runs/a1/steps.csv").write_text("step,E\n0,0.5\n1,0.26\n")
    status, lines = said(stored, new)
    assert status == 1
    assert lines[-1] == "4 runs, 3 the same to the bit, 1 differ"


def test_keys_modules_and_folders_do_not_matter(old, tmp_path, said):
    now = tmp_path / "now"
    moved = {"path": "conf/other/sheet.json", "_target_": "sim.mechanism.sheet"}
    for key, name, values in (
        ("b1", "sheet", {}),
        ("b2", "study", {"rows": 6.0}),
        ("b3", "study-b3", {"rows": 5}),
    ):
        result = {"n": 3.0, "S": 0.5} if name == "sheet" else {}
        config = sheet(**{**values, **moved})
        put(now, key, "simulate", name, config=config, result=result)
    needs = {"simulated": ["b1", "b3", "b2"]}
    put(now, "b4", "figure", "f", needs=needs, result={"shows": "b1 b3 b2"})
    status, lines = said(old, now)
    assert (status, lines) == (
        0,
        ["0 only in old, 0 only in new", "4 runs, 4 the same to the bit, 0 differ"],
    )


def test_texts_may_name_modules_and_commands_otherwise(old, new, said):
    for place, named in ((old, "pipeline.scan"), (new, "morphtrack scan")):
        directory = place / "runs/a1"
        edit(
            directory, lambda record, by=named: record["result"].update(why=f"no {by}")
        )
        (directory / "table.csv").write_text(f"why,x\n{named} has not looked,1\n")
        (directory / "target.json").write_text(json.dumps({"why": named}))
        scan = f"ply\ncomment by {named}\nend_header\n".encode() + b"\xff\x00"
        (directory / "view.ply").write_bytes(scan)
    assert said(old, new)[0] == 0
    (new / "runs/a1/view.ply").write_bytes(scan[:-1] + b"\x01")
    (new / "runs/a1/table.csv").write_text("why,x\nmorphtrack scan has looked,1\n")
    _, lines = said(old, new)
    assert [line.split()[0] for line in lines[1:3]] == ["table.csv:why", "view.ply"]


def test_one_flipped_bit_of_an_array_is_said(old, new, said):
    r = R.copy()
    r.view(np.uint64)[1, 1] ^= 1  # 4 becomes the next number after it
    np.savez(new / "runs/a2/steps.npz", r=r, step=np.arange(2))
    status, lines = said(old, new)
    assert status == 1
    assert lines[0] == "differs: simulate/study case.structure.rows=5"
    assert lines[1].startswith("  steps.npz:r ")
    assert lines[1].endswith("2.2e-16")
    assert lines[-1] == "4 runs, 3 the same to the bit, 1 differ"


def test_a_sign_of_zero_and_a_type_are_bits_too(old, new, said):
    np.savez(new / "runs/a3/steps.npz", r=R.astype(np.complex64), step=np.arange(2))
    np.savez(old / "runs/a2/steps.npz", r=R, step=np.zeros(2))
    np.savez(new / "runs/a2/steps.npz", r=R, step=np.zeros(2, dtype=int))
    r = R.copy()
    r[0, 0] = -0.0
    np.savez(new / "runs/a1/steps.npz", r=r, step=np.arange(2))
    _, lines = said(old, new)
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [
        "steps.npz:r",
        "steps.npz:step",
        "steps.npz:r",
    ]


def test_a_changed_result_is_said_with_both_numbers(old, new, said):
    edit(new / "runs/a1", lambda record: record["result"].update(S=0.505))
    status, lines = said(old, new)
    assert status == 1
    assert lines[1].split() == ["result.S", "0.5", "->", "0.505", "1.0e-02"]


def test_a_column_and_a_document_are_compared(old, new, said):
    (new / "runs/a1/steps.csv").write_text("step,E\n0,0.5\n1,0.26\n")
    (new / "runs/a1/structure.json").write_text('{"nodes": [0, 1.5], "free": true}')
    _, lines = said(old, new)
    assert [line.split()[0] for line in lines[1:3]] == ["steps.csv:E", "structure.json"]
    assert [line.split()[-1] for line in lines[1:3]] == ["2.0e-02", "5.0e-01"]


def test_a_quantity_that_is_not_there_is_said(old, new, said):
    (new / "runs/a1/structure.json").unlink()
    edit(new / "runs/a1", lambda record: record["result"].update(fresh=1))
    status, lines = said(old, new)
    assert status == 1
    assert [line.split()[0] for line in lines[1:3]] == [
        "structure.json",
        "result.fresh",
    ]


def test_a_missing_run_is_said_and_a_further_one_is_no_difference(old, new, said):
    assert said(old, new)[0] == 0
    put(new, "a9", "simulate", "further", result={"S": 1.0})
    status, lines = said(old, new)
    assert (status, lines[0]) == (0, "only in new: simulate/further")
    shutil.rmtree(new / "runs/a2")
    status, lines = said(old, new)
    assert status == 1
    assert lines[0] == "only in old: simulate/study case.structure.rows=5"
    assert lines[-1] == "4 runs, 3 the same to the bit, 1 differ"


def test_a_run_that_fails_now_is_said(old, new, said):
    (new / "failed").mkdir()
    (new / "runs/a1").rename(new / "failed/a1.1")
    failure = {"status": "failed", "reason": "ValueError: no"}
    edit(new / "failed/a1.1", lambda record: record.update(failure))
    status, lines = said(old, new)
    assert status == 1
    assert lines[1].split() == ["status", "finished", "->", "failed"]
    assert lines[2].split()[0] == "reason"


def test_runs_of_a_study_are_found_though_a_setting_is_called_otherwise(old, new, said):
    def rename(record: dict[str, Any]) -> None:
        structure = record["config"]["case"].pop("structure")
        structure["lines"] = structure.pop("rows")
        record["config"]["case"]["sheet"] = structure

    for key in ("a2", "a3"):
        edit(new / f"runs/{key}", rename)
    np.savez(new / "runs/a3/steps.npz", r=R + 1, step=np.arange(2))
    _, lines = said(old, new, "--all")
    assert lines[0] == "found by name, though settings differ: 2 runs"
    told = [line for line in lines if line.split()[0] == "case.structure.rows"]
    assert len(told) == 1
    assert (
        "only in old: simulate/study case.structure.rows=5, simulate/study" in told[0]
    )
    assert "differs: simulate/study case.structure.rows=6" in lines
    assert lines[-1] == "4 runs, 3 the same to the bit, 1 differ"
    assert lines[0] in said(old, new)[1]


def test_runs_that_nothing_tells_apart_are_not_guessed(old, new, said):
    edit(new / "runs/a2", lambda record: record.update(config={"seed": 1}))
    edit(new / "runs/a3", lambda record: record.update(config={"seed": 2}))
    _, lines = said(old, new)
    assert len([line for line in lines if line.startswith("only in old")]) == 2
    assert lines[-1] == "4 runs, 2 the same to the bit, 2 differ"
    shutil.rmtree(old / "runs/a3")
    _, lines = said(old, new)
    assert len([line for line in lines if line.startswith("only in new")]) == 2
    assert lines[-1] == "3 runs, 2 the same to the bit, 1 differ"


def test_a_run_of_another_name_is_found_by_its_settings(old, new, said):
    edit(new / "runs/a2", lambda record: record.update(name="study-of-sheets-5"))
    edit(new / "runs/a3", lambda record: record.update(name="study-of-sheets-6"))
    assert said(old, new)[0] == 0


def test_the_key_at_the_end_of_a_name_does_not_matter(old, new, said):
    other = {"name": "sheet-a1", "config": {"changed": 1}}
    edit(new / "runs/a1", lambda record: record.update(other))
    status, lines = said(old, new)
    assert status == 0
    assert lines[0] == "found by name, though settings differ: 1 runs"
    edit(new / "runs/a1", lambda record: record.update(config=sheet(rows=9)))
    assert said(old, new)[1][1].split() == [
        *("case.structure.rows", "4", "->", "9:", "simulate/sheet")
    ]


def test_names_decide_between_runs_of_the_same_settings(tmp_path, said):
    for place in ("old", "new"):
        for name in ("one", "two"):
            key, result = place + name, {"name": name}
            put(tmp_path / place, key, "simulate", name, config={"x": 1}, result=result)
    put(tmp_path / "new", "further", "simulate", "one", config={"x": 1, "y": 2})
    assert said(tmp_path / "old", tmp_path / "new")[0] == 0


def test_a_table_says_what_is_called_otherwise(old, new, tmp_path, said):
    other = {"name": "other", "config": {"changed": 1}}
    edit(new / "runs/a1", lambda record: record.update(other))
    (new / "runs/a1/steps.csv").write_text("step,error\n0,0.5\n1,0.25\n")
    status, lines = said(old, new)
    assert status == 1
    assert lines[0] == "only in old: simulate/sheet"
    table = tmp_path / "renamed"
    table.write_text(
        "# names\nsimulate/she* -> simulate/other\nsteps.csv:E -> steps.csv:error\n"
    )
    (new / "runs/a2/steps.csv").write_text("step,error\n0,0.5\n1,0.25\n")
    assert said(old, new, "--renamed", table)[0] == 0


def test_only_in_old_names_its_twin(old, new, said):
    other = {"name": "other", "config": {"changed": 1}}
    edit(new / "runs/a1", lambda record: record.update(other))
    _, lines = said(old, new)
    assert lines[0] == "only in old: simulate/sheet (the numbers of simulate/other)"


def test_times_are_left_out(tmp_path, said):
    for place, ratio in (("old", 0.5), ("new", 0.6)):
        directory = put(tmp_path / place, "a1", "simulate", "computing_time")
        np.savez(directory / "steps.npz", ratios=ratio)
        (directory / "steps.csv").write_text(f"step,h,star_robot\n0,0.1,{ratio}\n")
    assert said(tmp_path / "old", tmp_path / "new")[0] == 0
    (tmp_path / "new/runs/a1/steps.csv").write_text("step,h,star_robot\n0,0.2,0.6\n")
    assert said(tmp_path / "old", tmp_path / "new")[0] == 1


def test_of_runs_of_the_same_settings_the_last_counts(old, new, said):
    result = {"S": 0.6, "n": 3}
    put(new, "a0", "simulate", "sheet", config=sheet(), result=result, ended="0")
    assert said(old, new)[0] == 0
    put(new, "a8", "simulate", "sheet", config=sheet(), result=result, ended="2")
    assert said(old, new)[0] == 1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda new: (new / "runs/a1/steps.npz").write_text("?"), "steps.npz"),
        (lambda new: (new / "runs/a1/run.json").write_text("["), "run.json"),
        (lambda new: (new / "runs/a1/run.json").write_text("[]"), "record of a run"),
        (lambda new: shutil.rmtree(new / "runs"), "has no runs"),
        (lambda new: shutil.rmtree(new), "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(old, new, capsys, spoil, words):
    spoil(new)
    assert main(["compare", str(old), str(new)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error
    assert error.count("\n") == 1


def test_a_place_that_cannot_be_written_is_refused(old, tmp_path, capsys):
    assert main(["store", str(old), str(tmp_path / "none/numbers.json")]) == 2
    assert "none/numbers.json cannot be written" in capsys.readouterr().err
