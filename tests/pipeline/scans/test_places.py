"""Poses in files are where the scanner stood, unless what it saw says otherwise."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.spheres.detections import PickOptions
from analysis.spheres.find import find_spheres
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import Cloud, read_clouds
from pipeline.scans.merge_views import stated_places
from pipeline.scans.sphere_tables import read_spheres
from pipeline.steps.ingest import run_step
from pipeline.steps.settings import Ingest
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from tests.pipeline.io.test_several_scans import ptx

CENTRES = np.array(
    [[0.0, 0, 0], [40, 5, 0], [10, 35, 8], [45, 40, -5], [22, 20, 30], [60, 15, 20]]
)
R = 6.0
PLACES = np.array([[300.0, -60.0, 260.0], [-260.0, 180.0, 240.0]])


def seen_from(place: Floats, rng: np.random.Generator) -> Floats:
    """Points on the balls as a scanner there sees them, with noise along its rays."""
    u = rng.standard_normal((len(CENTRES), 2500, 3))
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    x = (CENTRES[:, None] + R * u).reshape(-1, 3)
    ray = x - place
    ray /= np.linalg.norm(ray, axis=1)[:, None]
    cos = -np.einsum("ij,ij->i", u.reshape(-1, 3), ray)
    kept = rng.random(len(x)) < np.where(cos > 0.3, cos, 0.0)
    return x[kept] + 0.1 * rng.standard_normal((int(kept.sum()), 1)) * ray[kept]


def write_scans(path: Path, stated: Floats, rng: np.random.Generator) -> None:
    """Two scans in the common frame, from the places that are stated."""
    scans = [seen_from(place, rng) for place in PLACES]
    turns = [np.eye(3), np.eye(3)]
    path.write_text(
        "".join(
            ptx(scan - at, turn, at)
            for scan, turn, at in zip(scans, turns, stated, strict=True)
        )
    )


def centres_of(path: Path, places: Floats | None) -> Floats:
    clouds = read_clouds(path, Unit.MM)
    view = np.repeat([0, 1], [len(cloud.points) for cloud in clouds])
    points = np.concatenate([cloud.points for cloud in clouds])
    return find_spheres(points, PickOptions(R), view, places).centres


@pytest.mark.parametrize("stated", [PLACES, np.array([[0.0, 0, 0], [20, 20, 5]])])
def test_places_are_used_unless_balls_were_seen_from_behind(tmp_path, rng, stated):
    path = tmp_path / "a.ptx"
    write_scans(path, stated, rng)
    numbers = run_step(Ingest(R, "mm"), [path], tmp_path / "out")
    found = read_spheres(tmp_path / "out").centres_mm
    right = stated is PLACES
    np.testing.assert_allclose(
        found, centres_of(path, PLACES if right else None), atol=1e-6
    )
    other = centres_of(path, None if right else PLACES)
    assert np.abs(found - other).max() > 1e-5
    warning = "a.ptx #1, a.ptx #2: the stated scanner positions are not used, because"
    assert (warning in numbers["notes"]) != right


def test_a_single_posed_scan_is_seen_from_its_place(tmp_path, rng):
    path = tmp_path / "a.ptx"
    points = seen_from(PLACES[0], rng)
    path.write_text(ptx(points - PLACES[0], np.eye(3), PLACES[0]))
    run_step(Ingest(R, "mm"), [path], tmp_path / "out")
    (cloud,) = read_clouds(path, Unit.MM)
    expected = find_spheres(cloud.points, PickOptions(R), None, PLACES[:1]).centres
    found = read_spheres(tmp_path / "out").centres_mm
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_only_files_with_poses_state_places():
    def cloud(form: str, at: tuple[float, float, float] | None) -> Cloud:
        empty = np.empty((0, 3))
        return Cloud(empty, Path("a"), Unit.MM, form, 0, False, (), at)

    posed = [cloud("e57", (1.0, 2.0, 3.0)), cloud("ptx", (4.0, 5.0, 6.0))]
    np.testing.assert_array_equal(stated_places(posed), [[1, 2, 3], [4, 5, 6]])
    assert stated_places([*posed, cloud("e57", None)]) is None
    assert stated_places([*posed, cloud("ply", (1.0, 2.0, 3.0))]) is None


def test_the_scanner_s_place_is_that_of_one_scan(tmp_path, rng):
    points, path = seen_from(PLACES[0], rng), tmp_path / "a.npy"
    np.save(path, points)
    plain = Ingest(R, "mm", scanner_at_mm=(300.0, -60.0, 260.0))
    behind = replace(plain, scanner_at_mm=(-300.0, 60.0, -260.0))
    numbers = run_step(behind, [path], tmp_path / "own")
    assert "scanner positions are not used" in numbers["notes"]
    two = tmp_path / "b.npy"
    np.save(two, points + 0.01)
    with pytest.raises(InputError, match="but 2 views were read"):
        run_step(plain, [path, two], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_place_is_three_numbers():
    with pytest.raises(ValueError, match="give x, y, z"):
        Ingest(R, "mm", scanner_at_mm=(0.0, 0.0, float("nan")))
