"""A run is its key: the hash of everything that decides its numbers.

The key covers the resolved configuration, the syntax trees of the project's modules
that the run imports, the SHA-256 of files from outside, the keys of upstream runs,
and the versions of Python and of the numerical packages. Comments, docstrings, paths,
wall times and commits are not in it.
"""

import ast
import functools
import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.errors import InputError

PACKAGES = ("sim", "analysis", "pipeline")
SOURCE_ROOT = Path(__file__).resolve().parent.parent

# Distributions whose version enters the key: the first three always, the others
# where the code of the run imports them.
ALWAYS = ("numpy", "scipy", "numba")
WHERE_IMPORTED = {
    "open3d": ("open3d-cpu", "open3d"),
    "matplotlib": ("matplotlib",),
    "pandas": ("pandas",),
}

KEY_LENGTH = 16  # hexadecimal digits: 64 bits, ample for millions of runs


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal; read again only when it has changed."""
    try:
        found = path.stat()
        return _file_digest(path, found.st_mtime_ns, found.st_size, found.st_ino)
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


def _module_file(module: str) -> Path | None:
    path = SOURCE_ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            node.body = body[1:]
    return tree


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def _module(module: str) -> tuple[str, frozenset[str]]:
    """Digest of one module's syntax tree, and the names it imports."""
    file = _module_file(module)
    assert file is not None  # callers ask only for modules that exist
    tree = ast.parse(file.read_bytes())
    imported = frozenset(_imported(tree))
    dumped = ast.dump(_without_docstrings(tree))
    return hashlib.sha256(dumped.encode()).hexdigest(), imported


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    yield from (".".join(parts[:i]) for i in range(1, len(parts) + 1))


def code_closure(modules: Iterable[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Digests of the project's modules that `modules` import, and foreign imports."""
    digests: dict[str, str] = {}
    foreign: set[str] = set()
    waiting = list(modules)
    while waiting:
        for name in _with_parents(waiting.pop()):
            if name.split(".")[0] not in PACKAGES:
                foreign.add(name.split(".")[0])
                break
            if name not in digests and _module_file(name) is not None:
                digests[name], imported = _module(name)
                waiting.extend(imported)
    return digests, frozenset(foreign)


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


@functools.cache
def _code(modules: frozenset[str]) -> tuple[str, frozenset[str]]:
    digests, foreign = code_closure(sorted(modules))
    text = json.dumps(digests, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest(), foreign


def identity(
    step: str,
    config: Mapping[str, Any],
    *,
    upstream: Mapping[str, Any] | None = None,
    files: Iterable[str] = (),
) -> dict[str, Any]:
    """All that the key of a run of `pipeline.<step>` is the hash of.

    Parameters
    ----------
    config : resolved configuration; its `_target_` modules count as imported
    upstream : keys of the runs this one reads, by role
    files : SHA-256 digests of files from outside
    """
    code, foreign = _code(frozenset({f"pipeline.{step}", *targets(config)}))
    return {
        "step": step,
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
