"""What `import morphtrack as mt` offers, in a folder without a project."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import morphtrack as mt
from tests.pipeline.conftest import ROOT

RADIUS_MM, SCALE_MM = 6.0, 40.0


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def case() -> mt.Morph:
    sheet = mt.mechanisms.triangle_sheet(rows=1, columns=1, variation=0.1, seed=1)
    aim = mt.targets.Cylinder(2.0, [0.05, 0.03, -2.0], [1.0, 0.05, 0.0])
    return mt.Morph(sheet, target=aim)


def scan(run: mt.Run, folder: Path) -> Path:
    """Points on spheres at the nodes of a run."""
    rng = np.random.default_rng(0)
    centres = SCALE_MM * run.arrays["r"][-1]
    ways = rng.standard_normal((len(centres), 600, 3))
    ways /= np.linalg.norm(ways, axis=2, keepdims=True)
    noise = 0.05 * rng.standard_normal(ways.shape)
    points = centres[:, None] + RADIUS_MM * ways + noise
    path = folder / f"{run.key}.xyz"
    np.savetxt(path, points.reshape(-1, 3), fmt="%.4f")
    return path


def test_a_run_has_steps_arrays_and_a_result():
    run = mt.simulate(case())
    assert run.path == Path("results/runs") / run.key
    assert run.result["E"] == run.steps["E"].iloc[-1] < 1e-3
    assert run.arrays["r"].shape == (len(run.steps), 18, 3)
    assert repr(run).startswith(f"<Run morph {run.key}: target reached: node ")


def test_a_run_is_computed_once():
    first = mt.simulate(case())
    again = mt.simulate(case(), name="sheet")
    assert again.path == first.path
    assert again.record["started"] == first.record["started"]
    assert sorted(p.name for p in Path("results/runs").iterdir()) == [first.key]


def test_a_run_is_found_by_name_key_and_folder():
    run = mt.simulate(case(), name="sheet")
    for name in ("sheet", "own/sheet", run.key, run.key[:8], run.path):
        assert mt.load_run(name).key == run.key
    with pytest.raises(mt.InputError, match="unknown run 'sheat': did you mean"):
        mt.load_run("sheat")
    with pytest.raises(mt.InputError, match="becomes the name of a folder"):
        mt.simulate(case(), name="../../sheet")


def test_runs_can_be_below_another_folder(folder):
    run = mt.simulate(case(), results=folder / "elsewhere")
    assert run.path.parent == folder / "elsewhere/runs"
    assert not Path("results").exists()


def test_a_sheet_folds_and_a_robot_moves():
    pattern = mt.patterns.miura(2, 2, width=0.02, height=0.02, angle=60.0)
    folded = mt.simulate(mt.Fold(pattern, fraction=0.2, increments=2))
    assert folded.result["steps"] == len(folded.steps) - 1 == 2
    robot = mt.robots.from_nodes(
        [[0.0, 0.0], [0.02, 0.0], [0.04, 0.0]], held=[0], duration=0.01, every=1
    )
    moved = mt.simulate(robot)
    assert moved.steps["y_c"].iloc[-1] < 0.0  # it falls
    drawn = mt.robots.from_file(str(ROOT / "conf/robot/cantilever.yaml"), duration=0.01)
    assert mt.simulate(drawn).steps["time"].iloc[-1] == pytest.approx(0.01)


def test_a_scan_of_the_run_agrees(folder):
    run = mt.simulate(case())
    found = mt.find_spheres(scan(run, folder), radius_mm=RADIUS_MM, unit="mm")
    assert len(found.table) == len(run.arrays["r"][-1])
    made = mt.compare(run, found, scale_mm=SCALE_MM, node_margin_mm=3.0)
    assert mt.load_run(made.key).verdict == made.verdict == "agrees"
    assert {"spheres": found.key, "simulated": run.key} == made.record["needs"]


def test_a_picture_shows_the_shape_and_the_numbers():
    run = mt.simulate(case())
    figure = mt.plot(run)
    assert len(figure.axes) >= 2
    assert run._repr_png_().startswith(b"\x89PNG")


def test_what_is_no_case_and_no_scan_is_refused():
    sheet = mt.mechanisms.triangle_sheet(rows=1, columns=1)
    with pytest.raises(mt.InputError, match=r"Structure is not a case: give one, such"):
        mt.simulate(sheet)  # type: ignore[arg-type]
    with pytest.raises(mt.InputError, match="no scan is named"):
        mt.find_spheres([], radius_mm=6.0, unit="mm")
    with pytest.raises(mt.InputError, match=r"gone\.ply cannot be read"):
        mt.find_spheres("gone.ply", radius_mm=6.0, unit="mm")


def test_a_failed_run_says_where_its_steps_are():
    from dataclasses import replace

    with pytest.raises(mt.RunFailedError, match=r"see results/failed/"):
        mt.simulate(replace(case(), max_steps=2, tolerance=1e-15))


@pytest.mark.slow
def test_an_installed_wheel_needs_no_clone(folder):
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    copy = folder / "source"
    copy.mkdir()
    for name in ("sim", "analysis", "pipeline"):
        shutil.copytree(ROOT / name, copy / name)
    for name in ("morphtrack.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    subprocess.run([*pip, "-q", "-w", folder, copy], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "installed")
    program = (
        "import morphtrack as mt; "
        "sheet = mt.mechanisms.triangle_sheet(rows=1, columns=1); "
        "run = mt.simulate(mt.Morph(sheet, target=mt.targets.Cylinder(radius=2.0))); "
        "print(mt.__file__, run.path); mt.plot(run)"
    )
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=elsewhere,
        env=os.environ | {"PYTHONPATH": str(folder / "installed")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.startswith(str(folder / "installed/morphtrack.py"))
