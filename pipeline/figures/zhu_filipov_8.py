"""Fig. 8 of [ZF19]: a box folds itself."""

from collections.abc import Sequence

from analysis.figures.zhu_filipov_2019 import box_folds_itself
from pipeline.results.origami_run import read_row
from pipeline.results.shown import DrawnFigure, Row
from pipeline.terminal.errors import InputError


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case box."""
    if len(rows) != 1:
        raise InputError(f"{len(rows)} rows: Fig. 8 shows one case, box")
    run = read_row(rows[0])
    return DrawnFigure(box_folds_itself(run), {"energy": run.table}, [run.key])
