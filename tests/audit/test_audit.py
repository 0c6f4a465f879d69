"""An index without advisories is no clean bill of health."""

from itertools import chain
from pathlib import Path

import pytest

from tests.audit.__main__ import LOCKS, asked, main, told
from tests.pipeline.conftest import ROOT

CLEAN = '{"name": "a", "version": "1", "vulns": []}'
VULNERABLE = (
    '{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}'
)
SKIPPED = '{"name": "a", "skip_reason": "not found on PyPI"}'


def answering(folder: Path, said: str) -> str:
    """A program that says the same of whatever it is asked, as pip-audit writes it."""
    program = folder / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{{\"dependencies\": [{said}]}}'\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (CLEAN, 0, "no known vulnerability in "),
        (VULNERABLE, 1, "a 1: X-1, mended in 2"),
        (SKIPPED, 0, "no vulnerability was looked for"),
    ],
)
def test_what_the_index_knows_is_told_and_what_it_does_not(
    said, status, words, tmp_path,
    monkeypatch, capsys
):  # fmt: skip
    monkeypatch.chdir(ROOT)
    assert main(answering(tmp_path, said)) == status
    assert words in capsys.readouterr().out


def test_an_index_that_cannot_be_reached_is_told_and_nothing_was_looked_for(
    tmp_path, monkeypatch, capsys
):
    program = tmp_path / "pip-audit"
    program.write_text("#!/bin/sh\necho 'no way there' >&2; exit 1\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit, match="no way there"):
        asked(str(program), ["a==1"])
    monkeypatch.chdir(ROOT)
    assert main(str(program)) == 0
    said = capsys.readouterr().out
    assert "no way there" in said
    assert "no vulnerability was looked for" in said


def test_a_package_that_is_skipped_is_not_among_the_vulnerable():
    assert told([{"name": "a", "skip_reason": "not found"}]) == ([], ["a"])


def test_every_lock_is_audited():
    beside = [
        (ROOT / name).rglob("requirements.lock") for name in ("pipeline", "tests")
    ]
    there = [str(path.relative_to(ROOT)) for path in chain(*beside)]
    assert sorted(LOCKS) == sorted([*there, "requirements.lock"])
