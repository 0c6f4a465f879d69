"""Predictions against measured values: validation, coverage, interval score.

Validation after ASME V&V 20: E = predicted - measured against

    u_val = sqrt(u_num^2 + u_input^2 + u_D^2)

where u_input holds what fits leave too, but no estimated model error: that would make a
bad model agree with everything. A family of quantities differs where the rms of E
exceeds k times that of u_val. The rms allows errors that belong together within a
record to the full; where they do not, chance stays further below than k says.

Coverage counts a record once, by the share of its rows inside their intervals, and its
own interval comes from records resampled with replacement. The interval score is that
of Gneiting and Raftery (2007), eq. (43): width, and 2 / alpha times what is outside.

`series_verdicts` judges a run against a measured series by the same rule. Only what was
held out is judged: a fit says nothing of a prediction. Coordinates of one marker are
judged together.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.comparison.assumptions import Acceptance, SeriesTerms
from analysis.comparison.compare_series import HELD_OUT, rms
from analysis.comparison.verdict_and_budget import Check, Verdict
from analysis.measured.prediction import SURE, Family, u_of_half_step
from sim.core.arrays import Floats

COLUMNS = (
    "record",
    "quantity",
    "at",
    "measured",
    "u_measured",
    "predicted",
    "u_predicted",
    "half_width",
    "inside95",
    "E",
    "u_val",
)
SAME = 0.005  # of half widths, rms, within which two records are one
HALF = 0.5  # of a record's rows, which more of must be another's
NEARER = 3.0  # times, by which another prediction must be nearer to be named
RESAMPLED = 4_000
SEED = 20_250_095


def compared(measured: pd.DataFrame, prediction: pd.DataFrame) -> pd.DataFrame:
    """Rows that are both measured and predicted: COLUMNS.

    Parameters
    ----------
    measured : record, quantity, at, measured, u
    prediction : as of analysis.measured.prediction
    """
    if measured.empty or prediction.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    key = ["record", "quantity", "at"]
    both = measured.assign(at=measured["at"].round(9)).merge(
        prediction.assign(at=prediction["at"].round(9)), on=key, how="inner", sort=False
    )
    square = both[["u_num", "u_input", "u_fit"]].pow(2).sum(axis=1)
    E = both["value"] - both["measured"]
    found = both.assign(
        u_measured=both["u"],
        predicted=both["value"],
        u_predicted=np.sqrt(square + both["u_model"] ** 2),
        inside95=(E.abs() <= both["half_width"]),
        E=E,
        u_val=np.sqrt(square + both["u"] ** 2),
    )
    return found[list(COLUMNS)]


def values_of(rows: pd.DataFrame, known: pd.DataFrame) -> dict[str, str]:
    """Of each record the known one whose values most of it has, whatever its name.

    Parameters
    ----------
    rows : as of `compared`
    known : record, quantity, at, measured
    """
    each, share = _apart(rows, known.rename(columns={"measured": "value"}))
    found = each[(each < SAME) & (share > HALF)]
    return {str(own): str(of) for own, of in found.index}


def nearer(rows: pd.DataFrame, prediction: pd.DataFrame) -> dict[str, str]:
    """Of each record that is far from its prediction the one whose is nearer by far.

    Parameters
    ----------
    prediction : record, quantity, at, value of any records
    """
    each, share = _apart(rows, prediction)
    misses = (rows["E"] / rows["half_width"]).pow(2).groupby(rows["record"])
    own = misses.mean().pow(0.5).reindex(each.index, level=0)
    found = each[(share == 1.0) & (own > 1.0) & (each < own / NEARER)].sort_values()
    return {str(name): str(of) for name, of in found.index[::-1]}


def _apart(rows: pd.DataFrame, others: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """By record and other one: distance over half widths, rms, of what share of rows.

    Rows are of one quantity at one place.
    """
    both = rows.assign(at=rows["at"].round(9)).merge(
        others.assign(at=others["at"].round(9)),
        on=["quantity", "at"], suffixes=("", "_other"),
    )  # fmt: skip
    square = ((both["measured"] - both["value"]) / both["half_width"]) ** 2
    each = square.groupby([both["record"], both["record_other"]])
    share = each.size().div(rows.groupby("record").size(), level=0)
    return each.mean().pow(0.5), share


def distances(rows: pd.DataFrame) -> pd.DataFrame:
    """Root mean square distance of the nodes of each record at each place.

    Parameters
    ----------
    rows : record, quantity, at, E; quantities that differ by _x, _y, _z are of one node

    Returns
    -------
    record, at, rms in the unit of E
    """
    node = rows["quantity"].str.replace("_[xyz]$", "", regex=True)
    squares = rows.assign(square=rows["E"] ** 2, node=node)
    each = squares.groupby(["record", "at"], sort=False)
    rms = (each["square"].sum() / each["node"].nunique()).pow(0.5)
    return rms.rename("rms").reset_index()


def interval_score(low: Floats, high: Floats, value: Floats) -> Floats:
    """(n,) in the unit of the value; lower is better."""
    alpha = 1.0 - SURE
    under = np.maximum(low - value, 0.0)
    over = np.maximum(value - high, 0.0)
    return np.asarray(high - low + 2.0 / alpha * (under + over))


def shares_inside(rows: pd.DataFrame) -> pd.Series:
    """By record, the share of its rows inside their intervals."""
    return rows.groupby("record", sort=False)["inside95"].mean()


@dataclass(frozen=True)
class Coverage:
    """The mean share of a record's rows inside, and where chance may have put it."""

    value: float
    low: float
    high: float
    records: int


