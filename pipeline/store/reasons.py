"""What differs between a run as it was made and as it would be made now, a phrase each.

Each begins with what kind of thing it is: code, versions, records, file, config.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.store.code_parts import kept_code, parts_of_job
from pipeline.store.leaves import flat
from pipeline.store.runs import RESULTS, Job

MOST = 6  # things of a kind that are named

Record = Mapping[str, Any]


def differences(then: Record, now: Job, results: Path = RESULTS) -> Iterator[str]:
    """What decides a run and differs; what it reads is told at those runs.

    Parameters
    ----------
    then : run.json of the run as it was made
    now : the job as it would be run
    """
    old, new = then["identity"], now.identity
    if old["code"] != new["code"]:
        yield from few("code", _modules(kept_code(old, results), parts_of_job(now)))
    if old.get("records") != new.get("records"):
        yield "records: run.json holds results in another form"
    yield from few("versions", _values(old["versions"], new["versions"]))
    yield from few("file", _files(then, now))
    yield from few("config", _settings(old["config"], now))


def few(kind: str, found: Iterator[str]) -> Iterator[str]:
    """The first of what differs, and how many more there are."""
    phrases = list(found)
    yield from (f"{kind}: {phrase}" for phrase in phrases[:MOST])
    if len(phrases) > MOST:
        yield f"{kind}: {len(phrases) - MOST} more"


def _modules(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    if not old:
        yield "the modules it imports have changed; made before reasons were kept"
        return
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"{name} is not imported any more"
        elif name not in old:
            yield f"{name} is imported now"
        elif old[name] != new[name]:
            yield f"{name} changed"
    if old == new:
        yield "the modules it imports have changed"


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name} was {old.get(name)}, is {new.get(name)}"


def _settings(old: Any, now: Job) -> Iterator[str]:
    """Values that differ; of files that are named, which of them do."""
    before, after = dict(flat(old)), dict(flat(now.identity["config"]))
    given = dict(flat(now.config))
    for name in {**before, **after}:
        if before.get(name) == after.get(name):
            continue
        file = given.get(name.removesuffix(".sha256"))
        if name.endswith("path.sha256") and file:
            yield f"{name.removesuffix('.sha256')}: the file {file} has changed"
        else:
            yield f"{name} was {before.get(name)}, is {after.get(name)}"


def _files(then: Record, now: Job) -> Iterator[str]:
    """Files from outside that differ; where there are more or fewer, how many."""
    old, new = list(then["identity"]["files"]), list(now.identity["files"])
    if len(old) != len(new):
        yield f"{len(old)} files were read, {len(new)} are"
        return
    for path, before, after in zip(now.paths, old, new, strict=False):
        if before != after:
            yield f"{path} has changed"


def settings_apart(then: Record, now: Record) -> int:
    """How many settings of two identities differ."""
    old, new = dict(flat(then["config"])), dict(flat(now["config"]))
    return sum(old.get(name) != new.get(name) for name in {*old, *new})
