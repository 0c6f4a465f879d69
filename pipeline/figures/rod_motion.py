"""The motion of any rod case: five moments, and a picture that plays."""

from collections.abc import Sequence

import numpy as np

from analysis.figures.huang_2020 import snapshots
from analysis.figures.motion import animated_svg
from pipeline.figures.shown import Drawn, Row
from pipeline.rod_run import motion_of, only, read_rod

MOMENTS = 5


def draw(rows: Sequence[Row]) -> Drawn:
    """One row: a case of rods that move."""
    run = read_rod(only(list(rows), "own_rod or another that moves"))
    times = run.table["time"].to_numpy()
    shapes = [run.at(t) for t in np.linspace(times[0], times[-1], MOMENTS)]
    moving = {"motion": animated_svg(motion_of(run))}
    return Drawn(snapshots(shapes, [(run.label, run.key)]), {}, [run.key], moving)
