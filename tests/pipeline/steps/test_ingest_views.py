"""Views that are no views: one given twice, some that nothing ties together."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline.cli.app import called
from pipeline.io.point_cloud import RepeatThresholds
from pipeline.scans.sphere_tables import read_spheres
from pipeline.steps.ingest import run_step
from pipeline.steps.settings import Ingest
from pipeline.terminal import InputError
from tests.analysis.spheres.scenes import seen_around
from tests.pipeline.steps.test_ingest import CENTRES, balls, saved, words

AWAY = CENTRES + np.array([300.0, 0, 0])
Refuses = Callable[[list[str]], str]


@pytest.fixture
def refuses(tmp_path, refused):
    """The one line that is said when these files are refused as views."""

    def run(scans: list[str]) -> str:
        out = tmp_path / "refused"
        said = refused("ingest", scans[0], *words(scans[1], out))
        assert not out.exists()
        return said

    return run


@pytest.fixture
def seen(rng, tmp_path):
    """One view of six balls."""
    np.save(tmp_path / "seen.npy", balls(rng).astype("<f4"))
    return tmp_path / "seen.npy"


def test_a_view_given_twice_is_refused_under_any_name_and_in_any_format(
    seen, tmp_path, refuses, rng
):
    points = np.load(seen)
    other = tmp_path / "other.npy"
    other.write_bytes(seen.read_bytes())
    shuffled = saved(tmp_path / "text.xyz", rng.permutation(points))
    part = tmp_path / "part.npy"
    np.save(part, points[:6000])
    for again in (str(seen), str(other), shuffled, str(part)):
        assert "E-REPEATED" in refuses([str(seen), again])


def test_views_in_metres_are_no_repeats_of_one_another(tmp_path, refuses, rng):
    files = [
        saved(tmp_path / f"{name}.xyz", np.round(balls(rng), 1) / 1000)
        for name in ("front", "back")
    ]
    said = refuses(files)
    assert "E-UNIT" in said
    assert "--unit m if" in said


def test_points_that_a_merged_cloud_holds_twice_count_once(seen, tmp_path, rng):
    points = np.load(seen)
    twice = tmp_path / "twice.npy"
    np.save(twice, rng.permutation(np.concatenate([points, points])))
    once = run_step(Ingest(6.0, "mm"), [seen], tmp_path / "a")
    numbers = run_step(Ingest(6.0, "mm"), [twice], tmp_path / "b")
    assert once["notes"] == ""
    assert numbers["notes"] == (
        f"twice.npy: {len(points)} of {2 * len(points)} points repeat others and were "
        "dropped"
    )
    assert numbers["dropped"] == len(points)
    assert numbers["centre_sd_mm"] == pytest.approx(once["centre_sd_mm"], rel=0.05)


def test_repeats_are_noticed_in_a_sample_of_a_large_cloud(
    seen, tmp_path, refuses, monkeypatch
):
    monkeypatch.setattr(
        "pipeline.scans.merge_views.REPEAT", RepeatThresholds(every=100)
    )
    points = np.load(seen)
    np.save(tmp_path / "b.npy", points)
    assert "E-REPEATED" in refuses([str(seen), str(tmp_path / "b.npy")])
    np.save(tmp_path / "c.npy", np.concatenate([points, points[:3000]]))
    numbers = run_step(Ingest(6.0, "mm"), [tmp_path / "c.npy"], tmp_path / "found")
    assert "3000 of 18000 points repeat others" in numbers["notes"]


def test_views_that_no_sphere_ties_together_are_refused(seen, tmp_path, refuses, rng):
    away = tmp_path / "away.npy"
    np.save(away, balls(rng, AWAY))
    said = refuses([str(seen), str(away)])
    assert f"E-NO-OVERLAP {away}: shares no sphere with {seen}, not even" in said
    tie = tmp_path / "tie.npy"
    both = np.concatenate([CENTRES, AWAY])
    np.save(tie, balls(rng, both))
    numbers = run_step(Ingest(6.0, "mm"), [seen, away, tie], tmp_path / "found")
    assert numbers["spheres"] == len(both)


def test_a_view_without_a_sphere_is_mentioned(seen, tmp_path, rng):
    wall = tmp_path / "wall.npy"
    np.save(wall, rng.uniform(0, 60, (4000, 3)) * [1, 1, 0] - [0, 0, 30])
    numbers = run_step(Ingest(6.0, "mm"), [seen, wall], tmp_path / "found")
    assert numbers["notes"] == "wall.npy: no sphere was found in this view"


def saved_views(rng: np.random.Generator, folder: Path) -> list[Path]:
    """Six balls of 6 mm from six sides, a file each."""
    points, view = seen_around(rng, noise=0.05, off=0.05)
    paths = [folder / f"{v}.npy" for v in range(6)]
    for v, path in enumerate(paths):
        np.save(path, points[view == v])
    return paths


def test_a_radius_that_the_views_contradict_is_refused(rng, tmp_path):
    told = r"E-RADIUS .* have the radius ([\d.]+) \+- ([\d.]+) mm, 1\.03\d times 5.8 mm"
    with pytest.raises(InputError, match=told) as refused:
        run_step(Ingest(5.8, "mm"), saved_views(rng, tmp_path), tmp_path / "found")
    found = re.search(told, str(refused.value))
    assert found is not None
    radius, sd = map(float, found.groups())
    assert abs(radius - 6.0) < 2 * sd < 0.02


def test_a_radius_that_is_a_little_off_is_told_down_to_the_verdict(
    rng, tmp_path, capsys
):
    scans = [str(path) for path in saved_views(rng, tmp_path)]
    out = str(tmp_path / "found")
    words = [*scans, "--sphere-radius-mm", "5.965", "--unit", "mm", "--out", out]
    assert called(["ingest", *words]) == 0
    said = capsys.readouterr().out
    assert "warning: the spheres are 1.00" in said
    assert "not 5.965: ingest with --sphere-radius-mm 6" in said
    assert read_spheres(tmp_path / "found").remark in said
    words[words.index("5.965")] = "6"
    assert called(["ingest", *words]) == 0
    assert "warning" not in capsys.readouterr().out
    assert read_spheres(tmp_path / "found").remark == ""
