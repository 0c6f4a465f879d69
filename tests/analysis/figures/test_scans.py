"""Pictures of scans: what is written where."""

from dataclasses import dataclass
from io import BytesIO
from itertools import combinations

import numpy as np

from analysis.figures.scans import scan_picture
from analysis.spheres.detections import Picks
from sim.core.arrays import Floats


@dataclass
class Sphere:
    """What a picture needs to know of a sphere."""

    centre: Floats
    radius: float = 3.0


def test_a_name_is_not_written_upon_another_and_stands_in_some_view():
    places = [(0, 0, 0), (60, 0, 1), (60, 40, 0), (0, 40, 1), (30, 40, 30), (30, 0, 31)]
    spheres = tuple(Sphere(np.array(at, dtype=np.float64)) for at in places)
    picks = Picks(spheres, (), np.eye(18), 0.01)
    figure = scan_picture(picks.centres, picks, "six", list("abcdef"))
    first, second = (
        {text.get_text() for text in panel.texts if text.get_text() in "abcdef"}
        for panel in figure.axes
    )
    assert first | second == set("abcdef")
    assert len(first) + len(second) < 12
    lost = {"hand": np.array([3.0, 2.0, 1.0]), "far": np.array([90.0, 0.0, 0.0])}
    figure = scan_picture(picks.centres, picks, "six", list("abcdef"), lost)
    for panel in figure.axes:
        rings = [ring for ring in panel.patches if not ring.get_fill()]
        assert len(rings) == 2
        assert {"a", *lost} <= {text.get_text() for text in panel.texts}
    assert [text.get_text() for text in figure.legends[0].texts][-1] == "no sphere"
    figure = scan_picture(picks.centres, picks, "six", [24 * one for one in "abcdef"])
    figure.savefig(BytesIO())
    for panel in figure.axes:
        boxes = [text.get_window_extent() for text in panel.texts if text.get_text()]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_flat_scan_is_seen_as_its_simulation_is():
    """Not from behind, whatever its principal axes are."""
    flat = np.array([(0, 0, 0), (60, 0, 0), (60, 40, 0), (10, 50, 0)], dtype=np.float64)
    behind = np.diag([-1.0, 1.0, -1.0])
    spheres = tuple(Sphere(behind @ at) for at in flat)
    picks = Picks(spheres, (), np.eye(12), 0.01)
    figure = scan_picture(picks.centres, picks, "flat", list("abcd"), simulated=behind)
    panel = figure.axes[0]
    shown = np.array([ring.center for ring in panel.patches])
    np.testing.assert_allclose(shown - shown[0], flat[:, :2], atol=1e-12)
    assert panel.get_xlabel() == "x of the simulation (mm)"
