"""What docs/features.md and docs/validation.md name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("features.md", "validation.md")
]
FEATURES, VALIDATION = TEXTS
ROWS = re.findall(r"^\| (?!claim).+\|$", VALIDATION, re.M)


def anchor(heading: str) -> str:
    """The anchor that a Markdown heading gets."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("text", TEXTS, ids=["features", "validation"])
def test_every_path_and_every_case_that_is_named_is_there(text: str) -> None:
    paths = set(re.findall(r"\b(?:tests|conf|docs|data)/[\w./-]*\w", text))
    names = set(re.findall(r"\bcase=(\w+)", text))
    names |= set(re.findall(r"`([a-z0-9_]+)`", text))
    assert [path for path in sorted(paths) if not (ROOT / path).is_file()] == []
    assert [n for n in sorted(names) if not list(ROOT.glob(f"conf/*/{n}.yaml"))] == []


def test_every_link_leads_to_a_heading() -> None:
    headings = {anchor(one) for one in re.findall(r"^#+ (.+)$", VALIDATION, re.M)}
    linked = re.findall(r"\(validation\.md#([\w-]+)\)", FEATURES)
    assert len(linked) >= len(re.findall(r"^\| (?!\*|feature)", FEATURES, re.M))
    assert set(linked) <= headings


def test_every_claim_has_a_window_and_a_test() -> None:
    assert len(ROWS) >= 50
    assert all(re.search(r"\| [^|]+ \| tests/\S+\.py[^|]* \|$", row) for row in ROWS)
