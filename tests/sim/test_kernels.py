"""What is compiled again, and what is not: each run is a process of its own."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim import kernels

HERE = Path(__file__).resolve().parent.parent.parent
MODULES = ("__init__", "kernels", "known_code", "syntax")
KERNEL = "from sim.kernels import kernel\n\n\n@kernel\n"
INNER = KERNEL + "def inner(x):\n    return x + {}\n"
OUTER = (
    "from sim.kernels import kernel\n"
    "from sim.rod.deep.inner import inner\n"
    "\n\n"
    "@kernel\n"
    "def outer(x):\n"
    "    return 2 * inner(x)\n"
)
ALONE = KERNEL + "def alone(x):\n    return 3 * x\n"
CALL = (
    "from sim.rod.outer import outer\n"
    "from sim.rod.deep.inner import inner\n"
    "from sim.rod.alone import alone\n"
    "value = {}\n"
    "print(outer(value), alone(value))\n"
    "for made in (inner, outer, alone):\n"
    "    print(sum(made.stats.cache_misses.values()))\n"
)


def start(folder: Path, code: str, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(process: "subprocess.Popen[str]") -> str:
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def run(folder: Path, value: str = "1", **env: str) -> tuple[list[float], list[int]]:
    """Results of outer and alone; how often inner, outer and alone were compiled."""
    first, *counts = output_of(start(folder, CALL.format(value), **env)).splitlines()
    return [float(word) for word in first.split()], [int(word) for word in counts]


ALL, NONE = [1, 1, 1], [0, 0, 0]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project with this one's kernels.py: outer calls inner, nobody alone."""
    root = tmp_path_factory.mktemp("kernels") / "first"
    (root / "sim" / "rod" / "deep").mkdir(parents=True)
    for name in MODULES:
        shutil.copy(HERE / "sim" / f"{name}.py", root / "sim")
    (root / "sim" / "rod" / "__init__.py").touch()
    (root / "sim" / "rod" / "deep" / "__init__.py").touch()
    (root / "sim" / "rod" / "deep" / "inner.py").write_text(INNER.format(1))
    (root / "sim" / "rod" / "outer.py").write_text(OUTER)
    (root / "sim" / "rod" / "alone.py").write_text(ALONE)
    assert run(root) == ([4, 3], ALL)
    return root


@pytest.fixture
def project(compiled: Path, tmp_path: Path) -> Path:
    """A copy of it, compiled where it stands."""
    there = Path(shutil.copytree(compiled, tmp_path / "here"))
    assert run(there) == ([4, 3], ALL)  # numba knows a file by its path
    return there


def test_a_second_process_compiles_nothing(compiled: Path) -> None:
    assert run(compiled) == ([4, 3], NONE)


def test_an_edit_of_a_kernel_reaches_its_callers_and_nobody_else(project: Path) -> None:
    inner = project / "sim" / "rod" / "deep" / "inner.py"
    inner.write_text(INNER.format(10))
    assert run(project) == ([22, 3], [1, 1, 0])


def test_another_processor_or_another_setting_of_numba_compiles_again(
    project: Path,
) -> None:
    assert run(project, NUMBA_CPU_NAME="generic")[1] == ALL
    assert run(project, NUMBA_BOUNDSCHECK="1")[1] == ALL
    assert run(project, NUMBA_NUM_THREADS="1")[1] == NONE


def test_a_file_written_after_the_start_is_not_mixed_with_older_code(
    project: Path,
) -> None:
    size = project / "sim" / "rod" / "size.py"
    size.write_text("SIZE = 1\n")
    outer = OUTER.replace("2 * inner", "SIZE * inner")
    outer = outer.replace("\n\n\n", "\nfrom sim.rod.size import SIZE\n\n\n")
    (project / "sim" / "rod" / "outer.py").write_text(outer)
    code = (
        "from pathlib import Path\n"
        "import sim.kernels, sim.rod.size\n"
        "Path('sim/rod/size.py').write_text('SIZE = 10')\n"
        "from sim.rod.outer import outer\n"
        "print(outer(1))\n"
    )
    assert output_of(start(project, code)) == "2\n"  # it had read the older text
    assert run(project) == ([20, 3], [0, 1, 0])


def test_processes_that_compile_at_once_lose_nothing(project: Path) -> None:
    values = ("1.0", "True")
    code = "from sim.rod.outer import outer; print(outer({}))"
    jobs = [start(project, code.format(value)) for value in values]
    assert [float(output_of(job)) for job in jobs] == [4, 4]
    for value in values:
        results, counts = run(project, value)
        assert results == [4, 3]
        assert counts[:2] == [0, 0]


def test_a_file_of_the_tick_before_the_start_counts_as_written_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's time is that of the last tick of the clock, up to 10 ms ago."""
    file = tmp_path / "a.py"
    file.write_text("")
    written = file.stat().st_ctime
    monkeypatch.setattr(kernels, "STARTED", written + 0.009)
    assert kernels._changed(file)
    monkeypatch.setattr(kernels, "STARTED", written + 1.0)
    assert not kernels._changed(file)


def test_one_process_compiles_while_others_wait(project: Path) -> None:
    (project / "sim" / "rod" / "alone.py").write_text(ALONE.replace("3 *", "5 *"))
    with (project / ".numba_cache" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = [start(project, CALL.format("1")) for _ in range(2)]
        with pytest.raises(subprocess.TimeoutExpired):
            waiting[0].wait(4)
    outputs = sorted(output_of(job).split() for job in waiting)
    assert outputs == [["4", "5", "0", "0", "0"], ["4", "5", "0", "0", "1"]]


def test_without_a_folder_to_write_to_kernels_are_compiled_each_time(
    project: Path,
) -> None:
    nowhere = project / "file"
    nowhere.touch()
    assert run(project, NUMBA_CACHE_DIR=str(nowhere)) == ([4, 3], ALL)
    assert run(project, NUMBA_CACHE_DIR=str(nowhere)) == ([4, 3], ALL)


def test_the_interpreter_collects_as_before_after_compiling(project: Path) -> None:
    code = (
        "import gc\n"
        "before = gc.get_threshold()\n"
        "from sim.rod.alone import alone\n"
        "alone(1.5)\n"
        "print(gc.get_threshold() == before)\n"
    )
    assert output_of(start(project, code)) == "True\n"
