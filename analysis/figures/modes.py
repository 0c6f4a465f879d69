"""The independent motions of a mechanism: [dJ23], Fig. 5b."""

import numpy as np
from matplotlib.figure import Figure

from analysis.figures.shapes import best_view, draw_mechanism, frame
from analysis.figures.style import FULL_WIDTH, SCANNED
from sim.arrays import Floats

COLUMNS = 4
SWING = 0.25  # of the size of the mechanism, the largest displacement drawn


def modes_of_motion(
    r: Floats, bodies: tuple[tuple[int, ...], ...], modes: Floats, title: str
) -> Figure:
    """Each motion as arrows on the mechanism.

    Parameters
    ----------
    r : (n, 3) nodes
    modes : (f, n, 3) displacements, in any scale
    """
    rows = -(-len(modes) // COLUMNS)
    height = 1.9 * rows + 0.4
    figure = Figure(figsize=(FULL_WIDTH, height))
    view = best_view(r, r)
    size = float(np.ptp(r, axis=0).max()) or 1.0
    for i, mode in enumerate(modes):
        ax = figure.add_subplot(rows, COLUMNS, i + 1, projection="3d")
        draw_mechanism(ax, r, bodies)
        swing = SWING * size * mode / max(float(np.abs(mode).max()), 1e-300)
        moving = np.linalg.norm(swing, axis=1) > 1e-3 * size
        ax.quiver(*r[moving].T, *swing[moving].T, color=SCANNED, linewidth=0.8)
        frame(ax, np.concatenate([r, r + swing]), view)
        ax.set_title(f"{i + 1}", fontsize=8, y=0.95)
    figure.suptitle(title, fontsize=9, y=1.0 - 0.12 / height)
    figure.subplots_adjust(0.0, 0.0, 1.0, 1.0 - 0.4 / height, 0.0, 0.06)
    return figure
