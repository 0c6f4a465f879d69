"""Tables of measured sets checked from outside: by what they hold and conf says only.

Nothing of analysis.measured is used: uncertainties, half widths, verdicts, coverage and
the interval score are worked out again from the tables and conf/measured.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import t as student

from pipeline.measured.compare import run_step as compare
from pipeline.measured.prediction_file import committed
from pipeline.measured.records import at_hand
from pipeline.measured.set_file import read_set

COLUMNS = (
    "record,quantity,at,measured,u_measured,predicted,u_predicted,half_width,"
    "inside95,E,u_val"
)
SETS = {  # records that are predicted without themselves
    "nist_spheres": 11,
    "lce_lattices": 12,
    "circle_square_morpher": 3,
    "silicone_beam": 4,
    "tendon_tentacle": 14,
}
REPEATED = ("silicone_beam", "lce_lattices")  # their names end in _a, _b or _1 to _3
Set = tuple[dict[str, Any], pd.DataFrame, Path]


@pytest.fixture(scope="module", params=[
    pytest.param(name, marks=[pytest.mark.long] if name == "lce_lattices" else [])
    for name in SETS
])  # fmt: skip
def compared(request, tmp_path_factory):
    """A shipped set beside its committed prediction: conf, all rows, folder."""
    name, out = str(request.param), tmp_path_factory.mktemp("compared")
    at = at_hand(read_set(name).model_dump(mode="json"))
    compare(at, at.folder, committed(at.folder), out, at.folder / "prediction")
    conf = yaml.safe_load(Path(f"conf/measured/{name}.yaml").read_text())
    tables = [pd.read_csv(out / "measured.csv").assign(part="predicted")]
    if (out / "left_out.csv").is_file():
        tables.append(pd.read_csv(out / "left_out.csv").assign(part="left out"))
    return {"name": name, **conf}, pd.concat(tables, ignore_index=True), out


def conf_kept(conf: dict[str, Any]) -> list[str]:
    """Records that are not there, so that they have no rows."""
    return list(conf["records"].get("held_out", {}))


def word(record: str, key: str) -> str:
    """What a record says of itself, by its name."""
    if key == "load":
        return "own weight" if record.startswith("own_weight") else "added mass"
    if key == "specimen":
        starts = {"L2_": "L2", "T1_rubber": "T1", "T1_plastic": "T1-r"}
        return next(v for start, v in starts.items() if record.startswith(start))
    assert key == "support"
    return "free" if "freefloating" in record else "base"


def entry_of(conf: dict[str, Any], record: str, quantity: str) -> str:
    """The first entry of conf whose pattern and words a row meets."""
    for name, one in conf["quantities"].items():
        if re.fullmatch(one.get("rows", re.escape(name)), quantity) and all(
            word(record, key) == value for key, value in one.get("where", {}).items()
        ):
            return str(name)
    raise AssertionError(f"{record}: {quantity}")


def entries(conf: dict[str, Any], rows: pd.DataFrame) -> pd.Series:
    """The entry of each row."""
    pairs = [f"{record} {q}" for record, q in rows[["record", "quantity"]].to_numpy()]
    by = {pair: entry_of(conf, *pair.split()) for pair in set(pairs)}
    return pd.Series([by[pair] for pair in pairs], index=rows.index)


def pooled(rows: pd.DataFrame, entry: pd.Series) -> dict[str, float]:
    """Standard deviation between repeats: records whose names differ in the end."""
    group = rows["record"].str.rpartition("_")[0]
    found = {}
    for name, own in rows.groupby(entry):
        each = own.groupby([group[own.index], "quantity", "at"])["measured"]
        left = own["measured"] - each.transform("mean")
        freedom = len(own) - each.ngroups
        found[str(name)] = float(np.sqrt((left**2).sum() / freedom))
    return found


def test_columns_say_what_they_hold(compared):
    conf, rows, out = compared
    assert (out / "measured.csv").read_text().startswith(COLUMNS + "\n")
    E = rows["predicted"] - rows["measured"]
    np.testing.assert_allclose(
        rows["E"], E, rtol=0, atol=2e-8 * rows["predicted"].abs().max()
    )
    inside = (rows["measured"] - rows["predicted"]).abs() <= rows["half_width"]
    assert (inside == rows["inside95"]).all()
    assert (rows["u_val"] >= rows["u_measured"] * (1 - 1e-9)).all()
    assert (rows["half_width"] > 0).all()
    shipped = json.loads(
        Path(f"data/{conf['name']}/prediction/prediction.json").read_text()
    )
    assert set(rows["record"]) <= set(shipped["records"]) - set(conf_kept(conf))
    assert conf["variants_tried"] >= 1


def test_strips_only_are_as_far_off_as_docs_say(compared):
    """By design, at the worst temperature; docs have it from tests/bench."""
    conf, _, out = compared
    assert (out / "unfitted.csv").is_file() == ("unfitted" in conf)
    if "unfitted" not in conf:
        return
    far = pd.read_csv(out / "unfitted.csv").assign(square=lambda t: t["rms"] ** 2)
    design = far["record"].str.rpartition("_")[0]
    worst = far.groupby([design, "at"])["square"].mean().pow(0.5).groupby(level=0)
    told = ", ".join(f"{w:.2f}" for w in worst.max())
    line = f"| strips only, nothing fitted (worst of 23 temperatures) | {told} |"
    assert line in Path("docs/explanation/measured/lce_lattices.md").read_text()


def rms(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def aims(conf: dict[str, Any], entry: pd.Series, of: pd.Series) -> pd.Series:
    """In the unit of the values, of which some aims are a share."""
    known = [conf["quantities"][e] for e in entry]
    share = np.array([one.get("relative", False) for one in known])
    return np.array([one["aim"] for one in known]) * of.abs().where(share, 1.0)


def in_parts(rows: pd.DataFrame, fitted: list[str]) -> pd.Series:
    """Of each row predicted, fitted or left out."""
    own = rows["record"].isin(fitted) & (rows["part"] == "predicted")
    return rows["part"].where(~own, "fitted")


def test_uncertainties_and_half_widths_are_of_the_sources_they_name(compared):
    """Model error widens the interval, by Student's t of its records; not u_val."""
    conf, rows, out = compared
    key = ["record", "quantity", "at"]
    own = rows[rows["part"] == "predicted"].assign(entry=lambda t: entries(conf, t))
    sources = pd.read_csv(out / "prediction.csv").drop(columns="half_width")
    both = own.merge(sources, on=key, validate="one_to_one")
    assert len(both) == len(own)
    exact = (both[["u_num", "u_input", "u_fit"]] ** 2).sum(axis=1)
    np.testing.assert_allclose(both["u_val"] ** 2, exact + both["u_measured"] ** 2)
    np.testing.assert_allclose(both["u_predicted"] ** 2, exact + both["u_model"] ** 2)
    told = json.loads(
        Path(f"data/{conf['name']}/prediction/posterior.json").read_text()
    )
    of = [conf["quantities"][e].get("model_error_from", e) for e in both["entry"]]
    count = np.array([told["errors"][e]["records"] for e in of])
    t = np.where(count > 0, student.ppf(0.975, np.maximum(count, 1)), 1.959964)
    wide = 1.959964**2 * (exact + both["u_noise"] ** 2) + (t * both["u_model"]) ** 2
    repeats = np.array([told["repeat_sd"].get(e, 0.0) for e in of])
    aim = aims(conf, both["entry"], both["predicted"])
    most = np.maximum(3.0 * repeats, 2.0 * aim)
    np.testing.assert_allclose(
        both["half_width"], np.minimum(np.sqrt(wide), most), rtol=1e-6
    )


