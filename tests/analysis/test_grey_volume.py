"""Grey values: two materials are told apart, the surface lies halfway between them."""

import numpy as np
import pytest

from analysis.grey_volume import SLAB, materials, surface_points


def test_materials_are_told_by_their_medians(rng: np.random.Generator) -> None:
    values = rng.normal(100.0, 5.0, (30, 30, 30))
    values[:10, :10, :10] += 300.0
    found = materials(values)
    assert found.low == pytest.approx(100.0, abs=0.2)
    assert found.high == pytest.approx(400.0, abs=0.6)
    assert found.halfway == pytest.approx(250.0, abs=0.4)
    assert found.scatter == pytest.approx(5.0, rel=0.1)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_plane_is_found_between_voxels(axis: int) -> None:
    """Across slabs as well: each place once."""
    shape = [5, 6, 7]
    shape[axis] = 3 * SLAB
    for at in (2.25, SLAB - 0.5, SLAB + 0.25):
        values = np.broadcast_to(np.indices(tuple(shape))[axis], shape) - at
        found = np.concatenate(list(surface_points(values, 0.0)))
        assert len(found) == np.prod(shape) / shape[axis]
        np.testing.assert_allclose(found[:, axis], at, atol=1e-6)
        other = np.concatenate(list(surface_points(np.asfortranarray(values), 0.0)))
        assert set(map(tuple, other)) == set(map(tuple, found))


def test_voxels_without_a_number_have_no_surface() -> None:
    """As reconstructions leave them beside what they saw."""
    values = np.broadcast_to(np.arange(7.0)[:, None, None], (7, 6, 5)) - 2.25
    values = np.where(
        np.indices(values.shape)[1] < 2,
        [np.nan, np.nan, np.inf, np.nan, -np.inf],
        values,
    )
    found = np.concatenate(list(surface_points(values, 0.0)))
    assert len(found) == 20
    np.testing.assert_allclose(found[:, 0], 2.25)


def test_one_material_is_none(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="no two heaps"):
        materials(rng.normal(size=(20, 20, 20)))
    with pytest.raises(ValueError, match="one grey value"):
        materials(np.zeros((3, 3, 3)))
