"""docs/glossary.md names modules that are there, and every term once."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| term")
]
HOMES = ("", "sim", "sim/morph", "sim/origami", "sim/rod")


def is_module(name: str) -> bool:
    """Whether a package or a module of that name stands in one of the homes."""
    path = name.replace(".", "/")
    return any(
        (ROOT / home / path).is_dir() or (ROOT / home / f"{path}.py").is_file()
        for home in HOMES
    )


def named(row: list[str]) -> list[str]:
    return re.findall(r"`([\w.]+)`", row[-1])


def test_every_row_has_term_symbol_unit_meaning_and_source() -> None:
    assert len(ROWS) >= 60
    assert [row for row in ROWS if len(row) != 5 or not row[0] or not row[3]] == []


def test_every_module_that_is_named_is_there() -> None:
    assert sum(len(named(row)) for row in ROWS) >= 40
    assert [name for row in ROWS for name in named(row) if not is_module(name)] == []


def test_a_module_that_is_gone_is_seen() -> None:
    assert is_module("equations.rows")
    assert not is_module("equations.columns")


def test_no_term_is_explained_twice() -> None:
    terms = Counter(term for row in ROWS for term in row[0].split(", "))
    assert [term for term, count in terms.items() if count > 1] == []
