"""Count what a project's results folder holds, from what the documentation says of it.

Nothing of this module is imported from the store, the tracker or the planner: it reads
files as docs/architecture.md ("The life of a run") describes them, with the standard
library alone.

    python tests/faults/outside_checker.py PROJECT [EXPECTED]

prints a line a finding and ends with 1 where there is one. EXPECTED is another project
folder, in which the same was made without a fault.
"""

import csv
import hashlib
import json
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

KEY = re.compile(r"[0-9a-f]{16}")
ATTEMPT = re.compile(r"[0-9a-f]{16}\..+")
# Made of runs, and no runs themselves: their files stand in results/study.
TABLES = {"study_table"}
SUMS = "SHA256SUMS"
PASSING = re.compile(r"\..+\.\d+\.tmp")  # what a killed process leaves of one
LOST, DOUBLED, HALF, FALSE, LEFT = (
    "lost",
    "doubled",
    "half-written",
    "false",
    "left over",
)


def findings(project: Path, mlflow: list[dict] | None = None) -> list[str]:
    """Everything below `project`/results that is not as documented, a line each."""
    results = project / "results"
    runs = mlflow_runs(results) if mlflow is None else mlflow
    return [
        *_of_runs(results),
        *_of_attempts(results),
        *_of_receipts(results),
        *_of_links(results),
        *_of_studies(results),
        *_of_left_over(results),
        *_of_mlflow(results, runs),
    ]


def census(project: Path, mlflow: list[dict] | None = None) -> dict:
    """What has to come out the same, whatever went wrong on the way."""
    results = project / "results"
    runs = mlflow_runs(results) if mlflow is None else mlflow
    return {
        "runs": {path.name: _content(path) for path in _folders(results / "runs")},
        "receipts": {
            str(path.relative_to(results)): path.read_text()
            for path in sorted((results / "made").rglob("*"))
            if path.is_file() and not PASSING.fullmatch(path.name)
        },
        "links": {
            str(link.relative_to(results)): link.resolve().name
            for link in _links(results)
        },
        "tables": {
            str(path.relative_to(results)): _sha256(path)
            for path in sorted((results / "study").rglob("table.csv"))
        },
        "mlflow": sorted(_face(run) for run in runs if run["status"] == "FINISHED"),
    }


def differences(found: dict, expected: dict) -> list[str]:
    """Each entry of one census that the other does not have, or has otherwise."""
    lines = []
    for part in ("runs", "receipts", "links", "tables"):
        for name in sorted({*found[part], *expected[part]}):
            if name not in found[part]:
                lines.append(f"{LOST}: {part} {name}")
            elif name not in expected[part]:
                lines.append(f"{DOUBLED}: {part} {name} was never asked for")
            elif found[part][name] != expected[part][name]:
                lines.append(f"{FALSE}: {part} {name} holds something else")
    have, want = Counter(found["mlflow"]), Counter(expected["mlflow"])
    lines += [f"{LOST}: MLflow run {_short(face)}" for face in (want - have).elements()]
    lines += [
        f"{DOUBLED}: MLflow run {_short(face)}" for face in (have - want).elements()
    ]
    return lines


def mlflow_runs(results: Path) -> list[dict]:
    """Return the runs of results/mlflow/mlflow.db that are not deleted."""
    database = results / "mlflow" / "mlflow.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as tables:
        rows = tables.execute(
            "SELECT run_uuid, name, status FROM runs WHERE lifecycle_stage = 'active'"
        ).fetchall()

        def pairs(table: str, run: str) -> dict:
            read = f"SELECT key, value FROM {table} WHERE run_uuid = ?"
            return dict(tables.execute(read, (run,)).fetchall())

        return [
            {
                "name": name,
                "status": status,
                "tags": pairs("tags", run),
                "params": pairs("params", run),
                "metrics": pairs("latest_metrics", run),
            }
            for run, name, status in rows
        ]