def coverage(rows: pd.DataFrame) -> Coverage:
    """By records, each counted once; the interval from resampled records."""
    return mean_coverage([shares_inside(rows).to_numpy(np.float64)])


def mean_coverage(sets: Sequence[Floats]) -> Coverage:
    """The mean over sets; the interval from resampled records of each.

    Parameters
    ----------
    sets : (r,) shares of the rows of each record of a set inside their intervals
    """
    rng = np.random.default_rng(SEED)
    resampled = [rng.choice(own, (RESAMPLED, len(own))).mean(axis=1) for own in sets]
    ends = [0.5 - SURE / 2, 0.5 + SURE / 2]
    low, high = np.quantile(np.mean(resampled, axis=0), ends)
    mean = float(np.mean([own.mean() for own in sets]))
    return Coverage(mean, float(low), float(high), sum(map(len, sets)))


def verdict_of(rows: pd.DataFrame, margin: Floats, k: float) -> tuple[Verdict, Check]:
    """Whether a family of quantities agrees.

    Parameters
    ----------
    rows : as of `compared`
    margin : (n,) largest acceptable error of each
    """
    u = rms(rows["u_val"].to_numpy(np.float64))
    check = Check(rms(rows["E"].to_numpy(np.float64)), u, k * u)
    if check.differs:
        return Verdict.DIFFERS, check
    accepted = check.error + check.limit <= rms(margin)
    return (Verdict.AGREES if accepted else Verdict.INCONCLUSIVE), check


def why(verdict: Verdict, check: Check, aim: float | None, unit: str) -> str:
    """A sentence: what decides, and what would have to improve.

    Parameters
    ----------
    aim : largest acceptable error, rms; None where not stated
    unit : "" or "1" where there is none
    """

    def text(size: float) -> str:
        return f"{size:.3g} {unit}".removesuffix(" 1").rstrip()

    sizes = f"rms of E is {text(check.error)}, k u_val is {text(check.limit)}"
    differs = verdict is Verdict.DIFFERS
    if aim is None:
        chance = "larger than the uncertainty" if differs else "within the uncertainty"
        return f"{sizes}: {chance}" + (
            "" if differs else ": give a margin to get a verdict"
        )
    if differs:
        inside = "within" if check.error <= aim else "beyond"
        return f"{sizes}: larger than the uncertainty, {inside} the aim of {text(aim)}"
    if verdict is Verdict.AGREES:
        return f"{sizes}: their sum is within the aim of {text(aim)}"
    return f"{sizes}: their sum exceeds the aim of {text(aim)}: reduce u"


