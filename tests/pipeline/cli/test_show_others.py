"""A run's folder of others: shown from its numbers, or refused in one line."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pipeline.cli.app import called
from pipeline.cli.show import seen
from pipeline.report.moving_shape import read_moving_shape, step_numbers
from pipeline.runs.checkpoints import read_arrays
from pipeline.runs.simulated_run import read_simulated
from pipeline.terminal import InputError

RECORD = {
    "key": "0" * 16, "step": "simulate", "name": "a", "status": "finished",
    "result": {"E": 1.0, "<script>": "<script>alert(1)</script>"},
    "identity": {"config": {"case": {"a": "</script><script>alert(2)"}}},
}  # fmt: skip
R = np.random.default_rng(1).uniform(0.0, 1.0, (2, 5, 3))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Outside of the folder that is worked in, as it came."""
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "came"
    own.mkdir()
    (own / "run.json").write_text(json.dumps(RECORD))
    (own / "steps.csv").write_text("step,E\n0,1\n1,2\n")
    (own / "structure.json").write_text('{"bodies": [[0, 1], [2, 3]]}')
    np.savez(own / "steps.npz", r=R)
    return own


@pytest.mark.parametrize(
    "arrays",
    [
        {"r": np.zeros((0, 5, 3))},
        {"r": np.zeros((2, 0, 3))},
        {"r": np.full((2, 5, 3), np.nan)},
        {"r": np.array([[["a"] * 3] * 5] * 2)},
        {"r": np.array([{}], dtype=object)},
        {"r": R, "bars": np.array([[0, 5]])},
        {"r": R, "bars": np.array([[-1, 2]])},
        {"r": R, "triangles": np.array([[0, 1, 10**9]])},
        {"r": R, "up": np.zeros(2)},
        {"r": R, "ground_plane": np.zeros((2, 2))},
        {"r": R, "target_edges": np.array([[0, 9]]), "target_vertices": np.eye(3)},
        {"r": R, "triangle_panel": np.zeros(2)},
    ],
)
def test_arrays_that_are_no_shape_are_one_line(folder, arrays):
    np.savez(folder / "steps.npz", **arrays)
    with pytest.raises(InputError, match=r"came.*: remove the damaged"):
        read_moving_shape(folder)


@pytest.mark.parametrize("bodies", ["5", "[[0, 1e9]]", "[[0, 9]]", '[["a", 1]]', "[7]"])
def test_bodies_of_other_nodes_are_one_line(folder, bodies):
    (folder / "structure.json").write_text(f'{{"bodies": {bodies}}}')
    with pytest.raises(InputError, match="came"):
        read_moving_shape(folder)


@pytest.mark.parametrize(
    "table", [b"", b"a,b\n1\n2,3\n", b"a\n" + b"9" * 140_000, b"a\n\xff\n"]
)
def test_a_table_that_is_none_is_one_line(folder, table):
    (folder / "steps.csv").write_bytes(table)
    with pytest.raises(InputError, match=r"steps\.csv is not a table of steps"):
        step_numbers(folder)


def _compressed(path: Path) -> None:
    np.savez_compressed(path, r=R, more=np.zeros(10**6))


def _longer_than_it_is(path: Path) -> None:
    with zipfile.ZipFile(path) as file:
        content = file.read("r.npy")
    assert content.count(b"(2, 5, 3), ") == 1
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("r.npy", content.replace(b"(2, 5, 3), ", b"(99, 5, 3),"))


def _one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, R)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (_compressed, "compressed"),
        (_longer_than_it_is, r"r\.npy is shorter than its"),
        (lambda path: path.write_bytes(b""), "not a zip"),
        (lambda path: path.write_bytes(b"PK\3\4 and no more"), "not a zip"),
        (lambda path: path.write_bytes(path.read_bytes()[:-30]), "not a zip"),
        (_one_array, "not a zip"),
    ],
)
@pytest.mark.parametrize("read", [read_moving_shape, read_simulated])
def test_a_file_that_is_no_file_of_arrays_takes_no_memory_and_is_one_line(
    folder, made, why, read
):
    made(folder / "steps.npz")
    with pytest.raises(InputError, match=rf"steps\.npz has no arrays.*{why}"):
        read(folder)


def test_arrays_of_a_run_are_read_as_they_were_written(folder):
    assert np.array_equal(read_arrays(folder / "steps.npz")["r"], R)


def test_a_page_that_came_with_it_is_not_shown(folder):
    (folder / "run.html").write_text("<script>alert(3)</script>")
    (folder / "javascript:alert(4)").touch()
    assert called(["show", str(folder), "--no-open"]) == 0
    page = (folder / "run.html").read_text()
    assert "alert(" in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page
    (folder / "run.json").write_text(json.dumps(RECORD | {"step": "ingest"}))
    (folder / "picture.png").unlink()
    with pytest.raises(InputError, match="has only numbers"):
        seen(folder)
    own = Path("results/runs/came")
    shutil.copytree(folder, own)
    assert seen(own) == own / "run.html"


def test_no_words_of_it_steer_the_terminal(folder, capsys):
    steer = "\x1b]0;title\x07\x9b31m"
    result = {"E": 1.0, "stop": steer, "warning": steer}
    (folder / "run.json").write_text(json.dumps(RECORD | {"result": result}))
    assert called(["show", str(folder), "--no-open"]) == 0
    (folder / "run.json").write_text(json.dumps(RECORD | {"step": 5, "key": steer}))
    assert called(["show", str(folder), "--no-open"]) == 2
    assert called(["show", steer]) == 2
    said = "".join(capsys.readouterr())
    assert "title" in said
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


def test_a_dollar_in_its_names_begins_no_mathematics(folder):
    (folder / "run.json").write_text(json.dumps(RECORD | {"name": r"a$\frac$"}))
    (folder / "steps.csv").write_text("$\\bad{$,$\\frac$\n0,1\n1,2\n")
    assert called(["show", str(folder), "--no-open"]) == 0
    assert (folder / "picture.png").is_file()


def test_nothing_is_written_through_a_link(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (folder / "vtk").symlink_to(tmp_path / "mine")
    assert called(["show", str(folder), "--vtk", "--no-open"]) == 2
    assert list((tmp_path / "mine").iterdir()) == []
