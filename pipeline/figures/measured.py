"""Measured sets: what was measured beside what was predicted, with verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures.measured_panels import Unfitted
from analysis.figures.measured_sets import measured_set
from analysis.figures.set_words import roles, verdicts_in_words
from analysis.figures.shown_set import ShownFamily, ShownSet, short_names
from analysis.measured.judgement import distances
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError

CAPTION = r"""
**{{ title }}.** {{ letters | spanned }}: measured (marks with standard uncertainty{%
if fitted %}; open where the record was fitted{% endif %}) beside predicted (blue){% if
fitted %} and fitted (grey){% endif %}, bands and bars of these colours: 95 %
interval; hatched: $\pm {{ '%g' | format(k) }}\,u_\mathrm{val}${% if left %}; errors in
blue of what was fitted: left out, as the other records predict it{% endif %}{% if along
%}; below, error $E$ = predicted minus measured{% endif %}; dashed: aim of its rms{% if
valued %}; numbers right of a panel: what was predicted{% endif %}. {%
if ended %}{{ letters[-ended:] | spanned }}: rms of $E$ over its aim. {%
endif %}{{ roles }}.{% for one in unfitted %} {{ one }}{%
endfor %} {{ records }} records, {{ held }} of them used in no fit{% if awaited %};
not yet measured: {{ awaited | listed }}{% endif %}; models tried: {{ tried }}. {%
if missed %}Aims missed by rms $E$: {{ missed | listed }}{% else %}rms $E$ meets every
aim{% endif %}. Verdicts of validation: {{ verdicts }}. Measured by others: {{
source }}.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One set: a run of the step measured."""
    of = only_row(rows, "a measured set").simulated
    key = key_of_run(of)
    if not (of / "verdict.json").is_file():
        raise InputError(f"{of} has no verdict.json: run morphtrack measured")
    said = read_json(of / "verdict.json")
    text = {"record": str, "quantity": str}
    measured = pd.read_csv(of / "measured.csv", dtype=text)
    prediction = pd.read_csv(of / "prediction.csv", dtype=text)
    unread = prediction["record"].isin(list(said["refused"]))
    prediction = prediction[~unread]
    path = of / "left_out.csv"
    apart = pd.read_csv(path, dtype=text) if path.is_file() else measured.iloc[:0]
    apart = apart[apart["record"].isin(prediction["record"])]
    runs = [("compared", key), ("predicted", str(said["prediction"]["key"]))]
    shown = ShownSet(
        str(said["set"]),
        str(said["title"]),
        [
            _family(one, measured, prediction, apart, said)
            for one in said["families"]
            if one["records"]
        ],
        frozenset(said["fitted"]),
        dict(said["groups"]),
        float(said["k"]),
        runs,
        _caption(said, of),
        _fitted_inputs(of / "parameters.csv"),
        _unfitted(of / "unfitted.csv", said, measured),
    )
    keys = [key] if key else []  # the other's is of whoever committed the prediction
    tables = {"measured": measured, "verdicts": pd.DataFrame(said["verdicts"])}
    words = _said(said, prediction, measured) | {
        "left": len(apart) > 0,
        "roles": roles(shown),
        "valued": any(one.lone and not one.several for one in shown.families),
        "along": shown.along,
        "ended": shown.ended,
        "unfitted": [_worst(one) for one in shown.unfitted],
    }
    return DrawnFigure(measured_set(shown), tables, keys, said=words)


def _said(
    of: Mapping[str, Any], prediction: pd.DataFrame, measured: pd.DataFrame
) -> dict[str, Any]:
    """What the caption says of a set."""
    told = [(r["quantity"], r["part"], r["verdict"]) for r in of["verdicts"]]
    records = set(prediction["record"])
    return {
        "title": of["title"],
        "source": of["source"],
        "k": float(of["k"]),
        "tried": of["variants_tried"],
        "records": len(records),
        "fitted": bool(of["fitted"]),
        "held": len(records - set(of["fitted"])),
        "verdicts": verdicts_in_words(told),
        "awaited": _awaited(prediction, measured),
        "missed": _missed(of["verdicts"]),
    }


def _awaited(prediction: pd.DataFrame, measured: pd.DataFrame) -> list[str]:
    """What was predicted and has no measured value: records, or quantities of all."""
    records = set(prediction["record"]) - set(measured["record"])
    names = prediction["quantity"].str.replace("_[xyz]$", "", regex=True)
    of_some = prediction["record"].isin(set(measured["record"]))
    seen = set(measured["quantity"].str.replace("_[xyz]$", "", regex=True))
    quantities = sorted(set(names[of_some]) - seen)
    told = [f"{len(records)} records"] if records else []
    return told + [name.replace("_", " ") for name in quantities]


def _missed(verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Quantities whose rms of E is beyond its aim, with both."""
    return [
        f"{row['quantity']} ({row['part']}), {row['rms_E']:.2g} for".replace("_", " ")
        + f" {row['aim']:.2g} {row['unit']}".removesuffix(" 1")
        for row in verdicts
        if row["rms_E"] > row["aim"]
    ]


