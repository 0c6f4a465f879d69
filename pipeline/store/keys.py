"""A run is its key: the hash of everything that decides its numbers.

The key covers the resolved configuration, the syntax trees of the project's modules
that the run imports, the SHA-256 of files from outside, the content of upstream runs,
and the versions of Python and of the packages that decide numbers. Comments,
docstrings, the words of errors, paths, wall times and commits are not in it, nor are
the modules of `CARRIERS`.
"""

import functools
import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.store.files import check_ends
from pipeline.terminal.errors import InputError
from sim.syntax import code_closure

# Distributions whose version enters the key: the first always, the others where the
# code of the run imports them.
ALWAYS = ("numpy", "scipy", "numba", "llvmlite")
WHERE_IMPORTED = {
    "open3d": ("open3d-cpu", "open3d"),
    "matplotlib": ("matplotlib",),
    "pandas": ("pandas",),
    "optuna": ("optuna",),
    "trimesh": ("trimesh",),
    "pydantic": ("pydantic",),
    "lib3mf": ("lib3mf",),
}

# What runs import and what decides none of their numbers: it carries them. Everything
# else that a run imports counts, what writes its numbers (store.files) first of all.
CARRIERS = {
    "pipeline.terminal": "what is said, and to whom",
    "pipeline.config.hydra": "composes; what it composes stands in the key",
    "pipeline.config.listed": "which files conf holds",
    "pipeline.config.checking": "says what the models refuse",
    "pipeline.config.folder_names": "refuses names",
    "pipeline.store.attempts": "where and when a run is made; its records: RECORDS",
    "pipeline.store.code_parts": "says which modules a run's code was",
    "pipeline.store.digests": "tells contents apart",
    "pipeline.store.durable": "sees that files are on the disk",
    "pipeline.store.keys": "tells runs apart",
    "pipeline.store.leases": "who works on what",
    "pipeline.store.plan_file": "what is wanted, by name",
    "pipeline.store.runs": "where runs are",
    "sim.known_code": "remembers what tells them apart",
    "sim.syntax": "tells codes apart",
}
RECORDS = 1  # how run.json holds a result; another form of it has another number

KEY_LENGTH = 16  # hexadecimal digits: 64 bits, ample for millions of runs


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal; read again only when it has changed."""
    check_ends(path)
    try:
        found = path.stat()
        return _file_digest(path, found.st_mtime_ns, found.st_size, found.st_ino)
    except PermissionError:
        raise
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}): give the path of a file"
        ) from error


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, *state: int) -> str:
    del state  # only tells one content from the next
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def canonical(value: Any) -> Any:
    """`value` with equal numbers spelt equally and files replaced by their digests.

    A whole float becomes an integer; a leaf called `path` (or ending in `_path`)
    becomes the SHA-256 of the file it names.
    """
    if isinstance(value, Mapping):
        return {str(k): _canonical_entry(str(k), v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [canonical(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def _canonical_entry(name: str, value: Any) -> Any:
    if isinstance(value, str) and (name == "path" or name.endswith("_path")):
        return {"sha256": file_digest(Path(value))}
    return canonical(value)


def files_named(config: Any, name: str = "") -> Iterator[str]:
    """Files that a configuration names: its leaves called `path`, or `..._path`."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from files_named(value, str(key))
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for value in config:
            yield from files_named(value)
    elif isinstance(config, str) and (name == "path" or name.endswith("_path")):
        yield config


def targets(config: Any) -> Iterator[str]:
    """The modules that `_target_` entries of a configuration name."""
    if isinstance(config, Mapping):
        target = config.get("_target_")
        if isinstance(target, str):
            yield target.rpartition(".")[0]
        for value in config.values():
            yield from targets(value)
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for value in config:
            yield from targets(value)


def _version(distributions: Iterable[str]) -> str:
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "absent"


@functools.cache
def versions(foreign: frozenset[str]) -> dict[str, str]:
    """Versions of Python and of the packages that decide numbers."""
    found = {"python": platform.python_version()}
    found |= {name: _version((name,)) for name in ALWAYS}
    return found | {
        name: _version(distributions)
        for name, distributions in WHERE_IMPORTED.items()
        if name in foreign
    }


def decisive(modules: Iterable[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Digests of all modules that decide what `modules` do; foreign imports."""
    return code_closure(sorted(modules), carriers=CARRIERS, messages=False)


@functools.cache
def _code(modules: frozenset[str]) -> tuple[str, frozenset[str]]:
    digests, foreign = decisive(modules)
    return code_digest(digests), foreign


def code_digest(digests: Mapping[str, str]) -> str:
    """The code of an identity: one digest of those of all its modules."""
    text = json.dumps(digests, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def named_modules(
    step: str, config: Mapping[str, Any], modules: Iterable[str] = ()
) -> frozenset[str]:
    """The modules that decide a run with all they import: see `identity`."""
    return frozenset({f"pipeline.steps.{step}", *targets(config), *modules})


BUILDS = "pipeline.config.building"  # what rebuilds a case imports this


@functools.cache
def rebuilds_cases(step: str, modules: frozenset[str] = frozenset()) -> bool:
    """Whether a step, or one of the modules it calls by name, can rebuild a case.

    Then the modules that the case's `_target_` entries name decide its numbers too.
    """
    return BUILDS in decisive({f"pipeline.steps.{step}", *modules})[0]


def identity(
    step: str,
    config: Mapping[str, Any],
    *,
    upstream: Mapping[str, Any] | None = None,
    files: Iterable[str] = (),
    modules: Iterable[str] = (),
) -> dict[str, Any]:
    """All that the key of a run of `pipeline.steps.<step>` is the hash of.

    Parameters
    ----------
    config : resolved configuration; its `_target_` modules count as imported
    upstream : digests of the content of the runs this one reads, by role
    files : SHA-256 digests of files from outside
    modules : that decide it beside those its step imports
    """
    code, foreign = _code(named_modules(step, config, modules))
    return {
        "step": step,
        "records": RECORDS,
        "config": canonical(config),
        "code": code,
        "files": list(files),
        "upstream": dict(upstream or {}),
        "versions": versions(foreign),
    }


def key_of(run_identity: Mapping[str, Any]) -> str:
    """The key: a hash of the run's identity (see `identity`)."""
    text = json.dumps(run_identity, sort_keys=True, allow_nan=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]
