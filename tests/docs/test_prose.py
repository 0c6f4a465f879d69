"""Documents are short, and so are their sentences."""

import re
from pathlib import Path

from tests.docs.prose import sentences, words

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
)
MOST_WORDS = 20_000  # with CHANGELOG.md
LONGEST_MEAN = 18.0  # words a sentence
PRIVATE = (  # of this software's past; the field has other words for all of them
    *("told", "tells", "said", "drawn beside", "soaked", "rubbing", "learnt", "heed"),
    *("nobody", "of one's own", "stands", "beside", "ball radius", "balls"),
)


def test_all_documents_together_are_short():
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    texts.append((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


def test_a_page_has_short_sentences_and_no_private_words():
    for path in PAGES:
        found = sentences(path.read_text(encoding="utf-8"))
        assert sum(map(words, found)) <= LONGEST_MEAN * len(found), path
        text = " ".join(found).lower()
        private = [one for one in PRIVATE if re.search(rf"\b{one}\b", text)]
        assert (private, path) == ([], path)


def test_a_sentence_ends_at_its_full_stop_and_not_at_an_abbreviation():
    page = "# Head\n\nOne two, eq. (3) of it. Three: `a b`\n\n- item one\n\n| a | b |\n"
    assert sentences(page) == ["One two, eq (3) of it.", "Three: code", "item one"]
    assert words("α − β is `x`") == 4
