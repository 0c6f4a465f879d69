"""What was told of a file's bytes is told again without reading its tree."""

from pathlib import Path

import pytest

from sim.core.modules import KnownCode

TOLD = ("digest", frozenset({"numpy", "sim"}))


def tell(_: bytes) -> tuple[str, frozenset[str]]:
    return TOLD


def never(_: bytes) -> tuple[str, frozenset[str]]:
    raise AssertionError("its tree was read again")


def kept(folder: Path, teller: bytes = b"teller") -> KnownCode:
    return KnownCode(folder, teller)


@pytest.fixture
def folder(tmp_path):
    known = kept(tmp_path / "cache")
    known.told("sim.a", b"X = 1", tell)
    known.keep()
    return tmp_path / "cache"


def test_bytes_that_were_read_before_are_known(folder):
    assert kept(folder).told("sim.a", b"X = 1", never) == TOLD


@pytest.mark.parametrize(
    ("key", "text", "teller"),
    [
        ("sim.a", b"X = 2", b"teller"),
        ("sim.b", b"X = 1", b"teller"),
        ("sim.a", b"X = 1", b"another"),
    ],
)
def test_other_bytes_another_file_and_another_teller_are_not(folder, key, text, teller):
    with pytest.raises(AssertionError, match="read again"):
        kept(folder, teller).told(key, text, never)


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_a_damaged_file_is_none(folder, damaged):
    (folder / "trees.json").write_bytes(damaged)
    known = kept(folder)
    assert known.told("sim.a", b"X = 1", tell) == TOLD
    known.keep()
    assert kept(folder).told("sim.a", b"X = 1", never) == TOLD


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    known = kept(tmp_path / "file")
    known.told("sim.a", b"X = 1", tell)
    known.keep()
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
