"""Parameters of rods fitted to measured series."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.figures.fits import ShownFit, fitted_series
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.terminal.errors import InputError

CAPTION = r"""
**Parameters of rods fitted to measured series.** {{ letters | spanned }}, a panel a
quantity; lines: fitted (full) and with nominal parameters (dashed); marks: what was
measured, used for the fit (open squares, left of the vertical line) and held out
(circles); below, measured minus fitted with $\pm 2$ standard uncertainties. Units are
in the axes.
{% for row in rows -%}
`{{ row.label }}`:
{% for name in row.result if 'u_' ~ name in row.result -%}
{{ name }} {{ row.result[name] | u(row.result['u_' ~ name]) }} {{- ', ' if not loop.last
else '' }}
{% endfor -%}
(SI units, standard uncertainties in the last digits); $\chi^2$ = {{ row.result.chi2 |
sig(2) }} for {{ row.result.dof }} degrees of freedom {%- if row.result.not_determined
!= 'none' %}; not determined: `{{ row.result.not_determined }}`{% endif %}.
{% endfor %}
"""

TABLES = ("curves", "measurements", "parameters", "errors")


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a fit: runs of cases such as beam_fit."""
    shown = [_read(row.label, row.simulated) for row in rows]
    tables = {
        name: pd.concat(
            [getattr(one, name).assign(fit=one.label) for one in shown],
            ignore_index=True,
        )
        for name in TABLES
    }
    return DrawnFigure(fitted_series(shown), tables, [one.key for one in shown])


def _read(label: str, directory: Path) -> ShownFit:
    missing = [n for n in TABLES if not (directory / f"{n}.csv").is_file()]
    if missing:
        raise InputError(f"{directory} has no {missing[0]}.csv: run a case of fits")
    found = {name: pd.read_csv(directory / f"{name}.csv") for name in TABLES}
    return ShownFit(label, key_of_run(directory), **found)