def _of_runs(results: Path) -> Iterator[str]:
    for path in _folders(results / "runs"):
        where = f"runs/{path.name}"
        if not KEY.fullmatch(path.name):
            yield f"{LEFT}: {where} is not called by a key"
            continue
        yield from _of_sums(path, where)
        run = _json(path / "run.json")
        if run is None:
            yield f"{HALF}: {where}/run.json is no JSON object"
            continue
        if run.get("key") != path.name:
            yield f"{FALSE}: {where} holds the run {run.get('key')}"
        if run.get("status") != "finished" or "result" not in run:
            yield f"{FALSE}: {where} is not finished: {run.get('status')}"
        if not {"started", "ended", "wall_s"} <= run.keys():
            yield f"{HALF}: {where}/run.json has no times"


def _of_attempts(results: Path) -> Iterator[str]:
    for path in _entries(results / "running"):
        yield f"{LEFT}: running/{path.name} after everything ended"
    for path in _folders(results / "failed"):
        where = f"failed/{path.name}"
        run = _json(path / "run.json")
        if not ATTEMPT.fullmatch(path.name) or run is None:
            yield f"{HALF}: {where} is no failed attempt with its run.json"
        elif run.get("status") == "finished":
            yield f"{FALSE}: {where} says that it finished"
        else:
            yield from _of_sums(path, where)


def _of_sums(path: Path, where: str) -> Iterator[str]:
    sums = path / SUMS
    if not sums.is_file():
        yield f"{HALF}: {where} has no SHA256SUMS"
        return
    listed = {}
    for line in sums.read_text().splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    if "run.json" not in listed:
        yield f"{HALF}: {where}/SHA256SUMS does not list run.json"
    for name, digest in listed.items():
        file = path / name
        if not file.is_file():
            yield f"{LOST}: {where}/{name} is listed and not there"
        elif _sha256(file) != digest:
            yield f"{HALF}: {where}/{name} is not what SHA256SUMS says"
        elif name.endswith(".npz") and not _whole_zip(file):
            yield f"{HALF}: {where}/{name} does not open"
        elif name.endswith(".csv") and file.read_bytes()[-1:] not in {b"", b"\n"}:
            yield f"{HALF}: {where}/{name} ends within a line"


def _of_receipts(results: Path) -> Iterator[str]:
    for path in sorted((results / "made").rglob("*")):
        if path.is_dir() or PASSING.fullmatch(path.name):
            continue
        where = str(path.relative_to(results))
        lines = [line.split() for line in path.read_text().splitlines()]
        if len(lines) < 2 or any(not 1 <= len(words) <= 2 for words in lines):
            yield f"{HALF}: {where} is no receipt"
            continue
        pairs = [words for words in lines if len(words) == 2] or [lines[0] + lines[1]]
        keys = [key for _, key in pairs]
        if len(keys) != len(set(keys)):
            yield f"{DOUBLED}: {where} names a run twice"
        if path.parent.name in TABLES:
            if not (results / "study" / path.name / "table.csv").is_file():
                yield f"{LOST}: {where} is there and its table is not"
            continue
        for digest, key in pairs:
            ended = list((results / "failed").glob(f"{key}.*"))
            if digest == "failed" and not ended:
                yield f"{LOST}: {where} says that {key} failed, which left nothing"
            elif digest != "failed" and not (results / "runs" / key / SUMS).is_file():
                yield f"{FALSE}: {where} names {key}, which is no finished run"


def _of_links(results: Path) -> Iterator[str]:
    for link in _links(results):
        where = str(link.relative_to(results))
        if link.resolve().parent != (results / "runs").resolve() or not link.exists():
            yield f"{FALSE}: {where} points to no finished run"
            continue
        receipt = results / "made" / link.parent.name / link.name
        if receipt.is_file() and link.resolve().name not in receipt.read_text().split():
            yield f"{FALSE}: {where} points to another run than its receipt"


def _of_studies(results: Path) -> Iterator[str]:
    for path in sorted((results / "study").rglob("table.csv")):
        where = str(path.relative_to(results))
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        doubled = [
            key for key, n in Counter(row["key"] for row in rows).items() if n > 1
        ]
        yield from (f"{DOUBLED}: {where} has the run {key} twice" for key in doubled)
        for row in rows:
            there = (results / "runs" / row["key"]).is_dir()
            if row["status"] == "finished" and not there:
                yield f"{FALSE}: {where} says that {row['key']} finished"
            if not None not in row or None in row.values():
                yield f"{HALF}: {where} has a row that is too short or too long"


