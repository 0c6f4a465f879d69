"""Markers enter a comparison where spheres do."""

import numpy as np
import pandas as pd
import pytest

from pipeline.commands.markers import main
from pipeline.scans.spheres import read_spheres
from pipeline.steps.compare import ComparisonSettings
from pipeline.steps.compare import run_step as compare
from pipeline.steps.still_markers import StillMarkers, run_step
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_run
from tests.pipeline.formats.motion.c3d_writer import c3d_file


def still(path, centres_mm, rng, frames=20, sd_mm=0.05):
    """Markers that stand still but for noise."""
    noise = sd_mm * rng.standard_normal((frames, *centres_mm.shape))
    names = [f"m{k}" for k in range(len(centres_mm))]
    path.write_bytes(c3d_file(centres_mm + noise, names))
    return path


def test_markers_of_the_simulated_shape_agree(tmp_path, rng):
    predicted, other = random_mechanism(15, rng)
    run = write_run(tmp_path / "run", predicted, other)
    centres = scanned(predicted.nodes_mm, rng).centres_mm
    file = still(tmp_path / "a.c3d", centres, rng)
    assert main([str(file), "--sd-mm", "0.1", "--out", str(tmp_path / "found")]) == 0
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
    file = still(tmp_path / "a.c3d", centres, rng, frames=4000, sd_mm=0.5)
    run_step(StillMarkers(0.2), file, tmp_path / "found")
    found = read_spheres(tmp_path / "found").covariances_mm2
    expected = (0.5**2 + 0.2**2) * np.eye(3)
    np.testing.assert_allclose(found, np.tile(expected, (3, 1, 1)), atol=0.03)


def test_only_the_frames_asked_for_count(tmp_path, rng):
    centres = rng.uniform(-200.0, 200.0, (3, 3))
    places = np.stack([centres] * 4 + [centres + 50.0] * 4)
    path = tmp_path / "a.c3d"
    path.write_bytes(c3d_file(places, ["a", "b", "c"]))
    numbers = run_step(StillMarkers(0.2, 0.0, 0.035), path, tmp_path / "found")
    assert numbers["frames"] == 4
    found = read_spheres(tmp_path / "found").centres_mm
    np.testing.assert_allclose(found, centres, atol=1e-3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sd-mm", "0"], "sd_mm must be positive, not 0"),
        (["--sd-mm", "1", "--from-s", "9"], "has no frame from 9 to inf s: it goes"),
        (["--sd-mm", "1", "--from-s", "2", "--to-s", "1"], "no frame lies from 2.0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, rng, capsys, words, said):
    file = still(tmp_path / "a.c3d", rng.uniform(-9.0, 9.0, (3, 3)), rng)
    assert main([str(file), "--out", str(tmp_path / "found"), *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "found").exists()
