"""Bodies in space on a flat panel: seen from one side, what is nearer hides the rest.

Everything is cut into small pieces and painted from the farthest to the nearest
(Newell, Newell and Sancha, Proc. ACM Annual Conf. 1972, 443): bodies that do not cut
through each other cover each other rightly to within the size of a piece. The view is
orthographic: a length across it is the same everywhere, so a scale bar holds.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb, to_rgba

from analysis.figures.style import round_length, scale_bar, size
from sim.core.arrays import Floats

LIGHT = np.array([-0.35, 0.55, 0.76])  # from right, up and the eye
DARKEST = 0.62  # of a colour, where light does not fall
PIECES = 40  # of a line as long as the drawing is wide
DOT = 1e-3  # of the drawing: the length of a line that looks like a round dot
ROOM = 0.03  # of the drawing, around it
BELOW = 6.0  # times that below it, for the scale bar
Colour = str | tuple[float, ...]
Rgba = tuple[float, float, float, float]
View = tuple[float, float]  # elevation and azimuth, degrees
VIEW = (35.0, -62.0)  # of rods and mechanisms


def axes_of(view: View) -> Floats:
    """(3, 3) rows: right, up, towards the eye."""
    up, turn = np.radians(view)
    eye = [np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)]
    right = np.array([-np.sin(turn), np.cos(turn), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def paler(colour: str, share: float) -> tuple[float, float, float]:
    """A colour on white as if only `share` of it covered the paper."""
    r, g, b = (1.0 - share * (1.0 - c) for c in to_rgb(colour))
    return r, g, b


class Piece(NamedTuple):
    """A polygon or line (m, 2) on the panel, and how near the eye it is."""

    outline: Floats
    depth: float
    look: tuple[Rgba, Rgba, float]  # face, edge, width in pt


class PaintedScene:
    """What a panel shows, painted by `paint`.

    Parameters
    ----------
    view : elevation and azimuth, degrees
    span : size of all that is shown: pieces and lifts are parts of it
    """

    def __init__(self, view: View, span: float) -> None:
        self.span, self.axes = span, axes_of(view)
        self._pieces: list[Piece] = []

    def seen(self, r: Floats) -> Floats:
        """(..., 2) where points (..., 3) lie on the panel."""
        return np.asarray(np.asarray(r, dtype=np.float64) @ self.axes[:2].T)

    def _add(
        self, r: Floats, face: Colour, edge: Colour, width: float, lift: float
    ) -> None:
        """A piece (m, 3); `lift` moves it nearer, as a part of the span."""
        order = 1e-7 * (len(self._pieces) + 1)  # as near: it covers what came before
        depth = float((r @ self.axes[2]).mean()) + (lift + order) * self.span
        look = to_rgba(face), to_rgba(edge), size(width)
        self._pieces.append(Piece(self.seen(r), depth, look))

    def faces(
        self,
        polygons: Sequence[Floats],
        colour: Colour,
        *,
        edge: Colour | None = "none",
        width: float = 0.5,
        lit: bool = False,
        lift: float = 0.0,
    ) -> None:
        """Polygons (m, 3), filled; `lit`: darker where they turn from the light."""
        for polygon in polygons:
            shade = self._shade(polygon) if lit else 1.0
            own = tuple(shade * c for c in to_rgb(colour))
            self._add(polygon, own, own if edge is None else edge, width, lift)

    def _shade(self, polygon: Floats) -> float:
        """How bright a flat polygon is, both sides alike."""
        normal = self.axes @ np.cross(polygon[1] - polygon[0], polygon[2] - polygon[0])
        cosine = abs(normal @ LIGHT) / max(float(np.linalg.norm(normal)), 1e-300)
        return DARKEST + (1.0 - DARKEST) * float(cosine)

    def lines(
        self,
        ends: Floats,
        colour: Colour | Floats,
        width: float,
        *,
        lift: float = 0.004,
    ) -> None:
        """Lines (q, 2, 3), in pieces; `colour` is one, or one for each line."""
        many = isinstance(colour, np.ndarray) and colour.ndim == 2
        for q, (a, b) in enumerate(ends):
            own: Any = colour[q] if many else colour
            count = int(np.clip(PIECES * np.linalg.norm(b - a) / self.span, 1, PIECES))
            share = np.linspace(0.0, 1.0, count + 1)[:, None]
            places = a + share * (b - a)
            for piece in np.stack([places[:-1], places[1:]], axis=1):
                self._add(piece, "none", own, width, lift)

    def dots(
        self,
        r: Floats,
        colour: Colour,
        diameter: float,
        *,
        fill: Colour | None = None,
        rim: float = 0.6,
        lift: float = 0.012,
    ) -> None:
        """Round dots of a diameter in pt at (q, 3), with a rim around a fill."""
        small = DOT * self.span * self.axes[0]
        for x in r:
            point = np.stack([x - 0.5 * small, x + 0.5 * small])
            self._add(point, "none", colour, diameter, lift)
            if fill is not None:
                self._add(point, "none", fill, diameter - 2 * rim, lift + 1e-4)

    def crosses(self, r: Floats, colour: Colour, *, share: float = 0.02) -> None:
        """Upright crosses at (q, 3), in the plane of the panel."""
        reach = share * self.span
        for way in self.axes[:2]:
            ends = np.stack([r - reach * way, r + reach * way], axis=1)
            self.lines(ends, colour, 0.8, lift=0.0)

    def arrows(
        self,
        start: Floats,
        way: Floats,
        colour: Colour,
        width: float = 0.7,
        *,
        lift: float = 0.02,
    ) -> None:
        """Arrows from (q, 3) along (q, 3), their heads in the plane of the panel."""
        self.lines(np.stack([start, start + way], axis=1), colour, width, lift=lift)
        for tip, along in zip(start + way, way, strict=True):
            flat = along - (along @ self.axes[2]) * self.axes[2]
            long = float(np.linalg.norm(flat))
            if long > 0.0:
                head = min(0.35 * long, 0.03 * self.span) * flat / long
                side = 0.45 * np.cross(self.axes[2], head)
                corners = np.stack([tip, tip - head + side, tip - head - side])
                self.faces([corners], colour, edge=colour, width=0.3, lift=lift)

    def _strokes(self) -> tuple[list[Piece], list[Floats]]:
        """Pieces from far to near, those of a line that follow each other as one.

        Its edges would be darker where two pieces meet, and it would look dotted.
        """
        first: list[Piece] = []
        strokes: list[list[Floats]] = []
        for piece in sorted(self._pieces, key=lambda piece: piece.depth):
            outline = piece.outline
            line = first and len(outline) == 2 and piece.look == first[-1].look
            if line and np.array_equal(strokes[-1][-1][-1], outline[0]):
                strokes[-1].append(outline[1:])
            elif line and np.array_equal(strokes[-1][0][0], outline[-1]):
                strokes[-1].insert(0, outline[:-1])
            else:
                first.append(piece)
                strokes.append([outline])
        closed = [s + [s[0][:1]] * (len(s[0]) > 2) for s in strokes]
        return first, [np.concatenate(stroke) for stroke in closed]

    def paint(self, ax: Axes, everything: Floats) -> None:
        """All of it onto the panel, with equal scales, no axes, room for `everything`.

        Parameters
        ----------
        everything : (q, 3) points that must fit: the same for panels of one scale
        """
        first, strokes = self._strokes()
        looks = [piece.look for piece in first]
        ax.add_collection(
            PolyCollection(
                strokes,
                facecolors=[face for face, _, _ in looks],
                edgecolors=[edge for _, edge, _ in looks],
                linewidths=[width for _, _, width in looks],
                capstyle="round",
                joinstyle="round",
                snap=False,  # which would shorten a dot to nothing
                closed=False,
            ),
            autolim=False,
        )
        show(ax, self.seen(np.asarray(everything).reshape(-1, 3)))


@contextmanager
def scene_on(
    ax: Axes, everything: Floats, view: View, unit: str = "", times: float = 1.0
) -> Iterator[PaintedScene]:
    """A scene as large as points (..., 3), painted on the panel when it is complete.

    Parameters
    ----------
    unit, times : of lengths, as `scale_bar` has them; "" for no such bar
    """
    span = float(np.ptp(everything.reshape(-1, 3), axis=0).max()) or 1.0
    scene = PaintedScene(view, span)
    yield scene
    scene.paint(ax, everything)
    if unit:
        scale_bar(ax, round_length(span), unit, times=times)


def show(ax: Axes, flat: Floats) -> None:
    """Equal scales, no axes, and room for points (q, 2)."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = ROOM * float((high - low).max()) + 1e-12
    low, high = low - [room, BELOW * room], high + room
    ax.set_xlim(low[0], high[0], auto=True)
    ax.set_ylim(low[1], high[1], auto=True)
    ax.dataLim.set_points(np.stack([low, high]))  # never less than this
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()


def upright(r: Floats, up: Floats) -> Floats:
    """(..., 3) turned so that `up` is z; x stays where up is y."""
    if abs(float(up[1])) <= abs(float(up[2])):
        return r
    return np.stack([r[..., 0], -r[..., 2], r[..., 1]], axis=-1)


FLAT = 1e-3  # of its largest extent: a body no thicker is flat


def body_faces(r: Floats, body: Sequence[int]) -> list[list[int]]:
    """Nodes of polygons around a body: one if it is flat, else its hull's triangles.

    A flat body has its nodes in order around the middle, however they are listed.
    """
    nodes = np.array(body)
    away = r[nodes] - r[nodes].mean(axis=0)
    _, extent, axes = np.linalg.svd(away)
    if len(nodes) == 3 or extent[2] < FLAT * extent[0]:
        angle = np.arctan2(away @ axes[1], away @ axes[0])
        return [nodes[np.argsort(angle, kind="stable")].tolist()]
    from scipy.spatial import ConvexHull  # slow to import, and flat bodies need none

    return [nodes[corners].tolist() for corners in ConvexHull(r[nodes]).simplices]
