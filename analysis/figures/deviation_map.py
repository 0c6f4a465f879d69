"""How far a scan is from its target, in colour."""

import numpy as np
from matplotlib.figure import Figure

from analysis.figures.scan_picture import thinned
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import put_letters, styled
from sim.arrays import Floats

MOST_POINTS = 60_000
COLOURS = "PuOr"  # told apart with every common colour blindness
EXTREME = 99.0  # percentile of the deviations at which the colours end


def deviation_map(
    points: Floats, deviation: Floats, nodes: Floats, node_mm: Floats, title: str
) -> Figure:
    """Two views of a scan along its shortest extents, coloured by deviation.

    Parameters
    ----------
    points, deviation : (n, 3) and (n,), mm; of the points near the target's bars
    nodes, node_mm : (k, 3) and (k,), mm; sphere centres and their distances from it
    """
    drawn = thinned(np.column_stack([points, deviation]), MOST_POINTS)
    middle = points.mean(axis=0)
    axes = np.linalg.svd(thinned(points, 5_000) - middle, full_matrices=False)[2]
    limit = float(np.percentile(np.abs(deviation), EXTREME))
    with styled():
        figure, (panels,) = sheet(PanelGrid(2, 80.0, 80.0), more=8.0)
        figure.suptitle(title)
        for panel, (across, up) in zip(panels, ((0, 1), (0, 2)), strict=True):
            frame = axes[[across, up]]
            x, y = ((drawn[:, :3] - middle) @ frame.T).T
            bars = panel.scatter(
                x, y, c=drawn[:, 3], s=0.4,
                cmap=COLOURS, vmin=-limit, vmax=limit, linewidths=0, rasterized=True,
            )  # fmt: skip
            x, y = ((nodes - middle) @ frame.T).T
            balls = panel.scatter(
                x, y, c=node_mm, s=18.0, cmap="cividis",
                vmin=0.0, edgecolors="black", linewidths=0.4,
            )  # fmt: skip
            panel.set_aspect("equal", adjustable="datalim")
            panel.set_xlabel(f"principal axis {across + 1} (mm)")
            panel.set_ylabel(f"principal axis {up + 1} (mm)")
        put_letters(panels)
        figure.colorbar(bars, ax=panels[1], label="points outside the bars (mm)")
        figure.colorbar(balls, ax=panels[0], label="centres from the target (mm)")
    return figure
