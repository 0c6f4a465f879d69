"""What is asked for, and that what stands first in conf/workflow.yaml is made first."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.terminal.errors import InputError
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.order import asked, in_order, ranks
from tests.pipeline.conftest import ROOT


def entry(**reads: list[str]) -> dict[str, Any]:
    return {"reads": reads, "study": ""}


PLAN: dict[str, Any] = {
    "names": {
        "simulate/late": entry(),
        "simulate/shared": entry(),
        "simulate/early": entry(),
        "compare/scan": entry(simulated=["simulate/shared"]),
        "compare_series/way": entry(simulated=["simulate/late"]),
        "figure/last": entry(simulated=["simulate/late", "simulate/shared"]),
        "figure/first": entry(simulated=["simulate/early"]),
        "figure/of-scans": entry(comparisons=["compare/scan"]),
    },
    "comparisons": {"scan": []},
    "figures": ["first", "of-scans", "last"],
}


def test_comparisons_come_first_then_each_figure_with_what_it_shows() -> None:
    assert in_order(PLAN) == [
        "simulate/shared",
        "compare/scan",
        "figure/of-scans",
        "simulate/early",
        "figure/first",
        "simulate/late",
        "figure/last",
        "compare_series/way",
    ]
    rank = ranks(PLAN)
    assert sorted(rank, key=rank.__getitem__, reverse=True) == in_order(PLAN)


def test_the_comparisons_are_asked_for_with_their_figures_alone() -> None:
    assert asked(PLAN, "comparisons") == ["compare/scan", "figure/of-scans"]
    with pytest.raises(InputError, match="has no comparisons"):
        asked(PLAN | {"comparisons": {}}, "comparisons")
    with pytest.raises(InputError, match="did you mean first"):
        asked(PLAN, "frist")


THREE = {
    "figures": {
        name: {"cases": {"law": ["case=actuator_law", f"case.count={count}"]}}
        for name, count in (("huang-4", 11), ("rod-motion", 12), ("huang-3", 13))
    },
}


def test_snakemake_makes_first_what_the_first_figure_shows(project: Path) -> None:
    (project / "conf" / "workflow.yaml").write_text(
        yaml.safe_dump(THREE, sort_keys=False)
    )
    plan_without_compiling()
    wanted = [f"simulate/{figure}.law" for figure in THREE["figures"]]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock"]
        + [f"results/made/{name}" for name in reversed(wanted)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    begun = {
        record["name"]: record["started"]
        for path in Path("results/runs").glob("*/run.json")
        if (record := json.loads(path.read_text()))
    }
    assert [
        f"simulate/{name}" for name in sorted(begun, key=begun.__getitem__)
    ] == wanted


LISTENER = """
import os
import signal
from numba.core import event

class Heard(event.Listener):
    def on_start(self, told):
        with open(os.environ["COMPILED"], "a") as file:
            print(told.data["dispatcher"], file=file)

    def on_end(self, told):
        pass

event.register("numba:compile", Heard())
"""
BUILT = {  # cases whose checks call kernels of every solver
    "dejong-2": ["triangles_circle"],
    "design": ["design_sheet"],
    "reachable-shapes": ["reachable_sheet"],
    "stiffness": ["hinged_sheet"],
    "dejong-5": ["finger"],
    "zhu-filipov-9": ["box_corner"],
    "huang-4": ["star_robot"],
}


def test_planning_compiles_no_kernel(project: Path, tmp_path: Path) -> None:
    figures = {name: {"cases": cases} for name, cases in BUILT.items()}
    (project / "conf" / "workflow.yaml").write_text(
        yaml.safe_dump({"figures": figures})
    )
    listening = tmp_path / "listening"
    listening.mkdir()
    (listening / "sitecustomize.py").write_text(LISTENER)
    heard, cache = tmp_path / "compiled", tmp_path / "cache"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{listening}{os.pathsep}{ROOT}",
        "COMPILED": str(heard),
        "NUMBA_CACHE_DIR": str(cache),
    }

    def ran(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert f"\n{2 * len(BUILT)} wanted\n" in ran("-m", "pipeline", "plan")
    assert not heard.exists(), heard.read_text()
    kept = {path.suffix for path in cache.rglob("*") if path.is_file()}
    assert kept <= {".json"}  # what was read of modules, no machine code
    ran("-c", "import numba; numba.njit(lambda x: x)(1)")
    assert heard.exists()  # whatever is compiled is heard of


@pytest.mark.slow
def test_ctrl_c_says_one_line_and_leaves_nothing_running(project: Path) -> None:
    """As a terminal sends it: to everything that the command has started."""
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(THREE))
    started = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "make"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    log = Path("results/log/snakemake.log")
    end = time.monotonic() + 300
    while not (log.is_file() and "rule simulate" in log.read_text()):
        assert started.poll() is None, started.communicate()[0]
        assert time.monotonic() < end, "Snakemake did not begin"
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    others = [line for line in said.splitlines()[:-1] if not line.startswith("[")]
    assert others == []
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
