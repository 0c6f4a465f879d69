"""The glossary explains few terms, each once."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
TERMS = [
    term
    for terms in re.findall(r"^- \*\*(.+?)\*\*", TEXT, re.M)
    for term in terms.split(", ")
]
MOST_ROWS = 70


def test_every_row_has_a_term_and_a_meaning():
    rows = re.findall(r"^- .+$", TEXT, re.M)
    assert 60 <= len(rows) <= MOST_ROWS
    assert all(re.fullmatch(r"- \*\*[^*]+\*\*[^:]*: .+", row) for row in rows)


def test_no_term_is_explained_twice():
    assert [term for term, count in Counter(TERMS).items() if count > 1] == []
