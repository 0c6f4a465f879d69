"""The page of a scan: complete in itself, and honest about what it shows."""

import base64
import json
import re

import numpy as np

from analysis.spheres.detections import FittedSphere, Picks, Rejected, RejectionReason
from pipeline.scans.scan_page import scan_page
from sim.core.arrays import Floats

SPHERE = FittedSphere(
    np.array([1.0, 2.0, 3.0]), np.diag([1e-4, 1e-4, 1e-4]), 6.0, 0.05, 400,
    6.01, 0.02, 0.4, 3,
)  # fmt: skip
REJECTED = Rejected(
    np.full(3, 90.0), RejectionReason.CAP, "0.01 <!--<script></script> wanted", 20
)
PICKS = Picks((SPHERE,), (REJECTED,), np.zeros((3, 3)), 0.05)


def page_and_data(points: Floats, *, synthetic: bool) -> tuple[str, dict[str, object]]:
    page = scan_page(points, PICKS, "1 sphere", synthetic=synthetic)
    found = re.search(r"const data = (.*);\n", page)
    assert found is not None
    return page, json.loads(found.group(1))


def test_the_page_needs_nothing_from_elsewhere(rng):
    page, _ = page_and_data(rng.normal(size=(1000, 3)), synthetic=False)
    assert not re.search(r"https?:|src=|@import|<link", page)
    assert page.count("</script>") == 1
    assert "<!--" not in page  # within a script it would hide where that ends


def test_the_page_holds_the_points_to_a_part_in_65536(rng):
    points = rng.uniform(-50, 50, (1000, 3))
    _, data = page_and_data(points, synthetic=False)
    packed = base64.b64decode(str(data["points"]))
    steps = np.frombuffer(packed, dtype="<u2").reshape(-1, 3)
    side = float(str(data["side"]))
    found = np.array(data["low"]) + steps * (side / 65535)
    assert len(found) == len(points)
    assert np.abs(found - points).max() < side / 65535


def test_one_stray_point_does_not_shrink_the_rest(rng):
    points = rng.uniform(-50, 50, (2000, 3))
    points[7] = 1e6
    _, data = page_and_data(points, synthetic=False)
    assert float(str(data["side"])) < 200


def test_the_page_says_why_a_candidate_was_rejected_and_what_is_synthetic(rng):
    points = rng.normal(size=(100, 3))
    page, data = page_and_data(points, synthetic=True)
    assert "Synthetic scan" in page
    assert "0.01 <!--<script></script> wanted" in str(data["rejected"])
    assert "6.010 +- 0.020 mm" in str(data["spheres"])


def test_the_page_of_labels_names_the_node_of_a_sphere(rng):
    points = rng.normal(size=(100, 3))
    page = scan_page(points, PICKS, "", synthetic=True, names=["knee"])
    assert "node knee, sphere 0: (1.000, " in page
    plain, _ = page_and_data(points, synthetic=False)
    assert "Synthetic" not in plain
    assert "no sphere" not in plain.partition("<script>")[0]


def test_the_page_of_labels_shows_where_a_node_without_a_sphere_was_predicted(rng):
    points, lost = rng.normal(size=(100, 3)), {"hip": np.array([4.0, 5.0, 6.0])}
    page = scan_page(points, PICKS, "", synthetic=True, names=["?"], lost=lost)
    assert "no sphere (1)" in page
    assert "node hip: no sphere; predicted at (4.000, 5.000, 6.000) mm" in page
