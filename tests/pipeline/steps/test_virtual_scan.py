"""The virtual lab: what it prints, what its scanner sees, and that it says so."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from pipeline.cli.app import called
from pipeline.config.workflow_file import scanner_settings
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud
from pipeline.scans import open3d_loader
from pipeline.steps.virtual_scan import overlapping, run_step, scene_of
from pipeline.terminal import InputError
from sim.core.arrays import Floats, body_pairs
from sim.virtual_lab.assembled_part import (
    Part,
    assembled,
    printed_part,
    rod_pairs,
)
from sim.virtual_lab.lab_settings import VirtualLab
from sim.virtual_lab.scan import BAR, ScannedView, measure, views_around

LAB = VirtualLab.from_mapping(scanner_settings() | {"views": 4, "pitch_mm": 0.8})
PERFECT = replace(
    LAB, noise_mm=0.0, ripple_mm=0.0, registration_mm=0.0, registration_deg=0.0,
    mixed_pixels=0.0, outliers=0.0, drop_out=0.0,
)  # fmt: skip
NODES = np.array(  # a tetrahedron, and a link from its tip: a mechanism of 5 nodes
    [[0, 0, 0], [1, 0, 0], [0.4, 0.9, 0], [0.5, 0.3, 0.9], [1.4, 0.5, 1.2]],
    dtype=np.float64,
)
BODIES = [(0, 1, 2, 3), (3, 4)]
SQUARE = np.array([[-1, -1, -0.4], [2, -1, -0.4], [2, 2, -0.4], [-1, 2, -0.4]])
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
NO_TARGET = (np.empty((0, 3)), np.empty((0, 2), dtype=np.int64))
NO_LINKS = np.empty((0, 2), dtype=np.int64)


@pytest.fixture
def simulated(tmp_path):
    """The directory of a finished run of two steps."""
    run = tmp_path / "run"
    run.mkdir()
    steps = np.stack([2 * NODES, NODES])
    np.savez(run / "steps.npz", r=steps, target_vertices=SQUARE, target_edges=EDGES)
    (run / "structure.json").write_text(json.dumps({"bodies": BODIES}))
    return run


def part_of(nodes_mm: Floats, lab: VirtualLab = PERFECT) -> Part:
    rods = rod_pairs(nodes_mm, BODIES, NO_LINKS)
    return printed_part(nodes_mm, rods, NO_TARGET, lab)


def scanned(part: Part, lab: VirtualLab, rng: np.random.Generator) -> list[ScannedView]:
    scene = scene_of(part)
    return [
        measure(scene, part, view, lab, rng) for view in views_around(part, lab, rng)
    ]


def heights(part: Part, view: ScannedView) -> Floats:
    """Distance of each ball point from its ball's surface, outwards."""
    ball = view.solid >= 0
    to = view.points[ball] - part.spheres[view.solid[ball]]
    return np.linalg.norm(to, axis=1) - part.radius


def test_without_errors_every_ball_point_lies_on_its_ball_and_no_bar_does(rng):
    part = part_of(40 * NODES)
    for view in scanned(part, PERFECT, rng):
        assert (view.solid >= 0).sum() > 100
        assert np.abs(heights(part, view)).max() < 1e-9
        bars = view.points[view.solid == BAR]
        gap = np.linalg.norm(bars[:, None] - part.spheres, axis=2).min(axis=1)
        assert gap.min() > 0.99 * part.radius


def test_noise_has_its_size_along_the_normal(rng):
    part = part_of(40 * NODES)
    views = scanned(part, replace(PERFECT, noise_mm=0.05), rng)
    residuals = np.concatenate([heights(part, view) for view in views])
    assert len(residuals) > 1500
    assert np.std(residuals) == pytest.approx(0.05, rel=0.08)
    assert abs(residuals.mean()) < 0.01


def test_no_point_is_hidden_from_camera_or_projector_or_too_steep(rng):
    part = part_of(40 * NODES)
    scene = scene_of(part)
    for view in views_around(part, PERFECT, rng):
        seen = measure(scene, part, view, PERFECT, rng)
        ball = seen.solid >= 0
        points = seen.points[ball]
        normal = (points - part.spheres[seen.solid[ball]]) / part.radius
        for place in (view.camera, view.projector):
            ray = (place - points) / np.linalg.norm(place - points, axis=1)[:, None]
            slope = np.einsum("ij,ij->i", normal, ray)
            assert slope.min() > np.cos(np.deg2rad(PERFECT.incidence_limit_deg))
            assert scene.lit(points, place).all()


