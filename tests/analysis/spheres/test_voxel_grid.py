"""Points sorted into cubes."""

import numpy as np
import pytest

from analysis.spheres.voxel_grid import grid, holding, members, neighbours, within


def test_points_share_a_cube_exactly_if_their_coordinates_round_alike(rng):
    points = rng.uniform(-5, 5, (40_000, 3))
    cubes = grid(points, 0.25)
    cell = np.floor((points - cubes.low) / cubes.h).astype(np.int64)
    _, expected = np.unique(cell, axis=0, return_inverse=True)
    pairs = np.unique(np.stack([cubes.cube, expected.ravel()]), axis=1)
    assert len(cubes.keys) == expected.max() + 1 == pairs.shape[1]


def test_neighbours_are_those_that_a_search_of_all_points_finds(rng):
    points = rng.uniform(-5, 5, (3_000, 3))
    cubes = grid(points, 0.7)
    first, order = members(cubes.cube, len(cubes.keys))
    for centre in rng.uniform(-6, 6, (20, 3)):
        near = within(points, cubes.low, cubes.h, cubes.keys, first, order, centre, 2.1)
        expected = np.flatnonzero(np.linalg.norm(points - centre, axis=1) < 2.1)
        assert np.array_equal(np.sort(near), expected)
        held = holding(points, near, cubes.low, cubes.h, cubes.keys)
        assert np.array_equal(held, cubes.cube[near])


@pytest.mark.parametrize("reach", [1, 2])
def test_the_cubes_around_a_cube_are_met_in_order(reach, rng):
    points = rng.uniform(-3, 3, (300, 3))
    cubes = grid(points, 0.5)
    cell = np.floor((points - cubes.low) / cubes.h).astype(np.int64)
    number = dict(zip(map(tuple, cell.tolist()), cubes.cube.tolist(), strict=True))
    rows, near = np.zeros(9, np.int64), np.empty(27, np.int64)
    for (i, j, k), m in sorted(number.items(), key=lambda item: item[1]):
        neighbours(cubes.keys, m, reach, rows, near)
        steps = reach * (np.indices((3, 3, 3)).reshape(3, -1).T - 1)
        expected = [number.get((i + a, j + b, k + c), -1) for a, b, c in steps.tolist()]
        assert near.tolist() == expected


def test_a_scan_too_wide_for_its_cells_is_refused():
    points = np.array([[0.0, 0, 0], [1e7, 0, 0]])
    with pytest.raises(ValueError, match="check the unit"):
        grid(points, 1.0)
