"""A ball bar beside a print: the scanner's scale is corrected, and honestly unknown."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from pipeline.commands import compare
from pipeline.results.simulated_run import read_simulated
from pipeline.steps import ingest
from pipeline.steps.compare import ComparisonSettings, run_step
from pipeline.steps.ingest import Ingest
from pipeline.steps.virtual_scan import scanner_settings, scene_of, write_view
from sim.lab.measure import measure
from sim.lab.part import printed_part, rod_pairs
from sim.lab.scanner import VirtualLab
from sim.lab.views import views_around
from tests.analysis.mechanisms import Scan, random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run

LENGTH_MM, SCALE = 150.0, 1.001
PLAIN = ComparisonSettings(
    SCALE_MM,
    joint_play_sd_mm=0.05,
    node_margin_mm=1.0,
    print_scale_sd=1e-5,
    S_margin=0.0015,
)
WITH_BAR = replace(PLAIN, ball_bar_mm=LENGTH_MM, ball_bar_u_mm=0.002, ball_bar="bar-1")


def beside_a_bar(nodes_mm, rng, scale=SCALE, length_mm=LENGTH_MM):
    """A scan of nodes and of a bar, by a scanner whose scale is off."""
    bar = nodes_mm.mean(axis=0) + np.array([[0, 0, 120.0], [length_mm, 0, 120.0]])
    return scanned(scale * np.vstack([nodes_mm, bar]), rng)


@pytest.fixture
def printed(tmp_path, rng):
    """A run, its nodes, and a place for scans and outcomes."""
    predicted, other = random_mechanism(15, rng)
    return write_run(tmp_path / "run", predicted, other), predicted.nodes_mm, tmp_path


def judged(printed, rng, config, **scan):
    run, nodes, place = printed
    spheres = write_ingest(place / "ingest", beside_a_bar(nodes, rng, **scan))
    return run_step(config, spheres, run, place / "out")


def test_with_the_bar_the_verdict_is_right(printed, rng):
    row = judged(printed, rng, WITH_BAR)
    assert row["verdict"] == "agrees"
    assert row["scan_scale"] == pytest.approx(1 / SCALE, abs=3 * row["scan_scale_u"])
    assert row["scan_scale_u"] < 4e-4
    assert abs(row["S_error"]) < 2 * row["S_u_val"]
    assert row["spheres"] == 15
    assert "times as scanned, by the ball bar bar-1 (spheres " in row["why"]
    budget = pd.read_csv(printed[2] / "out" / "budget.csv").set_index("source")
    assert budget.learnt["scale of the scanner"] == "ball bar bar-1"


def test_without_the_bar_it_is_honest(printed, rng):
    row = judged(printed, rng, PLAIN)
    assert row["verdict"] == "cannot tell"
    assert "the scanner's scale is not stated, with 0.1 % assumed" in row["why"]
    certified = replace(PLAIN, scan_mpe_mm=0.5, scan_mpe_length_mm=300.0)
    row = judged(printed, rng, replace(certified, scan_certificate="certificate C-1"))
    assert row["verdict"] != "differs"
    budget = pd.read_csv(printed[2] / "out" / "budget.csv").set_index("source")
    assert budget.learnt["scale of the scanner"] == "certificate C-1"
    proud = replace(PLAIN, scan_mpe_mm=0.01, scan_mpe_length_mm=300.0)
    assert judged(printed, rng, proud)["verdict"] == "differs"


@pytest.mark.parametrize(
    ("scan", "said"),
    [
        ({"length_mm": 149.0}, "no two of the 2 spheres that are no node's are 150 mm"),
        ({"length_mm": 149.0}, "the nearest are 149.0"),
        ({"scale": 1.02}, "no two of the 2 spheres"),
    ],
)
def test_a_bar_that_is_not_there_is_not_used(printed, rng, scan, said):
    row = judged(printed, rng, replace(WITH_BAR, print_scale_sd=0.02), **scan)
    assert said in row["why"]
    assert "scan_scale" not in row


def test_a_certificate_that_the_bar_contradicts_is_named(printed, rng):
    proud = replace(WITH_BAR, scan_mpe_mm=0.01, scan_mpe_length_mm=300.0)
    row = judged(printed, rng, proud, scale=1.002)
    assert "which contradicts the 0.0019 % stated" in row["why"]
    assert row["verdict"] == "agrees"


def test_the_form_error_of_a_certificate_enters_every_centre(printed, rng):
    formed = replace(WITH_BAR, scan_form_mpe_mm=0.06)
    config = replace(formed, scan_certificate="certificate C-1")
    row = judged(printed, rng, config)
    budget = pd.read_csv(printed[2] / "out" / "budget.csv").set_index("source")
    line = budget.loc["form error of the scanner"]
    assert line.node_u_mm == pytest.approx(0.06 / 2, rel=0.1)  # less the alignment's
    assert line.learnt == "certificate C-1"
    parts = budget.drop(index=["u_val", "k = 2 times u_val"])["S_u"]
    assert np.sqrt((parts**2).sum()) == pytest.approx(row["S_u_val"])


@pytest.mark.parametrize(
    ("half", "said"),
    [
        ({"ball_bar_mm": 150.0}, "give both, they belong together"),
        ({"ball_bar_mm": -1.0, "ball_bar_u_mm": 0.1}, "a ball bar of -1.0 mm"),
    ],
)
def test_half_a_bar_is_refused(half, said):
    with pytest.raises(ValueError, match=said):
        replace(PLAIN, **half)


def test_the_command_takes_the_bench_of_a_real_scan(printed, rng, project, capsys):
    run, nodes, place = printed
    words = ["--simulated", str(run), "--out", str(place / "out"), "--scale-mm", "40"]
    bar = {"name": "bar-1", "length_mm": LENGTH_MM, "U_mm": 0.004}
    (project / "conf" / "lab.yaml").write_text(yaml.safe_dump({"ball_bar": bar}))
    scan: Scan = beside_a_bar(nodes, rng)
    for synthetic, more, said in (
        (False, [], True),
        (True, [], False),
        (True, ["--lab", "conf/lab.yaml"], True),
    ):
        spheres = write_ingest(place / "ingest", scan, synthetic=synthetic)
        assert compare.main(["--spheres", str(spheres), *words, *more]) == 0
        assert ("ball bar bar-1" in capsys.readouterr().out) == said
    assert compare.main(["--spheres", str(spheres), *words, "--lab", "no.yaml"]) == 2
    assert "no.yaml does not exist" in capsys.readouterr().err


def scanned_by_rays(nodes_mm, bodies, rng, place):
    """Views of a print and of a bar, cast and then 0.1 % too large; its ingest."""
    lab = VirtualLab.from_mapping(scanner_settings() | {"views": 8, "pitch_mm": 0.8})
    bar = np.array([[0, 0, -80.0], [LENGTH_MM, 0, -80.0]]) + nodes_mm.min(axis=0)
    rods = rod_pairs(nodes_mm, bodies, np.empty((0, 2), dtype=np.int64))
    no_target = (np.empty((0, 3)), np.empty((0, 2), dtype=np.int64))
    printed = printed_part(nodes_mm, rods, no_target, lab.sizes)
    whole = replace(printed, balls=np.vstack([nodes_mm, bar]))
    scene, files = scene_of(whole), []
    for number, view in enumerate(views_around(whole, lab, rng)):
        seen = measure(scene, whole, view, lab, rng)
        files.append(place / f"view_{number}.ply")
        write_view(files[-1], replace(seen, points=SCALE * seen.points), lab)
    ingest.run_step(Ingest(sphere_radius_mm=6.0, unit="mm"), files, place / "found")
    return place / "found"


@pytest.mark.long
def test_a_bar_that_the_scanner_saw_gives_its_scale(printed, rng):
    """The whole way from points; balls come out 0.1 % large too."""
    run, nodes, place = printed
    found = scanned_by_rays(nodes, read_simulated(run).bodies, rng, place)
    row = run_step(WITH_BAR, found, run, place / "out")
    assert row["scan_scale"] == pytest.approx(1 / SCALE, abs=3 * row["scan_scale_u"])
    assert row["scan_scale_u"] < 1e-4
    assert row["verdict"] == "agrees"
    alone = run_step(PLAIN, found, run, place / "out")
    assert alone["verdict"] == "cannot tell"
    assert "the scanner's scale is not stated" in alone["why"]
