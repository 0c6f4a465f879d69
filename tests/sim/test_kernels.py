import subprocess
import sys
from pathlib import Path

SHARED = "from sim.kernels import kernel\n@kernel\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from sim.kernels import kernel\n"
    "from sim.rod.inner import inner\n"
    "@kernel\n"
    "def outer(x):\n"
    "    return 2 * inner(x)\n"
)


def run(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from sim.rod.outer import outer; print(outer(1))"],
        cwd=folder,
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_an_edit_of_a_kernel_reaches_its_callers_in_other_files(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parent.parent.parent
    (tmp_path / "sim" / "rod").mkdir(parents=True)
    (tmp_path / "sim" / "__init__.py").touch()
    (tmp_path / "sim" / "rod" / "__init__.py").touch()
    (tmp_path / "sim" / "rod" / "outer.py").write_text(CALLER)
    kernels = (here / "sim" / "kernels.py").read_text()
    (tmp_path / "sim" / "kernels.py").write_text(kernels)
    inner = tmp_path / "sim" / "rod" / "inner.py"
    inner.write_text(SHARED.format(1))
    assert run(tmp_path) == "4"
    assert len(list((tmp_path / ".numba_cache").iterdir())) == 1
    inner.write_text(SHARED.format(10))
    assert run(tmp_path) == "22"
