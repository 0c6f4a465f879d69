"""What a module's code is: its syntax tree, without words and layout.

Two files with the same tree do the same; and what a module can do is decided by its
own tree and the trees of the modules that it imports, however deep. So the digests of
these trees tell apart what may come to differ, wherever the files stand.

What an error says can be left out as well: the words, not the values between them, not
what else the error carries. Nobody decides anything by such words (tests/pipeline/store
holds it), so that they reach a person or a `reason`, and no number.
"""

import ast
import functools
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from sim.known_code import known_code

PACKAGES = ("sim", "analysis", "pipeline")
SOURCE_ROOT = Path(__file__).resolve().parent.parent


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
