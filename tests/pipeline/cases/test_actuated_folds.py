"""Cases of turned creases: what they record, beside closed forms."""

from functools import partial

import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from sim.origami.pattern.pattern import largest_panel
from tests.helpers.cases import composed
from tests.recorded import recorded

case = partial(composed, OrigamiCase)


def test_a_sheet_whose_creases_have_a_width_is_held_by_its_largest_panel():
    held = case("turned_vertex", "case.compliant=true")
    own = held.mesh.corner_panel == largest_panel(held.pattern)
    assert {row[0] for row in held.sheet.supports} <= set(held.mesh.corner[own])


def test_a_vertex_is_turned_by_the_slope_of_its_energy():
    turned = case("turned_vertex")
    steps, recorder = recorded(turned)
    work = np.trapezoid(
        [3e-4 * step.factor for step in steps],
        [recorder.arrays(step)["folds"][0] for step in steps],
    )
    assert recorder.summary()["strain_energy"] == pytest.approx(work, rel=1e-3)
    half = np.tan(0.5 * recorder.arrays(steps[-1])["folds"])
    rigid = np.sin(np.radians(10.0)) / np.sin(np.radians(70.0))  # flat-foldable
    assert abs(half[1] / half[0]) == pytest.approx(rigid, rel=1e-3)
