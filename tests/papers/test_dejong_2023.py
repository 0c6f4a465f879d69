"""Numbers and claims of [dJ23] that its text lets one check.

E and S of its figures are not printed in the text, and neither are the sizes of its
structures and targets: they cannot be asserted, and the cases here are our own.
"""

import numpy as np
import pytest

from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.projection_morph import ProjectionOptions, Stop, morph
from sim.mechanism.targets.analytic_surfaces import Circle, Cylinder, Ellipsoid
from sim.mechanism.targets.target_interface import Target

TOLERANCE_OF_THE_PAPER = 1e-6  # Methods, Simulations: |dE/ds|

FIG_3: dict[str, tuple[str, Target]] = {
    "a circle": ("tips", Circle(4.2, (0.1, 0.06, 0.0))),
    "c cylinder": ("all", Cylinder(2.0, (0.05, 0.03, -2.0), (1.0, 0.05, 0.0))),
    "e ellipsoid": ("all", Ellipsoid((3.3, 2.8, 2.4), (0.05, 0.03, -1.9))),
}


def test_the_paper_stops_at_its_tolerance_by_default():
    assert ProjectionOptions().tolerance == TOLERANCE_OF_THE_PAPER


@pytest.fixture(scope="module")
def ends():
    """The last step of each panel, all from one structure."""
    found = {}
    for panel, (leading, target) in FIG_3.items():
        sheet = triangle_sheet(2, 2, variation=0.1, seed=1, leading=leading)
        *_, found[panel] = morph(sheet, target, ProjectionOptions())
    return found


@pytest.mark.parametrize("panel", FIG_3)
def test_one_structure_morphs_into_each_shape_of_fig_3(panel, ends):
    last = ends[panel]
    assert last.stop is Stop.CHANGE
    assert last.residual <= 1e-10
    assert last.E < 1e-5
    assert last.S < 0.95  # the sheet is drawn together
    apart = np.linalg.norm(last.r[:, None] - last.r, axis=2)
    # Printed spheres do not meet: 16 mm at 40 mm a link.
    assert apart[np.triu_indices(len(apart), 1)].min() > 0.4


def test_the_three_shapes_of_fig_3_differ_in_s_and_dimension(ends):
    S = sorted(step.S for step in ends.values())
    assert np.diff(S).min() > 0.03
    flat = np.ptp(ends["a circle"].r[:, 2])
    bent = np.ptp(ends["c cylinder"].r[:, 2])
    assert flat == 0.0
    assert bent > 1.0
