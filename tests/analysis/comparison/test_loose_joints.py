import numpy as np
import pytest

from analysis.comparison.input_uncertainty import closing_with_errors
from pipeline.io.structure_file import structure_file
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.mobility import mobility


@pytest.mark.parametrize(
    ("name", "surplus"), [("sarrus", 1), ("bennett", 3), ("bricard", 1), ("miura", 1)]
)
def test_joints_give_way_where_a_loop_is_held_too_often_and_nothing_else_is_freed(
    name, surplus
):
    full = structure_file(f"conf/structure/{name}.yaml")
    made = closing_with_errors(full, full.r0[None])
    assert len(mobility(made).redundant) == 0
    assert mobility(made).mobility == mobility(full).mobility
    left_out = len(full.constraints) - len(made.constraints)
    assert left_out == surplus
    for kind in (ConstraintKind.DIST, ConstraintKind.FIX):
        held = np.count_nonzero(made.constraints.kind == kind)
        assert held == np.count_nonzero(full.constraints.kind == kind)


@pytest.mark.parametrize("name", ["four_bar", "stewart"])
def test_a_structure_without_surplus_rows_comes_back_itself(name):
    full = structure_file(f"conf/structure/{name}.yaml")
    assert closing_with_errors(full, full.r0[None]) is full


def test_rows_that_depend_at_the_start_alone_stay():
    full = structure_file("conf/structure/bricard.yaml")
    rng = np.random.default_rng(0)
    moved = full.r0 + rng.normal(0.0, 0.1, full.r0.shape)
    assert closing_with_errors(full, np.array([full.r0, moved, moved])) is full
