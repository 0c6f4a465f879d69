"""From a file to the runs behind it, back to the scans, and what is out of date.

The runs behind a file are asked for, one after the other: its sidecar, the
run whose folder it is in, the id in the metadata of a PDF or PNG, and the digests that
runs and sidecars recorded.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from pipeline.runs import run_keys
from pipeline.runs.atomic_files import read_json
from pipeline.runs.run_differences import differences
from pipeline.runs.run_directory import Job, finished, keys_by_role, run_record
from pipeline.runs.sidecars import SUFFIX, Origin, origin_in, read_sidecar
from pipeline.terminal import InputError, one_line

SCAN = ".ply"

Record = Mapping[str, Any]
JobNow = Callable[[Record], Job | None]


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
    role : what its reader reads it as; "" where no run here reads it
    """

    key: str
    depth: int
    record: Record | None
    troubles: tuple[str, ...] = ()
    reads: tuple[tuple[str, str], ...] = ()
    scans: Mapping[str, str] = field(default_factory=dict)
    role: str = ""


def chain(keys: Iterable[str], results: Path, job_now: JobNow | None) -> list[Link]:
    """The runs `keys` and all they read, each once, a reader before what it reads.

    Parameters
    ----------
    job_now : finds the job that conf asks for now in place of a run, if any; None where
        conf cannot be read
    """
    links: dict[str, Link] = {}
    waiting = [("", key, 0) for key in keys]
    while waiting:
        role, key, depth = waiting.pop(0)
        if key in links:
            continue
        links[key] = replace(_link(key, depth, results, job_now), role=role)
        waiting = [(r, k, depth + 1) for r, k in links[key].reads] + waiting
    return list(links.values())


def _link(key: str, depth: int, results: Path, job_now: JobNow | None) -> Link:
    directory = finished(key, results)
    if directory is None:
        return Link(key, depth, None, (f"{results}/runs/{key} does not exist",))
    try:
        record = run_record(directory)
        troubles = [*_edited(directory, record), *changes(record, job_now, results)]
        reads = tuple(keys_by_role(record.get("needs", {})))
    except (InputError, KeyError, TypeError, AttributeError) as error:
        return Link(key, depth, None, (f"its record is unreadable: {one_line(error)}",))
    scans = {
        str(directory / name): digest
        for name, digest in run_keys.recorded_digests(directory).items()
        if name.endswith(SCAN)
    }
    return Link(key, depth, record, tuple(troubles), reads, scans)


def _edited(directory: Path, record: Record) -> list[str]:
    troubles = [f"edited: {phrase}" for phrase in run_keys.edits(directory)]
    if run_keys.key_of(record["identity"]) != directory.name:
        troubles.append("edited: its identity in run.json does not match its key")
    return troubles


def changes(record: Record, job_now: JobNow | None, results: Path) -> list[str]:
    """What decides this run and has changed since, a phrase each."""
    try:
        now = None if job_now is None else job_now(record)
        found = list(differences(record, now or _as_now(record), results))
    except InputError as error:
        return [f"file: {one_line(error)}"]
    if job_now is not None and now is None:
        found.append("config: conf no longer contains this run")
    return found


def _as_now(record: Record) -> Job:
    """The job of a record with the code, files and packages of now."""
    step, config = record["step"], record["config"]
    paths, modules = tuple(record["paths"]), tuple(record.get("modules", ()))
    upstream = record["identity"]["upstream"]
    files = [run_keys.file_digest(Path(path)) for path in paths]
    now = run_keys.identity(
        step, config, upstream=upstream, files=files, modules=modules
    )
    return Job(step, record["name"], now, config, paths=paths, modules=modules)


KEY = re.compile(r"[0-9a-f]{16}")
KEYWORDS = re.compile(rb"/Keywords\s*\(((?:[^()\\]|\\.)*)\)")


@dataclass(frozen=True)
class Found:
    """The origin of a file, where that was read, and what is wrong with the file.

    Parameters
    ----------
    by : how the origin was found
    trouble : "" where the file is as it was written
    """

    origin: Origin
    by: str
    digest: str
    trouble: str = ""


def find_origin(file: Path, results: Path) -> Found:
    """The origin of `file`; refused where nothing leads to a run."""
    digest = run_keys.file_digest(file)
    if noted := read_sidecar(file):
        origin, written = noted
        trouble = "" if written == digest else "it has been edited since it was written"
        return Found(origin, f"its sidecar {file.stem}{SUFFIX}", digest, trouble)
    record = file.resolve().parent / "run.json"
    if record.is_file():
        return _in_a_run(file.resolve(), digest)
    origin, known = _origin_in_metadata(file), _origin_of_digest(digest, results)
    if origin.all_keys or origin.study:
        trouble = "no run here wrote this content: it was edited, or made elsewhere"
        by = "the id in its metadata"
        return Found(origin, by, digest, "" if known is not None else trouble)
    if known is not None:
        return Found(known, "its SHA-256, which a run recorded", digest)
    raise InputError(
        f"no run is found for {file}: it has no sidecar {file.stem}{SUFFIX}, no id in "
        "its metadata, and no run here wrote this content: give the file as written"
    )


def _in_a_run(file: Path, digest: str) -> Found:
    key = str(run_record(file.parent)["key"])
    recorded = run_keys.recorded_digests(file.parent).get(file.name)
    trouble = "it has been edited since the run wrote it"
    if recorded is None:
        trouble = (
            "the run did not record this file, so it cannot be checked: repeat the run"
        )
    same = recorded == digest or file.name == run_keys.DIGESTS
    return Found(Origin(run=key), "the run it is in", digest, "" if same else trouble)


def _origin_in_metadata(file: Path) -> Origin:
    """What `morphtrack figure` left in a PDF or PNG."""
    if file.suffix.lower() == ".pdf":
        found = KEYWORDS.search(file.read_bytes())
        text = re.sub(rb"\\(.)", rb"\1", found[1] if found else b"")
        return origin_in(text.decode("latin-1"))
    if file.suffix.lower() != ".png":
        return Origin()
    try:
        with Image.open(file) as picture:
            return origin_in(str(picture.info.get("Description", "")))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{file} is not a readable PNG: {error}") from error


def _origin_of_digest(digest: str, results: Path) -> Origin | None:
    """The run, or the sidecar, that recorded a file of this content."""
    for path in sorted(results.glob(f"runs/*/{run_keys.DIGESTS}")):
        if digest in path.read_text(encoding="utf-8", errors="replace"):
            return Origin(run=path.parent.name)
    places = (results, results / "tables", *sorted(results.glob("study/*")))
    for sidecar in [s for place in places for s in sorted(place.glob(f"*{SUFFIX}"))]:
        for name in read_json(sidecar).get("files", {}):
            recorded = read_sidecar(sidecar.with_name(name))
            if recorded is not None and recorded[1] == digest:
                return recorded[0]
    return None


def key_of_address(address: str, results: Path) -> str:
    """The run that an address of the report leads to; "" where it is no address.

    Raises
    ------
    InputError
        where no run of `results` stands at that place
    """
    page, _, place = address.partition("#")
    ending = place.rpartition("-")[2]
    if not place or not (page.endswith(".html") or KEY.fullmatch(ending)):
        return ""
    if (results / "runs" / ending / "run.json").is_file():
        return ending
    raise InputError(
        f"{address} points to no run in {results}: give an address that ends in the "
        "key of a run, as index.html#run-KEY"
    )
