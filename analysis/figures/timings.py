"""How far repeated timings are apart."""

import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.style import FAINT


def draw_spread(ax: Axes, table: pd.DataFrame) -> None:
    """A bar from the least to the largest of the repeats, behind the marks.

    Parameters
    ----------
    table : columns h (s), ratio (the least), most
    """
    ax.vlines(
        1e3 * table["h"], table["ratio"], table["most"], colors=FAINT, lw=0.8, zorder=1
    )
