"""Panels on a page: side by side as far as it is wide, then in further rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import MM, WIDTHS_MM, page

GAP = 0.02  # of the size of a panel, between panels
EDGE = 1.2  # mm, around all
ALONE = WIDTHS_MM[0]  # mm, as wide as a panel is that stands alone
SQUEEZED = 0.2  # of their height, what panels give up at most to stay on the page
WHOLE_MM = 240.0  # of a page, lines below the art and all


@dataclass(frozen=True)
class PanelGrid:
    """Panels of one size.

    Parameters
    ----------
    count : how many
    width : mm that one of them needs
    height : mm of each
    ratios : of their widths, where all of them stand in one row
    most : side by side
    """

    count: int
    width: float
    height: float
    ratios: Sequence[float] = ()
    most: int = 99

    @property
    def columns(self) -> int:
        """How many stand side by side, so that the rows are about equally long."""
        room = max(1, int((page().room_mm + 0.5) / self.width))
        rows = -(-self.count // min(room, self.most, self.count))
        return -(-self.count // rows)

    @property
    def rows(self) -> int:
        """How many rows they fill."""
        return -(-self.count // self.columns)


def sheet(
    *groups: PanelGrid, more: float = 0.0, below: float = 0.0
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of this page, and the panels of each group in order.

    Panels give up at most a share SQUEEZED of their heights to stay on the page. Where
    that is not enough they keep them, and the figure is taller than the page.

    Parameters
    ----------
    more : mm of height for what stands beside panels, such as a legend below
    below : mm of lines below the art, for which the page has to have room too
    """
    heights = [group.height * group.rows for group in groups]
    asked = sum(heights) + more
    big = page().enlarged
    room = min(page().tallest_mm, WHOLE_MM - below if big == 1.0 else float("inf"))
    fits = room >= (1.0 - SQUEEZED) * asked
    tall = min(asked, room) if fits else asked
    width = page().width_mm
    if sum(group.count for group in groups) == 1:  # a panel alone fills a column
        width = min(width, ALONE * big)
    figure = Figure(
        figsize=(width * MM, tall * MM * big),
        layout="constrained",
    )
    engine = figure.get_layout_engine()
    assert engine is not None
    pad = EDGE * MM * big
    engine.set(w_pad=pad, h_pad=pad, wspace=GAP, hspace=GAP)  # type: ignore[call-arg]
    outer = figure.add_gridspec(len(groups), 1, height_ratios=heights)
    panels = []
    for k, group in enumerate(groups):
        look: dict[str, Any] = {}
        if group.rows == 1 and group.ratios:
            look["width_ratios"] = group.ratios
        inner = outer[k].subgridspec(group.rows, group.columns, **look)
        places = [divmod(i, group.columns) for i in range(group.count)]
        panels.append([figure.add_subplot(inner[at]) for at in places])
    return figure, panels
