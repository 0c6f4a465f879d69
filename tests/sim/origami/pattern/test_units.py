"""Single units have the angles and lengths that their names promise."""

import numpy as np
import pytest

from sim.origami.pattern.generators import kresling, vertex
from sim.origami.pattern.rigid_folding import vertex_fans


def test_sectors_follow_the_creases_around_a_vertex():
    edges, sectors = vertex_fans(vertex([60, 80, 120, 100], radius=0.03))[0]
    first = edges.index(1)
    assert np.degrees(np.roll(sectors, -first)) == pytest.approx([60, 80, 120, 100])


def test_a_kresling_cell_is_a_prism_that_is_turned():
    cell = kresling(5, radius=0.02, height=0.03, twist=30.0)
    assert len(cell.panels) == 11
    x, y, z = cell.vertices[5]
    assert (np.hypot(x, y), z) == pytest.approx((0.02, 0.03))
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(30.0)
    assert len(cell.creases) == 15  # mountains, valleys, and the rim of the lid


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: vertex([90, 90, 90], radius=1.0), "angles that sum to 360 degrees"),
        (lambda: vertex([200, 80, 80], radius=1.0), "must be below 180"),
        (lambda: vertex([120, 120, 120], radius=0.0), "radius must be positive"),
        (lambda: kresling(2, radius=1, height=1, twist=1), "3 sides or more, not 2"),
    ],
)
def test_units_that_make_no_sense_are_refused(made, said):  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=said):
        made()
