"""The runs of the plan as the report tells them: how each ended, what of it holds."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.store.digests import edits
from pipeline.store.own_runs import own_runs
from pipeline.store.plan_file import needed_keys
from pipeline.store.runs import RESULTS, Job, finished, run_record
from pipeline.store.standing import planned_jobs_now
from pipeline.store.variations import Variations
from pipeline.terminal.errors import InputError

States = Mapping[str, Mapping[str, Any]]


def collect_jobs(results: Path = RESULTS) -> list[dict[str, Any]]:
    """Every run of the plan: finished, failed or missing, and why.

    Where runs were made by hand and nothing was planned, there are none.
    """
    planned_yet = (results / "plan" / "plan.json").is_file() or not own_runs(results)
    planned = planned_jobs_now(results) if planned_yet else []
    attempts, names = _attempts(results), Variations(results)
    states = {job.key: _state(job, attempts, results) for job in planned}
    for job in planned:
        called = names.beside(job.name, job.tags.get("study"), job.key)
        states[job.key]["called"] = called
    for job in planned:
        state = states[job.key]
        if state["status"] == "missing":
            state["reason"] = _why_missing(job, states, results)
    return list(states.values())


def collect_own(
    jobs: Sequence[Mapping[str, Any]], results: Path = RESULTS
) -> list[dict[str, Any]]:
    """Runs that were made by hand and that the plan does not have, by their names."""
    known = {job["key"] for job in jobs}
    found = {}
    for name, directory in own_runs(results).items():
        if directory.name not in known:
            record = run_record(directory)
            fields = ("step", "identity", "config", "tags")
            paths, modules = tuple(record["paths"]), tuple(record.get("modules", ()))
            job = Job(
                name=name,
                needs=record["needs"],
                paths=paths,
                modules=modules,
                **{field: record[field] for field in fields},
            )
            found[directory.name] = _state(job, {}, results) | {"key": directory.name}
    return list(found.values())


def _attempts(results: Path) -> dict[str, Path]:
    """The last attempt at each key that did not finish."""
    last: dict[str, Path] = {}
    for path in sorted((results / "failed").glob("*.*"), key=_attempt):
        last[path.name.partition(".")[0]] = path
    return last


def _attempt(directory: Path) -> int:
    number = directory.name.rpartition(".")[2]
    return int(number) if number.isdigit() else 0


def _state(job: Job, attempts: Mapping[str, Path], results: Path) -> dict[str, Any]:
    directory = finished(job.key, results)
    status = "finished" if directory else "missing"
    if directory is None and job.key in attempts:
        directory, status = attempts[job.key], "failed"
    return {
        "key": job.key,
        "step": job.step,
        "name": job.name,
        "called": job.name,
        "status": status,
        "directory": directory,
        "needs": needed_keys(job),
        "roles": dict(job.needs),
        "paths": list(job.paths),
        "files": list(job.identity.get("files", [])),
        "versions": dict(job.identity.get("versions", {})),
        "code": str(job.identity.get("code", "")),
        "config": dict(job.config),
        "synthetic": job.tags.get("synthetic") == "true",
        "expect": job.tags.get("expect", ""),
        "study": job.tags.get("study", ""),
        "edits": edits(directory) if directory and status == "finished" else [],
        **_recorded(directory),
    }


def _recorded(directory: Path | None) -> dict[str, Any]:
    """What run.json tells; one that cannot be read tells why."""
    record: dict[str, Any] = {}
    reason = ""
    if directory is not None and (directory / "run.json").is_file():
        try:
            record = dict(run_record(directory))
        except (InputError, TypeError, ValueError) as error:
            reason = str(error)
    return {
        "reason": str(record.get("reason", reason)),
        "started": str(record.get("started", "")),
        "wall_s": record.get("wall_s"),
        "git_commit": str(record.get("git_commit", "")),
        "git_dirty": bool(record.get("git_dirty", False)),
        "accepted": dict(record.get("accepted") or {}),
        "result": dict(record.get("result") or {}),
    }


def _why_missing(job: Job, states: States, results: Path) -> str:
    """The first thing it waits for, or that it has not run."""
    for key in needed_keys(job):
        needed = states.get(key)
        if needed is None or needed["status"] != "finished":
            unknown = f"a run of before ({key})"
            what = f"{needed['step']} {needed['called']}" if needed else unknown
            state = needed["status"] if needed else "missing"
            return f"it needs {what}, which is {state}"
    log = results / "log" / job.step / f"{job.name}.log"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    said = [line for line in lines if line.startswith("error: ")]
    return said[-1].removeprefix("error: ") if said else "it has not run: make figures"


def natural(name: str) -> list[tuple[int, int, str]]:
    """A name as people sort it: dejong-2, dejong-3, dejong-10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts]


def read_by(jobs: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The runs that read each key."""
    readers: dict[str, list[Mapping[str, Any]]] = {}
    for job in jobs:
        for key in dict.fromkeys(job["needs"]):
            readers.setdefault(key, []).append(job)
    return readers
