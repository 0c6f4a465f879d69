"""What a structure leaves to be driven, and that it drives all its motions."""

import numpy as np

from analysis.designs.drivers import choose
from sim.arrays import Floats
from sim.morph.equations.system import state
from sim.morph.mobility.mobility import internal_motions
from sim.morph.statics.drivable import drivable
from sim.morph.statics.driving import Coordinates, driven_map
from sim.morph.structure.constraints import ConstraintTable, coin, dist, par
from sim.morph.structure.ranges import Ranges
from sim.morph.structure.structure import Structure
from tests.sim.morph.linkages import planar

FIVE = np.array([[0.0, 0.0], [-0.5, 1.0], [0.8, 2.1], [2.2, 1.1], [2.0, 0.0]])
FOUR_LINKS = [(0, 1), (1, 2), (2, 3), (3, 4)]
FLAP = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0.4, 0], [-0.7, 0.5, 0.6]])


def links(r: Floats, pairs: list[tuple[int, int]]) -> Structure:
    rows = [dist(r, a, b) for a, b in pairs]
    return Structure(r, ConstraintTable.of(rows), np.arange(len(r)), tuple(pairs))


def driven(structure: Structure) -> tuple[Coordinates, int, int]:
    """What may be driven, motions that are, and all motions."""
    made = drivable(structure)
    U = internal_motions(structure, state(structure))
    found = choose(driven_map(made, structure.r0, U, 1.0))
    return made, found.rank, found.motions


def test_a_planar_five_bar_is_driven_at_its_joints() -> None:
    made, rank, motions = driven(planar(FIVE, FOUR_LINKS, [0, 4]))
    assert (rank, motions) == (2, 2)
    assert made.names[0] == "angle(4, 0, 1)"
    assert (len(made), len(made.corners)) == (5, 5)
    assert made.normal is not None
    np.testing.assert_allclose(made.normal, [0, 0, 1])


def test_links_in_space_are_driven_by_angles_without_a_sign() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [1.5, 0.8, 0.2], [1.2, 1.0, 1.1]])
    made, rank, motions = driven(links(r, [(0, 1), (1, 2), (2, 3)]))
    assert made.normal is None
    assert made.names == ["angle(0, 1, 2)", "angle(1, 2, 3)"]
    assert (rank, motions) == (2, 3)  # no angle of these tells a turn about 1-2


def test_bodies_at_an_axis_are_driven_by_their_hinge() -> None:
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    rows = [dist(FLAP, a, b) for a, b in pairs]
    table = ConstraintTable.of(rows)
    flap = Structure(FLAP, table, np.arange(4), ((0, 1, 2), (0, 1, 3)))
    made, rank, motions = driven(flap)
    assert made.names == ["hinge(2, 0, 1, 3)"]
    assert (rank, motions) == (1, 1)


def test_sliders_and_ranges_are_driven_by_their_lengths() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [2.5, 0, 0], [0, 1, 1]])
    table = ConstraintTable.of([dist(r, 0, 1), par(0, 2, 0, 1), dist(r, 0, 3)])
    reach = ConstraintTable.of([dist(r, 1, 3), dist(r, 0, 1)])
    ranges = Ranges(reach, np.array([1.0, 0.5]), np.array([9.0, 2.0]))
    made = drivable(Structure(r, table, np.arange(4), ((0, 1),), ranges=ranges))
    assert made.names == ["length(0, 2)", "length(1, 3)"]


def test_nodes_joined_at_one_place_are_a_joint() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [1.5, 0.8, 0.0]])
    table = ConstraintTable.of([dist(r, 0, 1), dist(r, 2, 3), coin(1, 2)])
    made, rank, motions = driven(Structure(r, table, np.arange(4), ((0, 1), (2, 3))))
    assert made.names == ["angle(0, 1, 3)"]
    assert (rank, motions) == (1, 1)


def test_angles_in_space_have_the_slope_of_their_value(
    rng: np.random.Generator,
) -> None:
    r, v = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    made, h = Coordinates.of(corners=[[0, 1, 2], [3, 2, 0]], normal=None), 1e-6
    change = made.values(r + h * v) - made.values(r - h * v)
    slope = np.einsum("inj,nj->i", made.slopes(r), v)
    np.testing.assert_allclose(slope, change / (2.0 * h), rtol=1e-7)
