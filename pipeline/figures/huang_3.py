"""Fig. 3 of [Hu20]: natural curvature and modulus of a limb after one pulse."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import actuator_law
from pipeline.results.rod_run import read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row

CAPTION = r"""
{% set a = rows[0].case.actuator -%}
**The law of a limb after one pulse**, after Fig. 3 of [Hu20], eq. (7): relative natural
curvature $\bar \kappa/\bar \kappa_0$ (line) and Young's modulus $E/E_0$ (dashes), both
without unit, by time $t$ (s). The constants of eq. (7) are not printed and are assumed:
ramp {{ a.ramp | sig(1) }} s, rate {{ a.rate | sig(2) }} 1/s, delay {{ a.delay | sig(2)
}} s, least curvature {{ a.least_curvature | sig(2) }}, largest modulus {{
a.most_modulus | sig }}. After {{ rows[0].case.duration | sig(2) }} s curvature and
modulus are back at {{ rows[0].result.curvature_at_end | sig }} and {{
rows[0].result.modulus_at_end | sig }}: the limb has reshaped, as in print.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case actuator_law."""
    row = only_row(rows, "the case actuator_law")
    table, key = read_table(row), key_of_run(row.simulated)
    return DrawnFigure(actuator_law(table, [(row.label, key)]), {"law": table}, [key])
