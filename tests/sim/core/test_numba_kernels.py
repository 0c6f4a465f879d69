"""What is compiled again, and what is not: each run is a process of its own."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.core import numba_kernels

HERE = Path(__file__).resolve().parents[3]
MODULES = ("__init__", "core/__init__", "core/numba_kernels", "core/imported_code")
KERNEL = "from sim.core.numba_kernels import kernel\n\n\n@kernel\n"
INNER = KERNEL + "def inner(x):\n    return x + {}\n"
OUTER = (
    "from sim.core.numba_kernels import kernel\n"
    "from sim.rods.deep.inner import inner\n"
    "\n\n"
    "@kernel\n"
    "def outer(x):\n"
    "    return 2 * inner(x)\n"
)
ALONE = KERNEL + "def alone(x):\n    return 3 * x\n"
CALL = (
    "from sim.rods.outer import outer\n"
    "from sim.rods.deep.inner import inner\n"
    "from sim.rods.alone import alone\n"
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
def compiled(tmp_path_factory):
    """A small project with our numba_kernels.py: outer calls inner, nobody alone."""
    root = tmp_path_factory.mktemp("kernels") / "first"
    (root / "sim" / "core").mkdir(parents=True)
    (root / "sim" / "rods" / "deep").mkdir(parents=True)
    for name in MODULES:
        shutil.copy(HERE / "sim" / f"{name}.py", root / "sim" / f"{name}.py")
    (root / "sim" / "rods" / "__init__.py").touch()
    (root / "sim" / "rods" / "deep" / "__init__.py").touch()
    (root / "sim" / "rods" / "deep" / "inner.py").write_text(INNER.format(1))
    (root / "sim" / "rods" / "outer.py").write_text(OUTER)
    (root / "sim" / "rods" / "alone.py").write_text(ALONE)
    assert run(root) == ([4, 3], ALL)
    return root


@pytest.fixture
def project(compiled, tmp_path):
    """A copy of it, compiled where it stands."""
    there = Path(shutil.copytree(compiled, tmp_path / "here"))
    assert run(there) == ([4, 3], ALL)  # numba knows a file by its path
    return there


def test_an_edit_of_a_kernel_reaches_its_callers_and_nobody_else(project):
    inner = project / "sim" / "rods" / "deep" / "inner.py"
    inner.write_text(INNER.format(10))
    assert run(project) == ([22, 3], [1, 1, 0])


def test_a_process_says_once_that_it_compiles(compiled, tmp_path):
    said = []
    for _ in range(2):
        process = start(compiled, CALL.format(1), NUMBA_CACHE_DIR=str(tmp_path))
        said.append(process.communicate()[1].count("once for this machine"))
    assert said == [1, 0]


def test_another_processor_or_another_setting_of_numba_compiles_again(compiled):
    assert run(compiled, NUMBA_CPU_NAME="generic")[1] == ALL
    assert run(compiled, NUMBA_BOUNDSCHECK="1")[1] == ALL
    assert run(compiled, NUMBA_NUM_THREADS="1")[1] == NONE


def test_a_file_written_after_the_start_is_not_mixed_with_older_code(project):
    size = project / "sim" / "rods" / "size.py"
    size.write_text("SIZE = 1\n")
    outer = OUTER.replace("2 * inner", "SIZE * inner")
    outer = outer.replace("\n\n\n", "\nfrom sim.rods.size import SIZE\n\n\n")
    (project / "sim" / "rods" / "outer.py").write_text(outer)
    code = (
        "from pathlib import Path\n"
        "import sim.core.numba_kernels, sim.rods.size\n"
        "Path('sim/rods/size.py').write_text('SIZE = 10')\n"
        "from sim.rods.outer import outer\n"
        "print(outer(1))\n"
    )
    assert output_of(start(project, code)) == "2\n"  # it had read the older text
    assert run(project) == ([20, 3], [0, 1, 0])


def test_a_file_of_the_tick_before_the_start_counts_as_written_after_it(
    tmp_path, monkeypatch
):
    """A file's time is that of the last tick of the clock, up to 10 ms ago."""
    file = tmp_path / "a.py"
    file.write_text("")
    written = file.stat().st_ctime
    monkeypatch.setattr(numba_kernels, "STARTED", written + 0.009)
    assert numba_kernels._changed(file)
    monkeypatch.setattr(numba_kernels, "STARTED", written + 1.0)
    assert not numba_kernels._changed(file)


def test_one_process_compiles_while_others_wait(project):
    (project / "sim" / "rods" / "alone.py").write_text(ALONE.replace("3 *", "5 *"))
    with (project / ".numba_cache" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = [start(project, CALL.format("1")) for _ in range(2)]
        assert all(numba_kernels.WAITING in job.stderr.readline() for job in waiting)
        assert [job.poll() for job in waiting] == [None, None]
    outputs = sorted(output_of(job).split() for job in waiting)
    assert outputs == [["4", "5", "0", "0", "0"], ["4", "5", "0", "0", "1"]]


def test_without_a_folder_to_write_to_kernels_are_compiled_each_time(compiled):
    nowhere = compiled / "file"
    nowhere.touch()
    assert run(compiled, NUMBA_CACHE_DIR=str(nowhere)) == ([4, 3], ALL)
    assert run(compiled, NUMBA_CACHE_DIR=str(nowhere)) == ([4, 3], ALL)


def test_the_interpreter_collects_as_before_after_compiling(compiled):
    code = (
        "import gc\n"
        "before = gc.get_threshold()\n"
        "from sim.rods.alone import alone\n"
        "alone(1.5)\n"
        "print(gc.get_threshold() == before)\n"
    )
    assert output_of(start(compiled, code)) == "True\n"


@numba_kernels.kernel
def multiple(x: float, times: int) -> float:
    return times * x


@numba_kernels.kernel
def of_constants(x: float) -> float:
    return multiple(x, 2) + multiple(x, 3) + multiple(x, int(x))


def test_constants_compile_a_kernel_no_more_often_than_variables():
    assert of_constants(4.0) == 36.0
    of_constants.recompile()  # else it may be the cache's
    assert len(multiple.signatures) == 1
