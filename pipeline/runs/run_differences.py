"""What differs between runs: their own values, and what has changed since.

A reason begins with the kind of what has changed: code, versions, records, file,
config.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer, flat
from pipeline.runs.atomic_files import read_json
from pipeline.runs.run_attempts import parts_of_job, stored_code
from pipeline.runs.run_directory import RESULTS, Job
from pipeline.terminal import InputError, lacks_machine

LONGEST_VALUE = 30
MOST_VALUES = 8


class Variations:
    """Reads the points of each study, and composes each case, once.

    Parameters
    ----------
    results : holds study/<study>/members.json
    """

    def __init__(self, results: Path) -> None:
        self._results = results
        self._points: dict[tuple[str, int], dict[str, Mapping[str, Any]]] = {}
        self._cases: dict[str, dict[str, Any]] = {}

    def of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The values by dotted name: of its point in a study, else unlike its case."""
        point = self.of_member(record.get("tags", {}).get("study"), record["key"])
        if point:
            return point
        return self._unlike_case(record) if record["step"] == "simulate" else {}

    def of_member(self, study: str | None, key: str) -> dict[str, Any]:
        """The point of a run in its study; empty where it is in none."""
        return dict(self._members(study).get(key) or {}) if study else {}

    def member_name(self, name: str, study: str | None, key: str) -> str:
        """What a run is called, and after it the values of its point in a study."""
        differs = differences_text(self.of_member(study, key), short=True)
        return f"{name} {differs}".strip()

    def _members(self, study: str) -> dict[str, Mapping[str, Any]]:
        path = self._results / "study" / study / "members.json"
        try:
            known = (study, path.stat().st_mtime_ns)  # a search adds to it
            if known not in self._points:
                rows = read_json(path)["members"]
                self._points[known] = {row["key"]: row["point"] for row in rows}
        except (OSError, InputError, KeyError, TypeError) as error:
            if lacks_machine(error):  # else a run would be called by other values
                raise
            return {}
        return self._points[known]

    def _unlike_case(self, record: Mapping[str, Any]) -> dict[str, Any]:
        case = str(record.get("tags", {}).get("case") or record["name"])
        if case not in self._cases:
            self._cases[case] = _plain(case)
        plain = self._cases[case]
        if not plain:
            return {}
        own = flat(record["config"])
        return {k: v for k, v in own if k not in plain or plain[k] != v}


def _plain(case: str) -> dict[str, Any]:
    """The leaves of the case as conf has it now; none where conf has it no more."""
    try:
        return dict(flat(Composer().outline("simulate", [f"case={case}"])))
    except InputError:
        return {}


def differences_text(values: Mapping[str, Any], *, short: bool = False) -> str:
    """The values on one line.

    Parameters
    ----------
    short : name each by its last part, where no other has the same
    """
    last = [name.rpartition(".")[2] for name in values]
    words = [
        f"{end if short and last.count(end) == 1 else name}={_cut(value)}"
        for (name, value), end in zip(values.items(), last, strict=True)
    ]
    more = len(words) - MOST_VALUES
    return " ".join(words[:MOST_VALUES] + [f"and {more} more"] * (more > 0))


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


MOST = 6  # things of a kind that are named

Record = Mapping[str, Any]


def differences(then: Record, now: Job, results: Path = RESULTS) -> Iterator[str]:
    """What decides a run and differs; the runs that it reads have lines of their own.

    Parameters
    ----------
    then : run.json of the run as it was made
    now : the job as it would be run
    """
    old, new = then["identity"], now.identity
    if old["code"] != new["code"]:
        yield from few("code", _modules(stored_code(old, results), parts_of_job(now)))
    if old.get("records") != new.get("records"):
        yield "records: run.json has results in another format"
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
        yield "the modules it imports have changed; their digests were not stored"
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
        yield f"{len(old)} files were read, now {len(new)}"
        return
    for path, before, after in zip(now.paths, old, new, strict=False):
        if before != after:
            yield f"{path} has changed"
