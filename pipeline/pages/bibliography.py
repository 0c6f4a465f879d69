"""The references of CITATION.cff as BibTeX and as a list."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from analysis.captions.markup import latex_text
from sim.syntax import SOURCE_ROOT

CITATION = SOURCE_ROOT / "CITATION.cff"
CITED_AS = "cited as ["  # in the notes of a reference


def references(path: Path = CITATION) -> dict[str, dict[str, Any]]:
    """The references of CITATION.cff by the key that texts cite them by."""
    given = yaml.safe_load(path.read_text(encoding="utf-8")).get("references", [])
    return {
        one["notes"].removeprefix(CITED_AS).rstrip("]"): one
        for one in given
        if str(one.get("notes", "")).startswith(CITED_AS)
    }


def bibtex(cited: Mapping[str, Mapping[str, Any]]) -> str:
    """An @article for each reference, or @misc where it is in no journal."""
    return "\n".join(_entry(key, one) for key, one in cited.items())


def _entry(key: str, one: Mapping[str, Any]) -> str:
    fields = {
        "author": " and ".join(_name(who) for who in one["authors"]),
        "title": f"{{{latex_text(str(one['title']))}}}",
        "journal": one.get("journal"),
        "howpublished": one.get("number"),
        "year": one["year"],
        "volume": one.get("volume"),
        "number": one.get("issue"),
        "pages": one.get("start"),
        "doi": one.get("doi"),
    }
    kind = "article" if "journal" in one else "misc"
    own = {"author", "title", "doi"}  # are written for LaTeX, or no text of it
    lines = [
        f"  {name} = {{{value if name in own else latex_text(str(value))}}},"
        for name, value in fields.items()
        if value
    ]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _name(who: Mapping[str, str]) -> str:
    if "name" in who:
        return f"{{{latex_text(who['name'])}}}"
    return latex_text(f"{who['family-names']}, {who['given-names']}")


def as_words(one: Mapping[str, Any]) -> str:
    """A reference in one line."""
    authors: Sequence[Mapping[str, str]] = one["authors"]
    names = ", ".join(
        who.get("name") or f"{who['given-names']} {who['family-names']}"
        for who in authors
    )
    if "journal" not in one:
        return f"{names}: {one['title']}. {one['number']} ({one['year']})"
    return (
        f"{names}: {one['title']}. {one['journal']} {one['volume']}, {one['start']} "
        f"({one['year']}). doi:{one['doi']}"
    )
