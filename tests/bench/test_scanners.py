"""The virtual scanners against formulas, because the benchmark judges by them."""

import numpy as np
import pytest

from tests.bench import scanners as lab

THINGS = (lab.hand, lab.tubes, lab.nuts, lab.cable, lab.mug)


@pytest.fixture
def scene(rng: np.random.Generator) -> lab.Scene:
    return lab.mechanism(rng, lab.sheet, 6.0, THINGS, sockets=4, wall=True, table=True)


def test_no_distance_exceeds_the_true_one(scene, rng):
    for solid in scene.solids:
        p = solid.centre + solid.reach * rng.normal(size=(2000, 3))
        step = rng.normal(size=p.shape)
        change = np.abs(solid.distance(p + step) - solid.distance(p))
        assert (change <= np.linalg.norm(step, axis=1) + 1e-9).all()
        beyond = np.linalg.norm(p - solid.centre, axis=1) > solid.reach
        assert (solid.distance(p[beyond]) > 0).all()


def test_rays_end_at_the_first_surface(scene):
    origin = lab.place(scene, 30, 35, 400)
    ray, _, _ = lab.pixels(scene, origin, 4.0)
    depth, which = lab.first_hits(scene.solids, origin, ray)
    hit = which >= 0
    for share_of_depth in (0.5, 0.9, 0.99):
        before = origin + (share_of_depth * depth[hit])[:, None] * ray[hit]
        assert (lab.union(scene.solids, before) > 0).all()
    at = lab.union(scene.solids, origin + depth[hit, None] * ray[hit])
    assert np.abs(at).max() <= lab.TOUCH


@pytest.mark.parametrize(("cap", "points"), [(0.15, 60), (0.2, 115), (0.5, 2000)])
def test_share_of_a_cap_of_random_points(cap, points, rng):
    z, a = 1 - 2 * cap * rng.random(points), rng.uniform(0, 2 * np.pi, points)
    s = np.sqrt(1 - z**2)
    directions = np.stack([s * np.cos(a), s * np.sin(a), z], axis=1)
    assert lab.share(directions) == pytest.approx(cap, abs=0.03)
