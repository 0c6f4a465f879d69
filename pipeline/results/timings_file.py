"""Timings as they are kept: by machine, every repeat, outside of the keys of runs.

results/timings/MACHINE/NAME.csv has a line for each repeat that was ever taken on that
machine: `case` (digest of the configuration timed), `machine`, `taken` (UTC), `load`
(average of one minute when the session began), `commit`, `scenario`, `h` (s),
`repeat`, `ratio` (processor time over simulated time, without unit). Where the machine
was busy, a later session stands beside the first, which a key would keep for ever.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.store.attempts import code_state
from pipeline.store.files import replacing
from pipeline.store.keys import canonical
from pipeline.terminal.errors import InputError
from pipeline.terminal.machine import machine

SESSION = ("case", "machine", "taken", "load", "commit")
COLUMNS = (*SESSION, "scenario", "h", "repeat", "ratio")
DIGITS = 12  # of a digest


def _digest(case: Mapping[str, Any]) -> str:
    text = json.dumps(canonical(case), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def read_kept(path: Path, case: Mapping[str, Any]) -> pd.DataFrame:
    """The repeats that are kept of a case with this configuration; none, no rows.

    Raises
    ------
    InputError
        where the file is none of timings
    """
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    table = pd.read_csv(path, dtype={"case": str, "commit": str})
    if tuple(table.columns) != COLUMNS:
        raise InputError(
            f"{path} has columns {', '.join(table.columns)}, not {', '.join(COLUMNS)}: "
            "remove it, and morphtrack timings measures again"
        )
    return table[table["case"] == _digest(case)].reset_index(drop=True)


def repeats_of_each(kept: pd.DataFrame) -> int:
    """How often each ground was timed with each step, at least."""
    return int(kept.groupby(["scenario", "h"]).size().min())


def session_now(case: Mapping[str, Any]) -> dict[str, Any]:
    """What is noted of a session that begins now: the first columns of its lines."""
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    load, commit = round(os.getloadavg()[0], 2), code_state()["git_commit"][:DIGITS]
    values = (_digest(case), machine(), taken, load, commit)
    return dict(zip(SESSION, values, strict=True))


def keep(
    path: Path, told: Mapping[str, Any], session: pd.DataFrame, *, anew: bool = False
) -> None:
    """Add a session to what is kept.

    Parameters
    ----------
    told : by `session_now`
    session : columns scenario, h (s), repeat, ratio
    anew : forget what was kept before
    """
    whole = session.assign(**told)[[*COLUMNS]]
    if path.is_file() and not anew:
        whole = pd.concat([pd.read_csv(path, dtype={"commit": str}), whole])
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        whole.to_csv(temporary, index=False, lineterminator="\n")