def judged(
    rows: pd.DataFrame,
    families: Callable[[str, str], Family],
    k: float,
) -> pd.DataFrame:
    """A row a family of quantities: verdict, errors, coverage, interval score.

    Parameters
    ----------
    rows : as of `compared`
    families : of a record and a quantity
    """
    pairs = zip(rows["record"], rows["quantity"], strict=True)
    each = [families(record, quantity) for record, quantity in pairs]
    by_name = {family.name: family for family in each}
    lines = []
    for name, own in rows.groupby(np.array([f.name for f in each]), sort=False):
        family = by_name[str(name)]
        value, E, half = (
            own[c].to_numpy(np.float64) for c in ("predicted", "E", "half_width")
        )
        measured = own["measured"].to_numpy(np.float64)
        margin = family.margin(measured)
        verdict, check = verdict_of(own, margin, k)
        met = own.assign(square=(E / margin) ** 2).groupby("record")["square"].mean()
        covered = coverage(own)
        widest = family.widest(value)
        score = interval_score(value - half, value + half, measured)
        lines.append(
            {
                "quantity": family.name,
                "verdict": verdict.value,
                "why": why(verdict, check, rms(margin), family.unit),
                "unit": family.unit,
                "records": covered.records,
                "rows": len(own),
                "rms_E": check.error,
                "mean_E": float(E.mean()),
                "rms_u_val": check.u,
                "aim": rms(margin),
                "records_within_aim": int((met <= 1.0).sum()),
                "coverage": covered.value,
                "coverage_low": covered.low,
                "coverage_high": covered.high,
                "half_width": rms(half),
                "share_at_widest": float(np.mean(half >= 0.999999 * widest)),
                "interval_score": float(score.mean()),
            }
        )
    return pd.DataFrame(lines)


def pooled_deviation(
    measured: pd.DataFrame, groups: Mapping[str, str]
) -> dict[str, float]:
    """Standard deviation between repeats of one test, by family, pooled over all rows.

    Parameters
    ----------
    measured : record, quantity, family, at, measured
    groups : what each record is a repeat of
    """
    of = measured.assign(group=[groups[r] for r in measured["record"]])
    found = {}
    for family, own in of.groupby("family", sort=False):
        each = own.groupby(["group", "quantity", "at"], sort=False)["measured"]
        count = each.count()
        freedom = int((count - 1).clip(lower=0).sum())
        square = float((each.var().fillna(0.0) * (count - 1)).sum())
        found[str(family)] = float(np.sqrt(square / freedom)) if freedom else 0.0
    return found


COORDINATE = re.compile(r"(?P<marker>.+)_[xyz]_(?P<unit>mm|cm|m|inch)")
ORDER = 1.0  # of the discretisation error, the least that a step has


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
    rows : as of analysis.comparison.compare_series.with_simulated
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
        what = "the run covers no measured value: simulate longer, or check units"
        if len(rows):
            what = "no uncertainty of the measurement is stated: give u"
        return SeriesVerdict(name, Verdict.INCONCLUSIVE, what, len(rows))
    margin: Floats = np.full(len(rows), terms.margin)
    verdict, check = verdict_of(rows, margin, Acceptance.k)
    unit = _of(str(rows["quantity"].iloc[0]))[1]
    reasons = [why(verdict, check, terms.margin or None, unit)]
    if verdict is Verdict.DIFFERS:
        worst = rows.iloc[int(rows["E"].abs().to_numpy().argmax())]
        most = f"largest error: {worst['quantity']} at {worst['at']:g}"
        size = f"{worst['E']:+.3g} {unit}".rstrip()
        reasons.append(f"{most}: {size}, simulated minus measured")
    if len(rows) < len(own):
        reasons.append(
            f"{len(own) - len(rows)} of {len(own)} values lie outside the range of the "
            "run"
        )
    u_num = rms(rows["u_num"].to_numpy(np.float64))
    if not u_num and not terms.u_simulated:
        reasons.append(
            "the uncertainty of the simulation is taken as 0: give a finer run "
            "(--refined) or --u-simulated"
        )
    return SeriesVerdict(
        name, verdict, "; ".join(reasons), len(rows), check.error, check.limit, u_num
    )