def test_a_ball_behind_another_is_not_seen():
    balls = np.array([[0.0, 0, 0], [20.0, 0, 0]])
    nothing = np.empty((0, 3))
    part = Part(balls, 6.0, nothing, nothing, np.empty(0))
    hits = scene_of(part).cast(
        np.array([-500.0, 0, 0]), np.array([[1.0, 0, 0], [0, 0, 1.0]])
    )
    assert hits.solid.tolist() == [0, -2]
    assert hits.distance[0] == pytest.approx(494.0, abs=1e-9)
    lamp = np.array([-500.0, 0, 0])
    points = np.array([[-6.0, 0, 0], [6.0, 0, 0], [14.0, 0, 0]])
    assert scene_of(part).lit(points, lamp).tolist() == [True, False, False]


def test_mixed_pixels_lie_between_a_ball_and_what_is_behind(rng):
    part = part_of(40 * NODES)
    views = scanned(part, replace(PERFECT, mixed_pixels=1.0), rng)
    mixed = np.concatenate([view.points[view.solid == -4] for view in views])
    inside = np.linalg.norm(mixed - part.centre, axis=1) < part.reach
    assert len(mixed) > 10
    assert inside.all()


def test_joint_play_leaves_bodies_rigid_and_moves_the_rest(rng):
    lab = replace(LAB, scale_sd=0.0, printing_sd_mm=0.0, joint_play_mm=0.05)
    nodes = 40 * NODES
    balls = assembled(nodes, body_pairs(BODIES), lab, rng)
    before, after = pdist(nodes), pdist(balls)
    within_bodies = np.array([1, 1, 1, 0, 1, 1, 0, 1, 0, 1], dtype=bool)
    change = np.abs(after - before)
    assert change[within_bodies].max() < 1e-3
    assert change[~within_bodies].max() > 1e-3
    assert np.abs(balls - nodes).max() < 0.3


def test_the_printing_scale_error_is_one_factor_and_moves_no_part_off_its_target(rng):
    lab = replace(LAB, scale_sd=0.01, printing_sd_mm=0.0, joint_play_mm=0.0)
    nodes = 40 * NODES + np.array([150.0, -80.0, 20.0])
    balls = assembled(nodes, body_pairs(BODIES), lab, rng)
    ratio = pdist(balls) / pdist(nodes)
    assert np.ptp(ratio) < 1e-12
    assert 0 < abs(ratio[0] - 1) < 0.05
    np.testing.assert_allclose(balls.mean(axis=0), nodes.mean(axis=0), atol=1e-9)


def test_the_target_leaves_the_balls_free():
    lab = replace(LAB, target_clearance_mm=1.5)
    balls = np.array([[0.0, 0, 0], [30.0, 0, 0]])
    line = (np.array([[-50.0, 0, 2], [50.0, 0, 2]]), np.array([[0, 1]]))
    part = printed_part(balls, NO_LINKS, line, lab)
    half = np.sqrt(7.5**2 - 2.0**2)
    expected = [[-50, -half], [half, 30 - half], [30 + half, 50]]
    found = np.column_stack([part.starts[:, 0], part.ends[:, 0]])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_nodes_at_one_place_share_a_ball():
    nodes = np.array([[0.0, 0, 0], [40, 0, 0], [40, 0, 0], [80, 0, 0]])
    rods = rod_pairs(nodes, [(0, 1), (2, 3)], np.array([[2, 1]]))
    part = printed_part(nodes, rods, NO_TARGET, LAB)
    assert len(part.spheres) == 3
    assert len(part.starts) == 2 * 3  # two rods, each with two clamps


def test_a_large_body_is_held_together_by_its_shortest_rods():
    nodes = np.array([[float(x), 0.1 * x**2, 0] for x in range(6)])
    rods = rod_pairs(nodes, [tuple(range(6))], NO_LINKS)
    assert rods.tolist() == [[i, i + 1] for i in range(5)]


