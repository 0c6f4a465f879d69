"""An archive that would fill memory or a disk is refused before it is unpacked."""

import hashlib
import json
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.commands.archive import main
from pipeline.crate import reading

MOST = 64_000_000  # bytes of Python's memory that a refusal may take
METADATA = "ro-crate-metadata.json"
SOUND = json.dumps({"@graph": []}).encode()
LIST = "results/runs/0123456789abcdef/SHA256SUMS"


def packed(path: Path, members: dict[str, bytes], ballast: int = 0) -> Path:
    """An archive; `ballast` bytes that do not shrink keep its ratio sound."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
        if ballast:
            file.writestr(zipfile.ZipInfo("ballast"), bytes(ballast))  # as it is
    return path


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What every command that reads archives says of one, and in which memory."""
    for words in (
        ["--check", str(path)],
        ["--compare", str(path)],
        ["--unpack", str(path), "--into", str(path.parent / "into")],
    ):
        tracemalloc.start()
        try:
            assert main(words) == 2
            assert tracemalloc.get_traced_memory()[1] < MOST
        finally:
            tracemalloc.stop()
        said = capsys.readouterr().err
        assert said.count("\n") == 1, said
        assert not (path.parent / "into").exists()
    return said


def test_a_description_that_fills_memory_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = b'{"@graph": [' + b"[]," * 60_000_000 + b"[]]}"
    path = packed(tmp_path / "bomb.zip", {METADATA: large})
    assert "E-SIZE" in refused(path, capsys)
    path = packed(tmp_path / "weighted.zip", {METADATA: large}, len(large) // 90)
    assert f"{METADATA} has {len(large):,} bytes, more than 16,000,000" in refused(
        path, capsys
    )


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"@graph":' * 100_000])
def test_a_description_that_nests_too_deep_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path = packed(tmp_path / "deep.zip", {METADATA: content}, len(content))
    assert "it nests too deep" in refused(path, capsys)


def test_an_entity_of_no_kind_is_left_alone_and_one_without_an_address_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kindless = b'{"@graph": [{"@id": "a", "@type": null}]}'
    assert reading.check(packed(tmp_path / "odd.zip", {METADATA: kindless})) == 0
    lost = b'{"@graph": [{"@id": "http://[a", "@type": "File"}]}'
    path = packed(tmp_path / "lost.zip", {METADATA: lost})
    assert "names 'http://[a', no address" in refused(path, capsys)


def test_lists_of_digests_that_fill_memory_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members = {METADATA: SOUND, LIST: b"0" * 65_000_000}
    path = packed(tmp_path / "lists.zip", members, 1_000_000)
    assert "it has 65,000,000 bytes of digests" in refused(path, capsys)


def test_too_many_members_and_too_large_a_whole_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = {METADATA: SOUND} | {f"{i}": b"" for i in range(20)}
    path = packed(tmp_path / "many.zip", members)
    monkeypatch.setattr(reading, "MEMBERS", 20)
    assert "it has 21 members, more than 20: do not trust it" in refused(path, capsys)
    monkeypatch.setattr(reading, "UNPACKED", 1_000)
    path = packed(tmp_path / "whole.zip", {METADATA: SOUND}, 1_000)
    assert "bytes unpacked, more than 1,000" in refused(path, capsys)


def test_a_member_that_is_larger_than_it_says_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = b'{"@graph": [' + b"[]," * 20_000_000 + b"[]]}"
    path = packed(tmp_path / "liar.zip", {METADATA: large}, 100_000)
    content = path.read_bytes()
    said = len(large).to_bytes(4, "little")
    path.write_bytes(content.replace(said, (1_000).to_bytes(4, "little")))
    assert "E-FORMAT" in refused(path, capsys)


def test_a_large_member_is_not_held_to_see_whether_it_is_a_script(
    tmp_path: Path,
) -> None:
    digest = hashlib.sha256(large := bytes(2 * MOST)).hexdigest()
    graph = {"@graph": [{"@id": "ballast", "sha256": digest}]}
    path = packed(
        tmp_path / "a.zip", {METADATA: json.dumps(graph).encode()}, len(large)
    )
    del large
    tracemalloc.start()
    try:
        reading.unpack(path, tmp_path / "into")
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def test_what_the_disk_has_no_room_for_is_not_unpacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = {
        "@graph": [{"@id": "a", "sha256": hashlib.sha256(bytes(2_000)).hexdigest()}]
    }
    path = packed(tmp_path / "a.zip", {METADATA: json.dumps(graph).encode()})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("a", bytes(2_000))
    into = tmp_path / "new" / "into"
    monkeypatch.setattr(
        reading.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000)
    )
    assert main(["--unpack", str(path), "--into", str(into)]) == 2
    assert f"and {tmp_path} has 0 MB left: make room" in capsys.readouterr().err
    assert not into.parent.exists()
    monkeypatch.setattr(
        reading.shutil, "disk_usage", lambda _: SimpleNamespace(free=3_000)
    )
    assert main(["--unpack", str(path), "--into", str(into)]) == 0


def test_a_folder_that_is_moved_meanwhile_is_not_called_a_missing_archive(
    tmp_path: Path,
) -> None:
    """The second of two commands that unpacked into one folder said so."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a.txt", "a")
    with (
        pytest.raises(FileNotFoundError, match=r"moved"),
        reading.opened_zip(tmp_path / "a.zip"),
    ):
        raise FileNotFoundError("moved")
