"""Rules of an SVG file's <style> written onto the elements that they choose.

Selectors are a tag, a class, an id or *, joined (line.fold) and listed with commas; of
several the one with more ids, then classes, then tags wins, then the later. They stand
over attributes of the element and under its own style [CSS Cascade, section 6]. What
else chooses, as a place in the tree or a state, is refused where it says a stroke.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

SIMPLE = re.compile(r"(\*|[\w-]+)?((?:[.#][\w-]+)*)")
RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
AT_RULE = re.compile(r"@[\w-]+[^{};]*(?:;|\{[^{}]*\})")  # @import, @font-face
PLAIN = "choose lines by a tag, a class or an id alone"


class StyleRule(NamedTuple):
    """What one selector says; its rank is its ids, classes and tags."""

    rank: tuple[int, int, int]
    tag: str
    classes: frozenset[str]
    ids: frozenset[str]
    said: dict[str, str]

    def chooses(self, element: ElementTree.Element) -> bool:
        return (
            self.tag in ("", "*", tag_of(element))
            and self.classes <= set(element.get("class", "").split())
            and self.ids <= {element.get("id", "")}
        )


def tag_of(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def apply_styles(root: ElementTree.Element, names: Sequence[str]) -> None:
    """Set what rules say of `names` as attributes of the elements.

    Raises
    ------
    ValueError
        where a rule says one of them and is not read
    """
    sheets = [e for e in root.iter() if tag_of(e) == "style"]
    text = COMMENT.sub(" ", "\n".join("".join(e.itertext()) for e in sheets))
    rules = sorted(_rules(text, names), key=lambda rule: rule.rank)
    for element in root.iter() if rules else ():
        for rule in rules:
            if rule.chooses(element):
                element.attrib.update(rule.said)


def declared(text: str, names: Sequence[str]) -> dict[str, str]:
    """What declarations "name: value; ..." say of names."""
    parts = [part.partition(":") for part in text.split(";")]
    return {n.strip(): v.strip() for n, _, v in parts if n.strip() in names}


def _rules(text: str, names: Sequence[str]) -> Iterator[StyleRule]:
    """The rules that say one of the names, in the order of the text."""
    text = AT_RULE.sub(" ", text)
    if "@" in text:
        at = text[text.index("@") :].split("{")[0].strip()
        raise ValueError(f"the SVG file's <style> has a rule under {at!r}: {PLAIN}")
    for selectors, body in RULE.findall(text):
        said = declared(body, names)
        for selector in selectors.split(",") if said else ():
            yield _rule(selector.strip(), said)


def _rule(selector: str, said: dict[str, str]) -> StyleRule:
    found = SIMPLE.fullmatch(selector)
    if not selector or not found:
        raise ValueError(
            f"the SVG file's <style> chooses {selector!r}, which is not read: {PLAIN}"
        )
    for name, value in said.items():
        if "!" in value:
            raise ValueError(
                f"the SVG file's <style> says {name}: {value} of {selector!r}: leave "
                "out what follows the !"
            )
    tag, rest = found[1] or "", found[2]
    classes = frozenset(re.findall(r"\.([\w-]+)", rest))
    ids = frozenset(re.findall(r"#([\w-]+)", rest))
    rank = len(ids), len(classes), int(tag not in ("", "*"))
    return StyleRule(rank, tag, classes, ids, said)
