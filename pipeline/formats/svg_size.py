"""How large an SVG drawing says that it is on paper."""

import re
from xml.etree import ElementTree

from sim.origami.pattern.fold_format import METRES

PIXEL = 0.0254 / 96.0  # m, a unit of a drawing without a viewBox
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def svg_metres(text: str) -> float | None:
    """m per unit of a drawing with its width or height in mm, cm or in; else None.

    A drawing whose sides ask for two sizes is as large as fits into both.
    """
    root = ElementTree.fromstring(text)
    given = [_metres(root.get(name, "")) for name in ("width", "height")]
    if given == [None, None]:
        return None
    box = [float(number) for number in re.findall(NUMBER, root.get("viewBox", ""))]
    if len(box) != 4:
        return PIXEL
    sides = zip(given, box[2:], strict=True)
    each = [size / side for size, side in sides if size is not None and side > 0.0]
    return min(each, default=None)


def _metres(text: str) -> float | None:
    found = re.fullmatch(rf"({NUMBER})\s*(mm|cm|in)", text.strip())
    size = float(found[1]) * METRES[found[2]] if found else 0.0
    return size if size > 0.0 else None
