"""The runs of the workflow as the report shows them, with links to their files."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline.config.hydra import flat
from pipeline.runs import run_directory
from pipeline.runs.run_differences import Variations
from pipeline.runs.run_keys import canonical, edits, recorded_digests
from pipeline.runs.sidecars import SUFFIX
from pipeline.runs.step_jobs import is_synthetic_run
from pipeline.runs.study_members import read_members
from pipeline.terminal import InputError

States = Mapping[str, Mapping[str, Any]]
Result = tuple[str, str]  # step and name


def collect_jobs(
    names: Iterable[Result],
    upstream: Callable[[str, str], Iterable[Result]],
    results: Path = run_directory.RESULTS,
) -> list[dict[str, Any]]:
    """Every requested run: finished, failed or missing, and why.

    Parameters
    ----------
    names : of each result, after all that it reads; a study is all of its runs
    upstream : the results that one reads
    """
    failures, called = _failures(results), Variations(results)
    states: dict[str, dict[str, Any]] = {}
    ended: dict[Result, str] = {}
    for step, name in names:
        if step == "study":
            found = _of_study(name, results)
        else:
            state = _named(step, name, failures, results)
            ended[step, name] = state["status"]
            if state["status"] == "missing":
                state["reason"] = _waits(upstream(step, name), ended) or state["reason"]
            found = iter([state])
        for state in found:
            label = called.member_name(state["name"], state["study"], state["key"])
            states.setdefault(state["key"], state | {"called": label})
    return list(states.values())


def collect_own(
    jobs: Sequence[Mapping[str, Any]], results: Path = run_directory.RESULTS
) -> list[dict[str, Any]]:
    """Runs made by hand that the workflow does not have, by their names."""
    known = {job["key"] for job in jobs}
    found = {}
    for name, directory in run_directory.own_runs(results).items():
        own = {"name": name, "called": name, "key": directory.name}
        if directory.name not in known:
            found[directory.name] = _state(directory, "finished") | own
    return list(found.values())


def _waits(upstream: Iterable[Result], ended: Mapping[Result, str]) -> str:
    """The first result that is not there for one that reads it, or ""."""
    for step, name in upstream:
        if ended.get((step, name), "finished") != "finished":
            return f"it needs {step} {name}, which is {ended[step, name]}"
    return ""


def _named(
    step: str, name: str, failures: Mapping[Result, Path], results: Path
) -> dict[str, Any]:
    """The run that a result holds; else its last failure, or that it is missing."""
    folder = results / step / name
    if (folder / "run.json").is_file():
        run = results / "runs" / str(_record(folder).get("key"))
        return _state(run if run.is_dir() else folder, "finished") | {"name": name}
    if (step, name) in failures:
        return _state(failures[step, name], "failed")
    log = results / "log" / step / f"{name}.log"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    errors = [line for line in lines if line.startswith("error: ")]
    reason = (errors or ["it has not run: run `make figures`"])[-1].removeprefix(
        "error: "
    )
    return _without_run(f"{step}/{name}", step, name) | {"reason": reason}


def _of_study(name: str, results: Path) -> Iterator[dict[str, Any]]:
    """The runs of a study that was listed."""
    try:
        members = read_members(name, results)
    except InputError:
        return
    ledger = run_directory.Ledger(results)
    for member in members["members"]:
        key = member["key"]
        directory = ledger.directory(key)
        if directory is None:
            missing = _without_run(key, "simulate", members["case"])
            yield missing | {"study": name, "reason": f"make study NAME={name} runs it"}
        else:
            yield _state(directory, ledger.state(key))


def _failures(results: Path) -> dict[Result, Path]:
    """The last failed attempt at each step and name."""
    last: dict[Result, Path] = {}
    found = (results / "failed").glob("*/run.json")
    for path in sorted(found, key=lambda path: path.stat().st_mtime_ns):
        record = _record(path.parent)
        last[str(record.get("step")), str(record.get("name"))] = path.parent
    return last


def _record(directory: Path) -> dict[str, Any]:
    """run.json of a folder; its reason is what is wrong with it, if it is damaged."""
    try:
        return dict(run_directory.run_record(directory))
    except (InputError, TypeError, ValueError) as error:
        return {"reason": str(error), "key": directory.name.partition(".")[0]}


def _without_run(key: str, step: str, name: str) -> dict[str, Any]:
    return _entries({"key": key, "step": step, "name": name}, None, "missing")


def _state(directory: Path, status: str) -> dict[str, Any]:
    return _entries(_record(directory), directory, status)


WORDS = ("key", "step", "name", "reason", "started", "git_commit")  # of a record


def _entries(
    record: Mapping[str, Any], directory: Path | None, status: str
) -> dict[str, Any]:
    identity = record.get("identity") or {}
    words = {name: str(record.get(name, "")) for name in WORDS}
    roles = {
        role: [keys] if isinstance(keys, str) else list(keys)
        for role, keys in (record.get("needs") or {}).items()
    }
    return {
        **words,
        "called": words["name"],
        "status": status,
        "directory": directory,
        "needs": [key for keys in roles.values() for key in keys],
        "roles": roles,
        "paths": list(record.get("paths") or ()),
        "files": list(identity.get("files", [])),
        "versions": dict(identity.get("versions", {})),
        "code": str(identity.get("code", "")),
        "config": dict(record.get("config") or {}),
        "synthetic": is_synthetic_run(record),
        "expect": "",
        "study": (record.get("tags") or {}).get("study", ""),
        "edits": edits(directory) if directory and status == "finished" else [],
        "wall_s": record.get("wall_s"),
        "git_dirty": bool(record.get("git_dirty", False)),
    }


MOST_FILES = 40  # of one run that are linked
MOST_READERS = 12
MOST_SHOWN = 24  # runs of a figure that are named below it
MOST_RUNS = 600  # shown one by one, 4 MB of the page

SHOWN_FILES = {  # of each step, what a reader looks for, and how it is called
    "scan.html": "the scan in 3-D",
    "spheres.csv": "spheres",
    "labels.csv": "labels",
    "nodes.csv": "nodes",
    "steps.csv": "steps",
}


def relative(path: Path, out: Path) -> str:
    """An address of `path` that holds on this disk, seen from `out`."""
    return quote(Path(os.path.relpath(path.absolute(), out.absolute())).as_posix())


def read_as(
    role: str, job: Mapping[str, Any], states: States
) -> Mapping[str, Any] | None:
    """The run that a run reads in a role, if it is known."""
    keys = job.get("roles", {}).get(role) or [""]
    return states.get(keys[0])


def scan_files(states: States, ingest: Mapping[str, Any]) -> list[Path]:
    """The files of points that an ingest read."""
    if ingest.get("paths"):
        return [Path(p) for p in ingest["paths"]]
    scan = read_as("scan", ingest, states)
    if scan is None or scan["directory"] is None:
        return []
    return sorted(scan["directory"].glob("*.ply"))


def records(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the page on each run: configuration, inputs, code, files."""
    readers: dict[str, list[str]] = {}
    for job in jobs:
        for key in dict.fromkeys(job["needs"]):
            readers.setdefault(key, []).append(job["key"])
    return [
        {
            **job,
            "settings": _settings(job),
            "scans": _scans(job),
            "readers": readers.get(job["key"], []),
            "found": files_of(job["directory"]),
        }
        for job in shown_runs(jobs)
    ]


