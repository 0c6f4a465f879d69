"""Grounds: heights, slopes and gaps."""

import numpy as np
import pytest

from sim.rods.plane.ground import (
    Ground,
    GroundPlane,
    Terrain,
    Wave,
    bend,
    gaps,
    surface,
)

HILLS = Terrain([[-1.0, 0.0], [0.0, 0.3], [0.5, 0.1], [2.0, 0.1]])
GROUNDS: list[Ground] = [GroundPlane(20.0, height=0.1), Wave(0.2, 1.5, 0.3), HILLS]


@pytest.mark.parametrize("ground", GROUNDS, ids=lambda g: type(g).__name__)
def test_the_slope_is_that_of_the_height(ground):
    for x in (-0.7, 0.13, 0.9):
        errors = []
        f, slope = surface(ground.relief, x)
        for h in (1e-2, 5e-3, 2.5e-3):
            errors.append(abs(surface(ground.relief, x + h)[0] - f - h * slope))
        if max(errors) > 1e-14:  # not a plane
            assert errors[0] / errors[-1] == pytest.approx(16.0, rel=0.2)
            second = 2.0 * (surface(ground.relief, x + 1e-4)[0] - f - 1e-4 * slope)
            assert bend(ground.relief, x) == pytest.approx(second / 1e-8, abs=1e-2)


def test_a_plane_rises_by_its_angle():
    f, slope = surface(GroundPlane(30.0, height=0.5).relief, 2.0)
    assert slope == pytest.approx(np.tan(np.pi / 6))
    assert f == pytest.approx(0.5 + 2.0 * slope)


def test_the_wave_has_its_crest_and_trough_where_it_says():
    for start, height in ((0.05, 6.5e-3), (0.15, -6.5e-3)):
        f, slope = surface(Wave(6.5e-3, 0.2, start).relief, 0.0)
        assert f == pytest.approx(height)
        assert slope == pytest.approx(0.0, abs=1e-12)


def test_a_terrain_goes_through_its_points_and_is_level_beyond():
    for x, y in HILLS.points:
        assert surface(HILLS.relief, x)[0] == pytest.approx(y)
    assert surface(HILLS.relief, 7.0) == pytest.approx((0.1, 0.0))
    heights = [surface(HILLS.relief, x)[0] for x in np.linspace(-1.0, 2.0, 301)]
    assert min(heights) > -1e-12
    assert max(heights) < 0.3 + 1e-12


def test_the_gap_is_the_distance_less_the_offset():
    n = np.array([-np.sin(0.3), np.cos(0.3)])
    ground = GroundPlane(np.degrees(0.3), offset=0.01)
    assert gaps(ground, np.array([0.05 * n]))[0] == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GroundPlane(85.0), "angle must be from -80 to 80 degrees"),
        (lambda: Terrain([[0.0, 0.0], [1.0]]), "needs 2 or more points"),
        (lambda: Terrain([[0.0, 0.0], [1.0, np.nan]]), "point 1 is at .* finite"),
        (lambda: Wave(wavelength=0.0), "wavelength must be positive, not 0.0"),
        (lambda: Terrain([[0.0, 0.0], [0.0, 1.0]]), "point 1 at x = 0 is not to the"),
        (lambda: Terrain([[0.0, 0.0]]), "needs 2 or more points"),
        (lambda: GroundPlane(height=np.nan), "height must be a finite number, not nan"),
    ],
)
def test_a_bad_ground_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