def test_views_are_of_the_last_step_in_an_unknown_pose(simulated, tmp_path):
    """Each says that it is synthetic and in mm."""
    numbers = run_step(LAB, simulated, tmp_path / "scan")
    views = sorted((tmp_path / "scan").glob("*.ply"))
    assert numbers["synthetic"] is True
    assert numbers["balls"] == 5
    assert numbers["fewest_points_on_a_ball"] > 50
    assert numbers["overlapping_balls"] == 0
    assert [view.name for view in views] == [f"view_0{i}.ply" for i in range(4)]
    clouds = [read_cloud(view, Unit.MM) for view in views]
    assert all(cloud.synthetic for cloud in clouds)
    assert sum(len(cloud.points) for cloud in clouds) == numbers["points"]
    with pytest.raises(ValueError, match="E-UNIT"):
        read_cloud(views[0], Unit.M)
    truth = json.loads((tmp_path / "scan" / "truth.json").read_text())
    centres = np.array(truth["centres_mm"])
    np.testing.assert_allclose(pdist(centres), pdist(40 * NODES), atol=0.7)
    assert np.linalg.norm(centres - 40 * NODES, axis=1).min() > 5
    gaps = np.linalg.norm(clouds[0].points[:, None] - centres, axis=2) - 6.0
    assert (np.abs(gaps) < 0.2).any(axis=0).sum() >= 4


def test_balls_that_overlap_at_a_small_scale_are_counted():
    assert overlapping(part_of(40 * NODES)) == 0
    assert overlapping(part_of(11 * NODES)) == 7  # seven distances are below 12 mm


def test_one_seed_gives_one_scan(simulated, tmp_path):
    scans = []
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        run_step(replace(LAB, seed=seed, views=1), simulated, tmp_path / name)
        scans.append((tmp_path / name / "view_00.ply").read_bytes())
    assert scans[0] == scans[1]
    assert scans[0] != scans[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"noise": 1.0}, "no 'noise'"),
        ({"views": None}, "needs views"),
        ({"noise_mm": -0.1}, "noise_mm must be 0 or more, not -0.1"),
        ({"ball_radius_mm": 0}, "ball_radius_mm must be positive"),
        ({"views": 2.5}, "views must be from 1 to 100, not 2.5"),
        ({"views": 0}, "views must be from 1 to 100, not 0"),
        ({"outliers": 1.5}, "outliers must be a share"),
        ({"seed": "one"}, "seed must be a whole number from 0 up, not the text 'one'"),
        ({"incidence_limit_deg": 95.0}, "at most 89"),
    ],
)
def test_a_lab_that_cannot_be_is_refused(change, said):
    settings = (scanner_settings() | change).items()
    with pytest.raises(ValueError, match=said):
        VirtualLab.from_mapping({k: v for k, v in settings if v is not None})


def test_the_command_line_scans_a_run(simulated, tmp_path, capsys):
    lab = tmp_path / "lab.yaml"
    lines = (f"{name}: {value}" for name, value in scanner_settings().items())
    lab.write_text("\n".join(lines).replace("views: 10", "views: 2"))
    out = tmp_path / "scan"
    words = [str(simulated), "--out", str(out), "--config", str(lab)]
    assert called(["virtual_scan", *words, "--scale-mm", "30", "--seed", "5"]) == 0
    said = capsys.readouterr().out
    assert f"synthetic: {len(NODES)} spheres in 2 views of " in said
    assert f"ingest {out}/*.ply --sphere-radius-mm 6 --unit mm" in said
    truth = json.loads((out / "truth.json").read_text())
    assert truth["lab"]["seed"] == 5
    centres = np.array(truth["centres_mm"])
    np.testing.assert_allclose(pdist(centres), pdist(30 * NODES), atol=0.6)


def test_an_open3d_that_cannot_be_loaded_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "open3d", None)
    with pytest.raises(InputError, match=r"cannot be loaded.*install libegl1 libgl1"):
        open3d_loader.open3d()


def test_importing_the_step_imports_no_open3d():
    code = (
        "import sys, pipeline.steps.virtual_scan, pipeline.steps.ingest\n"
        "sys.exit('open3d' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0
