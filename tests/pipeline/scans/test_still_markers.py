"""Markers enter a comparison where spheres do."""

import numpy as np
import pandas as pd
import pytest

from pipeline.cli.app import called
from pipeline.scans.sphere_tables import read_spheres
from pipeline.scans.still_markers import StillMarkers, run_step
from pipeline.steps.compare import run_step as compare
from pipeline.steps.settings import ComparisonSettings
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_run


def table_of(path, places_mm, names):
    """The places of markers (f, m, 3), 100 frames a second; nan where one is lost."""
    cells = [f"{name}_{axis}_mm" for name in names for axis in "xyz"]
    frames = pd.DataFrame(places_mm.reshape(len(places_mm), -1), columns=cells)
    frames.insert(0, "time_s", np.arange(len(places_mm)) / 100.0)
    frames.to_csv(path, index=False)
    return path


def still(path, centres_mm, rng, frames=20, sd_mm=0.05):
    """Markers that stand still but for noise."""
    noise = sd_mm * rng.standard_normal((frames, *centres_mm.shape))
    names = [f"m{k}" for k in range(len(centres_mm))]
    return table_of(path, centres_mm + noise, names)


def test_markers_of_the_simulated_shape_agree(tmp_path, rng):
    predicted, other = random_mechanism(15, rng)
    run = write_run(tmp_path / "run", predicted, other)
    centres = scanned(predicted.nodes_mm, rng).centres_mm
    file = still(tmp_path / "a.csv", centres, rng)
    words = ["--marker-sd-mm", "0.1", "--out", str(tmp_path / "found")]
    assert called(["ingest", str(file), *words]) == 0
    table = read_spheres(tmp_path / "found")
    assert np.abs(table.centres_mm - centres).max() < 0.1
    assert not table.synthetic
    config = ComparisonSettings(SCALE_MM, node_margin_mm=1.0)
    row = compare(config, tmp_path / "found", run, tmp_path / "out")
    assert row["verdict"] == "agrees"
    assert row["labelled"] == 15
    named = pd.read_csv(tmp_path / "found" / "markers.csv")
    assert named.marker.tolist()[:2] == ["m0", "m1"]


def test_a_covariance_holds_the_scatter_and_what_all_frames_share(tmp_path, rng):
    centres = rng.uniform(-200.0, 200.0, (3, 3))
    file = still(tmp_path / "a.csv", centres, rng, frames=4000, sd_mm=0.5)
    run_step(StillMarkers(0.2), file, tmp_path / "found")
    found = read_spheres(tmp_path / "found").covariances_mm2
    expected = (0.5**2 + 0.2**2) * np.eye(3)
    np.testing.assert_allclose(found, np.tile(expected, (3, 1, 1)), atol=0.03)


def test_only_the_frames_asked_for_count(tmp_path, rng):
    centres = rng.uniform(-200.0, 200.0, (3, 3))
    places = np.stack([centres] * 4 + [centres + 50.0] * 4)
    path = table_of(tmp_path / "a.csv", places, ["a", "b", "c"])
    numbers = run_step(StillMarkers(0.2, 0.0, 0.035), path, tmp_path / "found")
    assert numbers["frames"] == 4
    found = read_spheres(tmp_path / "found").centres_mm
    np.testing.assert_allclose(found, centres, atol=1e-3)


def gaps(path, places_mm):
    """Three markers a, b and c, where a place that is nan is lost."""
    return table_of(path, places_mm, ["a", "b", "c"])


def test_frames_that_lack_a_marker_are_left_out_of_it_alone_and_counted(
    tmp_path, rng, capsys
):
    centres = rng.uniform(-200.0, 200.0, (3, 3))
    places = centres + 0.5 * rng.standard_normal((12, 3, 3))
    places[3, 0] = places[5:8, 2] = np.nan
    file = gaps(tmp_path / "a.csv", places)
    words = ["--marker-sd-mm", "0.2", "--out", str(tmp_path / "found")]
    assert called(["ingest", str(file), *words]) == 0
    assert "lost in some frames: a in 1, c in 3;" in capsys.readouterr().out
    found = read_spheres(tmp_path / "found")
    np.testing.assert_allclose(found.centres_mm, np.nanmean(places, axis=0), atol=1e-3)
    seen = np.delete(places[:, 2], [5, 6, 7], axis=0)
    expected = np.cov(seen.T) + 0.2**2 * np.eye(3)
    np.testing.assert_allclose(found.covariances_mm2[2], expected, atol=1e-3)
    table = pd.read_csv(tmp_path / "found" / "markers.csv")
    assert table.frames_lost.tolist() == [1, 0, 3]


def test_a_marker_s_name_may_have_commas_and_quotes(tmp_path):
    names = ["arm, left", '"b"', "c"]
    path = table_of(tmp_path / "a.csv", np.zeros((4, 3, 3)) + np.arange(3.0), names)
    run_step(StillMarkers(0.2), path, tmp_path / "found")
    table = pd.read_csv(tmp_path / "found" / "markers.csv")
    assert table.marker.tolist() == names
    assert table.frames_lost.tolist() == [0, 0, 0]


def test_a_marker_of_few_frames_has_the_scatter_of_all(tmp_path, rng):
    places = 0.5 * rng.standard_normal((2000, 3, 3))
    places[1:, 1] = np.nan
    run_step(StillMarkers(0.2), gaps(tmp_path / "a.csv", places), tmp_path / "found")
    found = read_spheres(tmp_path / "found").covariances_mm2[1]
    np.testing.assert_allclose(found, (0.5**2 + 0.2**2) * np.eye(3), atol=0.03)


def test_a_marker_that_no_frame_sees_is_refused_by_name(tmp_path, rng, capsys):
    places = rng.uniform(-9.0, 9.0, (6, 3, 3))
    places[:3, 1] = np.nan
    file = gaps(tmp_path / "a.csv", places)
    words = ["--marker-sd-mm", "1", "--to-s", "0.025", "--out", str(tmp_path / "found")]
    assert called(["ingest", str(file), *words]) == 2
    told = capsys.readouterr().err
    assert "marker b is lost in all 3 frames from 0 to 0.02 s: choose other" in told
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--marker-sd-mm", "0"], "--marker-sd-mm must be positive, not 0"),
        (
            ["--marker-sd-mm", "1", "--from-s", "9"],
            "has no frame from 9 to inf s: choose",
        ),
        (
            ["--marker-sd-mm", "1", "--from-s", "2", "--to-s", "1"],
            "no frame is between 2.0",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, rng, capsys, words, said):
    file = still(tmp_path / "a.csv", rng.uniform(-9.0, 9.0, (3, 3)), rng)
    assert called(["ingest", str(file), "--out", str(tmp_path / "found"), *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "found").exists()


def test_a_frame_at_zero_of_a_marker_that_is_elsewhere_is_lost(tmp_path, rng):
    centres = rng.uniform(20.0, 200.0, (3, 3))
    centres[2] = 0.0  # a marker that is always there
    places = np.repeat(centres[None], 8, axis=0)
    places[2:5, 1] = 0.0
    file = table_of(tmp_path / "a.csv", places, ["a", "b", "c"])
    run_step(StillMarkers(0.1), file, tmp_path / "found")
    found = read_spheres(tmp_path / "found").centres_mm
    np.testing.assert_allclose(found, centres, atol=1e-9)
    lost = pd.read_csv(tmp_path / "found" / "markers.csv").frames_lost
    assert lost.tolist() == [0, 3, 0]
