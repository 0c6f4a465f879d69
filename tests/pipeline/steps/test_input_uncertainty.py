import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.io.structure_file import document
from pipeline.runs.case_job import sound_case
from pipeline.steps.input_uncertainty import read_printed_again, run_step
from pipeline.steps.settings import InputUncertainty
from pipeline.terminal import InputError
from tests.sim.mechanism.random_structures import random_structure

GALLERY = Path("conf/structure")
RANGES = [("bricard", [2, 10, 0.8, 1.2]), ("four_bar", [0, 2, 3.0, 4.0])]
SCALE_MM = 40.0
CONFIG = InputUncertainty(SCALE_MM, draws=6)
CASE = {
    "_target_": "pipeline.cases.morph.MorphCase",
    "structure": {
        "_target_": "sim.mechanism.named_structures.triangle_sheet",
        "rows": 1,
        "columns": 1,
        "variation": 0.1,
        "seed": 1,
    },
    "target": {
        "_target_": "sim.mechanism.targets.analytic_surfaces.Circle",
        "radius": 1.9,
        "centre": [0.1, 0.06, 0.0],
    },
}


@pytest.fixture
def run(tmp_path):
    """A finished run of a small sheet."""
    return finished(tmp_path / "run", CASE)


def of_file(path):
    """The case of a structure file."""
    return {
        "_target_": "pipeline.cases.morph.MorphCase",
        "structure": {
            "_target_": "pipeline.io.structure_file.structure_file",
            "path": str(path),
        },
        "method": "newton",
    }


def finished(directory, described):
    """A finished run of a case."""
    directory.mkdir()
    config = {"case": described}
    case = sound_case(config)
    r = np.array([step.r for step in case.steps()])
    np.savez(directory / "steps.npz", r=r)
    for name, content in case.recorder().documents().items():
        (directory / name).write_text(json.dumps(content, default=np.ndarray.tolist))
    record = {"key": "k", "status": "finished", "config": config, "result": {}}
    (directory / "run.json").write_text(json.dumps(record))
    return directory


def test_printing_errors_become_a_covariance_of_the_shape_at_its_scale(run, tmp_path):
    numbers = run_step(CONFIG, run, tmp_path / "out")
    nodes = SCALE_MM * np.load(run / "steps.npz")["r"][-1]
    covariance = read_printed_again(tmp_path / "out", nodes).covariance
    assert covariance.shape == (nodes.size, nodes.size)
    assert numbers["node_u_mm"] == pytest.approx(
        np.sqrt(np.trace(covariance) / len(nodes))
    )
    assert 0.01 < numbers["node_u_mm"] < 10.0
    with pytest.raises(InputError, match="another run or another scale_mm"):
        read_printed_again(tmp_path / "out", nodes * 39.0 / SCALE_MM)


def test_twice_the_printing_error_gives_twice_the_uncertainty(run, tmp_path):
    small, large = (
        run_step(InputUncertainty(SCALE_MM, sd, 0.0, draws=6), run, tmp_path / str(sd))
        for sd in (0.001, 0.002)
    )
    assert large["node_u_mm"] == pytest.approx(2 * small["node_u_mm"], rel=0.1)


def test_the_scatter_of_a_newton_morph_is_that_of_its_own_minimum(tmp_path):
    """Another minimum is as far away whatever the errors: u / sd would not stay."""
    path = tmp_path / "made.json"
    path.write_text(json.dumps(document(random_structure(0)), default=list))
    beside = {
        "_target_": "sim.mechanism.targets.analytic_surfaces.Ellipsoid",
        "semi_axes": [1.6, 1.3, 1.0],
        "centre": [0.0, 0.0, -1.2],
    }
    run = finished(tmp_path / "run", of_file(path) | {"target": beside})
    u = [
        run_step(InputUncertainty(1.0, sd, 0.0, draws=4), run, tmp_path / str(sd))
        for sd in (1e-3, 1e-4)
    ]
    assert u[0]["node_u_mm"] < 0.02
    assert u[0]["node_u_mm"] == pytest.approx(10 * u[1]["node_u_mm"], rel=0.3)


@pytest.mark.parametrize("name", ["sarrus", "bennett", "bricard"])
def test_a_loop_that_is_held_once_too_often_closes_and_moves_in_every_print(
    name, tmp_path
):
    run = finished(tmp_path / "run", of_file(GALLERY / f"{name}.yaml"))
    config = InputUncertainty(SCALE_MM, draws=4)
    numbers = run_step(config, run, tmp_path / "out")
    assert numbers["not_converged"] == 0
    assert 0.1 < numbers["node_u_mm"] / config.length_sd_mm < 10.0


@pytest.mark.parametrize(("name", "between"), RANGES)
def test_the_range_of_a_printed_loop_is_not_left_at_its_start(name, between, tmp_path):
    content = yaml.safe_load((GALLERY / f"{name}.yaml").read_text())
    content["unit"] = "mm"
    content["ranges"] = {"length": [between]}
    path = tmp_path / "ranged.yaml"
    path.write_text(yaml.safe_dump(content))
    run = finished(tmp_path / "run", of_file(path))
    config = InputUncertainty(SCALE_MM, 0.099, 0.0, draws=4)
    numbers = run_step(config, run, tmp_path / "out")
    assert numbers["not_converged"] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"draws": 1}, "draws must be a whole number from 2 up, not 1"),
        ({"scale_mm": 0.0}, "scale_mm must be positive, not 0"),
        ({"printing_sd_mm": -1.0}, "printing_sd_mm must be 0 or more"),
    ],
)
def test_settings_are_checked(change, said):
    with pytest.raises(ValueError, match=said):
        InputUncertainty(**({"scale_mm": 40.0} | change))


def test_the_command_says_how_large_it_is(run, tmp_path, capsys):
    words = ["--simulated", str(run), "--out", str(tmp_path / "out")]
    assert (
        called(["input_uncertainty", *words, "--scale-mm", "40", "--draws", "3"]) == 0
    )
    assert "; 3 prints simulated, 0 without a result)" in capsys.readouterr().out