def shown_runs(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The runs that the page shows one by one.

    All but most of a large study: of those, what others name on the page, and then as
    many as there is room for. Its table holds all.
    """
    own = [job for job in jobs if not job["study"]]
    named = {key for job in own for key in _named_keys(job)}
    study = [job for job in jobs if job["study"]]
    study.sort(key=lambda job: job["key"] not in named)  # keeps the order otherwise
    must = sum(job["key"] in named for job in study)
    return [*own, *study[: max(must, MOST_RUNS - len(own))]]


def _named_keys(job: Mapping[str, Any]) -> list[str]:
    """Runs that the page names as read by this one."""
    each = [key for keys in job["roles"].values() for key in keys[:MOST_READERS]]
    return [*each, *list(dict.fromkeys(job["needs"]))[:MOST_SHOWN]]


def _scans(job: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """The scan files that a run read, or made, with their digests."""
    directory = job["directory"]
    if job["step"] == "virtual_scan" and directory is not None:
        digests = recorded_digests(directory)
        return [(p, digests.get(p.name, "")) for p in sorted(directory.glob("*.ply"))]
    return list(zip(map(Path, job["paths"]), job["files"], strict=False))


def _settings(job: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The configuration, files in it by their digests where they can still be read."""
    try:
        return list(flat(canonical(job["config"])))
    except InputError as error:
        return [*flat(job["config"]), ("digest of its files", str(error))]


def files_of(directory: Path | None) -> list[Path]:
    """The files of a run, without those that say what they are made of."""
    if directory is None or not directory.is_dir():
        return []
    files = [p for p in sorted(directory.iterdir()) if p.is_file()]
    return [p for p in files if not p.name.endswith(SUFFIX)]
