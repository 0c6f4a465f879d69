"""No module uses a private module or name of Hydra, Snakemake, MLflow and the like."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOREIGN = {"hydra", "omegaconf", "snakemake", "mlflow", "numba", "typer", "click"}


def _files() -> Iterator[Path]:
    for folder in ("sim", "analysis", "pipeline"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def _imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names of what is imported, the imported names of a module included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _is_private(name: str) -> bool:
    first, *rest = name.split(".")
    return first in FOREIGN and any(part.startswith("_") for part in rest)


def test_no_private_name_of_another_package_is_imported():
    found = [
        (str(path.relative_to(ROOT)), name)
        for path in _files()
        for name in _imported(ast.parse(path.read_text()))
        if _is_private(name)
    ]
    assert found == []


def test_the_snakefile_imports_no_private_name():
    lines = (ROOT / "Snakefile").read_text().splitlines()
    imports = [
        one.strip() for one in lines if one.strip().startswith(("import ", "from "))
    ]
    names = [name for line in imports for name in _imported(ast.parse(line))]
    assert not [name for name in names if _is_private(name)]
