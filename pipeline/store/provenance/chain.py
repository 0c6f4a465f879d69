"""The runs behind a result, back to the scans, and which of them are out of date."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.store.digests import edits, recorded_digests
from pipeline.store.keys import file_digest, identity, key_of
from pipeline.store.reasons import differences, settings_apart
from pipeline.store.runs import Job, finished, run_record
from pipeline.terminal.errors import InputError, one_line

SCAN = ".ply"

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Link:
    """One run of the chain.

    Parameters
    ----------
    depth : how many runs are between it and the result
    record : run.json; None where the run is not here
    troubles : what is out of date with this run itself
    reads : role and key of each run that it reads
    scans : SHA-256 of the scan files that it made, by their place
    role : what its reader reads it as; "" where nobody here reads it
    """

    key: str
    depth: int
    record: Record | None
    troubles: tuple[str, ...] = ()
    reads: tuple[tuple[str, str], ...] = ()
    scans: Mapping[str, str] = field(default_factory=dict)
    role: str = ""


def chain(
    keys: Iterable[str], results: Path, wanted: Mapping[str, Job] | None
) -> list[Link]:
    """The runs `keys` and all they read, each once, a reader before what it reads.

    Parameters
    ----------
    wanted : jobs that conf asks for now, by key; None where conf cannot be planned
    """
    links: dict[str, Link] = {}
    waiting = [("", key, 0) for key in keys]
    while waiting:
        role, key, depth = waiting.pop(0)
        if key in links:
            continue
        links[key] = replace(_link(key, depth, results, wanted), role=role)
        waiting = [(r, k, depth + 1) for r, k in links[key].reads] + waiting
    return list(links.values())


def _link(
    key: str, depth: int, results: Path, wanted: Mapping[str, Job] | None
) -> Link:
    directory = finished(key, results)
    if directory is None:
        return Link(key, depth, None, (f"{results}/runs/{key} is not here",))
    try:
        record = run_record(directory)
        troubles = [*_edited(directory, record), *changes(record, wanted, results)]
        reads = tuple(_reads(record.get("needs", {})))
    except (InputError, KeyError, TypeError, AttributeError) as error:
        return Link(key, depth, None, (f"its record is unreadable: {one_line(error)}",))
    scans = {
        str(directory / name): digest
        for name, digest in recorded_digests(directory).items()
        if name.endswith(SCAN)
    }
    return Link(key, depth, record, tuple(troubles), reads, scans)


def _reads(needs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for role, value in needs.items():
        yield from ((role, k) for k in ([value] if isinstance(value, str) else value))


def _edited(directory: Path, record: Record) -> list[str]:
    troubles = [f"edited: {phrase}" for phrase in edits(directory)]
    if key_of(record["identity"]) != directory.name:
        troubles.append("edited: its identity in run.json does not give its key")
    return troubles


def changes(
    record: Record, wanted: Mapping[str, Job] | None, results: Path
) -> list[str]:
    """What decides this run and has changed since, a phrase each."""
    if wanted is not None:
        if record["key"] in wanted:
            return []
        alike = [j for j in wanted.values() if _called(j) == _called_in(record)]
        if alike:
            then = record["identity"]
            closest = min(alike, key=lambda j: settings_apart(then, j.identity))
            return list(differences(record, closest, results))
    try:
        found = list(differences(record, _as_now(record), results))
    except InputError as error:
        return [f"file: {one_line(error)}"]
    if wanted is not None:
        found.append("config: nothing in conf asks for it any more")
    return found


def _as_now(record: Record) -> Job:
    """The job of a record with the code, files and packages of now."""
    step, config = record["step"], record["config"]
    paths, modules = tuple(record["paths"]), tuple(record.get("modules", ()))
    now = identity(
        step,
        config,
        upstream=record["identity"]["upstream"],
        files=[file_digest(Path(path)) for path in paths],
        modules=modules,
    )
    return Job(step, record["name"], now, config, paths=paths, modules=modules)


def _called(job: Job) -> tuple[str, str, str]:
    return job.step, job.name, job.tags.get("study", "")


def _called_in(record: Record) -> tuple[str, str, str]:
    return record["step"], record["name"], record.get("tags", {}).get("study", "")
