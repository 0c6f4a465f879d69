"""Fig. 10 of [ZF19]: how folding sequences end; all of them are the runs of a study."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.zhu_filipov_2019 import folding_sequences
from pipeline.results.origami_run import read_row
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.store.files import read_json
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

CAPTION = """
**How folding sequences of a box corner end**, after Fig. 10 of [ZF19]. **a**, the
creases A to D; **b** to **d**, three ends, each with its sequence (the stage at which
A-B-C-D folds) and verdict. **e**, all {{ counts.all }} sequences, as the verdict of
sheets that are off by a little ({{ draws }} draws in all; lock or no where more than
nine in ten draws end so but for a risk of 5 %). Lock {{ counts.lock }}, no {{ counts.no
}}, undecided {{ counts.undecided }}. In [ZF19] seven of 75 lock and some cannot be told
(**d**); here {{ counts.lock }} lock: {{ lock | listed }}. Without imperfections {{
as_drawn }} would.
"""

SHOWN = 3  # rows drawn as sheets; the others belong to the study


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """First the sequences whose end is shown, then a row each run of the study."""
    if not rows:
        raise InputError("no rows: Fig. 10 shows runs of the case folding_sequence")
    ended = pd.DataFrame([_ended(row) for row in rows])
    runs = [
        replace(read_row(row), label=f"{row.label} ({verdict})")
        for row, verdict in zip(rows[:SHOWN], ended["verdict"], strict=False)
    ]
    verdicts = ended.iloc[SHOWN:] if len(rows) > SHOWN else None
    figure = folding_sequences(runs, _creases(rows[0]), verdicts)
    keys = [key_of_run(row.simulated) for row in rows]
    said = _said(ended if verdicts is None else verdicts)
    return DrawnFigure(figure, {"verdicts": ended}, keys, said=said)


def _said(ended: pd.DataFrame) -> dict[str, Any]:
    """How many sequences end how, and which lock."""
    counts = ended["verdict"].value_counts()
    each = {name: int(counts.get(name, 0)) for name in ("lock", "no", "undecided")}
    return {
        "counts": {"all": len(ended), **each},
        "lock": list(ended.loc[ended["verdict"] == "lock", "sequence"]) or ["none"],
        "draws": int(ended["draws"].sum()),
        "as_drawn": int((ended["verdict_as_drawn"] == "lock").sum()),
    }


def _ended(row: Row) -> dict[str, str | int | float]:
    """Sequence, increments a stage, rules, verdict and draws of a finished run."""
    run = run_record(row.simulated)
    case, result = run["config"]["case"], run["result"]
    if "verdict" not in result:
        raise InputError(
            f"{row.simulated} has no verdict: give runs of a case that has"
        )
    return {
        "sequence": str(case["sequence"]),
        "increments": int(case["phases"][0]["increments"]),
        "rules": str(result.get("rules", "without contact")),
        "verdict": str(result["verdict"]),
        "unconverged": int(result["unconverged"]),
        "verdict_as_drawn": str(result.get("verdict_as_drawn", result["verdict"])),
        "draws": int(result.get("draws", 0)),
        "lock_share": float(result.get("lock_share", np.nan)),
        "lock_share_low": float(result.get("lock_share_low", np.nan)),
        "lock_share_high": float(result.get("lock_share_high", np.nan)),
    }


def _creases(row: Row) -> dict[str, Floats]:
    """The middle of each folding crease, named as in the paper."""
    pattern = read_json(row.simulated / "pattern.fold")
    fold = run_record(row.simulated)["config"]["case"]["phases"][0]
    vertices = np.asarray(pattern["vertices_coords"], dtype=np.float64)
    ends = [pattern["edges_vertices"][crease] for crease in fold["creases"]]
    middles = [vertices[pair].mean(axis=0) for pair in ends]
    return dict(zip("ABCDEFGH", middles, strict=False))
