"""How mkdocstrings reads this software's docstrings.

    name : what it is        numpy's section, with the meaning in place of the type

Types are in the signatures, so the meaning becomes the description.
"""

import re
from typing import Any

import griffe

SECTION = re.compile(
    r"^(?P<head>(?:Attributes|Parameters|Returns|Yields)\n-+\n)"
    r"(?P<body>.*?)(?=\n\n\w+\n-+\n|\Z)",
    re.M | re.S,
)
ENTRY = re.compile(r"^(\w[\w*, ]*?) : (?=\S)", re.M)


def described(text: str) -> str:
    """A docstring whose entries have their meaning on a line of its own."""
    return SECTION.sub(
        lambda found: found["head"] + ENTRY.sub(r"\1\n    ", found["body"]), text
    )


class Meanings(griffe.Extension):
    """Read the text after a colon as the meaning."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = described(obj.docstring.value)
