"""The inspection report: what it says, of which scan, by which bench."""

import json
import re
import shutil

import numpy as np
import pytest
import yaml

from analysis.spheres.cells import even_directions
from pipeline.commands.inspect import main
from pipeline.store.bench import Lab
from pipeline.store.bench_tags import bench_tags
from tests.analysis.mechanisms import Scan
from tests.pipeline.comparison_files import write_ingest
from tests.pipeline.store.test_bench import WHOLE

CENTRES = np.array([[0.0, 0, 0], [150.0, 0, 0], [0, 50.0, 0], [40.0, 0, 30.0]])
STATED = {k: v for k, v in WHOLE.items() if k != "ball_bar"}


@pytest.fixture
def ingest(project):
    """The folder of an ingest of four balls, and conf with a bench."""
    covariances = np.tile(1e-4 * np.eye(3), (4, 1, 1))
    scan = Scan(CENTRES, covariances, np.arange(4))
    folder = write_ingest(project / "found", scan, synthetic=False)
    (folder / "rejected.csv").write_text("x_mm,y_mm,z_mm,reason,detail,points\n")
    points = CENTRES[:, None] + 6.01 * even_directions(400)
    np.save(folder / "points.npy", points.reshape(-1, 3))
    (project / "conf" / "lab.yaml").write_text(yaml.safe_dump(STATED))
    return folder


def report(ingest, *words):
    assert main([str(ingest), "--out", "out", *words]) == 0
    text = (ingest.parent / "out" / "inspection.html").read_text()
    return re.sub(r"base64,[\w+/=]+", "", text)


def test_the_report_names_instrument_certificate_and_operator(ingest):
    said = report(ingest)
    assert "M S1 serial number 4711" in said
    assert "certificate C-1 of 2026-01-15, L, ISO 10360-13" in said
    assert "Ada Example 0000-0002-1825-0097" in said
    assert "20.4 degrees Celsius" in said
    assert "synthetic" not in said
    assert "<td>150.0000</td>" in said
    # (2e-4 + 2 (0.02 / sqrt 12)^2 + (150 * 0.05 / 250 / sqrt 3)^2)^0.5 * 2
    u = np.sqrt(2e-4 + 2 * 0.02**2 / 12 + (150 * 0.05 / 250 / np.sqrt(3)) ** 2)
    assert f"<td>{2 * u:.4f}</td>" in said
    assert "No tolerances were given" in said


def test_nothing_stated_is_said_so_and_assumed(ingest):
    (ingest.parent / "conf" / "lab.yaml").unlink()
    said = report(ingest)
    assert said.count("not stated") >= 8
    assert "assumed, 0.1 %: no certificate is stated" in said


def test_a_ball_bar_scales_the_lengths(ingest):
    bar = {"name": "bar-1", "length_mm": 150.15, "U_mm": 0.002}
    lab = ingest.parent / "conf" / "lab.yaml"
    lab.write_text(yaml.safe_dump({"ball_bar": bar}))
    said = report(ingest)
    assert "lengths below are 1.001000 times as scanned" in said
    assert "<td>150.1500</td>" in said
    assert "ball bar bar-1 (spheres 0 and 1)" in said
    lab.write_text(yaml.safe_dump({"ball_bar": {**bar, "length_mm": 149.0}}))
    assert "bar-1 is not used: no pairs of spheres are " in report(ingest)


def test_files_of_an_ingest_by_hand_are_named_with_their_digests(ingest):
    (ingest / "scans.json").write_text('[["front.ply", "%s"]]' % ("0f" * 32))
    said = report(ingest)
    assert "Inspection of front.ply" in said
    assert "0f" * 32 in said


def test_conformity_is_decided_where_limits_are_given(ingest, capsys):
    (ingest.parent / "limits.csv").write_text(
        "from,to,lower_mm,upper_mm\n0,1,149.9,150.1\n0,2,50.01,50.2\n0,3,50.2,50.4\n"
    )
    said = report(ingest, "--tolerances", "limits.csv")
    decisions = re.findall(r'"text">(conforms|does not conform|not decided)<', said)
    assert decisions == ["conforms", "not decided", "does not conform"]
    assert "1 of 3 toleranced lengths: not decided" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("from,to,lower_mm\n", "has no column upper_mm"),
        ("from,to,lower_mm,upper_mm\n0,9,1,2\n", "has no sphere '9'"),
        ("from,to,lower_mm,upper_mm\n0,1,2,1\n", "a lower limit below the upper one"),
        ("from,to,lower_mm,upper_mm\n0,1,-0.1,0.1\n", "limits of the length"),
        ("from,to,lower_mm,upper_mm\n", "has no row"),
        ("from,to,lower_mm,upper_mm\n0,1,.149,.151\n0,2,.04,.06\n", "limits in mm"),
    ],
)
def test_limits_that_are_none_are_refused_in_one_line(ingest, capsys, rows, said):
    (ingest.parent / "limits.csv").write_text(rows)
    words = [str(ingest), "--out", "out", "--tolerances", "limits.csv"]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (ingest.parent / "out").exists()


def test_the_bench_that_a_run_recorded_stands_before_that_of_now(ingest):
    tags = bench_tags(Lab.model_validate({"scanner": {"serial_number": "old-1"}}))
    record = {"key": "k", "paths": ["a.ply"], "identity": {"files": ["f00d"]}}
    (ingest / "run.json").write_text(json.dumps({**record, "tags": tags}))
    said = report(ingest)
    assert "serial number old-1" in said
    assert "4711" not in said
    assert "SHA-256 f00d" in said


def test_files_without_a_radius_are_refused(ingest, capsys):
    assert main([str(ingest / "points.npy"), "--out", "out"]) == 2
    assert "give --sphere-radius-mm and --unit too" in capsys.readouterr().err


def test_a_radius_for_an_ingest_that_knows_its_own_is_refused(ingest, capsys):
    assert main([str(ingest), "--out", "out", "--sphere-radius-mm", "5"]) == 2
    assert "which knows its radius" in capsys.readouterr().err


def test_it_is_printed_where_a_browser_is_there(ingest, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert main([str(ingest), "--out", "out", "--pdf"]) == 2
    assert "--pdf needs Chromium" in capsys.readouterr().err
