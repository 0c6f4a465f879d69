"""What runs import and what does not count in their keys decides none of their numbers.

The code is copied, altered there, and its keys or the numbers of a run are read again.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.runs import run_keys
from pipeline.runs.run_keys import CARRIERS, decisive, identity, module_of_step
from pipeline.steps.settings import STEPS
from sim.core import imported_code
from tests.pipeline.conftest import ROOT

CASES = sorted(
    f"pipeline.cases.{path.stem}" for path in (ROOT / "pipeline/cases").glob("[a-z]*")
)
SAID = re.compile(r"[A-Za-z ,:;'()-]*[a-z] [a-z][A-Za-z ,:;'()-]*")  # words, no pattern

# What a carrier may do in another way; each stands once in its module.
BEHAVIOUR = {
    "pipeline.runs.run_attempts": [
        ("perf_counter() - wall, 6)", "perf_counter(), 6)"),
        ('LOCK = ".lock"', 'LOCK = ".held"'),
    ],
    "pipeline.runs.run_keys": [("maxsize=4096", "maxsize=1")],
    "pipeline.terminal": [
        ("return text or", "return text.upper() or"),
        ("if not sys.stderr.isatty():", "if sys.stderr.isatty():"),
    ],
}


def files_of(carrier: str) -> list[Path]:
    """The files of a carrier below a folder that holds the packages."""
    path = Path(*carrier.split("."))
    whole = sorted(p.relative_to(ROOT) for p in (ROOT / path).glob("*.py"))
    return whole or [path.with_suffix(".py")]


class _Said(ast.NodeTransformer):
    """Says everything in other words."""

    count = 0

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and SAID.fullmatch(node.value):
            self.count += 1
            return ast.Constant(f"{node.value}, in other words")
        return node


def alter(root: Path, carrier: str) -> int:
    """Change what a carrier says and does; return how many sentences it says."""
    count = 0
    for file in files_of(carrier):
        text = (root / file).read_text()
        for old, new in BEHAVIOUR.get(".".join(file.with_suffix("").parts), []):
            assert text.count(old) == 1, f"{old!r} is not once in {file}"
            text = text.replace(old, new)
        said = _Said()
        tree = said.visit(ast.parse(text))
        (root / file).write_text(ast.unparse(ast.fix_missing_locations(tree)))
        count += said.count
    return count


def copied(folder: Path) -> Path:
    """The three packages and conf in a folder of their own."""
    for name in ("sim", "analysis", "pipeline", "conf"):
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    return folder


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Where is kept what files of these bytes told: most copies are alike."""
    return tmp_path_factory.mktemp("told")


