"""The prose of a Markdown page: its sentences, without code, tables and headings."""

import re
from collections.abc import Iterator

FENCE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->|<[^>]+>", re.S)
LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]+`")
ITEM = re.compile(r"(?m)^ *(?:[-*]|\d+\.) +")
END = re.compile(r"(?<=[.?!])[)*_]*\s+(?=[\w(*`\[])")
SHORT = re.compile(r"\b(et al|eq|eqs|Fig|Figs|Sect|vs|e\.g|i\.e|ch)\.")


def paragraphs(page: str) -> Iterator[str]:
    """Paragraphs and items of lists, each on one line."""
    text = COMMENT.sub("", FENCE.sub("", page))
    text = CODE.sub("code", LINK.sub(r"\1", text))
    text = ITEM.sub("\n\n", text)
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line.strip()]
        if lines and not lines[0].lstrip().startswith(("#", "|", "!")):
            yield " ".join(" ".join(lines).split())


def sentences(page: str) -> list[str]:
    """The sentences of a page."""
    found = []
    for text in paragraphs(page):
        found += [one for one in END.split(SHORT.sub(r"\1", text)) if one]
    return found


def words(sentence: str) -> int:
    """How many words a sentence has; signs between words are none."""
    return len([one for one in sentence.split() if re.search(r"\w", one)])
