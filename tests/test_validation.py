"""What docs/explanation/validation.md names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/validation.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").rglob("*.md"))
ROWS = re.findall(r"^\| (?!claim|paper).+\|$", PAGE, re.M)


def test_every_claim_has_a_test():
    assert len(ROWS) >= 45
    assert all(re.search(r"\| [^|]+ \| tests/\S+\.py \|$", row) for row in ROWS)


def test_every_path_and_every_case_that_a_page_names_is_there():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        paths = set(re.findall(r"\b(?:tests|sim|analysis|conf)/[\w./-]+\.\w+", text))
        real = [path for path in sorted(paths) if not re.search("[A-Z]{4}", path)]
        missing = [path for path in real if not (ROOT / path).is_file()]
        missing += [
            f"case={name}"
            for name in sorted(set(re.findall(r"\bcase=([a-z]\w+)", text)))
            if not (ROOT / f"conf/case/{name}.yaml").is_file()
        ]
        assert [one for one in missing if one not in INVENTED] == [], page


INVENTED = {"case=mine"}


def test_every_departure_is_marked():
    papers = PAGE.partition("## Mechanisms")[0]
    for paper in ("dJ23", "ZF19", "Hu20"):
        assert papers.count(f"| **[{paper}]") >= 1
