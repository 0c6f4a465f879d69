"""Morphs onto scans: a real one, and what run.json says of its surface."""

from dataclasses import replace

import numpy as np

from pipeline.cases.morph import MorphCase
from pipeline.io.scanned_targets import cloud_file
from sim.core.arrays import Floats
from sim.mechanism.mobility import rescaled
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure import Structure
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
