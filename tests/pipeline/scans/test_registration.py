"""Views in frames of their own are laid on each other by the spheres they share."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from analysis.alignment import fit_rigid_motion
from analysis.labels.assign_labels import label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.spheres.detections import PickOptions
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import Cloud, read_cloud
from pipeline.scans.merge_views import registered
from pipeline.steps.ingest import run_step
from pipeline.steps.settings import Ingest
from pipeline.terminal import InputError
from tests.analysis.spheres.scenes import Parts, Scanner, VirtualScan, scan, tree
from tests.helpers.detection_errors import shape_error

OPTIONS = PickOptions(radius_mm=6.0)
SCANNER = Scanner(views=3, pixels=(240, 180))


def saved(rng: np.random.Generator, seen: VirtualScan, folder: Path) -> list[Path]:
    """A file for each view, turned and shifted at random."""
    paths = []
    for v in range(SCANNER.views):
        turn, shift = Rotation.random(random_state=rng), rng.uniform(-300, 300, 3)
        paths.append(folder / f"{v}.npy")
        np.save(paths[-1], turn.apply(seen.points[seen.view == v]) + shift)
    return paths


def read(paths: list[Path]) -> list[Cloud]:
    return [read_cloud(path, Unit.MM) for path in paths]


def ring(count: int) -> Parts:
    """Balls on a circle, alike but for where the numbering begins."""
    angle = 2 * np.pi * np.arange(count) / count
    circle = 60.0 * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    return Parts(circle, 6.0, np.empty((0, 7)), "none", np.zeros(3))


@pytest.mark.parametrize("target", ["none", "plane"])
def test_views_in_any_frames_are_registered(rng, tmp_path, target):
    seen = scan(rng, tree(rng, 16, target), SCANNER)
    clouds, rms_mm = registered(read(saved(rng, seen, tmp_path)), OPTIONS)
    x = np.concatenate([cloud.points for cloud in clouds])
    y = np.concatenate([seen.points[seen.view == v] for v in range(SCANNER.views)])
    _, left = Rotation.align_vectors(x - x.mean(axis=0), y - y.mean(axis=0))
    assert left / np.sqrt(len(x)) < 0.1
    assert 0.0 < rms_mm < 0.1
    notes = [note for cloud in clouds for note in cloud.notes]
    assert len(notes) == 2
    assert all(note.startswith("registered by ") for note in notes)


def test_a_scanner_moves_with_its_view(rng, tmp_path):
    seen = scan(rng, tree(rng, 16), SCANNER)
    before = [
        replace(cloud, viewpoint=tuple(cloud.points[0].tolist()))
        for cloud in read(saved(rng, seen, tmp_path))
    ]
    after, _ = registered(before, OPTIONS)
    for cloud in after:
        np.testing.assert_allclose(cloud.viewpoint, cloud.points[0], atol=1e-9)


def test_views_of_different_things_are_refused(rng, tmp_path):
    paths = []
    for number in range(2):
        paths.append(tmp_path / f"{number}.npy")
        np.save(paths[-1], scan(rng, tree(rng, 12), SCANNER).points)
    with pytest.raises(InputError, match=r"E-NO-OVERLAP .*\.npy: shares too few"):
        registered(read(paths), OPTIONS)


def test_a_symmetric_scene_is_refused(rng, tmp_path):
    paths = saved(rng, scan(rng, ring(8), SCANNER), tmp_path)
    with pytest.raises(InputError, match=r"E-NO-OVERLAP .* in several ways"):
        registered(read(paths), OPTIONS)


def test_views_of_another_state_do_not_fit(rng, tmp_path):
    """Half of the spheres are 0.3 mm off in the second view."""
    parts = tree(rng, 12)
    moved = parts.centres.copy()
    moved[::2] += 0.3 * rng.choice([-1.0, 1.0], moved[::2].shape)
    paths = []
    for number, centres in enumerate((parts.centres, moved)):
        alone = replace(parts, centres=centres, rods=parts.rods[:0])
        paths.append(tmp_path / f"{number}.npy")
        np.save(paths[-1], scan(rng, alone, SCANNER).points)
    with pytest.raises(InputError, match=r"E-NO-OVERLAP .* worse than its noise"):
        registered(read(paths), OPTIONS)


def test_ingest_registers_views_and_states_honest_covariances(rng, tmp_path):
    seen = scan(rng, tree(rng, 16), SCANNER)
    paths, out = saved(rng, seen, tmp_path), tmp_path / "out"
    config = Ingest(sphere_radius_mm=6.0, unit="mm")
    with pytest.raises(InputError, match=r"E-NO-OVERLAP .* use --register"):
        run_step(config, paths, out)
    run_step(replace(config, register=True), paths, out)
    with np.load(out / "covariance.npz") as file:
        centres, covariance = file["centres_mm"], file["covariance_mm2"]
    assert len(centres) >= 12
    whole = Mechanism(seen.parts.centres, (tuple(range(16)),))
    labels = label_spheres(
        whole, centres, 1e-3 * np.tile(np.eye(3), (len(centres), 1, 1))
    )
    true = labels.labelled
    found = labels.sphere[true]
    rows = (3 * found[:, None] + np.arange(3)).ravel()
    motion = fit_rigid_motion(centres[found], seen.parts.centres[true])
    nees, rms_mm = shape_error(
        motion(centres[found]),
        seen.parts.centres[true],
        motion.turn_covariance(covariance[np.ix_(rows, rows)]),
    )
    assert len(true) >= 12
    assert rms_mm < 0.05
    assert 0.4 < nees < 2.0  # 99.9 % of chi squared of 30 degrees of freedom or more


@pytest.mark.parametrize("register", [False, True])
def test_ingest_names_a_view_that_is_misplaced(rng, tmp_path, register):
    """The last of three views is 1 mm and 1 degree off."""
    seen = scan(rng, tree(rng, 12), SCANNER)
    turn = Rotation.from_rotvec(np.deg2rad([0.6, 0.0, 0.8]))
    off = np.array([0.0, 0.6, -0.8])
    paths = [tmp_path / f"{v}.npy" for v in range(SCANNER.views)]
    for v, path in enumerate(paths):
        x = seen.points[seen.view == v]
        np.save(path, turn.apply(x) + off if v == 2 else x)
    config = Ingest(sphere_radius_mm=6.0, unit="mm", register=register)
    numbers = run_step(config, paths, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "views.csv")
    assert list(table["view"]) == ["0.npy", "1.npy", "2.npy"]
    remark = numbers["registration_remark"]
    if register:
        assert remark == ""
        assert (table["off_mm"] < table["allowed_mm"]).all()
        return
    assert remark.startswith("misplaced views were moved onto the others: 2.npy by ")
    assert ".npy" not in remark.partition("2.npy")[2]
    assert remark.endswith("between scans, or rerun with --register")
    angle, u = table["angle_deg"][2], table["angle_u_deg"][2]
    assert abs(angle - 1.0) < 4 * u < 0.2
