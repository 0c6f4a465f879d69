"""From a simulated end state by way of a synthetic scan to E of the scan."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.cli.app import called
from pipeline.config.workflow_file import scanner_settings
from pipeline.steps import compare, deviation, ingest, virtual_scan
from pipeline.terminal import InputError
from sim.mechanism.targets.analytic_surfaces import Cylinder
from sim.virtual_lab.lab_settings import VirtualLab

SCALE_MM = 40.0
LAB = VirtualLab.from_mapping(
    scanner_settings() | {"views": 6, "pitch_mm": 0.6, "seed": 3}
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One directory with a run, its scan, the spheres and the comparison."""
    folder = tmp_path_factory.mktemp("chain")
    one_hexagon = ["case.structure.rows=1", "case.structure.columns=1"]
    words = ["case=triangles_cylinder", *one_hexagon, f"hydra.run.dir={folder}/run"]
    assert called(["simulate", *words]) == 0
    virtual_scan.run_step(LAB, folder / "run", folder / "scan")
    views = sorted((folder / "scan").glob("*.ply"))
    ingest.run_step(ingest.Ingest(6.0, "mm"), views, folder / "spheres")
    comparison = compare.ComparisonSettings(SCALE_MM)
    compare.run_step(
        comparison, folder / "spheres", folder / "run", folder / "compared"
    )
    return folder


def words(folder: Path, out: Path, **changed: str) -> list[str]:
    named = {
        "--spheres": str(folder / "spheres"),
        "--simulated": str(folder / "run"),
        "--scale-mm": "40",
        "--out": str(out),
    } | {f"--{name}": value for name, value in changed.items()}
    return [word for pair in named.items() for word in pair]


def test_ball_centres_come_back_to_a_few_hundredths_of_a_mm(measured):
    truth = json.loads((measured / "scan" / "truth.json").read_text())
    table = pd.read_csv(measured / "spheres" / "spheres.csv")
    found = table[["x_mm", "y_mm", "z_mm"]].to_numpy()
    true = np.array(truth["centres_mm"])
    apart = np.linalg.norm(true[:, None] - found, axis=2)
    assert len(found) == len(true) == 18
    assert apart.min(axis=1).max() < 0.06


def test_the_target_and_E_of_the_scan_are_those_of_the_lab(measured, tmp_path):
    numbers = deviation.run_step(
        deviation.Deviation(SCALE_MM),
        measured / "spheres", measured / "run", tmp_path,
    )  # fmt: skip
    truth = json.loads((measured / "scan" / "truth.json").read_text())
    with np.load(measured / "run" / "steps.npz") as steps:
        nodes, first = SCALE_MM * steps["r"][-1], steps["r"][0]
    target = json.loads((measured / "run" / "run.json").read_text())["config"]["case"][
        "target"
    ]
    cylinder = Cylinder(target["radius"], target["centre"], target["axis"])
    shift = np.array(truth["shift_mm"])
    local = (np.array(truth["centres_mm"]) - shift) @ np.array(truth["rotation"])
    local += nodes.mean(axis=0)
    away = local - SCALE_MM * cylinder.closest(local / SCALE_MM)
    L_mm = SCALE_MM * np.sqrt(
        np.mean(np.sum((first - first.mean(axis=0)) ** 2, axis=1))
    )
    E_true = np.sqrt(np.mean(np.sum(away**2, axis=1))) / L_mm
    assert numbers["synthetic"] is True
    assert numbers["nodes"] == 18
    assert numbers["E_scanned"] == pytest.approx(E_true, abs=0.02 / L_mm)
    assert numbers["bar_radius_mm"] == pytest.approx(LAB.target_radius_mm, abs=0.05)
    names = {"deviation.png", "deviation.npz", "nodes.csv", "target.json"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_the_labelled_picture_names_the_nodes(measured):
    page = (measured / "compared" / "labels.html").read_text()
    found = re.search(r"const data = (.*);\n", page)
    assert found is not None
    shown = {s["name"]: s["centre"] for s in json.loads(found.group(1))["spheres"]}
    row = pd.read_csv(measured / "compared" / "comparison.csv").iloc[0]
    said = f"{row.verdict}: 18 of 18 nodes labelled, node {row.worst_node} is off"
    assert said in page
    nodes = pd.read_csv(measured / "compared" / "nodes.csv")
    for row in nodes[nodes["basis"] == "seen"].itertuples():
        place = [row.scanned_x_mm, row.scanned_y_mm, row.scanned_z_mm]
        np.testing.assert_allclose(shown[str(row.node)], place, atol=1e-6)
    assert (measured / "compared" / "labels.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scale-mm": "-40"}, "--scale-mm must be positive, not -40"),
        ({"spheres": "nowhere"}, "nowhere is not a folder: give one that a step wrote"),
        ({"simulated": "nowhere"}, "nowhere"),
    ],
)
def test_what_cannot_be_measured_is_refused(measured, tmp_path, changed, said, refused):
    out = tmp_path / "out"
    assert said in refused("deviation", *words(measured, out, **changed))
    assert not out.exists()


