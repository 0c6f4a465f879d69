"""`morphtrack simulate`, run as a user runs it."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.helpers.tables import rows_of
from tests.pipeline.conftest import refusal

CASE = "case=triangles_cylinder"


def test_a_run_is_where_hydra_is_told_to_put_it(command, project):
    done = command("simulate", CASE, "hydra.run.dir=here")
    assert done.returncode == 0, done.stderr
    record = json.loads((project / "here" / "run.json").read_text())
    assert record["status"] == "finished"
    assert record["result"]["stop"] == "change"
    assert {"E", "S", "residual", "mobility"} <= set(record["result"])
    rows = rows_of(project / "here" / "steps.csv")
    with np.load(project / "here" / "steps.npz") as steps:
        assert steps["r"].shape == (len(rows), record["result"]["nodes"], 3)
    assert float(rows[0]["S"]) == pytest.approx(1.0, abs=1e-12)
    assert float(rows[-1]["S"]) == record["result"]["S"]


UNUSED = (
    "mlflow", "open3d", "pandas", "pydantic", "snakemake", "trimesh",
    "sim.linalg.sparse_ldl", "sim.mechanism.constraint_system", "sim.origami",
    "sim.rods.space",
)  # fmt: skip


def test_a_robot_of_rods_imports_no_package_that_it_does_not_use(command):
    """Drawn, too: what is imported is half of what a warm run costs.

    Kernels that are kept are read without what numba needs to compile them.
    """
    code = (
        "import sys\n"
        "from pipeline.cli.simulate import simulate\n"
        "status = simulate(['case=star_robot', 'case.duration=0.02'])\n"
        f"print(status, sorted(set({UNUSED}) & set(sys.modules)), len(sys.modules))"
    )
    assert command("simulate", "case=star_robot", "case.duration=0.01").returncode == 0
    line = [sys.executable, "-c", code]  # what had to be compiled is
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "picture " in done.stdout, done.stderr
    said, _, count = done.stdout.splitlines()[-1].rpartition(" ")
    assert said == "0 []"
    assert int(count) < 1300  # numba reads a kernel with the modules it was made of


def test_a_folder_that_holds_something_else_is_left_alone(command, project):
    (project / "mine").mkdir()
    (project / "mine" / "notes.txt").write_text("mine")
    said = refusal(command("simulate", CASE, "hydra.run.dir=mine"))
    assert "mine is not empty" in said
    assert [p.name for p in (project / "mine").iterdir()] == ["notes.txt"]


def test_simulating_imports_no_heavy_tool():
    code = (
        "import sys\n"
        "from pipeline.cli.app import called\n"
        "called(['simulate', 'case=triangles_cylinder', '--cfg', 'job'])\n"
        "import pipeline.cases.morph\n"
        "print(sorted({'mlflow', 'open3d', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")


def test_a_key_that_stands_twice_is_named_with_its_line(command, project):
    path = project / "conf" / "case" / "triangles_cylinder.yaml"
    path.write_text(path.read_text() + "target: twice\n")
    lines = path.read_text().count("\n")
    where = f"conf/case/triangles_cylinder.yaml, line {lines}: 'target' appears twice"
    for words in (["simulate", CASE], ["mobility", CASE]):
        assert where in refusal(command(*words))


@pytest.mark.parametrize(
    "words",
    [
        ["--hydra-help"],
        ["--version"],
        ["--shell-completion", "install=bash"],
        ["--multirun", "case=glob(pent*)"],
        ["case=pentapod", "--multirun", "hydra.sweeper.max_batch_size=1"],
        ["--multirun", "case=pentapod", "+hydra.sweeper.params={record_every:100}"],
    ],
)
def test_what_hydra_offers_is_not_refused(command, words):
    done = command("simulate", *words)
    assert (done.returncode, done.stderr) == (0, "")
