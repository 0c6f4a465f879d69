import csv
import errno
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pipeline.runs.atomic_files import (
    GrowingArray,
    GrowingTable,
    StepWriter,
    point_to,
    replace_columns,
    replacing,
    write_text,
)
from pipeline.terminal import InputError


def test_a_file_is_whole_or_absent(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        write_half()
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_in_place_stays_though_nothing_can_be_removed(tmp_path, monkeypatch):
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(Path, "unlink", fails)
    write_text(tmp_path / "a.txt", "whole")
    assert (tmp_path / "a.txt").read_text() == "whole"
    with pytest.raises(ValueError, match="the true reason"), replacing(tmp_path / "b"):
        raise ValueError("the true reason")


@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (0, 3)])
def test_a_growing_array_is_readable_after_every_row(tmp_path, rng, shape):
    rows = rng.standard_normal((120, *shape))
    with closing(GrowingArray(tmp_path / "r.npy")) as growing:
        for i, row in enumerate(rows):
            growing.append(row)
            if i in (0, 1, 9, 10, 99, 119):
                read = np.load(tmp_path / "r.npy")
                np.testing.assert_array_equal(read, rows[: i + 1])


def test_rows_written_but_not_yet_counted_are_not_seen(tmp_path):
    path = tmp_path / "r.npy"
    growing = GrowingArray(path)
    growing.append(np.arange(3.0))
    growing.close()
    with path.open("ab") as file:
        file.write(b"\x00" * 13)  # a kill in the middle of the second row
    np.testing.assert_array_equal(np.load(path), [np.arange(3.0)])


def test_a_row_of_another_shape_is_refused(tmp_path):
    with closing(GrowingArray(tmp_path / "r.npy")) as growing:
        growing.append(np.zeros((4, 3)))
        with pytest.raises(ValueError, match=r"shape \(5, 3\), not \(4, 3\)"):
            growing.append(np.zeros((5, 3)))


def test_numbers_of_a_table_read_back_to_the_same_bits(tmp_path, rng):
    values = rng.standard_normal(50) * 10.0 ** rng.integers(-300, 300, 50)
    with closing(GrowingTable(tmp_path / "t.csv")) as table:
        for i, value in enumerate(values):
            table.append({"step": i, "E": value})
    with (tmp_path / "t.csv").open() as file:
        read = [float(row["E"]) for row in csv.DictReader(file)]
    np.testing.assert_array_equal(read, values)


def test_a_table_refuses_a_row_with_other_columns(tmp_path):
    with closing(GrowingTable(tmp_path / "t.csv")) as table:
        table.append({"step": 0})
        with pytest.raises(ValueError, match="not"):
            table.append({"stp": 1})


def test_steps_are_packed_at_the_end_and_the_parts_removed(tmp_path):
    with closing(StepWriter(tmp_path)) as writer:
        writer.fixed = {"edges": np.arange(4)}
        for s in range(3):
            writer.append({"step": s}, {"r": np.full((2, 3), float(s))})
        assert np.load(tmp_path / "r.steps.npy").shape == (3, 2, 3)
    packed = np.load(tmp_path / "steps.npz")
    assert packed["r"][:, 0, 0].tolist() == [0.0, 1.0, 2.0]
    assert packed["edges"].tolist() == [0, 1, 2, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["steps.csv", "steps.npz"]


def test_a_column_is_replaced_and_the_others_stay_as_written(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("step,E,S\n0,nan,1.0\n1,nan,0.30000000000000004\n")
    replace_columns(path, {"E": [0.1 + 0.2, 5e-324]})
    assert path.read_text().splitlines()[1:] == [
        "0,0.30000000000000004,1.0",
        "1,5e-324,0.30000000000000004",
    ]
    with pytest.raises(ValueError, match="shorter"):
        replace_columns(path, {"E": [1.0]})
    assert path.read_text().count("\n") == 3


def test_a_pointer_is_relative_and_can_be_turned(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    link = tmp_path / "simulate" / "case"
    for name in ("one", "two"):
        point_to(link, tmp_path / "runs" / name)
        assert link.resolve() == (tmp_path / "runs" / name).resolve()
        assert not link.readlink().is_absolute()


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_a_pointer_takes_the_place_of_nothing_but_a_pointer(make, tmp_path):
    """A file of that name was lost without a word."""
    link = tmp_path / "case"
    make(link)
    with pytest.raises(
        InputError, match="but something else has its name: move it away"
    ):
        point_to(link, tmp_path / "runs")
    assert [path.name for path in tmp_path.iterdir()] == ["case"]
