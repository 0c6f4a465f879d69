"""Run directories: what a run is, where it is, and the names that lead to it.

    results/running/<key>.<attempt>/   while it runs: owner.json, its steps
    results/runs/<key>/                finished
    results/failed/<key>.<attempt>/    failed, with the steps it made

A directory moves from the first place to one of the others by a single rename, with
the digests of its files in SHA256SUMS (pipeline.runs.run_attempts).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

from pipeline.runs.atomic_files import point_to, read_json, read_mapping
from pipeline.runs.run_keys import key_of
from pipeline.terminal import InputError, is_failing_disk, no_such

RESULTS = Path("results")
# What a record holds by name, by kind; of its identity, what pages show of a run.
KINDS: Mapping[type, tuple[str, ...]] = {
    dict: ("config", "result", "needs", "tags", "identity"),
    list: ("paths", "modules"),
    str: ("key", "step", "name", "status", "reason", "started", "ended"),
    Real: ("wall_s", "cpu_s"),
}
WITHIN = ("config", "versions", "upstream")
REMEDY = (
    "remove the damaged folder of results; its run is repeated when it is needed again"
)

Numbers = dict[str, Any]
Needs = Mapping[str, Any]  # directories of the runs that a job reads, by role


@dataclass(frozen=True)
class Job:
    """One requested run: what it is, and what decides its numbers.

    Parameters
    ----------
    step : the module pipeline.<step> that performs it
    name : what a person calls it, such as the case or the scan
    identity : what the key is the hash of (pipeline.runs.run_keys.identity)
    config : resolved configuration
    needs : keys of the runs it reads, by role; several where a role is a list
    paths : files from outside
    modules : of the project that decide it besides those that its step imports, such as
        those of a case that it rebuilds
    """

    step: str
    name: str
    identity: Mapping[str, Any]
    config: Mapping[str, Any]
    needs: Mapping[str, str | list[str]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of this run."""
        return key_of(self.identity)


def needed_keys(job: Job) -> list[str]:
    """Keys of the runs that `job` reads."""
    return [key for _, key in keys_by_role(job.needs)]


