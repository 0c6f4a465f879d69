"""From the files of a run to names, tags, metrics and artifacts of MLflow."""

import getpass
import io
import json
import math
import os
import re
from collections.abc import Collection, Hashable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.config.config_files import CONF, first_remark
from pipeline.config.hydra import flat
from pipeline.runs.run_differences import differences_text
from pipeline.runs.run_directory import keys_by_role
from pipeline.runs.run_keys import TRACKED

if TYPE_CHECKING:
    import pandas as pd
    from mlflow.entities import DatasetInput, Metric, Param


LONGEST_PARAM = 6000
NOT_IN_NAMES = re.compile(r"[^\w\-. :/]")  # what MLflow refuses in names
ARTIFACT_SUFFIXES = {".csv", ".gif", ".json", ".pdf", ".png", ".svg", ".txt"}
STATUS = {
    "finished": "FINISHED",
    "pruned": "FINISHED",  # its search ended it early; a tag says so
    "failed": "FAILED",
    "killed": "KILLED",
}


def milliseconds(moment: str) -> int:
    """A moment of a record as MLflow counts it, from 1970."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def mlflow_name(name: str) -> str:
    """`name` without what MLflow refuses in names."""
    return NOT_IN_NAMES.sub("_", name)


def is_number(value: Any) -> bool:
    """Whether a value of a configuration or of a result is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_steps(directory: Path) -> "pd.DataFrame":
    """The whole rows of steps.csv, by step; empty if there is none."""
    import pandas as pd

    try:
        text = (directory / "steps.csv").read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    lines = text[: text.rfind("\n") + 1].splitlines() or ["step"]
    if len({line.count(",") for line in lines}) > 1:
        raise ValueError("steps.csv has rows of different lengths")
    return pd.read_csv(io.StringIO("\n".join(lines)), index_col=0)


