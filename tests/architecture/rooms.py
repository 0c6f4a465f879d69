"""Counts of the house: python -m tests.architecture.rooms [--draw FILE.svg].

A room is a direct child of a folder, file or subfolder. An arrow is a distinct pair of
rooms of which one imports the other; a module that is named by a string counts as
imported. Lines of code are those without docstrings, comments and blanks.
"""

import argparse
import ast
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sim", "analysis", "pipeline")

Arrow = tuple[str, str]


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree, which many counts go through."""
    return tuple(ast.walk(tree(path)))


def sources(folder: str) -> list[Path]:
    """Python files below a folder of the project."""
    return sorted((ROOT / folder).rglob("*.py"))


def _names(path: Path, dotted: str) -> Iterator[str]:
    """Modules that a file names: imported, or by a string that begins with `dotted`."""
    named = re.compile(re.escape(dotted) + r"(\.\w+)+")
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and named.fullmatch(str(node.value)):
            yield str(node.value)


def arrows(folder: str) -> set[Arrow]:
    """Pairs (room, room it imports) of a folder such as pipeline or sim/morph."""
    base, dotted = ROOT / folder, folder.replace("/", ".")
    rooms = {path.stem for path in base.iterdir() if path.name != "__pycache__"}
    found = set()
    for path in sources(folder):
        own = path.relative_to(base).parts[0].removesuffix(".py")
        for name in _names(path, dotted):
            room = name.removeprefix(f"{dotted}.").split(".")[0]
            if name.startswith(f"{dotted}.") and room in rooms - {own}:
                found.add((own, room))
    return found


def relative_imports() -> list[str]:
    """Files that import relatively, with the line."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in PACKAGES
        for path in sources(package)
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.level
    ]


def classes_of_one_name() -> dict[str, list[str]]:
    """Names that two classes or more have, with their files."""
    places = defaultdict(set)
    for package in PACKAGES:
        for path in sources(package):
            for node in nodes(path):
                if isinstance(node, ast.ClassDef):
                    places[node.name].add(str(path.relative_to(ROOT)))
    return {name: sorted(files) for name, files in places.items() if len(files) > 1}


def _docstrings(path: Path) -> set[int]:
    """Numbers of the lines of docstrings."""
    lines: set[int] = set()
    holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in nodes(path):
        if isinstance(node, holders) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return lines


@cache
def code_lines(path: Path) -> frozenset[int]:
    """Numbers of the lines of a file that hold code."""
    said = _docstrings(path)
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return frozenset(
        number
        for number, line in lines
        if line.strip() and not line.strip().startswith("#") and number not in said
    )


def function_sizes() -> dict[str, int]:
    """Lines of code of every function, by file and line."""
    sizes = {}
    for package in PACKAGES:
        for path in sources(package):
            for node in nodes(path):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    held = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                    sizes[place] = len(code_lines(path) & set(held))
    return sizes


def report() -> Iterator[str]:
    """What the house counts, a line each."""
    for folder in ("pipeline", "analysis", "sim", "sim/morph"):
        found = arrows(folder)
        both = sum((b, a) in found for a, b in found) // 2
        yield f"{folder}: {len(found)} arrows, {both} pairs both ways"
    lines = sum(len(code_lines(path)) for p in PACKAGES for path in sources(p))
    sizes = function_sizes()
    longest = max(sizes, key=lambda place: sizes[place])
    yield f"{lines} lines of code"
    yield (
        f"{len(sizes)} functions, median {statistics.median(sizes.values()):g} lines, "
        f"longest {sizes[longest]} ({longest})"
    )
    twice = classes_of_one_name()
    yield f"{len(twice)} class names that two classes have"
    yield from (f"  {name}: {', '.join(files)}" for name, files in twice.items())


def main() -> int:
    """Print the counts; draw the rooms if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    if options.draw is not None:
        from tests.architecture.drawing import draw

        draw(options.draw)
    print("\n".join(report()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
