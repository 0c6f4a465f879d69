"""Fig. 10 of [ZF19]: how some folding sequences end."""

from collections.abc import Sequence

from analysis.figures.zhu_filipov_2019 import folding_sequences
from pipeline.figures.shown import Drawn, Row
from pipeline.origami_run import read_row


def draw(rows: Sequence[Row]) -> Drawn:
    """A row a sequence; the verdicts on all 75 are the table of a study."""
    runs = [read_row(row) for row in rows]
    return Drawn(folding_sequences(runs), {}, [run.key for run in runs])
