"""A run is its key: the hash of everything that decides its numbers.

The key covers the resolved configuration, the syntax trees of the project's modules
that the run imports, the SHA-256 of files from outside, the content of upstream runs,
and the versions of Python and of the packages that decide numbers. Comments,
docstrings, the words of errors, paths, wall times and commits are not in it, nor are
the modules of `CARRIERS`.

SHA256SUMS in the directory of a run holds a line a file, run.json among them, as
`sha256sum --check SHA256SUMS` reads it.
"""

import functools
import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.config.config_files import parts_of
from pipeline.runs.atomic_files import check_ends, read_mapping, write_text
from pipeline.terminal import InputError, nearest
from sim.core.imported_code import code_closure

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
# else that a run imports counts, what writes its numbers (runs.files) first of all.
CARRIERS = {
    "pipeline.terminal": "output and errors",
    "pipeline.config.hydra": "composes configurations, which are in the key",
    "pipeline.config.config_files": "lists the files of conf; reports errors",
    "pipeline.runs.run_attempts": "user, host, time and code of a run: RECORDS",
    "pipeline.runs.run_keys": "digests of contents and runs",
    "pipeline.runs.run_directory": "where runs are",
    "sim.core.imported_code": "digests of code",
}
OF_SETS = {  # the modules of the steps of measured sets
    "fit_measured": "pipeline.measured.fit",
    "predict": "pipeline.measured.predict",
    "measured": "pipeline.measured.compare",
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
            f"{path} cannot be read ({error.strerror}): {nearest(path)}"
        ) from error


@functools.lru_cache(maxsize=4096)
def _file_digest(path: Path, *state: int) -> str:
    del state  # only separates one content from the next
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
    if isinstance(value, str) and names_file(name):
        return {"sha256": file_digest(Path(value))}
    return canonical(value)


def names_file(name: str) -> bool:
    """Whether a leaf is the path of a file; a study names leaves by dotted name."""
    last = name.rpartition(".")[2]
    return last == "path" or last.endswith("_path")


def files_named(config: Any) -> Iterator[str]:
    """Files that a configuration names: its leaves called `path`, or `..._path`."""
    for place, value in parts_of(config):
        if isinstance(value, str) and names_file(place):
            yield value


def targets(config: Any) -> Iterator[str]:
    """The modules that `_target_` entries of a configuration name."""
    for place, value in parts_of(config):
        if isinstance(value, str) and place.endswith("._target_"):
            yield value.rpartition(".")[0]


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
    return json_digest(digests), foreign


def json_digest(value: object) -> str:
    """SHA-256 of plain data, whatever the order of its keys.

    The code of an identity is that of the digests of all its modules.
    """
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def module_of_step(step: str) -> str:
    """The module that performs a step, see `pipeline.workflow.make_step`."""
    return OF_SETS.get(step, f"pipeline.steps.{step}")


def named_modules(
    step: str, config: Mapping[str, Any], modules: Iterable[str] = ()
) -> frozenset[str]:
    """The modules that decide a run with all they import: see `identity`."""
    return frozenset({module_of_step(step), *targets(config), *modules})


BUILDS = "pipeline.config.build_objects"  # what rebuilds a case imports this


@functools.cache
def rebuilds_cases(step: str, modules: frozenset[str] = frozenset()) -> bool:
    """Whether a step, or one of the modules it calls by name, can rebuild a case.

    Then the modules that the case's `_target_` entries name decide its numbers too.
    """
    return BUILDS in decisive({module_of_step(step), *modules})[0]


def identity(
    step: str,
    config: Mapping[str, Any],
    *,
    upstream: Mapping[str, Any] | None = None,
    files: Iterable[str] = (),
    modules: Iterable[str] = (),
) -> dict[str, Any]:
    """All that the key of a run of a step is the hash of.

    Parameters
    ----------
    config : resolved configuration; its `_target_` modules count as imported
    upstream : digests of the content of the runs this one reads, by role
    files : SHA-256 digests of files from outside
    modules : that decide it in addition to those that its step imports
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
    return json_digest(run_identity)[:KEY_LENGTH]


DIGESTS = "SHA256SUMS"
TRACKED = "mlflow.json"  # where MLflow has the run; written while others read it


def mlflow_note(run: Path) -> dict[str, Any]:
    """Where MLflow has a run, as its folder notes it; empty if it was not logged."""
    return read_mapping(run / TRACKED)


def write_digests(directory: Path) -> None:
    """Leave SHA256SUMS of all files in `directory`, subfolders included."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    files = [path for path in found if path.name != TRACKED]
    lines = [
        f"{file_digest(path)}  {path.relative_to(directory).as_posix()}\n"
        for path in files
    ]
    write_text(directory / DIGESTS, "".join(lines))


def recorded_digests(directory: Path) -> dict[str, str]:
    """SHA-256 by file name as the run left them; empty where it left none.

    A name that leads out of the directory, as another's folder may hold, is left out.
    """
    try:
        text = (directory / DIGESTS).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return {}
    pairs = [line.partition("  ") for line in text.splitlines()]
    return {name: digest for digest, _, name in pairs if _is_inside(name)}


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def edits(directory: Path) -> list[str]:
    """What happened to the files of a run since it ended, a phrase each."""
    recorded = recorded_digests(directory)
    if not recorded:
        return [f"{DIGESTS} is missing"]
    return [
        f"{name} {'was edited' if (directory / name).is_file() else 'is missing'}"
        for name, digest in recorded.items()
        if not (directory / name).is_file() or file_digest(directory / name) != digest
    ]
