import numpy as np
import pytest

from analysis.comparison.input_uncertainty import (
    distance_covariance,
    draw_shapes,
    printed_again,
    shape_covariance,
)
from sim.core.options import NotConvergedError
from sim.mechanism.constraints import ConstraintKind, ConstraintTable
from sim.mechanism.projection_morph import ProjectionOptions, morph
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals

ENDS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
GOALS = np.array([[-0.2, 0.0, 0.0], [1.2, 0.0, 0.0]])


@pytest.fixture
def link():
    """One link between two nodes that are pulled apart along it."""
    table = ConstraintTable.links(ENDS, np.array([[0, 1]]))
    return Structure(ENDS, table, np.array([0, 1]), ((0, 1),), GOALS)


def solve(structure):
    steps = list(morph(structure, Goals(structure.goals), ProjectionOptions()))
    return steps[-1].r


def test_a_longer_link_moves_both_its_ends_by_half(link, rng):
    made = []

    def solved(structure):
        made.append(structure)
        return solve(structure)

    drawn = np.array(list(draw_shapes(link, solved, 1e-3, 8, rng)))
    longer = np.sqrt([one.constraints.constant[0] for one in made]) - 1.0
    covariance = shape_covariance(solve(link), drawn)
    assert np.trace(covariance) == pytest.approx(np.mean(longer**2) / 2, rel=1e-3)
    assert covariance[0, 0] == pytest.approx(-covariance[0, 3], rel=1e-6)
    assert np.abs(covariance[1:3, 1:3]).max() < 1e-12


def test_only_lengths_are_printed_again(link, rng):
    again = [printed_again(link, 0.01, rng).constraints for _ in range(300)]
    assert (again[0].kind == ConstraintKind.DIST).all()
    longer = np.sqrt([one.constant[0] for one in again]) - 1.0
    assert np.mean(longer**2) == pytest.approx(0.01**2, rel=0.25)
    assert printed_again(link, 0.0, rng).constraints.constant[0] == pytest.approx(1.0)


def test_a_print_without_a_shape_is_counted_not_hidden(link, rng):
    def never(structure):
        raise NotConvergedError("no shape", best=structure.r0)

    assert list(draw_shapes(link, never, 0.01, 3, rng)) == [None, None, None]


def test_one_shape_gives_no_covariance():
    with pytest.raises(ValueError, match="2 or more shapes, not 1"):
        shape_covariance(ENDS, ENDS[None])


def test_a_turned_shape_is_no_departure(rng):
    x = rng.normal(size=(6, 3))
    turned = x[:, [1, 2, 0]]
    np.testing.assert_allclose(
        shape_covariance(x, np.array([turned, x])), 0, atol=1e-20
    )


def test_shapes_that_slide_along_their_target_do_not_leave_it():
    """A large error of the nodes, none of their distances."""
    final = np.array([[0.0, 0, 1], [3, 0, 1], [0, 4, 1]])
    slides, rises = np.array([[0.5, -0.2, 0.0], [0.0, 0.3, 0.1]])
    drawn = np.stack([final + slides, final + rises])

    def closest(x):
        return x * [1.0, 1.0, 0.0]

    covariance = distance_covariance(final, drawn, closest)
    assert np.diag(covariance) == pytest.approx(np.tile([0.0, 0.0, 0.005], 3))
    assert covariance[2, 5] == pytest.approx(0.005)  # all together
