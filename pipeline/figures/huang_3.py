"""Fig. 3 of [Hu20]: natural curvature and modulus of a limb after one pulse."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import actuator_law
from pipeline.results.rod_run import only, read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case actuator_law."""
    row = only(list(rows), "actuator_law")
    table, key = read_table(row), key_of_run(row.simulated)
    return DrawnFigure(actuator_law(table, [(row.label, key)]), {"law": table}, [key])
