"""The cells of a sphere, and what stands on it."""

import numpy as np

from analysis.spheres.cells_on_a_sphere import cell_areas, cells, hidden
from tests.analysis.spheres.test_normals import ball

# mm that stand up, the angle they hide, mm up to which, share of points that hides.
HIGH = (0.15, 0.15 / 0.8 / 6.0 + 0.4 * np.pi / 40, 8.1, 0.1)


def test_cells_share_the_sphere_as_their_areas_say(rng):
    x = ball(rng, 400_000, 6.0)
    for n in (2, 5):
        counts = np.bincount(cells(x, np.zeros(3), n), minlength=6 * n * n)
        share = counts / len(x)
        error = np.sqrt(share / len(x))
        assert (np.abs(share - cell_areas(n)) < 5 * error).all()
        assert np.isclose(cell_areas(n).sum(), 1.0)


def test_a_clamp_hides_its_rim_and_nothing_else(rng):
    x = ball(rng, 30_000, 6.0)
    x = x[np.hypot(x[:, 0], x[:, 1]) > 4.2 * (x[:, 2] > 0)]
    a, z = rng.uniform(0, 2 * np.pi, 9_000), rng.uniform(4.285, 9.0, 9_000)
    clamp = np.column_stack([4.2 * np.cos(a), 4.2 * np.sin(a), z])
    out = hidden(np.concatenate([x, clamp]), np.zeros(3), 6.0, 12, 40, *HIGH)
    from_axis = np.rad2deg(np.arccos(x[:, 2] / 6.0))
    rim = np.rad2deg(np.arcsin(4.2 / 6.0))
    kept = ~out[: len(x)]
    assert kept[from_axis < rim + 0.5].mean() < 0.1
    assert kept[from_axis > rim + 8].all()
    assert out[len(x) :][(z > 4.6) & (z < 6.5)].all()


def test_one_stray_point_above_hides_nothing(rng):
    x = np.concatenate([ball(rng, 3_000, 6.0), [[0.0, 0.0, 7.0]]])
    out = hidden(x, np.zeros(3), 6.0, 10, 40, *HIGH)
    assert not out[:-1].any()
