"""Tables of measured sets checked from outside: by what they hold and conf says only.

Nothing of analysis.measured is used: uncertainties, half widths and coverage are worked
out again from the tables and conf/measured.
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

SETS = {  # records that are predicted without themselves
    "nist_spheres": 11,
    "lce_lattices": 12,
    "circle_square_morpher": 3,
    "silicone_beam": 4,
    "tendon_tentacle": 14,
}
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


def test_docs_say_how_many_records_lie_inside(compared):
    """Predicted without themselves, each counted once."""
    conf, rows, out = compared
    said = json.loads((out / "verdict.json").read_text())
    alone = rows[in_parts(rows, said["fitted"]) != "fitted"]
    shares = {n: one["inside95"].mean() for n, one in alone.groupby("record")}
    assert said["inside"] == pytest.approx(shares)
    assert len(shares) == SETS[conf["name"]]
    mean = 100 * np.mean([*shares.values()])
    told = f"| {conf['name']} | {len(shares)} | {mean:.0f} % ("
    assert told in Path("docs/explanation/measured/index.md").read_text()