def step_metrics(
    steps: "pd.DataFrame", but: Collection[int], times: tuple[int, int], most: int
) -> list["Metric"]:
    """The numbers of each step as metrics, thinned evenly to `most` steps.

    Parameters
    ----------
    but : steps that are left out
    times : of the first and of the last row, ms from 1970
    """
    from mlflow.entities import Metric

    each = (times[1] - times[0]) / max(len(steps) - 1, 1)
    rows = [i for i, step in enumerate(steps.index) if int(step) not in but]
    if len(rows) > most:
        rows = [rows[i * (len(rows) - 1) // (most - 1)] for i in range(most)]
    numbers = steps.select_dtypes("number")
    names, table = [mlflow_name(str(name)) for name in numbers], numbers.to_numpy()
    return [
        Metric(
            name,
            float(value),
            round(times[1] - each * (len(steps) - 1 - i)),
            int(steps.index[i]),
        )
        for i in rows
        for name, value in zip(names, table[i], strict=True)
        if math.isfinite(value)
    ]


def result_metrics(
    record: Mapping[str, Any], step: int, known: Mapping[Hashable, float]
) -> list["Metric"]:
    """Numbers of the result and what the run cost, at the last step.

    A number of the configuration that the result repeats is a parameter.

    Parameters
    ----------
    known : the last values of metrics by step, which are there already
    """
    from mlflow.entities import Metric

    settings = [(k.rpartition(".")[2], v) for k, v in flat(record["config"])]
    values = [*flat(record.get("result") or {})]
    values += [(k, record[k]) for k in ("wall_s", "cpu_s") if k in record]
    time = milliseconds(record["ended"])
    return [
        Metric(mlflow_name(name), float(value), time, step)
        for name, value in values
        if is_number(value) and math.isfinite(value)
        if (name, value) not in settings and known.get(name) != value
    ]


def params(record: Mapping[str, Any]) -> list["Param"]:
    """The resolved configuration."""
    from mlflow.entities import Param

    return [
        Param(mlflow_name(name), str(value)[:LONGEST_PARAM])
        for name, value in flat(record["config"])
    ]


def datasets(record: Mapping[str, Any]) -> list["DatasetInput"]:
    """Files from outside and upstream runs, each with its digest."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    files = zip(record["paths"], record["identity"]["files"], strict=True)
    rows = [(Path(path).name, digest, "scan", path) for path, digest in files]
    needs = keys_by_role(record.get("needs", {}))
    rows += [(role, key, "upstream run", key) for role, key in needs]
    return [
        DatasetInput(
            Dataset(name, digest[:36], kind, json.dumps({"uri": source})),
            [InputTag("mlflow.data.context", kind)],
        )
        for name, digest, kind, source in rows
    ]


def artifacts(directory: Path, largest_mb: float) -> Iterator[Path]:
    """Pictures, tables and documents; no HTML page, which holds plotly.js each time."""
    for path in sorted(directory.iterdir()):
        chosen = path.suffix in ARTIFACT_SUFFIXES and path.name != TRACKED
        hidden = path.name.startswith(".")
        if chosen and not hidden and path.stat().st_size <= largest_mb * 1e6:
            yield path


Record = Mapping[str, Any]

ATTEMPT = "morphtrack.attempt"  # tag of a run: its key and when it began
STUDY, PROJECT = "morphtrack.study", "morphtrack.project"  # tags of a parent
PARENT = "mlflow.parentRunId"
NAME, NOTE = "mlflow.runName", "mlflow.note.content"
LONGEST_NAME, LONGEST_TAG = 200, 5000
EXPERIMENTS = {
    "ingest": ("virtual_scan",),
    "compare": ("deviation", "input_uncertainty", "compare_series", "calibrate"),
    "measured": ("fit_measured", "predict"),
    "figures": ("figure", "parts"),
}  # with the steps of other names


def attempt_of(record: Record) -> str:
    """The key of a run and the start of one attempt at it."""
    return f"{record['key']} {record['started']}"


def study_of(record: Record) -> str:
    """The study that a run belongs to; "" for most."""
    own = record["name"] if record["step"] == "search" else ""
    return str(record.get("tags", {}).get("study") or own)


def experiment_of(step: str, study: str) -> str:
    """The experiment of a run: that of its study, else the kind of its step.

    MLFLOW_EXPERIMENT_NAME takes all runs; the tag `step` is then the kind.
    """
    kinds = (kind for kind, steps in EXPERIMENTS.items() if step in steps)
    own = f"study {study}" if study else next(kinds, step)
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or own


def run_name(record: Record, differs: str) -> str:
    """The step, the name of the run, and what differs from its like."""
    text = f"{record['step']} {record['name']} {differs}".strip()
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def tags(record: Record, directory: Path, own: Mapping[str, Any]) -> dict[str, str]:
    """What runs are searched by, with the words of the result, such as the verdict.

    Parameters
    ----------
    own : the values that differ from the case or within the study
    """
    differs = differences_text(own)
    words = {
        mlflow_name(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in flat(record.get("result") or {})
        if not (is_number(value) or value is None)
    }
    given = {str(name): str(value) for name, value in record.get("tags", {}).items()}
    case, reason = given.get("case") or record["name"], record.get("reason", "")
    about = [
        first_remark(CONF / "case" / f"{case}.yaml"),
        f"With `{differs}`." if differs else "",
        ": ".join(words[k] for k in ("verdict", "why") if k in words),
        reason,
        f"Files: `{directory}`",
    ]
    known = {
        ATTEMPT: attempt_of(record),
        NAME: run_name(record, differences_text(own, short=True)),
        "step": record["step"],
        "name": record["name"],
        "key": record["key"],
        "differs": differs,
        "directory": str(directory),
        "reason": reason,
        "pruned": "true" if record["status"] == "pruned" else "",
        "git_dirty": "true" if record["git_dirty"] else "",
        "mlflow.source.git.commit": record["git_commit"],
        NOTE: "\n\n".join(filter(None, about)),
    }
    found = words | given | known | _columns(record["step"])
    return {name: value[:LONGEST_TAG] for name, value in found.items() if value}


def study_tags(study: str) -> dict[str, str]:
    """The tags of the parent of a study's runs."""
    about = first_remark(CONF / "study" / f"{study}.yaml") or "Runs of one command."
    return _columns("study") | {"step": "study", "study": study, NOTE: about}


def _columns(command: str) -> dict[str, str]:
    """What fills MLflow's columns User and Source."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account that this machine does not know
        user = ""
    source = {"mlflow.source.name": f"morphtrack {command}"}
    return source | {"mlflow.source.type": "LOCAL", "mlflow.user": user}