def test_a_run_of_another_structure_says_so(measured, tmp_path, capsys):
    other = tmp_path / "run"
    other.mkdir()
    with np.load(measured / "run" / "steps.npz") as steps:
        arrays = {**steps, "r": steps["r"][:, :5]}
    np.savez(other / "steps.npz", **arrays)
    for name in ("structure.json", "steps.csv", "run.json"):
        (other / name).write_bytes((measured / "run" / name).read_bytes())
    out = tmp_path / "out"
    assert called(["deviation", *words(measured, out, simulated=str(other))]) == 0
    assert "names node 5, but the structure has nodes 0 to 4" in capsys.readouterr().out


@pytest.fixture(scope="module")
def with_target(measured):
    """The same directory, with the target measured and taken into a comparison."""
    config = compare.ComparisonSettings(SCALE_MM)
    run, spheres, found = (measured / x for x in ("run", "spheres", "deviation"))
    numbers = deviation.measure_or_say_why(
        deviation.Deviation(SCALE_MM), spheres, run, found
    )
    assert numbers["placed"] is True
    compare.run_step(config, spheres, run, measured / "judged", deviation=found)
    return measured


def test_E_belongs_to_the_verdict_where_the_scan_shows_the_target(with_target):
    row = pd.read_csv(with_target / "judged" / "comparison.csv").iloc[0]
    found = json.loads((with_target / "deviation" / "target.json").read_text())
    steps = pd.read_csv(with_target / "run" / "steps.csv")
    assert row["verdict"] == "agrees"
    assert row["E_scanned"] == pytest.approx(found["E_scanned"], rel=1e-9)
    assert row["E_simulated"] == pytest.approx(steps["E"].iloc[-1], abs=1e-9)
    assert row["E_error"] == pytest.approx(row["E_simulated"] - row["E_scanned"])
    assert abs(row["E_error"]) < row["E_limit"]
    assert "|E error| + k u" in row["why"]
    budget = pd.read_csv(with_target / "judged" / "budget.csv").set_index("source")
    assert budget.loc["pose of the target", "E_u"] > 0
    assert budget.loc["pose of the target", "S_u"] == 0
    parts = budget.drop(index=["u_val", "k = 2 times u_val"])["E_u"]
    total = budget.loc["u_val", "E_u"]
    assert np.sqrt((parts**2).sum()) == pytest.approx(total, rel=1e-9)


def test_a_scan_beside_another_target_differs_by_E(with_target, tmp_path):
    """The target shifted by 2 mm across its axis: no node moved, so only E tells."""
    folder = tmp_path / "shifted"
    folder.mkdir()
    target = json.loads((with_target / "deviation" / "target.json").read_text())
    across = np.array(target["pose"]["rotation"])[:, 2]
    moved = np.array(target["pose"]["translation_mm"]) + 2.0 * across
    target["pose"]["translation_mm"] = moved.tolist()
    (folder / "target.json").write_text(json.dumps(target))
    row = compare.run_step(
        compare.ComparisonSettings(SCALE_MM),
        with_target / "spheres", with_target / "run",
        tmp_path / "out", deviation=folder,
    )  # fmt: skip
    assert row["verdict"] == "differs"
    assert row["why"].startswith("E off by")


def test_a_scan_without_the_target_is_compared_and_says_so(with_target, tmp_path):
    spheres = tmp_path / "spheres"
    shutil.copytree(with_target / "spheres", spheres)
    points = np.load(spheres / "points.npy")
    np.save(spheres / "points.npy", points[:100])
    run, found = with_target / "run", tmp_path / "deviation"
    said = deviation.measure_or_say_why(
        deviation.Deviation(SCALE_MM), spheres, run, found
    )
    assert said["placed"] is False
    row = compare.run_step(
        compare.ComparisonSettings(SCALE_MM), spheres, run, tmp_path / "out",
        deviation=found,
    )  # fmt: skip
    assert row["verdict"] == "agrees"
    assert np.isnan(row["E_scanned"])
    assert "is the target in the scan?" in row["E_missing"]


def test_a_target_of_another_scan_is_refused(with_target, tmp_path):
    spheres = tmp_path / "spheres"
    shutil.copytree(with_target / "spheres", spheres)
    table = (spheres / "spheres.csv").read_text()
    (spheres / "spheres.csv").write_text(table + "\n")
    deviation = with_target / "deviation"
    with pytest.raises(InputError, match="another scan or another scale_mm"):
        compare.run_step(
            compare.ComparisonSettings(SCALE_MM), spheres, with_target / "run",
            tmp_path / "out", deviation=deviation,
        )  # fmt: skip