@pytest.fixture
def source(tmp_path, told, monkeypatch):
    """A copy of the code that keys are made of."""
    monkeypatch.setattr(imported_code, "SOURCE_ROOT", copied(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(told))
    _forget()
    yield tmp_path
    _forget()


def _forget() -> None:
    imported_code._module.cache_clear()
    run_keys._code.cache_clear()


def codes() -> dict[str, str]:
    """What the code of each step, and of each case, adds to a key."""
    _forget()
    steps = {step: identity(step, {})["code"] for step in STEPS}
    return steps | {
        case: identity("simulate", {}, modules=[case])["code"] for case in CASES
    }


def test_no_carrier_counts_in_any_key_whatever_it_says_and_does(source):
    before = codes()
    sentences = sum(alter(source, carrier) for carrier in CARRIERS)
    assert sentences >= 50
    assert codes() == before


def test_every_carrier_is_there_and_is_imported_by_a_run():
    everything, _ = imported_code.code_closure(map(module_of_step, STEPS))
    assert [name for name in CARRIERS if name not in everything] == []
    assert not CARRIERS.keys() & decisive(map(module_of_step, STEPS))[0].keys()


@pytest.mark.parametrize(
    ("file", "old", "new", "counts"),
    [
        ("sim/contact/contact_energy.py", "2.0 - q)", "2.5 - q)", True),
        ("pipeline/runs/atomic_files.py", "float(value)", "int(value)", True),
        (
            "pipeline/config/build_objects.py",
            '_convert_="all"',
            '_convert_="none"',
            True,
        ),
        ("sim/core/options.py", "must be {one.words}", "is not {one.words}", False),
        ("sim/core/options.py", "words}, not {given}", "words}, never {given}", False),
        ("sim/core/options.py", "raise ValueError(", "raise TypeError(", True),
        ("sim/core/options.py", "getattr(self, field.name)", "field.name", True),
        ("sim/mechanism/design.py", "best=start", "best=None", True),
    ],
)
def test_what_decides_numbers_counts_and_the_words_of_errors_do_not(
    source, file, old, new, counts
):
    before, path = codes(), source / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    changed = [name for name, code in codes().items() if code != before[name]]
    assert bool(changed) == counts


def test_no_carrier_computes():
    """They import neither numpy nor pandas, and of the solvers only an error."""
    # A carrier itself.
    own = {"sim.core.imported_code", "sim.core.imported_code.code_closure"}
    own |= {"sim.core.options", "sim.core.options.NotConvergedError"}
    for carrier in CARRIERS:
        for file in files_of(carrier):
            names = set(imported_code._imported(ast.parse((ROOT / file).read_text())))
            foreign = {n for n in names if n.split(".")[0] in ("numpy", "pandas")}
            solved = {n for n in names if n.split(".")[0] in ("sim", "analysis")} - own
            assert not foreign | solved, file


def run(folder: Path) -> dict[str, bytes]:
    """Run a case with the code of `folder`; return its numbers, byte for byte.

    Kernels are no carriers: both runs take those that are compiled already.
    """
    words = [
        "simulate",
        "case=triangles_circle",
        "case.max_steps=400",
        "hydra.run.dir=out",
    ]
    kernels = os.environ.get("NUMBA_CACHE_DIR") or str(ROOT / ".numba_cache")
    paths = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": kernels}
    environment = {**os.environ, **paths}
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {name: (folder / "out" / name).read_bytes() for name in NUMBERS}


NUMBERS = ("steps.csv", "steps.npz", "structure.json")


@pytest.mark.slow
def test_a_run_has_the_same_bits_whatever_carriers_say_and_do(tmp_path):
    as_they_are, altered = copied(tmp_path / "one"), copied(tmp_path / "two")
    for carrier in CARRIERS:
        alter(altered, carrier)
    assert run(altered) == run(as_they_are)


# Where the words of an error are kept, as a reason, or shown; all other handlers only
# raise them again, or ask the error for what it carries beside them.
KEPT = {
    "pipeline/measured/records.py:measured_rows",
    "pipeline/config/build_objects.py:build",
    "pipeline/measured/records.py:read_inputs",
    "pipeline/io/record_files.py:_records_of",
    "pipeline/steps/deviation.py:measure_or_say_why",
    "pipeline/measured/predict.py:run_step",
    "pipeline/steps/search.py:run_trial",
    "pipeline/runs/study_members.py:check_first",
    "sim/mechanism/global_search.py:lowest",
}


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {c: node for node in ast.walk(tree) for c in ast.iter_child_nodes(node)}


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def words_used(tree: ast.Module) -> set[str]:
    """Functions in which a handler does other things with an error's words."""
    parents, found = _parents(tree), set()
    for handler in ast.walk(tree):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
            continue
        for node in ast.walk(handler):
            if not isinstance(node, ast.Name) or node.id != handler.name:
                continue
            above = list(_above(node, parents))
            carried = isinstance(above[0], ast.Attribute) and above[0].attr != "args"
            kept = isinstance(above[0], ast.Assign | ast.Tuple)  # to raise it later
            if not (carried or kept or any(isinstance(n, ast.Raise) for n in above)):
                found |= {n.name for n in above if isinstance(n, ast.FunctionDef)}
    return found


def test_nothing_that_counts_decides_by_the_words_of_an_error():
    names = decisive([*map(module_of_step, STEPS), *CASES])[0]
    files = {file for name in names if (file := imported_code.module_file(name))}
    found = {
        f"{file.relative_to(ROOT)}:{name}"
        for file in files
        for name in words_used(ast.parse(file.read_text()))
    }
    assert len(files) > 150
    assert found == KEPT


def test_a_decision_by_words_is_seen():
    text = (
        "def f():\n try:\n  g()\n except ValueError as error:\n"
        "  if 'far' in str(error):\n   return 1\n  raise\n"
    )
    assert words_used(ast.parse(text)) == {"f"}
    assert words_used(ast.parse(text.replace("str(error)", "error.best"))) == set()
