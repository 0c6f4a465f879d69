"""What is compiled again, and what is not: each run is a process of its own."""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sim import kernels
from sim.kernel_cache import _make_room, is_trusted

HERE = Path(__file__).resolve().parent.parent.parent
MODULES = (
    "__init__", "kernels", "kernel_cache", "kernel_parts", "known_code", "numba_flags",
    "syntax"
)  # fmt: skip
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
    """A copy of it, with what it has compiled."""
    return Path(shutil.copytree(compiled, tmp_path / "here"))


def test_a_second_process_compiles_nothing(compiled: Path) -> None:
    assert run(compiled) == ([4, 3], NONE)


def test_words_layout_and_dates_compile_nothing(project: Path) -> None:
    for file in (project / "sim" / "rod").rglob("*.py"):
        text = file.read_text().replace("@kernel", "# a word\n\n\n@kernel")
        file.write_text('"""What it is about."""\n' + text.replace(" + ", "  +  "))
        os.utime(file, (0, 0))
    assert run(project) == ([4, 3], NONE)


def test_a_moved_project_compiles_nothing(project: Path) -> None:
    there = project.parent / "else" / "where"
    there.parent.mkdir()
    project.rename(there)
    assert run(there) == ([4, 3], NONE)


def test_two_checkouts_share_a_folder(project: Path, compiled: Path) -> None:
    shared = str((project / ".numba_cache").rename(project.parent / "shared"))
    for checkout in (project, compiled):
        assert run(checkout, NUMBA_CACHE_DIR=shared) == ([4, 3], NONE)
    assert not (project / ".numba_cache").exists()


def test_an_edit_of_a_kernel_reaches_its_callers_and_nobody_else(project: Path) -> None:
    inner = project / "sim" / "rod" / "deep" / "inner.py"
    inner.write_text(INNER.format(10))
    assert run(project) == ([22, 3], [1, 1, 0])
    inner.write_text(INNER.format(1))
    assert run(project) == ([4, 3], NONE)  # as after a checkout of the old state


def test_another_processor_or_another_setting_of_numba_compiles_again(
    project: Path,
) -> None:
    assert run(project, NUMBA_CPU_NAME="generic")[1] == ALL
    assert run(project, NUMBA_BOUNDSCHECK="1")[1] == ALL
    assert run(project, NUMBA_NUM_THREADS="1")[1] == NONE


def test_another_numba_keeps_its_own_cache(project: Path) -> None:
    file = project / "sim" / "kernels.py"
    text = file.read_text()
    file.write_text(text.replace('KNOWN = "0.', 'KNOWN = "9.'))
    assert file.read_text() != text
    assert run(project) == ([4, 3], ALL)
    assert run(project) == ([4, 3], NONE)
    inner = project / "sim" / "rod" / "deep" / "inner.py"
    inner.write_text(INNER.format(10))
    assert run(project)[0] == [22, 3]


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


def test_a_damaged_file_is_compiled_again(project: Path) -> None:
    for file in (project / ".numba_cache").rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:-10])
    assert run(project) == ([4, 3], ALL)
    assert run(project) == ([4, 3], NONE)


def test_a_file_of_another_user_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kernel-0.nbc"
    file.write_bytes(b"")
    assert is_trusted(file)
    mine = file.stat()
    theirs = os.stat_result([*mine[:4], mine.st_uid + 1, *mine[5:]])
    monkeypatch.setattr(Path, "stat", lambda *_: theirs)
    assert not is_trusted(file)


def test_processes_that_compile_at_once_lose_nothing(project: Path) -> None:
    values = ("1.0", "True")
    code = "from sim.rod.outer import outer; print(outer({}))"
    jobs = [start(project, code.format(value)) for value in values]
    assert [float(output_of(job)) for job in jobs] == [4, 4]
    for value in values:
        results, counts = run(project, value)
        assert results == [4, 3]
        assert counts[:2] == [0, 0]


@pytest.mark.parametrize("made", [True, False])
def test_one_process_compiles_while_others_wait(project: Path, made: bool) -> None:
    (kept,) = (project / ".numba_cache").glob("sim.rod.alone-*/*.nbc")
    content = kept.read_bytes()
    kept.unlink()
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = start(project, CALL.format("1"))
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(4)
        if made:
            kept.write_bytes(content)
            assert output_of(waiting).split() == ["4", "3", "0", "0", "0"]
    if not made:  # whoever held it has ended without a result
        assert output_of(waiting).split() == ["4", "3", "0", "0", "1"]
        assert not list((project / ".numba_cache").rglob("*.lock"))


def test_two_kernels_of_one_name_are_refused(project: Path) -> None:
    twins = ALONE + ALONE[ALONE.index("\n\n@kernel") :]
    (project / "sim" / "rod" / "alone.py").write_text(twins)
    with pytest.raises(AssertionError, match=r"sim\.rod\.alone has two kernels alone"):
        output_of(start(project, "import sim.rod.alone"))


def test_states_of_a_module_long_unused_go(tmp_path: Path) -> None:
    for age in range(12):
        for module in ("sim.rod.loop", "sim.rod.loops"):
            folder = tmp_path / f"{module}-{age:016x}"
            folder.mkdir()
            os.utime(folder, (time.time() - age * 86_400,) * 2)
    _make_room(tmp_path / "sim.rod.loop-new")
    left = {folder.name for folder in tmp_path.glob("sim.rod.loop-*")}
    assert left == {"sim.rod.loop-new", *(f"sim.rod.loop-{i:016x}" for i in range(7))}
    assert len(list(tmp_path.glob("sim.rod.loops-*"))) == 12


def test_states_in_use_stay_however_many(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"sim.rod.loop-{number:016x}").mkdir()
    _make_room(tmp_path / "sim.rod.loop-new")
    assert len(list(tmp_path.iterdir())) == 13


def test_a_constant_argument_is_no_specialisation_of_its_own(project: Path) -> None:
    (project / "sim" / "rod" / "outer.py").write_text(
        OUTER.replace("2 * inner(x)", "inner(x) + inner(0) + inner(True)")
    )
    results, counts = run(project)
    assert results == [2 + 1 + 2, 3]
    assert counts == [1, 1, 0]  # inner for truth values; for integers it is there


def test_python_cannot_call_an_inner_kernel(project: Path) -> None:
    (project / "sim" / "rod" / "deep" / "inner.py").write_text(
        "from sim import kernels\n\n\n"
        "@kernels.inner\n"
        "def step(x):\n    return x + 1\n\n\n"
        "inner = step\n"
    )
    assert run(project) == ([4, 3], [1, 1, 0])
    assert run(project) == ([4, 3], NONE)
    for before in ("", "outer(1); "):
        code = f"from sim.rod.outer import inner, outer; {before}inner(1)"
        with pytest.raises(AssertionError, match="step is for other kernels only"):
            output_of(start(project, code))


def test_an_inner_kernel_is_code_for_others_and_no_machine_code(project: Path) -> None:
    (project / "sim" / "rod" / "deep" / "inner.py").write_text(
        "from sim import kernels\n\n\n"
        "@kernels.inner\n"
        "def step(x):\n    return x + 1\n\n\n"
        "inner = step\n"
    )
    code = (
        "from sim.rod.outer import outer, inner\n"
        "print(outer(1))\n"
        "(made,) = inner.overloads.values() or [None]\n"
        "defined = lambda module: sum(not f.is_declaration for f in module.functions)\n"
        "print(defined(made.library._final_module))\n"
        "print(defined(made.library._get_module_for_linking()) > 0)\n"
    )
    assert output_of(start(project, code)).split() == ["4", "0", "True"]


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
