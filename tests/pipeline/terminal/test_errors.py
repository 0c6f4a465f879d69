"""What is said where the machine gives no room, no memory or no right."""

import errno
import os

import pytest

from pipeline.terminal import by_reason, command, lacks_machine


def said_of(error: Exception, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    @command
    def main() -> int:
        raise error

    status = main()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return status, said


def _of_import(cause: Exception) -> Exception:
    """An error of an import that began with another."""
    error = RuntimeError("problem in a module")
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status", "remedy"),
    [
        (OSError(errno.EFBIG, "File too large"), 1, "(ulimit -f), then run the same"),
        (OSError(errno.ENOSPC, "No space"), 1, "make room, then run the same"),
        (ImportError("a.so: failed to map segment from shared object"), 1, "free mem"),
        (_of_import(OSError("b.so: failed to map segment")), 1, "free memory"),
        (PermissionError(errno.EACCES, "Permission denied", "results"), 2, "access"),
        (OSError(errno.EROFS, "Read-only", "results"), 2, "rights, or work in a copy"),
        (FileExistsError(errno.EEXIST, "File exists", "results"), 2, "move it away"),
    ],
)
def test_what_the_machine_refuses_is_one_line_with_a_remedy(
    error, status, remedy, capsys
):
    got, said = said_of(error, capsys)
    assert got == status
    assert remedy in said
    assert lacks_machine(error) == (status == 1)


def test_memory_that_ran_out_is_said_first(capsys):
    error = RuntimeError("problem in a module - MemoryError: ")
    error.__context__ = MemoryError()
    said = said_of(error, capsys)[1]
    assert said.startswith("error: memory ran out: problem in a module - MemoryError: ")
    assert "::" not in said


def test_an_import_that_fails_for_another_reason_is_a_defect():
    @command
    def main() -> int:
        raise ImportError("no such name")

    with pytest.raises(ImportError):
        main()
    assert os.strerror(errno.EFBIG) == "File too large"


def test_a_reason_is_said_once():
    told = by_reason({"a": "no column x", "b": "row 3", "c": "no column x"})
    assert list(told) == [("a, c", "no column x"), ("b", "row 3")]
    apart = {name: f"data/{name}.csv: not stated" for name in ("a", "b")}
    assert list(by_reason(apart)) == [("a, b", "not stated")]
    alone = {"a": "data/a.csv: not stated", "b": "data/c.csv: not stated"}
    assert list(by_reason(alone)) == list(alone.items())
