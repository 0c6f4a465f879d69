"""The project's modules: what their code is, and names imported at first use.

Code is a syntax tree, without words and layout. Two files with the same tree do the
same; and what a module can do is decided by its own tree and the trees of the modules
that it imports, however deep. So the digests of these trees tell apart what may come to
differ, wherever the files are (`code_closure`).

What an error says can be left out as well: the words, not the values between them, not
what else the error carries. Nobody decides anything by such words (tests/pipeline/runs
holds it), so that they reach a person or a `reason`, and no number.

Reading the trees of the hundred modules behind a run takes half a CPU second. So what
was found of a module's file is remembered beside compiled kernels (`KnownCode`), with
digests of its bytes and of this file, and the Python that read it; where one of them
differs, it is read again. A file that is missing, damaged or not ours to write costs
that time only.

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


def _unsaid(said: ast.expr) -> ast.expr:
    """A message without its words; the values that stand between them stay."""
    if isinstance(said, ast.Constant) and isinstance(said.value, str):
        return ast.Constant("")
    if isinstance(said, ast.JoinedStr):
        return ast.JoinedStr(
            [part for part in said.values if not isinstance(part, ast.Constant)]
        )
    return said


def _without_messages(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = [_unsaid(argument) for argument in node.exc.args]
    return tree


@functools.cache
def _module(module: str, messages: bool) -> tuple[str, frozenset[str]]:
    """Digest of one module's syntax tree, and the names it imports."""
    file = module_file(module)
    assert file is not None  # callers ask only for modules that exist
    key = module if messages else f"{module} without messages"
    folder = os.environ.get("NUMBA_CACHE_DIR") or SOURCE_ROOT / ".numba_cache"
    known = known_code(Path(folder), Path(__file__))
    return known.told(key, file.read_bytes(), lambda text: _told(text, messages))


def _told(text: bytes, messages: bool) -> tuple[str, frozenset[str]]:
    """Digest of the syntax tree of a file's bytes, and the names it imports."""
    tree = ast.parse(text)
    imported = frozenset(_imported(tree))
    told = _without_docstrings(tree)
    dumped = ast.dump(told if messages else _without_messages(told))
    return hashlib.sha256(dumped.encode()).hexdigest(), imported


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


Told = tuple[str, frozenset[str]]
NAME = "trees.json"


class KnownCode:
    """What is known of files, and is kept in a folder once the process ends.

    Parameters
    ----------
    folder : where it is kept
    teller : the bytes of what tells it
    """

    def __init__(self, folder: Path, teller: bytes) -> None:
        self._file = folder / NAME
        self._teller = f"{sys.implementation.cache_tag} {_digest(teller)}"
        self._known = self._read()
        self._new = False

    def told(self, key: str, text: bytes, tell: Callable[[bytes], Told]) -> Told:
        """What was told of these bytes before, or is told now."""
        digest = _digest(text)
        known = self._known.get(key)
        if known is not None and known[0] == digest:
            return known[1], frozenset(known[2])
        tree, imported = tell(text)
        self._known[key] = [digest, tree, sorted(imported)]
        self._new = True
        return tree, imported

    def keep(self) -> None:
        """Put it in place whole, if anything is new and the folder can be written."""
        if not self._new:
            return
        aside = self._file.with_suffix(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError, MemoryError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps({self._teller: self._known}))
            aside.replace(self._file)
        self._new = False

    def _read(self) -> dict[str, list[Any]]:
        """What is there, of the same teller; else nothing."""
        try:
            if self._file.stat().st_uid not in (0, os.getuid()):
                return {}
            known = json.loads(self._file.read_bytes())[self._teller]
            return {k: [str(a), str(b), list(c)] for k, (a, b, c) in known.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@cache
def known_code(folder: Path, teller: Path) -> KnownCode:
    """That of a folder, kept as the process ends."""
    known = KnownCode(folder, teller.read_bytes())
    atexit.register(known.keep)
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
