"""Cases of plates and modes: what they record, and what they refuse."""

from itertools import islice

import numpy as np
import pytest

from pipeline.cases.origami import FoldSnapCase, OrigamiCase, PlateCase
from sim.origami.pattern.pattern import largest_panel
from tests.helpers.cases import composed
from tests.recorded import recorded, summary


def test_a_miura_sheet_bends_to_a_saddle_or_a_dome_against_its_stretch():
    case = composed(PlateCase, "miura_plate", "case.fold.increments=3")
    steps, recorder = recorded(case)
    rows = [recorder.row(step) for step in steps]
    assert len(rows) == 3
    for row in rows:
        assert row["poisson"] < 0 < row["bending_poisson"]
    assert recorder.summary()["poisson"] == rows[-1]["poisson"]


def test_a_kresling_cell_has_two_stable_heights():
    found = summary(composed(FoldSnapCase, "snap_kresling"))
    assert found["stable_states"] == 2
    assert 0 < found["barrier_back"] < found["barrier"]


def test_modes_and_stiffness_stand_beside_each_increment():
    case = composed(OrigamiCase, "miura_modes", "case.eigenvalues=2")
    recorder = case.recorder()
    for step in islice(case.steps(), 2):
        recorder.see(step)
        row, modes = recorder.row(step), recorder.arrays(step)["modes"]
    assert modes.shape == (2, *case.mesh.rest.shape)
    assert np.linalg.norm(modes, axis=(1, 2)) == pytest.approx([1.0, 1.0])
    assert 0 < row["eigenvalue_0"] <= row["eigenvalue_1"]
    assert row["stiffness_0"] > 0
    assert recorder.summary()["stiffness_0"] == row["stiffness_0"]


def test_a_sheet_whose_creases_have_a_width_is_held_by_its_largest_panel():
    held = composed(OrigamiCase, "turned_vertex", "case.compliant=true")
    own = held.mesh.corner_panel == largest_panel(held.pattern)
    assert {row[0] for row in held.sheet.supports} <= set(held.mesh.corner[own])


def test_a_vertex_is_turned_by_the_slope_of_its_energy():
    steps, recorder = recorded(composed(OrigamiCase, "turned_vertex"))
    work = np.trapezoid(
        [3e-4 * step.factor for step in steps],
        [recorder.arrays(step)["folds"][0] for step in steps],
    )
    assert recorder.summary()["strain_energy"] == pytest.approx(work, rel=1e-3)
    half = np.tan(0.5 * recorder.arrays(steps[-1])["folds"])
    rigid = np.sin(np.radians(10.0)) / np.sin(np.radians(70.0))  # flat-foldable
    assert abs(half[1] / half[0]) == pytest.approx(rigid, rel=1e-3)