def _of_left_over(results: Path) -> Iterator[str]:
    """Files that nothing documented explains, under a name of passage."""
    for path in sorted(results.rglob("*")):
        name = path.name
        inside = path.relative_to(results).parts[0]
        if inside in {"runs", "failed", "running", "mlflow", "log"}:
            continue
        if PASSING.fullmatch(name):
            continue
        if re.search(r"\.(part|partial|tmp|temp|new|old|swap)\b|~$|^tmp", name):
            yield f"{LEFT}: {path.relative_to(results)}"
        elif path.suffix == ".json" and path.is_file() and _json(path) is None:
            yield f"{HALF}: {path.relative_to(results)} is no JSON object"


def _of_mlflow(results: Path, runs: list[dict]) -> Iterator[str]:
    finished = {path.name for path in _folders(results / "runs")}
    attempts = {path.name for path in _folders(results / "failed")}
    by_key = Counter(
        run["tags"].get("key")
        for run in runs
        if run["status"] == "FINISHED"
        if "key" in run["tags"]
    )
    for key in sorted(finished - by_key.keys()):
        yield f"{LOST}: MLflow has no finished run {key}"
    for key in sorted(by_key.keys() - finished):
        yield f"{FALSE}: MLflow says that {key} finished"
    for key, count in sorted(by_key.items()):
        if count > 1:
            yield f"{DOUBLED}: MLflow has {count} finished runs {key}"
    for run in runs:
        if run["status"] not in {"FINISHED", "FAILED", "KILLED"}:
            yield f"{FALSE}: MLflow's run {run['name']} is {run['status']} at the end"
    failed = sum(
        "key" in run["tags"] and run["status"] in {"FAILED", "KILLED"} for run in runs
    )
    if failed > len(attempts):
        yield f"{DOUBLED}: MLflow has {failed} failed runs of {len(attempts)}"
    if failed < len(attempts):
        yield f"{LOST}: MLflow has {failed} failed runs of {len(attempts)}"


def _content(run: Path) -> dict:
    """Digests of a run's files; of run.json what it is and what came out."""
    said = _json(run / "run.json") or {}
    kept = {
        name: said.get(name) for name in ("key", "step", "status", "config", "result")
    }
    files = {
        path.name: _sha256(path)
        for path in run.iterdir()
        if path.name not in {"run.json", SUMS} and path.is_file()
    }
    return {"said": kept, "files": files}


def _face(run: dict) -> str:
    """What an MLflow run says, but for where and when it was made."""
    tags = {
        name: value
        for name, value in run["tags"].items()
        if name in {"key", "step", "study"}
    }
    metrics = {
        name: value for name, value in run["metrics"].items() if not name.endswith("_s")
    }
    face = {
        "name": run["name"],
        "tags": tags,
        "params": run["params"],
        "metrics": metrics,
    }
    return json.dumps(face, sort_keys=True, default=str)


def _short(face: str) -> str:
    said = json.loads(face)
    key, metrics = said["tags"].get("key", ""), len(said["metrics"])
    return f"{said['name']} {key} with {metrics} metrics"


def _links(results: Path) -> list[Path]:
    inside = [
        path for path in results.iterdir() if path.is_dir() and not path.is_symlink()
    ]
    return sorted(
        path
        for folder in inside
        if folder.name not in {"runs", "failed", "running", "figure", "mlflow"}
        for path in folder.iterdir()
        if path.is_symlink() and not PASSING.fullmatch(path.name)
    )


def _folders(path: Path) -> list[Path]:
    return [entry for entry in _entries(path) if entry.is_dir()]


def _entries(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else []


def _json(path: Path) -> dict | None:
    try:
        said = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) else None


def _whole_zip(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except zipfile.BadZipFile:
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = findings(folder)
    if len(sys.argv) > 2:
        found += differences(census(folder), census(Path(sys.argv[2])))
    print("\n".join(found) or "as documented")
    sys.exit(bool(found))