def test_verdicts_are_those_of_the_rule(compared):
    """E beyond k u_val differs; both together within the aim agree; else untold."""
    conf, rows, out = compared
    said = json.loads((out / "verdict.json").read_text())
    told, k = pd.read_csv(out / "verdict.csv"), conf.get("k", 2.0)
    entry, part = entries(conf, rows), in_parts(rows, said["fitted"])
    pairs = set(zip(told["quantity"], told["part"], strict=True))
    assert pairs == set(zip(entry, part, strict=True))
    for row in told.itertuples():
        own = rows[(entry == row.quantity) & (part == row.part)]
        aim = aims(conf, entry[own.index], own["measured"])
        E, limit = rms(own["E"]), k * rms(own["u_val"])
        agrees = "agrees" if E + limit <= rms(aim) else "inconclusive"
        assert row.verdict == ("differs" if limit < E else agrees)
        found = [row.rms_E, k * row.rms_u_val, row.aim, row.mean_E, row.half_width]
        np.testing.assert_allclose(
            found, [E, limit, rms(aim), own["E"].mean(), rms(own["half_width"])],
            atol=1e-7 * own["predicted"].abs().max(),
        )  # fmt: skip
        met = [rms(one) <= 1.0 for _, one in (own["E"] / aim).groupby(own["record"])]
        assert row.records_within_aim == sum(met)
        assert (row.records, row.rows) == (len(met), len(own))
        shares = own.groupby("record")["inside95"].mean().to_numpy()
        drawn = np.random.default_rng(7).choice(shares, (4000, len(shares))).mean(1)
        np.testing.assert_allclose(
            [row.coverage_low, row.coverage_high],
            np.quantile(drawn, [0.025, 0.975]),
            atol=0.03,
        )


