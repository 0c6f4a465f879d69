"""The runs of a study or a sweep as tables, with their main effects as plots.

Each run of a sweep lists itself, since launchers run them in several processes and
sweepers choose values as they go.
"""

import fcntl
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from pipeline.config.config_files import study_names
from pipeline.runs.atomic_files import read_json, replacing, write_table
from pipeline.runs.run_directory import (
    RESULTS,
    Job,
    Ledger,
    finished,
    own_name,
    run_record,
)
from pipeline.runs.sidecars import Origin, write_sidecars
from pipeline.runs.study_members import (
    MEMBERS,
    RESPONSE,
    STUDIES,
    read_members,
    study_directory,
    write_rows,
)
from pipeline.runs.summary import main_numbers
from pipeline.terminal import InputError, RunFailedError

COSTS = ("key", "host", "wall_s", "cpu_s")
MOST_REASONS = 3  # that are printed, of failed runs


def _record(key: str, ledger: Ledger) -> dict[str, Any]:
    """What is known of a run: its record, or that there is none."""
    directory = ledger.directory(key)
    if directory is None:
        return {"status": "missing"}
    try:
        return run_record(directory)
    except InputError as error:
        return {"status": "unreadable", "reason": str(error)}


def study_rows(
    study: Mapping[str, Any], results: Path = RESULTS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table and costs of a study, a row a run in the order of its points."""
    rows, costs = [], []
    ledger = Ledger(results)
    for member in study["members"]:
        record = _record(member["key"], ledger)
        row = {"key": member["key"], "status": record["status"]}
        row["reason"] = record.get("reason", "")
        rows.append(row | member["point"] | (record.get("result") or {}))
        costs.append({k: record.get(k, "") for k in COSTS} | {"key": member["key"]})
    return pd.DataFrame(rows), pd.DataFrame(costs)


def responses(study: Mapping[str, Any], table: pd.DataFrame) -> list[str]:
    """What the plots show: of the results asked for, the numbers that runs have."""
    found = _numbers(table)
    return [r for r in dict.fromkeys(study["response"]) if r in found]


def _numbers(table: pd.DataFrame) -> list[str]:
    """Columns in which finished runs have numbers, or true and false."""
    done = table[table["status"] == "finished"]
    return [str(c) for c in done if is_numeric_dtype(done[c].dropna().infer_objects())]


def shortfalls(study: Mapping[str, Any], table: pd.DataFrame) -> Iterator[str]:
    """What a study has not of what was asked of it: runs that failed, and numbers."""
    reasons = table.loc[table["status"] == "failed", "reason"].value_counts()
    for reason, count in reasons[:MOST_REASONS].items():
        yield f"{count} of {len(table)} runs failed: {reason}"
    if len(reasons) > MOST_REASONS:
        yield f"further reasons, in table.csv: {len(reasons) - MOST_REASONS}"
    absent = dict.fromkeys(study["response"]).keys() - responses(study, table)
    finished = (table["status"] == "finished").any()
    if finished and absent and tuple(study["response"]) != RESPONSE:
        varied = {name for member in study["members"] for name in member["point"]}
        known = ", ".join(c for c in _numbers(table) if c not in varied)
        yield (
            f"{STUDIES / study['study']}.yaml: `response` names "
            f"{', '.join(sorted(absent))}, which no run has: "
            + (f"take one of {known}" if known else "the runs have no numbers")
        )


def print_table(name: str, results: Path = RESULTS) -> None:
    """Print how the runs of a study ended; a study of which none finished fails."""
    path = study_directory(name, results) / "table.csv"
    table = pd.read_csv(path)
    print(f"{path}: {_ended(table)}")
    for line in shortfalls(read_members(name, results), table):
        print(f"note: {line}")
    if not (table["status"] == "finished").any():
        raise RunFailedError(
            f"no run of the study {name} has finished: change its values, or run the "
            f"failed runs again: morphtrack study {name} --retry-failed"
        )


def _ended(table: pd.DataFrame) -> str:
    """How many runs ended how."""
    return ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items())


def write_study(name: str, results: Path = RESULTS) -> pd.DataFrame:
    """Write tables and plots of a study; return the table."""
    study = read_members(name, results)
    table, costs = study_rows(study, results)
    directory = study_directory(name, results)
    write_table(directory / "table.csv", table)
    with replacing(directory / "table.parquet") as temporary:
        table.to_parquet(temporary, index=False)
    write_table(directory / "costs.csv", costs)
    origin = Origin(tuple(m["key"] for m in study["members"]), study=name)
    factors = list(dict.fromkeys(k for m in study["members"] for k in m["point"]))
    shown = responses(study, table)
    if shown and factors:
        from analysis.figures.studies import main_effects  # it imports Matplotlib
        from pipeline.steps.figure import save

        figure = main_effects(table, factors, shown, title=f"study {name}")
        save(figure, directory / "effects", origin)
    names = ("table.csv", "table.parquet", "costs.csv", "effects.pdf", "effects.png")
    there = [directory / name for name in names if (directory / name).is_file()]
    write_sidecars(there, origin)
    return table


FOLDER = "hydra.sweep.dir="


def begin(words: Sequence[str]) -> tuple[str, list[str]]:
    """The name of a study, which has no members yet, and words that tell it to Hydra.

    Case and values are its name, unless the words have a folder for it.

    Raises
    ------
    InputError
        if that folder is not one of results/study, or is that of a file of conf/study
    """
    folders = [Path(w.removeprefix(FOLDER)) for w in words if w.startswith(FOLDER)]
    cases = [w.removeprefix("case=") for w in words if w.startswith("case=")]
    text = own_name(cases[0] if cases else "cases", words)
    name = re.sub(r"[^\w.-]+", "_", text).strip("_-.")  # a minus tells values apart
    if folders:
        name = folders[-1].name
        if folders[-1] != study_directory(name) or name in study_names():
            raise InputError(
                f"{FOLDER}{folders[-1]} is not allowed: give "
                f"{study_directory('NAME')}, with a NAME that is not in conf/study"
            )
    (study_directory(name) / MEMBERS).unlink(missing_ok=True)
    return name, [] if folders else [f"{FOLDER}{study_directory(name)}"]


def add_member(
    name: str, words: Sequence[str], job: Job, results: Path = RESULTS
) -> None:
    """List a run, whose values `words` are in Hydra's form."""
    path = study_directory(name, results) / MEMBERS
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = read_json(path)["members"] if path.is_file() else []
        rows = [row for row in rows if row["key"] != job.key]
        rows.append({"key": job.key, "point": _point(words)})
        write_rows(name, job.tags["case"], RESPONSE, rows, results)


def finish(name: str, results: Path = RESULTS) -> str:
    """Write table and plot of what varied; a line about them, "" without any run."""
    directory = study_directory(name, results)
    if not (directory / MEMBERS).is_file():
        return ""
    study = read_members(name, results)
    rows = study["members"]
    varied = {
        key
        for row in rows
        for key, value in row["point"].items()
        if any(other["point"].get(key) != value for other in rows)
    }
    for row in rows:
        row["point"] = {k: v for k, v in row["point"].items() if k in varied}
    done = filter(None, (finished(row["key"], results) for row in rows))
    first = next(done, None)
    response = list(main_numbers(run_record(first))) if first else RESPONSE
    write_rows(name, study["case"], response, rows, results)
    return f"{directory}/table.csv: {_ended(write_study(name, results))}"


def _point(words: Sequence[str]) -> dict[str, Any]:
    """Values by dotted name; what is no number or word in Hydra's form."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    found: dict[str, Any] = {}
    for word in OverridesParser.create().parse_overrides(list(words)):
        value = word.value()
        plain = value is None or isinstance(value, bool | int | float | str)
        found[word.key_or_group] = value if plain else word.get_value_element_as_str()
    return found
