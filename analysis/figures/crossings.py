"""Texts that something drawn runs across: lines, outlines, bars of errors, marks.

Fields and areas may lie behind a text, which then stands on a colour; a text with a
ground or a rim of its own hides what is below it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from sim.arrays import Floats

OPAQUE = 0.7  # share of what lies below that a ground hides


def crossed(
    figure: Figure, boxes: Sequence[tuple[Text, Bbox]]
) -> Iterator[tuple[Text, str]]:
    """Each text that is crossed, and by what.

    Parameters
    ----------
    boxes : texts and where they stand, pixels
    """
    open_to_view = [(text, box) for text, box in boxes if not _grounded(text)]
    for ax in figure.findobj(Axes):
        if not ax.get_visible():
            continue
        drawn: list[Line2D | Collection] = [*ax.lines, *ax.collections]
        for artist in drawn:
            if not artist.get_visible():
                continue
            seen = _clip(artist)
            for text, box in open_to_view:
                part = box if seen is None else Bbox.intersection(box, seen)
                if part is not None and min(part.size) > 0.0 and _meets(artist, part):
                    yield text, _name(artist)


def _grounded(text: Text) -> bool:
    """Whether a text hides what is below it."""
    ground = text.get_bbox_patch()
    if ground is not None and to_rgba(ground.get_facecolor())[3] >= OPAQUE:
        return True
    return bool(text.get_path_effects())


def _clip(artist: Artist) -> Bbox | None:
    """The part of the page on which an artist is seen; None for all of it."""
    box = artist.get_clip_box()
    return Bbox.from_extents(*box.extents) if artist.get_clip_on() and box else None


def _name(artist: Artist) -> str:
    label = str(artist.get_label())
    kind = "line" if isinstance(artist, Line2D) else "outline"
    article = "a" if kind == "line" else "an"
    bare = label.startswith("_") or not label
    return f"{article} {kind}" if bare else f"{kind} {label!r}"


def _meets(artist: Line2D | Collection, box: Bbox) -> bool:
    """Whether what is drawn of a line or collection reaches into a box, pixels."""
    if isinstance(artist, Collection):
        return _outlined(artist) and _meets_one_of(artist, box)
    path = artist.get_transform().transform_path(artist.get_path())
    if str(artist.get_linestyle()) != "None" and artist.get_linewidth() > 0.0:
        return _strikes(path, box)
    places = np.asarray(path.vertices, dtype=np.float64)
    return str(artist.get_marker()) != "None" and _holds(box, places)


def _outlined(of: Collection) -> bool:
    """Whether a collection is drawn by strokes: a field and an area are not."""
    widths, colours = np.atleast_1d(of.get_linewidth()), of.get_edgecolor()
    return bool(widths.any() and len(colours) and np.asarray(colours)[:, 3].any())


def _meets_one_of(many: Collection, box: Bbox) -> bool:
    """Whether a mark of a collection stands in a box, or a line of it enters."""
    if isinstance(many, PathCollection):  # of a scatter: one path, at many places
        places = np.asarray(many.get_offsets(), dtype=np.float64)
        return _holds(box, many.get_offset_transform().transform(places))
    way = many.get_transform()
    return any(_strikes(way.transform_path(path), box) for path in many.get_paths())


def _strikes(path: Path, box: Bbox) -> bool:
    """Whether a stroke along a path enters a box."""
    low, high = np.nanmin(path.vertices, axis=0), np.nanmax(path.vertices, axis=0)
    near = bool(np.all(low <= box.max) and np.all(high >= box.min))
    return near and path.intersects_bbox(box, filled=False)


def _holds(box: Bbox, places: Floats) -> bool:
    """Whether any place is in a box."""
    inside = (places >= box.min) & (places <= box.max)
    return bool(inside.all(axis=1).any())