def _unfitted(
    path: Path, said: Mapping[str, Any], measured: pd.DataFrame
) -> list[Unfitted]:
    """Models of which nothing is fitted, beside the one compared."""
    if not path.is_file():
        return []
    table = pd.read_csv(path, dtype={"record": str, "model": str})
    groups, found = short_names(list(said["groups"].values())), []
    for name, rows in table.groupby("model", sort=False):
        own = said["unfitted"][name]
        family = next(f for f in said["families"] if f["name"] == own["of"])
        both = (
            t.assign(group=[groups[said["groups"][r]] for r in t["record"]])
            for t in (rows, distances(measured[_belongs(measured, family)]))
        )
        where = str(family["unit"]), str(family["along"]), float(own["aim"])
        found.append(Unfitted(str(name), *where, *both))
    return found


def _worst(of: Unfitted) -> str:
    """Its largest rms distance of each group, and whether its aim was met."""
    told = ", ".join(f"{group} {far:.2f}" for group, far in of.worst().items())
    return (
        f"{of.name[:1].upper()}{of.name[1:]}, nothing fitted (open marks): largest rms "
        f"distance {told} {of.unit}; aim {of.aim:g} {of.unit} {of.met}."
    )


def _fitted_inputs(path: Path) -> list[str]:
    """Names of the inputs that a fit found, without their units."""
    if not path.is_file():
        return []
    table = pd.read_csv(path)
    found = table[table["fitted"]]
    return [
        str(name).removesuffix(f"_{unit}")
        for name, unit in zip(found["input"], found["unit"], strict=True)
    ]


def _belongs(rows: pd.DataFrame, family: dict[str, Any]) -> "pd.Series[bool]":
    """Which rows are of a family."""
    named = rows["quantity"].str.fullmatch(str(family["rows"]))
    return named & rows["record"].isin(family["records"])


def _family(
    one: dict[str, Any],
    measured: pd.DataFrame,
    prediction: pd.DataFrame,
    left_out: pd.DataFrame,
    said: Any,
) -> ShownFamily:
    own = [row for row in said["verdicts"] if row["quantity"] == one["name"]]
    return ShownFamily(
        str(one["name"]),
        str(one["unit"]),
        str(one["along"]),
        measured[_belongs(measured, one)],
        prediction[_belongs(prediction, one)],
        float(one["aim"]),
        pd.DataFrame(own),
        str(one["about"]),
        left_out[_belongs(left_out, one)],
    )


def _caption(said: Any, of: Path) -> str:
    by = said["prediction"]
    when = "committed before" if by["committed"] else f"made for {of.name}"
    tried = said["variants_tried"]
    models = "one model was tried" if tried == 1 else f"{tried} models were tried"
    return f"Prediction {when}, SHA-256 {by['sha256'][:12]}; {models}."
