"""Layers of flat foldings: counts of stamps and maps, and what cannot be folded."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sim.origami.pattern.flat_folded import NotFlatFoldableError, flat_folding
from sim.origami.pattern.layers import layer_orders
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.tessellations import miura, strip
from sim.origami.pattern.units import square_twist, stamps, vertex


def creases(rows: int, columns: int) -> int:
    return rows * (columns - 1) + columns * (rows - 1)


def count(pattern: CreasePattern) -> int:
    try:
        return sum(1 for _ in layer_orders(pattern))
    except NotFlatFoldableError:
        return 0


def counted(rows: int, columns: int) -> int:
    """Orders of a sheet of stamps, of all its assignments together."""
    return sum(
        count(stamps("".join(signs), rows=rows, columns=columns, side=1.0))
        for signs in itertools.product("MV", repeat=creases(rows, columns))
    )


@pytest.mark.parametrize(
    ("stamp", "orders"), [(2, 2), (3, 6), (4, 16), (5, 50), (6, 144)]
)
def test_a_strip_of_labelled_stamps_folds_in_as_many_ways_as_is_known(
    stamp: int, orders: int
) -> None:
    """1, 2, 6, 16, 50, 144, ...: Koehler, J. Combin. Theory 5 (1968)."""
    assert counted(1, stamp) == orders


@pytest.mark.parametrize(("columns", "orders"), [(2, 8), (3, 60)])
def test_a_map_of_two_rows_folds_in_as_many_ways_as_is_known(
    columns: int, orders: int
) -> None:
    """2, 8, 60, 320, ... for 2 x n: Lunnon, Comput. J. 14 (1971)."""
    assert counted(2, columns) == orders


def stacked(signs: str, rows: int, columns: int) -> int:
    """Stacks of a map's squares, put in one by one, whose creases do not cross.

    Folded, all squares lie on each other. A crease joins two of them at the side to
    which it folds, where arcs between places in the stack must not interleave.
    """
    arcs: dict[tuple[str, int], list[tuple[int, int]]] = {}
    rises: dict[tuple[int, int], bool] = {}
    letters = iter(signs)
    joins = [("x", y, x, y, x + 1) for y in range(rows) for x in range(columns - 1)]
    joins += [("y", y, x, y + 1, x) for y in range(rows - 1) for x in range(columns)]
    for way, y, x, other_y, other_x in joins:
        one, other = y * columns + x, other_y * columns + other_x
        arcs.setdefault((way, (x if way == "x" else y) % 2), []).append((one, other))
        rises[one, other] = (next(letters) == "V") == ((x + y) % 2 == 0)

    def fits(stack: Sequence[int]) -> bool:
        at = {panel: k for k, panel in enumerate(stack)}
        for (one, other), up in rises.items():
            if one in at and other in at and (at[other] > at[one]) != up:
                return False
        for side in arcs.values():
            spans = [sorted((at[a], at[b])) for a, b in side if a in at and b in at]
            for (a, b), (c, d) in itertools.combinations(spans, 2):
                if a < c < b < d or c < a < d < b:
                    return False
        return True

    stacks: list[list[int]] = [[]]
    for panel in range(rows * columns):
        stacks = [
            [*stack[:k], panel, *stack[k:]]
            for stack in stacks
            for k in range(len(stack) + 1)
        ]
        stacks = [stack for stack in stacks if fits(stack)]
    return len(stacks)


LOCKED = "VVVVVMVVVM" + "VVM"  # of a map of two by five


def in_rows(given: str) -> str:
    """Signs by the numbers of the edges, as `stamps` takes them."""
    pattern = stamps("V" * 13, rows=2, columns=5, side=1.0)
    across = 6
    upright = [
        (y * across + x, (y + 1) * across + x) for y in (0, 1) for x in range(1, 5)
    ]
    level = [(across + x, across + x + 1) for x in range(5)]
    letter = {
        tuple(pattern.edges[edge].tolist()): sign
        for edge, sign in zip(pattern.creases, given, strict=True)
    }
    return "".join(letter[pair] for pair in [*upright, *level])


def test_of_a_map_the_orders_are_the_stacks_that_do_not_cross() -> None:
    for signs in itertools.product("MV", repeat=7):
        word = "".join(signs)
        assert count(stamps(word, rows=2, columns=3, side=1.0)) == stacked(word, 2, 3)


def test_a_map_that_folds_at_each_vertex_may_not_fold() -> None:
    signs = in_rows(LOCKED)
    pattern = stamps(signs, rows=2, columns=5, side=1.0)
    flat_folding(pattern)  # each vertex does
    assert stacked(signs, 2, 5) == 0
    with pytest.raises(
        NotFlatFoldableError, match="every vertex folds flat, but no or"
    ):
        next(layer_orders(pattern))
    with pytest.raises(
        NotFlatFoldableError,
        match=r"crease \d+ \(1-7\) and crease \d+ \(9-15\) would cut",
    ):
        next(layer_orders(pattern))


def test_a_vertex_with_as_many_mountains_as_valleys_is_named() -> None:
    with pytest.raises(
        NotFlatFoldableError, match=r"vertex 4 has 2 mountains.*Maekawa"
    ):
        flat_folding(stamps("MVMV", rows=2, columns=2, side=1.0))


def test_a_vertex_whose_sectors_do_not_close_is_named() -> None:
    flat = vertex([60, 80, 110, 110], radius=1.0)
    folds = np.zeros(len(flat.edges))
    folds[flat.creases] = [1.0, 1.0, 1.0, -1.0]
    with pytest.raises(NotFlatFoldableError, match=r"vertex 0.*Kawasaki"):
        flat_folding(replace(flat, assignment=folds))


def test_folds_in_part_and_unassigned_patterns_are_refused() -> None:
    half = np.zeros(len(strip([1, 1], 1).edges))
    half[strip([1, 1], 1).creases] = 0.5
    with pytest.raises(NotFlatFoldableError, match="folds by 90 degrees"):
        flat_folding(replace(strip([1, 1], 1), assignment=half))
    with pytest.raises(NotFlatFoldableError, match="assigns no folds"):
        flat_folding(strip([1, 1], 1))


def test_a_strip_that_rolls_up_must_fit_into_its_first_fold() -> None:
    """Two valleys, a unit apart: behind a long first panel the last lies between the
    others and has to be shorter than the unit."""
    folds = np.zeros(10)
    folds[strip([3.0, 1.0, 2.0], 1.0).creases] = 1.0
    rolled = replace(strip([3.0, 1.0, 0.5], 1.0), assignment=folds)
    assert [order.layers() for order in layer_orders(rolled)] == [[0, 2, 1]]
    assert count(replace(strip([0.8, 1.0, 0.8], 1.0), assignment=folds)) == 2
    stuck = replace(strip([3.0, 1.0, 2.0], 1.0), assignment=folds)
    with pytest.raises(NotFlatFoldableError, match="would cut panel"):
        next(layer_orders(stuck))


def test_flat_creases_carry_the_order_of_their_panels() -> None:
    pattern = strip([1.0, 1.0, 2.0], 1.0)
    folds = np.zeros(len(pattern.edges))
    folds[pattern.creases[1]] = 1.0
    (order,) = layer_orders(replace(pattern, assignment=folds))
    assert order.pairs == ((0, 2), (1, 2))
    assert order.above == (-1, -1)


def test_fold_says_of_each_pair_on_which_side_of_the_second_the_first_lies() -> None:
    """A valley shuts two panels face to face: each is on the side of the other's
    normal, whichever is on top."""
    for sign in (1.0, -1.0):
        pattern = strip([1.0, 1.0], 1.0)
        folds = np.zeros(len(pattern.edges))
        folds[pattern.creases] = sign
        (order,) = layer_orders(replace(pattern, assignment=folds))
        assert order.face_orders() == [[0, 1, int(sign)]]
    folded = next(layer_orders(miura(3, 4, width=1.0, height=1.0, angle=60.0)))
    said = {(f, g): s for f, g, s in folded.face_orders()}
    sheet = folded.folding.pattern
    for edge in sheet.creases:
        f, g = sorted(sheet.edge_panels[edge])
        assert said[f, g] == sheet.assignment[edge]


def test_a_miura_sheet_has_one_order_and_a_square_twist_has_some() -> None:
    assert count(miura(4, 4, width=1.0, height=1.0, angle=60.0)) == 1
    assert count(square_twist("MMMM", side=1.0, flap=1.5, angle=45.0)) >= 1


def test_sheets_too_large_to_search_are_refused() -> None:
    with pytest.raises(ValueError, match="layers are sought of 120 at most"):
        next(layer_orders(miura(11, 11, width=1.0, height=1.0, angle=60.0)))
