"""Copies that an SVG file draws by <use>, put in its place [SVG 2, section 5.6]."""

from collections.abc import Mapping
from xml.etree import ElementTree

from pipeline.formats.svg_styles import tag_of

MOST = 100_000  # elements; copies of copies of copies fill any memory
HREF = ("href", "{http://www.w3.org/1999/xlink}href")
OWN = ("x", "y", "width", "height", "transform", "id", *HREF)


def with_copies(root: ElementTree.Element) -> ElementTree.Element:
    """The same drawing, every <use> replaced by a group with a copy of what it names.

    Raises
    ------
    ValueError
        of a copy of what is not in the file, of itself, or of too much
    """
    known = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}
    return _Copies(known).of(root, ())


class _Copies:
    """Copies elements, and counts them."""

    def __init__(self, known: Mapping[str, ElementTree.Element]) -> None:
        self._known = known
        self._made = 0

    def of(
        self, element: ElementTree.Element, within: tuple[str, ...]
    ) -> ElementTree.Element:
        """A copy of an element within copies of those that are named."""
        self._made += 1
        if self._made > MOST:
            raise ValueError(f"the SVG file draws more than {MOST} elements by <use>")
        if tag_of(element) == "use":
            return self._used(element, within)
        copy = ElementTree.Element(element.tag, element.attrib)
        copy.text = element.text
        copy.extend([self.of(child, within) for child in element])
        return copy

    def _used(
        self, use: ElementTree.Element, within: tuple[str, ...]
    ) -> ElementTree.Element:
        name = next((use.attrib[h] for h in HREF if h in use.attrib), "").lstrip("#")
        if name not in self._known:
            raise ValueError(
                f"the SVG file draws a copy of {name!r}, which is not in it: draw the "
                "lines themselves"
            )
        if name in within:
            raise ValueError(f"the SVG file draws {name!r} by <use> within itself")
        moved = f"translate({use.get('x', '0')},{use.get('y', '0')})"
        style = {k: v for k, v in use.attrib.items() if k not in OWN}
        transform = f"{use.get('transform', '')} {moved}".strip()
        group = ElementTree.Element("g", style | {"transform": transform})
        shown = self.of(self._known[name], (*within, name))
        if tag_of(shown) in ("symbol", "svg"):
            shown.tag = "g"
        group.append(shown)
        return group
