"""Timings of a case, as this machine has kept them; measured where it has none."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.cases.rod_timing import ComputingTimeCase, extremes
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.results.timings_file import (
    keep,
    read_kept,
    repeats_of_each,
    session_now,
)
from pipeline.store.files import replacing
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.store.timings_place import kept_path
from pipeline.terminal.errors import InputError


def sound_timing(config: Mapping[str, Any]) -> ComputingTimeCase:
    """The case that measures times, of `name` and `case`; refused if it is another."""
    case = build(config["case"], "case")
    if not isinstance(case, ComputingTimeCase):
        raise InputError(
            f"the case {config['name']} measures no times: give one such as "
            "computing_time"
        )
    return case


def timing_of(name: str, composer: Composer) -> dict[str, Any]:
    """The configuration of the timings of a file of conf/case, checked."""
    config = {
        "name": name,
        "case": composer.compose("simulate", [f"case={name}"])["case"],
    }
    sound_timing(config)
    return config


def measure(
    config: Mapping[str, Any], path: Path, *, anew: bool = False
) -> Iterator[float]:
    """Take all repeats of a case once more, and keep them; the steps (s) as they come.

    Nothing is kept of a session that does not come to its end.

    Parameters
    ----------
    anew : forget what was kept before
    """
    told, taken = session_now(config["case"]), []
    for step in sound_timing(config).steps():
        taken.append(step.table())
        yield step.h
    keep(path, told, pd.concat(taken, ignore_index=True), anew=anew)


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Record what is kept: the least and the largest, by ground and step."""
    del needs  # it reads no run
    path = Path(job.paths[0]) if job.paths else kept_path(job.config["name"])
    kept = read_kept(path, job.config["case"])
    if kept.empty:
        list(measure(job.config, path))
        kept = read_kept(path, job.config["case"])
    rows = [
        {"step": k, "h": h, **extremes(_repeats(of))}
        for k, (h, of) in enumerate(kept.groupby("h"))
    ]
    with replacing(out / "steps.csv") as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False, lineterminator="\n")
    sessions = kept.groupby("taken", sort=True)["load"].first()
    return {
        "machine": str(kept["machine"].iloc[0]),
        "repeats": repeats_of_each(kept),
        "sessions": len(sessions),
        "load_least": float(sessions.min()),
        "load_most": float(sessions.max()),
    }


def _repeats(kept: pd.DataFrame) -> dict[str, list[float]]:
    groups = kept.groupby("scenario", sort=False)["ratio"]
    return {str(name): list(ratios) for name, ratios in groups}
