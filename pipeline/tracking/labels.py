"""What a person reads of a run in MLflow: its name, description, columns and tags."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.store.leaves import flat

PARENT = "mlflow.parentRunId"
NAME, NOTE = "mlflow.runName", "mlflow.note.content"
TAG = "morphtrack.directory"  # of a run: "<key>", or "<key>.<attempt>" where it failed
DIFFERS = "differs"  # from its case, or within its study
LONGEST_NAME = 200
MOST_NUMBERS = 8  # of the result, in a description


def columns(command: str, place: Path) -> dict[str, str]:
    """What fills MLflow's columns User and Source.

    Parameters
    ----------
    command : of morphtrack, which made it
    place : whose owner is the user
    """
    try:
        user = place.owner()
    except (KeyError, OSError):  # an account that this machine does not know
        user = ""
    known = {"mlflow.user": user, "mlflow.source.name": f"morphtrack {command}"}
    known |= {"mlflow.source.type": "LOCAL"}
    return {name: value for name, value in known.items() if value}


def run_name(record: Mapping[str, Any], differs: str) -> str:
    """The step, what a person calls the run, and what tells it from its like."""
    text = f"{record['step']} {record['name']} {differs}".strip()
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def title(path: Path) -> str:
    """What a file of conf says in its first line; "" where that is no comment."""
    try:
        first = path.read_text(encoding="utf-8").partition("\n")[0]
    except (OSError, UnicodeDecodeError):
        return ""
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def note(record: Mapping[str, Any], directory: Path, differs: str) -> str:
    """A description: what the case is, what is its own, how it ended, where it is."""
    case = str(record.get("tags", {}).get("case") or record["name"])
    lines = [title(Path("conf/case") / f"{case}.yaml")]
    lines.append(f"Here with `{differs}`." if differs else "")
    result = list(flat(record.get("result") or {}))[:MOST_NUMBERS]
    numbers = ", ".join(f"{name} {_short(value)}" for name, value in result)
    lines.append(f"{str(record['status']).capitalize()}: {numbers}".rstrip(": ") + ".")
    lines.append(str(record.get("reason", "")))
    lines.append(f"Files: `{directory}`")
    return "\n\n".join(filter(None, lines))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tags(
    record: Mapping[str, Any], directory: Path, belonging: Mapping[str, str]
) -> dict[str, str]:
    """What runs are searched by, and what MLflow shows of them.

    Parameters
    ----------
    belonging : whose run it is, its parent and, on a server, its project; and what
        tells it from the others of its case
    """
    differs = belonging.get(DIFFERS, "")
    known = {
        TAG: directory.name,
        NOTE: note(record, directory, differs),
        "step": record["step"],
        "case": record["name"],
        "key": record["key"],
        "git_commit": record["git_commit"],
        "git_dirty": str(record["git_dirty"]).lower(),
        "directory": str(directory),
    } | {str(k): str(v) for k, v in record.get("tags", {}).items() if v}
    known |= columns(record["step"], directory)
    if record["git_commit"]:
        known["mlflow.source.git.commit"] = record["git_commit"]
    known |= {f"needs.{k}": str(v) for k, v in record.get("needs", {}).items()}
    synthetic = (record.get("result") or {}).get("synthetic")
    if synthetic is not None:
        known["synthetic"] = str(synthetic).lower()
    if record["status"] == "pruned":
        known["pruned"] = "true"
    if "reason" in record:
        known["reason"] = record["reason"]
    return known | dict(belonging)