def test_no_interval_is_wider_than_the_rule_lets_it(compared):
    """At fitted conditions, three deviations between repeats or twice the aim."""
    conf, rows, _ = compared
    entry = entries(conf, rows)
    own = rows["part"] == "predicted"
    sd = pooled(rows[own], entry[own]) if conf["name"] in REPEATED else {}
    said = json.loads(
        Path(f"data/{conf['name']}/prediction/posterior.json").read_text()
    )["repeat_sd"]
    for name in said:
        assert sd[name] == pytest.approx(said[name], rel=0.03)
    twice = 2.0 * aims(conf, entry, rows["predicted"])
    most = np.maximum(3.0 * np.array([said.get(e, 0.0) for e in entry]), twice)
    far = (rows["part"] == "left out") & ("distances" in conf["records"])
    assert (rows["half_width"] <= most * (1.0 + 1e-6))[~far].all()


def test_coverage_counts_each_record_once_and_scores_stand_beside(compared):
    conf, rows, out = compared
    entry, verdicts = entries(conf, rows), pd.read_csv(out / "verdict.csv")
    said = json.loads((out / "verdict.json").read_text())
    part = in_parts(rows, said["fitted"])
    for row in verdicts.itertuples():
        own = rows[(entry == row.quantity) & (part == row.part)]
        by_record = [one["inside95"].mean() for _, one in own.groupby("record")]
        assert np.mean(by_record) == pytest.approx(row.coverage)
        out_by = (own["measured"] - own["predicted"]).abs() - own["half_width"]
        score = 2.0 * own["half_width"] + 2.0 / 0.05 * out_by.clip(lower=0.0)
        assert score.mean() == pytest.approx(row.interval_score)
    alone = rows[part != "fitted"]
    shares = {n: one["inside95"].mean() for n, one in alone.groupby("record")}
    assert said["inside"] == pytest.approx(shares)
    assert len(shares) == SETS[conf["name"]]
    mean = 100 * np.mean([*shares.values()])
    told = f"| {conf['name']} | {len(shares)} | {mean:.0f} % ("
    assert told in Path("docs/explanation/measured/index.md").read_text()
