"""Links of the report: from a run to its files, its scan, its configuration."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline.pages.jobs import States, read_by
from pipeline.store.digests import recorded_digests
from pipeline.store.keys import canonical
from pipeline.store.leaves import flat
from pipeline.store.provenance.sidecar import SUFFIX
from pipeline.terminal.errors import InputError

MOST_FILES = 40  # of one run that are linked
MOST_READERS = 12
MOST_SHOWN = 24  # runs of a figure that are named below it
MOST_RUNS = 600  # told one by one, 4 MB of the page

FILES = (  # of each step, what a reader looks for, and how it is called
    ("scan.html", "the scan in 3-D"),
    ("spheres.csv", "spheres"),
    ("labels.csv", "labels"),
    ("nodes.csv", "nodes"),
    ("steps.csv", "steps"),
)


def relative(path: Path, out: Path) -> str:
    """An address of `path` that holds on this disk, seen from `out`."""
    return quote(Path(os.path.relpath(path.absolute(), out.absolute())).as_posix())


def anchor(key: str) -> str:
    """Where the report tells of a run."""
    return f"run-{key}"


def scan_files(states: States, ingest: Mapping[str, Any]) -> list[Path]:
    """The files of points that an ingest read."""
    if ingest.get("paths"):
        return [Path(p) for p in ingest["paths"]]
    scan = states.get(str(ingest.get("roles", {}).get("scan")))
    if scan is None or scan["directory"] is None:
        return []
    return sorted(scan["directory"].glob("*.ply"))


def links(parts: Mapping[str, Mapping[str, Any]], out: Path) -> list[dict[str, Any]]:
    """The configuration of each run, told on the page, and its files beside it."""
    found: list[dict[str, Any]] = []
    for what, job in parts.items():
        found.append(
            {
                "text": f"{what}: configuration and record",
                "href": f"#{anchor(job['key'])}",
                "file": False,
            }
        )
        directory = job.get("directory")
        for name, text in FILES:
            if directory is not None and (directory / name).is_file():
                href = relative(directory / name, out)
                found.append({"text": f"{what}: {text}", "href": href, "file": True})
    return found


def records(jobs: Sequence[Mapping[str, Any]], out: Path) -> list[dict[str, Any]]:
    """What the page tells of each run: configuration, inputs, code, files."""
    readers = read_by(jobs)
    kept = {job["key"]: job for job in told_runs(jobs)}
    return [_record(job, kept, readers.get(key, []), out) for key, job in kept.items()]


def told_runs(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The runs that the page tells one by one.

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
    each = [key for _, keys in _roles(job) for key in keys[:MOST_READERS]]
    return [*each, *list(dict.fromkeys(job["needs"]))[:MOST_SHOWN]]


def _record(
    job: Mapping[str, Any],
    states: States,
    readers: Sequence[Mapping[str, Any]],
    out: Path,
) -> dict[str, Any]:
    files = _files(job["directory"])
    return {
        **job,
        "anchor": anchor(job["key"]),
        "settings": [(name, str(value)) for name, value in _settings(job)],
        "scans": _scans(job, out),
        "reads": [
            {"role": role, "runs": [named(states, key) for key in keys[:MOST_READERS]],
             "more": max(0, len(keys) - MOST_READERS)}
            for role, keys in _roles(job)
        ],
        "readers": [named(states, j["key"]) for j in readers[:MOST_READERS]],
        "more_readers": max(0, len(readers) - MOST_READERS),
        "found": [
            {"name": p.name, "href": relative(p, out)} for p in files[:MOST_FILES]
        ],
        "more_files": max(0, len(files) - MOST_FILES),
    }  # fmt: skip


def _scans(job: Mapping[str, Any], out: Path) -> list[dict[str, str]]:
    """The scan files that a run read, or made, with their digests."""
    pairs = list(zip(map(Path, job["paths"]), job["files"], strict=False))
    directory = job["directory"]
    if job["step"] == "virtual_scan" and directory is not None:
        digests = recorded_digests(directory)
        pairs = [(p, digests.get(p.name, "")) for p in sorted(directory.glob("*.ply"))]
    return [
        {"name": str(p), "digest": digest, "href": relative(p, out)}
        for p, digest in pairs
    ]


def _settings(job: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The configuration, files in it by their digests where they can still be read."""
    try:
        return list(flat(canonical(job["config"])))
    except InputError as error:
        return [*flat(job["config"]), ("digest of its files", str(error))]


def _roles(job: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [
        (role, [value] if isinstance(value, str) else list(value))
        for role, value in job["roles"].items()
    ]


def named(states: States, key: str) -> dict[str, str]:
    """A run by its name; a link where the page tells of it."""
    job = states.get(key)
    text = f"{job['step']} {job['called']}" if job else "a run that is told elsewhere"
    return {"text": text, "href": f"#{anchor(key)}" if job else "", "key": key}


def _files(directory: Path | None) -> list[Path]:
    if directory is None or not directory.is_dir():
        return []
    files = [p for p in sorted(directory.iterdir()) if p.is_file()]
    return [p for p in files if not p.name.endswith(SUFFIX)]
