"""A run of a step: what decides it, and its files.

The planned digest covers what is known before any input is there: configuration, code
and versions. The key of a run covers the content of its inputs as well.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline.runs.atomic_files import read_json, replacing
from pipeline.runs.run_directory import Job, Needs, keys_by_role, record_or_empty
from pipeline.runs.run_keys import (
    DIGESTS,
    KEY_LENGTH,
    TRACKED,
    file_digest,
    identity,
    json_digest,
    rebuilds_cases,
    recorded_digests,
    targets,
)
from pipeline.runs.sidecars import SUFFIX
from pipeline.runs.summary import TO_LOOK_AT
from pipeline.terminal import InputError, nearest

# What a person looks at, and what says when, where and by which attempt a run was made.
PICTURES = {".pdf", ".png", ".svg", ".html", ".gif"}
RECORD = "run.json"
CIRCUMSTANCES = {
    RECORD,
    DIGESTS,
    TRACKED,
    "owner.json",
    "continued.json",
    "traceback.txt",
}


def planned_digest(run_identity: Mapping[str, Any]) -> str:
    """A digest of what an identity holds except inputs: configuration and code."""
    known = {k: v for k, v in run_identity.items() if k not in ("files", "upstream")}
    return json_digest(known)[:KEY_LENGTH]


def content_digest(folder: Path) -> str:
    """A digest of all that other steps read of a folder of results.

    Tables, arrays, documents, the configuration and the result; neither pictures nor
    times, host, process, attempt and commit. Of runs inside of it, the result. What a
    person put into the folder of a run does not count.
    """
    if not folder.is_dir():
        remedy = nearest(folder, "give one that a step wrote")
        raise InputError(f"{folder} is not a folder: {remedy}")
    names = sorted(recorded_digests(folder))
    paths = [folder / name for name in names] or sorted(folder.rglob("*"))
    files = {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in paths
        if path.is_file() and _is_content(path)
    }
    inner = {
        path.relative_to(folder).as_posix(): read_json(path).get("result")
        for path in sorted(folder.glob(f"*/**/{RECORD}"))
    }
    record = record_or_empty(folder)
    return json_digest([record.get("config"), record.get("result"), files, inner])


def _is_content(path: Path) -> bool:
    hidden = path.name.startswith(".")
    picture = path.suffix in PICTURES or path.name.endswith(SUFFIX)
    return not (hidden or picture or path.name in CIRCUMSTANCES)


def _by_role(of: Callable[[Path], str], reads: Needs) -> dict[str, Any]:
    """The keys of the folders that a step reads, by their roles."""
    return {
        role: of(value) if isinstance(value, Path) else [of(one) for one in value]
        for role, value in reads.items()
    }


def step_job(
    step: str,
    name: str,
    config: Mapping[str, Any],
    *,
    reads: Needs | None = None,
    paths: Sequence[str | Path] = (),
    tags: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
    digest: Callable[[Path], str] = file_digest,
) -> Job:
    """The run of a step on inputs that are there.

    Parameters
    ----------
    reads : folders of results that it reads, by role
    paths : files from outside
    tags : what it is found by
    modules : of the project that decide it in addition to those that the step imports
    digest : what the key covers of a file
    """
    folders = reads or {}
    records = [record_or_empty(folder) for _, folder in keys_by_role(folders)]
    if rebuilds_cases(step, frozenset(modules)):
        of_cases = {m for record in records for m in case_modules(record)}
        modules = sorted({*modules, *of_cases})
    upstream, needs = _by_role(content_digest, folders), _by_role(run_key, folders)
    files, named = [digest(Path(path)) for path in paths], tuple(map(str, paths))
    known = identity(step, config, upstream=upstream, files=files, modules=modules)
    own_tags = {k: v for k, v in (tags or {}).items() if v}
    if any(map(is_synthetic_run, records)):
        own_tags.setdefault("synthetic", "true")
    return Job(step, name, known, config, needs, named, own_tags, tuple(modules))


def is_synthetic_run(record: Mapping[str, Any]) -> bool:
    """Whether a run computed what is measured otherwise, or read such a run."""
    tagged = (record.get("tags") or {}).get("synthetic") == "true"
    return tagged or bool((record.get("result") or {}).get("synthetic"))


def case_modules(record: Mapping[str, Any]) -> set[str]:
    """The modules of the cases that a run was made of."""
    return {*targets(record.get("config")), *record.get("modules", ())}


def run_key(folder: Path) -> str:
    """The key of the run whose files a folder holds; its path where it holds none."""
    return str(record_or_empty(folder).get("key") or folder)


def link_files(run: Path, out: Path) -> None:
    """Put the files of a run into `out`: by hard links, or copies where none work.

    Files of an earlier run go, and a note says so; others stay. The files count as
    written now, so that Snakemake takes them for newer than what they were made from.

    Raises
    ------
    InputError
        if a file of another origin has the name of one of the run
    """
    names, earlier = {RECORD, DIGESTS, *recorded_digests(run)}, recorded_digests(out)
    for name in sorted(names - {DIGESTS} - earlier.keys()):
        if (out / name).exists() and not _is_same(run / name, out / name):
            raise InputError(
                f"{out / name} exists and was not written by a run: give another folder"
            )
    if earlier and earlier != recorded_digests(run):
        print(f"note: {out} held another run, now replaced", file=sys.stderr)
        earlier = {**earlier, **dict.fromkeys(TO_LOOK_AT, "")}
    for name in earlier.keys() - names:
        (out / name).unlink(missing_ok=True)
    for name in sorted(names):
        target = out / name
        if not _is_same(run / name, target):
            _link(run / name, target)
        os.utime(target)


def _is_same(one: Path, other: Path) -> bool:
    with suppress(FileNotFoundError):
        return one.samefile(other)
    return False


def _link(source: Path, target: Path) -> None:
    with replacing(target) as temporary:
        try:
            os.link(source, temporary)
        except OSError:  # another file system, or one without links
            shutil.copyfile(source, temporary)
