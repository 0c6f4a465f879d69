"""A file that was parsed before is not parsed again."""

from pathlib import Path

import pytest

from sim.core.imported_code import ParsedCodeCache

PARSED = ("digest", frozenset({"numpy", "sim"}))


def parse(_: bytes) -> tuple[str, frozenset[str]]:
    return PARSED


def never(_: bytes) -> tuple[str, frozenset[str]]:
    raise AssertionError("parsed again")


def cache(folder: Path, parser: bytes = b"parser") -> ParsedCodeCache:
    return ParsedCodeCache(folder, parser)


@pytest.fixture
def folder(tmp_path):
    known = cache(tmp_path / "cache")
    known.get("sim.a", b"X = 1", parse)
    known.save()
    return tmp_path / "cache"


def test_bytes_that_were_read_before_are_known(folder):
    assert cache(folder).get("sim.a", b"X = 1", never) == PARSED


@pytest.mark.parametrize(
    ("key", "text", "parser"),
    [
        ("sim.a", b"X = 2", b"parser"),
        ("sim.b", b"X = 1", b"parser"),
        ("sim.a", b"X = 1", b"another"),
    ],
)
def test_other_bytes_another_file_and_another_parser_are_not(folder, key, text, parser):
    with pytest.raises(AssertionError, match="parsed again"):
        cache(folder, parser).get(key, text, never)


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_a_damaged_file_is_none(folder, damaged):
    (folder / "trees.json").write_bytes(damaged)
    known = cache(folder)
    assert known.get("sim.a", b"X = 1", parse) == PARSED
    known.save()
    assert cache(folder).get("sim.a", b"X = 1", never) == PARSED


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    known = cache(tmp_path / "file")
    known.get("sim.a", b"X = 1", parse)
    known.save()
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
