"""The runs behind a result, back to the scans, and which of them are out of date."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.digests import edits, recorded_digests
from pipeline.errors import InputError, one_line
from pipeline.index.tracking import flat
from pipeline.keys import file_digest, identity, key_of
from pipeline.runs import Job, finished, run_record

SCAN = ".ply"
MOST_VALUES = 6  # changed settings that are named

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Link:
    """One run of the chain.

    Parameters
    ----------
    depth : how many runs are between it and the result
    record : run.json; None where the run is not here
    troubles : what is out of date with this run itself
    reads : keys of the runs it reads
    scans : SHA-256 of the scan files that it made, by their place
    """

    key: str
    depth: int
    record: Record | None
    troubles: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    scans: Mapping[str, str] = field(default_factory=dict)


def chain(
    keys: Iterable[str], results: Path, wanted: Mapping[str, Job] | None
) -> list[Link]:
    """The runs `keys` and all they read, each once, a reader before what it reads.

    Parameters
    ----------
    wanted : jobs that conf asks for now, by key; None where conf cannot be planned
    """
    links: dict[str, Link] = {}
    waiting = [(key, 0) for key in keys]
    while waiting:
        key, depth = waiting.pop(0)
        if key in links:
            continue
        links[key] = _link(key, depth, results, wanted)
        waiting = [(k, depth + 1) for k in links[key].reads] + waiting
    return list(links.values())


def _link(
    key: str, depth: int, results: Path, wanted: Mapping[str, Job] | None
) -> Link:
    directory = finished(key, results)
    if directory is None:
        return Link(key, depth, None, (f"{results}/runs/{key} is not here",))
    try:
        record = run_record(directory)
        troubles = [*_edited(directory, record), *changes(record, wanted)]
        reads = tuple(_keys(record.get("needs", {})))
    except (InputError, KeyError, TypeError, AttributeError) as error:
        return Link(key, depth, None, (f"its record is unreadable: {one_line(error)}",))
    scans = {
        str(directory / name): digest
        for name, digest in recorded_digests(directory).items()
        if name.endswith(SCAN)
    }
    return Link(key, depth, record, tuple(troubles), reads, scans)


def _keys(needs: Mapping[str, Any]) -> Iterator[str]:
    for value in needs.values():
        yield from [value] if isinstance(value, str) else value


def _edited(directory: Path, record: Record) -> list[str]:
    troubles = [f"edited: {phrase}" for phrase in edits(directory)]
    if key_of(record["identity"]) != directory.name:
        troubles.append("edited: its identity in run.json does not give its key")
    return troubles


def changes(record: Record, wanted: Mapping[str, Job] | None) -> list[str]:
    """What decides this run and has changed since, a phrase each."""
    if wanted is not None:
        if record["key"] in wanted:
            return []
        alike = [j for j in wanted.values() if _called(j) == _called_in(record)]
        if alike:
            closest = min(
                alike, key=lambda j: _distance(record["identity"], j.identity)
            )
            return list(_differences(record["identity"], closest.identity))
    try:
        now = identity(
            record["step"],
            record["config"],
            upstream=record["needs"],
            files=[file_digest(Path(p)) for p in record["paths"]],
        )
    except InputError as error:
        return [f"file: {one_line(error)}"]
    found = list(_differences(record["identity"], now))
    if wanted is not None:
        found.append("config: nothing in conf asks for it any more")
    return found


def _called(job: Job) -> tuple[str, str, str]:
    return job.step, job.name, job.tags.get("study", "")


def _called_in(record: Record) -> tuple[str, str, str]:
    return record["step"], record["name"], record.get("tags", {}).get("study", "")


def _distance(then: Record, now: Record) -> int:
    """How many settings differ."""
    old, new = dict(flat(then["config"])), dict(flat(now["config"]))
    return sum(old.get(name) != new.get(name) for name in {*old, *new})


def _differences(then: Record, now: Record) -> Iterator[str]:
    """What differs between two identities; what they read is told at those runs."""
    if then["code"] != now["code"]:
        yield "code: the modules it imports have changed"
    old, new = then["versions"], now["versions"]
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"versions: {name} was {old.get(name)}, is {new.get(name)}"
    if list(then["files"]) != list(now["files"]):
        yield "file: a scan has changed"
    before, after = dict(flat(then["config"])), dict(flat(now["config"]))
    changed = [k for k in {**before, **after} if before.get(k) != after.get(k)]
    for name in changed[:MOST_VALUES]:
        yield f"config: {name} was {before.get(name)}, is {after.get(name)}"
    if len(changed) > MOST_VALUES:
        yield f"config: {len(changed) - MOST_VALUES} more values"