def keys_by_role(needs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Role and key, or folder, of each run among the needs of a job or of a record."""
    for role, value in needs.items():
        each = [value] if isinstance(value, str | Path) else value
        yield from ((role, one) for one in each)


def finished(key: str, results: Path = RESULTS) -> Path | None:
    """The directory of the finished run `key`, if there is one."""
    directory = results / "runs" / key
    return directory if (directory / "run.json").is_file() else None


class RunRecord(dict[str, Any]):
    """run.json of a run; an entry that is asked for and is not there is refused."""

    def __init__(self, directory: Path, read: Mapping[str, Any]) -> None:
        super().__init__(read)
        self._directory = directory

    def __missing__(self, entry: str) -> NoReturn:
        if self.get("status") in ("killed", "failed", "pruned"):
            how = "was interrupted" if self["status"] == "killed" else "failed"
            why = self.get("reason", "")
            raise InputError(f"{self._directory} has no {entry}: it {how}: {why}")
        raise InputError(f"{self._directory}/run.json has no {entry}: {REMEDY}")


def run_record(directory: Path) -> RunRecord:
    """run.json of a run; one that is damaged is refused with what to do."""
    try:
        read = read_json(directory / "run.json")
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise InputError(f"{error}: {REMEDY}") from error
    record: dict[str, Any] = read if isinstance(read, dict) else {}
    wrong = "" if record else "no keys"
    wrong = wrong or next(_of_another_kind(record), "")
    if wrong:
        raise InputError(
            f"{directory}/run.json is not the record of a run: it has {wrong}: {REMEDY}"
        )
    return RunRecord(directory, record)


def _of_another_kind(record: Mapping[str, Any]) -> Iterator[str]:
    """Entries of a record that are not of the kind that theirs are."""
    for kind, names in KINDS.items():
        for name in names:
            if not isinstance(record.get(name), kind | None):
                yield f"{record[name]!r:.40} for its {name}"
    identity = record.get("identity") or {}
    for name in WITHIN:
        if not isinstance(identity.get(name), dict | None):
            yield f"{identity[name]!r:.40} for the {name} of its identity"


def node_names(of: Path | Sequence[Path]) -> Sequence[str]:
    """The names of nodes, where the structure of a run, or of the first, has names."""
    run = of if isinstance(of, Path) else of[0]
    names: Sequence[str] = read_mapping(run / "structure.json").get("node_names", ())
    return names


def failed_attempts(key: str, results: Path = RESULTS) -> list[Path]:
    """Directories of the attempts at `key` that failed by themselves, oldest first.

    Killed ones are not among them: they say nothing about the run.
    """
    return _by_themselves((results / "failed").glob(f"{key}.*"))


def _by_themselves(attempts: Iterable[Path]) -> list[Path]:
    own = [p for p in attempts if _status(p) in ("failed", "pruned")]
    return sorted(own, key=attempt_of)


def attempt_of(directory: Path) -> int:
    """The number of an attempt from the name of its directory, <key>.<attempt>."""
    number = directory.name.rpartition(".")[2]
    return int(number) if number.isdigit() else 0


def _status(directory: Path) -> str:
    try:
        return str(run_record(directory)["status"])
    except (InputError, KeyError) as error:
        if error.__cause__ and is_failing_disk(error.__cause__):
            raise error.__cause__ from None  # which says nothing about the run
        return "unreadable"


class Ledger:
    """Which keys have finished and which have failed, read from the folders once."""

    def __init__(self, results: Path = RESULTS) -> None:
        self._results = results
        records = (results / "runs").glob("*/run.json")
        self.finished = {path.parent.name for path in records}
        attempts: dict[str, list[Path]] = {}
        for path in (results / "failed").glob("*.*"):
            attempts.setdefault(path.name.partition(".")[0], []).append(path)
        self._failed = {key: _by_themselves(paths) for key, paths in attempts.items()}

    def last_failure(self, key: str) -> Path | None:
        """The latest attempt at `key` that failed by itself, if it never finished."""
        failed = self._failed.get(key)
        return failed[-1] if failed and key not in self.finished else None

    def state(self, key: str) -> str:
        """One of finished, failed, pruned, missing."""
        if key in self.finished:
            return "finished"
        failure = self.last_failure(key)
        return "missing" if failure is None else _status(failure)

    def directory(self, key: str) -> Path | None:
        """Where the record of `key` is: of its finished run, or of its last failure."""
        if key in self.finished:
            return self._results / "runs" / key
        return self.last_failure(key)


def record_or_empty(folder: Path) -> dict[str, Any]:
    """run.json of a folder; empty where a person made the folder."""
    return run_record(folder) if (folder / "run.json").is_file() else {}


def named_keys(results: Path = RESULTS) -> dict[str, str]:
    """The key of the run that each <step>/<name> holds."""
    found = {}
    for path in sorted(results.glob("*/*/run.json")):
        step, name = path.parts[-3:-1]
        if step in ("runs", "failed", "running", "edited", "own"):
            continue
        try:
            found[f"{step}/{name}"] = str(run_record(path.parent)["key"])
        except InputError:
            continue  # damaged: the next run of the workflow writes it anew
    return found


def job_of_record(record: Mapping[str, Any]) -> Job:
    """The job that made a run."""
    own: Numbers = {n: record[n] for n in ("step", "name", "identity", "config")}
    own |= {name: record.get(name, {}) for name in ("needs", "tags")}
    own |= {name: tuple(record.get(name, ())) for name in ("paths", "modules")}
    return Job(**own)


OWN = "own"
OF_FILES = ("case.path=", "case.structure.path=")
LONGEST = 80  # letters of a name


def own_name(case: str, words: Sequence[str]) -> str:
    """The user's file or the case, and what differs, as the name of a folder."""
    files = [w.partition("=")[2] for w in words if w.startswith(OF_FILES)]
    others = [w for w in words if not w.startswith(("case=", "hydra.", *OF_FILES))]
    parts = [Path(f).stem for f in files] or [case]
    text = ",".join([*parts, *(w.lstrip("+~").removeprefix("case.") for w in others)])
    plain = re.sub(r"[^\w.+=,-]+", "_", text).strip("._")
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def keep_own(name: str, directory: Path, results: Path = RESULTS) -> Path:
    """Let a name point to a run; the name as a path."""
    link = results / OWN / name
    point_to(link, directory)
    return link


def own_runs(results: Path = RESULTS) -> dict[str, Path]:
    """The runs that were made by hand, by name."""
    links = sorted((results / OWN).glob("[!.]*"))
    found = {link.name: (results / "runs" / link.resolve().name) for link in links}
    return {name: path for name, path in found.items() if (path / "run.json").is_file()}


SIMULATED = ("simulate", OWN)
PLACES = (*SIMULATED, "compare", "ingest", "figure")


def found_run(
    name: str, results: Path = RESULTS, places: Sequence[str] = PLACES
) -> Path:
    """The folder of the run that a person means.

    Parameters
    ----------
    name : of a run, with or without the folder of its step, a folder, or a key
    places : folders of `results` whose names count
    """
    named = [Path(name), results / name, *(results / place / name for place in places)]
    keys = sorted((results / "runs").glob(f"{name}*")) if name.isalnum() else []
    for path in [*named, *(keys if len(keys) == 1 else [])]:
        if (path / "run.json").is_file():
            for file in path.iterdir():
                if file.is_symlink():  # through which it would be written elsewhere
                    raise InputError(
                        f"{file} is a link, and runs do not write links: remove it"
                    )
            return path
    known = [
        p.name for place in places for p in sorted((results / place).glob("[!.]*"))
    ]
    known += [path.parent.name for path in sorted(Path().glob("[!.]*/steps.csv"))]
    raise no_such("unknown run", name, list(dict.fromkeys(known)))


def simulated_run(name: str) -> Path:
    """The folder of a simulation; one without run.json is taken as it is."""
    path = Path(name).parent if Path(name).is_file() else Path(name)
    if Path(name).is_file() and not any(path.glob("steps.*")):
        raise InputError(f"{name} is not a run: `morphtrack simulate {name}` makes one")
    return path if path.is_dir() else found_run(name, places=SIMULATED)


def printable_run(name: str) -> Path:
    """The folder of the simulation of a mechanism, whose nodes are printed."""
    path = simulated_run(name)
    if not (path / "run.json").is_file() or (path / "structure.json").is_file():
        return path  # one without run.json is refused where it lacks something
    step = run_record(path).get("step", "simulate")
    if step != "simulate":
        raise InputError(f"{path} is a run of {step}: give one of morphtrack simulate")
    other = "compare its measurements (CSV) with `morphtrack compare_series`"
    if (path / "pattern.fold").is_file():
        other = "write the sheet with `morphtrack show RUN --fold FILE.fold`"
    raise InputError(
        f"{path} has no nodes to print and scan: give the run of a mechanism, such as "
        f"case=structure_file; or {other}"
    )
