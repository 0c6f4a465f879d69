"""Morphs onto scans: a real one, and what run.json says of its surface."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.cases.morph import MorphCase
from pipeline.io.scanned_targets import cloud_file
from sim.core.arrays import Floats
from sim.mechanism.mobility import rescaled
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure import Structure, same_places_in_words
from sim.mechanism.targets.sampled_surfaces import MeshTarget
from tests.pipeline.conftest import ROOT
from tests.recorded import summary

SCAN = ROOT / "data/nist_spheres/SPH101.xyz"


def sphere_in(points: Floats) -> tuple[Floats, float]:
    """Centre and radius of least squares, without the mount and what is mixed."""
    kept = points
    for _ in range(30):
        A = np.column_stack([2.0 * kept, np.ones(len(kept))])
        x = np.linalg.lstsq(A, (kept**2).sum(axis=1), rcond=None)[0]
        radius = float(np.sqrt(x[3] + x[:3] @ x[:3]))
        off = np.abs(np.linalg.norm(points - x[:3], axis=1) - radius)
        kept = points[off < max(2.5 * float(np.median(off)), 1.0)]
    return x[:3], radius


def sheet_before(centre: Floats) -> Structure:
    """A sheet of 50 mm, 54 mm in front of a centre, seen from the origin."""
    sheet = triangle_sheet(2, 2, variation=0.1)
    sheet = rescaled(sheet, float(np.ptp(sheet.r0[:, :2])) / 50.0)
    view = centre / np.linalg.norm(centre)
    across = np.cross(view, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    turned = (sheet.r0 - sheet.r0.mean(axis=0)) @ [across, np.cross(view, across), view]
    return replace(sheet, r0=turned + centre - 54.0 * view)


def test_newton_brings_a_sheet_onto_a_scanned_sphere():
    scan = cloud_file(str(SCAN), unit="m")
    centre, radius = sphere_in(scan.points)
    assert abs(radius - 50.0) < 0.2
    case = MorphCase(sheet_before(centre), scan, method="newton")
    *_, end = case.steps()
    away = np.linalg.norm(end.r - centre, axis=1) - radius
    assert np.sqrt(np.mean(away**2)) < 0.1  # mm; the scanner's noise is 0.3
    said = summary(case)
    assert said["stop"] == "gradient"
    assert said["projected_gradient"] < 1e-9
    assert said["beyond_points"] == 0
    assert 0.1 < said["surface_rms"] < 0.5
    assert said["surface_farthest"] < 10.0


def test_literal_steps_keep_to_the_points():
    scan = cloud_file(str(SCAN), unit="m")
    case = MorphCase(sheet_before(sphere_in(scan.points)[0]), scan, max_steps=400)
    *_, end = case.steps()
    nearest = np.linalg.norm(end.g[:, None] - scan.points, axis=2).min(axis=1)
    assert nearest.max() == 0.0
    assert "surface_rms" not in summary(case)


@pytest.mark.parametrize(
    ("times", "said"), [(1.0, None), (30.0, "30"), (1e-6, "1e-06")]
)
def test_a_target_in_another_unit_is_named_with_the_factor(times, said):
    sheet = triangle_sheet(1, 1)
    side = times * float(np.ptp(sheet.r0, axis=0).max())
    corners = side * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    mesh = MeshTarget(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    found = summary(MorphCase(sheet, mesh, tolerance=0.1)).get("target_size")
    if said is None:
        assert found is None
    else:
        assert f"the target is {said} times as large as the structure" in found


def test_facets_without_area_are_refused():
    with pytest.raises(ValueError, match="no triangle of the target has an area"):
        MeshTarget(np.eye(3), np.array([[0, 0, 1], [1, 2, 2]]))


@pytest.mark.parametrize(("gap", "said"), [(4e-4, "apart"), (0.0, "coincide")])
def test_nodes_drawn_nearly_at_one_place_are_named(gap, said):
    sheet = triangle_sheet(1, 1)
    r = sheet.r0.copy()
    size = float(np.ptp(r, axis=0).max())
    assert same_places_in_words(sheet) == ""
    r[-1] = r[0] + [0.1 * gap * size, 0.0, 0.0]
    text = same_places_in_words(replace(sheet, r0=r))
    assert f"nodes 0 and {len(r) - 1}" in text
    assert said in text
    far = replace(sheet, r0=np.vstack([r[:-1], r[0] + [2e-3 * size, 0.0, 0.0]]))
    assert same_places_in_words(far) == ""
