"""Whether a run agrees with a measured series, by the rule of measured sets.

The rule is that of `analysis.measured.judgement` (ASME V&V 20). Only what was held out
is judged: a fit says nothing of a prediction. Coordinates of one marker are judged
together.
"""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.measured.judgement import verdict_of, why
from analysis.measured.prediction import u_of_half_step
from analysis.validation.comparison import Acceptance, Verdict
from analysis.validation.series import HELD_OUT
from sim.arrays import Floats

COORDINATE = re.compile(r"(?P<marker>.+)_[xyz]_(?P<unit>mm|cm|m|inch)")
ORDER = 1.0  # of the discretisation error, the least that a step has


@dataclass(frozen=True)
class SeriesTerms:
    """What is known and asked, in the unit of the measured values.

    Parameters
    ----------
    u : standard uncertainty of a measured value where its row states none
    u_simulated : of a simulated one, from numbers that went in and from discretisation
    margin : largest acceptable error, root mean square; 0: nobody said
    """

    u: float = 0.0
    u_simulated: float = 0.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        for name in ("u", "u_simulated", "margin"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} is {getattr(self, name)}: give 0 or more")


@dataclass(frozen=True)
class SeriesVerdict:
    """The answer for one marker, or for another quantity.

    Parameters
    ----------
    count : measured values that the run reaches
    rms, k_u_val, u_num : of simulated minus measured, what chance allows it, and the
        part of the discretisation, rms; nan where nothing could be judged
    """

    name: str
    verdict: Verdict
    why: str
    count: int
    rms: float = float("nan")
    k_u_val: float = float("nan")
    u_num: float = float("nan")


def series_verdicts(
    rows: pd.DataFrame, terms: SeriesTerms, refined: pd.DataFrame | None = None
) -> list[SeriesVerdict]:
    """A verdict a marker or other quantity of which something was held out.

    Parameters
    ----------
    rows : as of analysis.validation.series.beside
    refined : the same of a run with half the steps in space and time; without it the
        discretisation is as good as `terms` say
    """
    u_num = np.zeros(len(rows))
    if refined is not None:
        change = refined["simulated"].to_numpy() - rows["simulated"].to_numpy()
        u_num = u_of_half_step(change, ORDER)
    u = rows["u"].to_numpy(np.float64)
    square = np.where(u > 0.0, u, terms.u) ** 2 + u_num**2 + terms.u_simulated**2
    whole = rows.assign(
        E=rows["simulated"] - rows["value"],
        u_val=np.sqrt(square),
        u_num=u_num,
        stated=np.maximum(u, terms.u) > 0.0,
        name=[_of(quantity)[0] for quantity in rows["quantity"]],
    )
    held = whole[whole["part"] == HELD_OUT]
    return [_verdict(str(n), own, terms) for n, own in held.groupby("name", sort=False)]


def _of(quantity: str) -> tuple[str, str]:
    """The marker that it is a coordinate of and its unit, or itself and none."""
    found = COORDINATE.fullmatch(quantity)
    return (found["marker"], found["unit"]) if found else (quantity, "")


def _verdict(name: str, own: pd.DataFrame, terms: SeriesTerms) -> SeriesVerdict:
    rows = own.dropna(subset=["E", "u_val"])
    if rows.empty or not rows["stated"].all():
        what = "the run reaches none of its values"
        if len(rows):
            what = "no uncertainty of the measurement is stated: give u"
        return SeriesVerdict(name, Verdict.CANNOT_TELL, what, len(rows))
    margin: Floats = np.full(len(rows), terms.margin)
    verdict, check = verdict_of(rows, margin, Acceptance.k)
    unit = _of(str(rows["quantity"].iloc[0]))[1]
    said = [why(verdict, check, terms.margin or None, unit)]
    if verdict is Verdict.DIFFERS:
        worst = rows.iloc[int(rows["E"].abs().to_numpy().argmax())]
        most = f"most {worst['quantity']} at {worst['at']:g}"
        size = f"{worst['E']:+.3g} {unit}".rstrip()
        said.append(f"{most}: {size}, simulated minus measured")
    if len(rows) < len(own):
        said.append(f"{len(own) - len(rows)} of {len(own)} values beyond the run")
    u_num = float(np.sqrt(np.mean(rows["u_num"] ** 2)))
    if not u_num and not terms.u_simulated:
        said.append("the run counts as exact: name refined or u_simulated")
    return SeriesVerdict(
        name, verdict, "; ".join(said), len(rows), check.error, check.limit, u_num
    )
