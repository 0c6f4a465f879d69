"""The project's modules: what their code is, and names imported at first use.

Code is a syntax tree, without words and layout. Two files with the same tree do the
same; and what a module can do is decided by its own tree and the trees of the modules
that it imports, however deep. So the digests of these trees tell apart what may come to
differ, wherever the files are (`code_closure`).

The words of error messages can be left out as well, not the values between them, nor
other attributes of the error. No decision depends on such words (tests/pipeline/runs
asserts it), so that they reach a person or a `reason`, and no number.

Parsing the hundred modules behind a run takes half a CPU second. So the result for a
module's file is cached next to compiled kernels (`ParsedCodeCache`), with digests of
its bytes and of this file, and the version of Python; where one of them differs, the
file is parsed again. A cache that is missing or damaged costs that time only.

To import all modules of a solver takes half a second as well, of which most callers
need a part: `exports` imports each public name of a package when it is first used.
"""

import ast
import atexit
import contextlib
import functools
import hashlib
import json
import os
import sys
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ParsedCode = tuple[str, frozenset[str]]  # digest of a tree, names it imports
PACKAGES = ("sim", "analysis", "pipeline")
SOURCE_ROOT = Path(__file__).resolve().parents[2]


def module_file(module: str) -> Path | None:
    """The file of a module of this project, if there is one of that name."""
    return _module_file(module, SOURCE_ROOT)


@functools.cache  # asked for thousands of times, a look at the disk or two each
def _module_file(module: str, root: Path) -> Path | None:
    path = root.joinpath(*module.split("."))
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


def _without_words(message: ast.expr) -> ast.expr:
    """A message without its words; the values between them stay."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return ast.Constant("")
    if isinstance(message, ast.JoinedStr):
        values = [v for v in message.values if not isinstance(v, ast.Constant)]
        return ast.JoinedStr(values)
    return message


def _without_messages(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = [_without_words(argument) for argument in node.exc.args]
    return tree


@functools.cache
def _module(module: str, messages: bool) -> ParsedCode:
    """Digest of one module's syntax tree, and the names it imports."""
    file = module_file(module)
    assert file is not None  # callers ask only for modules that exist
    key = module if messages else f"{module} without messages"
    folder = os.environ.get("NUMBA_CACHE_DIR") or SOURCE_ROOT / ".numba_cache"
    known = known_code(Path(folder), Path(__file__))
    return known.get(key, file.read_bytes(), lambda text: _parsed(text, messages))


def _parsed(text: bytes, messages: bool) -> ParsedCode:
    """Digest of the syntax tree of a file's bytes, and the names it imports."""
    tree = ast.parse(text)
    imported = frozenset(_imported(tree))
    bare = _without_docstrings(tree)
    return _digest(
        ast.dump(bare if messages else _without_messages(bare)).encode()
    ), imported


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    yield from (".".join(parts[:i]) for i in range(1, len(parts) + 1))


def code_closure(
    modules: Iterable[str],
    packages: Collection[str] = PACKAGES,
    *,
    carriers: Collection[str] = (),
    messages: bool = True,
) -> tuple[dict[str, str], frozenset[str]]:
    """Digests of the modules in `packages` that `modules` import; foreign imports.

    Parameters
    ----------
    carriers : modules, and packages with all they hold, that are passed over, as is
        what only they import
    messages : whether the words of raised errors count
    """
    digests: dict[str, str] = {}
    foreign: set[str] = set()
    waiting = list(modules)
    while waiting:
        for name in _with_parents(waiting.pop()):
            if name.split(".")[0] not in packages:
                foreign.add(name.split(".")[0])
                break
            if name in carriers:
                break
            if name not in digests and module_file(name) is not None:
                digests[name], imported = _module(name, messages)
                waiting.extend(imported)
    return digests, frozenset(foreign)


class ParsedCodeCache:
    """Digests and imports of files, saved in a folder when the process ends.

    Parameters
    ----------
    folder : of the cache file
    parser : the bytes of the module that makes the entries
    """

    def __init__(self, folder: Path, parser: bytes) -> None:
        self._file = folder / "trees.json"
        self._parser = f"{sys.implementation.cache_tag} {_digest(parser)}"
        self._known = self._read()
        self._new = False

    def get(
        self, key: str, text: bytes, parse: Callable[[bytes], ParsedCode]
    ) -> ParsedCode:
        """The entry of these bytes, parsed unless it is known."""
        digest = _digest(text)
        known = self._known.get(key)
        if known is not None and known[0] == digest:
            return known[1], frozenset(known[2])
        tree, imported = parse(text)
        self._known[key] = [digest, tree, sorted(imported)]
        self._new = True
        return tree, imported

    def save(self) -> None:
        """Replace the file if anything is new and the folder can be written."""
        if not self._new:
            return
        aside = self._file.with_suffix(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError, MemoryError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps({self._parser: self._known}))
            aside.replace(self._file)
        self._new = False

    def _read(self) -> dict[str, list[Any]]:
        """The entries by the same parser; none of a file that is foreign or damaged."""
        try:
            if self._file.stat().st_uid not in (0, os.getuid()):
                return {}
            known = json.loads(self._file.read_bytes())[self._parser]
            return {k: [str(a), str(b), list(c)] for k, (a, b, c) in known.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@cache
def known_code(folder: Path, parser: Path) -> ParsedCodeCache:
    """The cache of a folder, saved when the process ends."""
    known = ParsedCodeCache(folder, parser.read_bytes())
    atexit.register(known.save)
    return known


def exports(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : its `__name__`
    names : of its modules, each with the public names that it defines
    """
    places = {name: module for module, found in names.items() for name in found.split()}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    def names_of() -> list[str]:
        return sorted(places)

    return get, names_of
