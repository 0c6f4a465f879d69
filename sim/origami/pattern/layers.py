"""In which order the panels of a flat folding lie on each other, or why in none.

An order says of each two panels that overlap which is above. It is one of paper where

    creases         : a folded crease has the panel above that its assignment asks for
    taco-tortilla   : a panel that a crease runs through is not between its two panels
    taco-taco       : folded creases on each other, to the same side, do not interleave
    tortillas       : panels beside an unfolded crease lie alike above another
    transitivity    : three panels that overlap in one place have no cycle

(Justin 1997; Akitaya et al., Discrete Comput. Geom. 2024, on what suffices). All but
the last say that a product of orders is 1, so that the last order left open follows;
the last that three are not equal. Orders that follow are drawn at once, others tried.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sim.arrays import Floats
from sim.origami.pattern.flat_folded import (
    FlatFolding,
    NotFlatFoldableError,
    flat_folding,
)
from sim.origami.pattern.overlaps import (
    Polygon,
    area,
    clipped,
    counterclockwise,
    runs_inside,
    share_length,
)
from sim.origami.pattern.pattern import CreasePattern

NEAR = 1e-6  # of the sheet's size: lengths below it are none
LARGEST = 120  # panels; triples of those that overlap grow with the cube
MOST_TRIED = 200_000  # orders that are tried before the search is given up

Term = tuple[int, int]  # number of a pair, and 1, or -1 where its order is turned


@dataclass(frozen=True)
class LayerRule:
    """A condition on orders.

    Attributes
    ----------
    cycle : of three, that must not be equal; else a product that must be 1
    why : in words, told where it is broken
    """

    terms: tuple[Term, ...]
    cycle: bool
    why: str


@dataclass(frozen=True, eq=False)
class LayerProblem:
    """What is asked of the orders of a flat folding.

    Attributes
    ----------
    pairs : panels (i, j), i < j, that overlap
    given : by pair, 1 where i is above j, -1 where it is below
    """

    folding: FlatFolding
    pairs: tuple[tuple[int, int], ...]
    given: dict[int, int]
    rules: tuple[LayerRule, ...]


@dataclass(frozen=True, eq=False)
class LayerOrder:
    """Which of two panels is above, on the side of the first panel's normal.

    Attributes
    ----------
    pairs : (i, j) that overlap
    above : 1 where i is above j, -1 where it is below
    """

    folding: FlatFolding
    pairs: tuple[tuple[int, int], ...]
    above: tuple[int, ...]

    def face_orders(self) -> list[list[int]]:
        """Triples [f, g, s] of FOLD: s is 1 where f is on the side of g's normal."""
        up = self.folding.up
        return [
            [i, j, s if up[j] else -s]
            for (i, j), s in zip(self.pairs, self.above, strict=True)
        ]

    def layers(self) -> list[int] | None:
        """By panel its layer, from 0, above all that lie below it; None in a ring."""
        below: list[list[int]] = [[] for _ in self.folding.panels]
        for (i, j), s in zip(self.pairs, self.above, strict=True):
            below[i if s > 0 else j].append(j if s > 0 else i)
        out = [0] * len(below)
        for _ in range(len(below) + 1):
            before = list(out)
            for panel, under in enumerate(below):
                out[panel] = max((out[u] + 1 for u in under), default=0)
            if out == before:
                return out
        return None


def layer_orders(pattern: CreasePattern) -> Iterator[LayerOrder]:
    """Yield every order in which the panels can lie.

    Raises
    ------
    NotFlatFoldableError
        where there is none, with the vertex or the rule that forbids it.
    """
    problem = layer_problem(flat_folding(pattern))
    search = _Search(problem)
    found = False
    for above in search.orders():
        found = True
        yield LayerOrder(problem.folding, problem.pairs, tuple(above))
    if not found:
        raise NotFlatFoldableError(
            f"every vertex folds flat, but no order of the {len(pattern.panels)} "
            f"panels does; the nearest fails as {search.why}"
        )


def layer_problem(folding: FlatFolding) -> LayerProblem:
    """The pairs that overlap, and the rules for their orders."""
    pattern = folding.pattern
    if len(folding.panels) > LARGEST:
        raise ValueError(
            f"the pattern has {len(folding.panels)} panels: layers are sought of "
            f"{LARGEST} at most"
        )
    near = NEAR * pattern.size
    polygons = [counterclockwise(corners) for corners in folding.panels]
    for number, polygon in enumerate(polygons):
        _check_convex(number, polygon, near)
    shared = _overlaps(polygons, near**2)
    place = {pair: k for k, pair in enumerate(shared)}
    return LayerProblem(
        folding,
        tuple(shared),
        _given(folding, place),
        (*_crease_rules(folding, polygons, place, near),
         *_cycle_rules(shared, polygons, place, near**2)),
    )  # fmt: skip


def _check_convex(number: int, polygon: Polygon, near: float) -> None:
    if area(clipped(polygon, polygon)) < area(polygon) - near * near:
        raise ValueError(f"panel {number} is not convex: divide it by an edge J")


def _overlaps(polygons: list[Polygon], least: float) -> dict[tuple[int, int], Polygon]:
    boxes = [(np.min(p, axis=0), np.max(p, axis=0)) for p in polygons]
    found = {}
    for i, j in combinations(range(len(polygons)), 2):
        (low, high), (other_low, other_high) = boxes[i], boxes[j]
        if (low < other_high).all() and (other_low < high).all():
            both = clipped(polygons[i], polygons[j])
            if len(both) > 2 and area(both) > least:
                found[i, j] = both
    return found


def _term(number: dict[tuple[int, int], int], i: int, j: int) -> Term:
    """The order of i over j."""
    return (number[i, j], 1) if i < j else (number[j, i], -1)


def _given(folding: FlatFolding, number: dict[tuple[int, int], int]) -> dict[int, int]:
    """Orders that creases ask for: a valley brings its panels' upper sides together."""
    pattern, given = folding.pattern, {}
    for edge in pattern.creases:
        fold = pattern.assignment[edge]
        if fold:
            i, j = pattern.edge_panels[edge]
            pair, sign = _term(number, j, i)
            rises = (fold > 0) == bool(folding.up[i])
            given[pair] = sign if rises else -sign
    return given


def _crease_rules(
    folding: FlatFolding,
    polygons: list[Polygon],
    number: dict[tuple[int, int], int],
    near: float,
) -> Iterator[LayerRule]:
    pattern = folding.pattern
    lines = {}
    for edge, panels in enumerate(pattern.edge_panels):
        if len(panels) == 2:
            corners = list(pattern.panels[panels[0]])
            ends = [corners.index(int(v)) for v in pattern.edges[edge]]
            lines[edge] = folding.panels[panels[0]][ends]
    folded = {edge: bool(pattern.assignment[edge]) for edge in lines}
    for edge, line in lines.items():
        i, j = pattern.edge_panels[edge]
        for k, polygon in enumerate(polygons):
            if k not in (i, j) and runs_inside(line, polygon, near):
                yield _alike(pattern, number, edge, i, j, k)
    for one, other in combinations(lines, 2):
        if share_length(lines[one], lines[other], near):
            yield from _meeting(folding, number, lines[one], one, other, folded)


def _alike(
    pattern: CreasePattern, number: dict[tuple[int, int], int], edge: int,
    i: int, j: int, k: int,
) -> LayerRule:  # fmt: skip
    why = f"{pattern.crease_name(edge)} would cut panel {k}"
    return LayerRule((_term(number, i, k), _term(number, j, k)), False, why)


def _meeting(
    folding: FlatFolding,
    number: dict[tuple[int, int], int],
    line: Floats,
    one: int,
    other: int,
    folded: dict[int, bool],
) -> Iterator[LayerRule]:
    """Rules of two creases that lie on each other."""
    pattern = folding.pattern
    across = np.array([line[0, 1] - line[1, 1], line[1, 0] - line[0, 0]])

    def side(panel: int) -> bool:
        return bool((folding.panels[panel].mean(axis=0) - line[0]) @ across > 0)

    (i, j), (k, m) = pattern.edge_panels[one], pattern.edge_panels[other]
    if len({i, j, k, m}) < 4:
        return
    both = f"{pattern.crease_name(one)} and {pattern.crease_name(other)}"
    if folded[one] and folded[other]:
        if side(i) == side(k):
            terms = tuple(_term(number, p, q) for p in (i, j) for q in (k, m))
            why = f"{both} would cut each other"
            yield LayerRule(terms, False, why)
    elif folded[one] or folded[other]:
        taco, flat = ((i, j), (k, m)) if folded[one] else ((k, m), (i, j))
        beside = next(p for p in flat if side(p) == side(taco[0]))
        yield _alike(pattern, number, one if folded[one] else other, *taco, beside)
    else:
        k, m = (k, m) if side(i) == side(k) else (m, k)
        why = f"panels would pass each other where {both} lie"
        yield LayerRule((_term(number, i, k), _term(number, j, m)), False, why)


def _cycle_rules(
    shared: dict[tuple[int, int], Polygon],
    polygons: list[Polygon],
    number: dict[tuple[int, int], int],
    least: float,
) -> Iterator[LayerRule]:
    for (i, j), both in shared.items():
        for k in range(j + 1, len(polygons)):
            if (i, k) in number and (j, k) in number:
                all_three = clipped(both, polygons[k])
                if len(all_three) > 2 and area(all_three) > least:
                    terms = ((number[i, j], 1), (number[j, k], 1), (number[i, k], -1))
                    why = f"panels {i}, {j} and {k} would lie above each other in turn"
                    yield LayerRule(terms, True, why)


@dataclass(eq=False)
class _Search:
    """Orders that follow from others are drawn at once, one that does not is tried.

    Attributes
    ----------
    why : the rule that failed with the most orders settled
    """

    problem: LayerProblem
    why: str = ""
    deepest: int = -1
    tried: int = 0
    value: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = [0] * len(self.problem.pairs)
        self.reason = [""] * len(self.problem.pairs)
        self.of: list[list[LayerRule]] = [[] for _ in self.problem.pairs]
        for rule in self.problem.rules:
            for pair, _ in rule.terms:
                self.of[pair].append(rule)

    def orders(self) -> Iterator[list[int]]:
        given = [(pair, sign, "") for pair, sign in self.problem.given.items()]
        if self._settle(given, []):
            yield from self._try(0)

    def _try(self, after: int) -> Iterator[list[int]]:
        open_pair = next(
            (k for k in range(after, len(self.value)) if not self.value[k]), None
        )
        if open_pair is None:
            yield list(self.value)
            return
        for sign in (1, -1):
            self.tried += 1
            if self.tried > MOST_TRIED:
                raise NotFlatFoldableError(
                    f"no order of the panels is found among {MOST_TRIED} that were "
                    "tried: fold fewer panels, or a part of them"
                )
            trail: list[int] = []
            if self._settle([(open_pair, sign, "")], trail):
                yield from self._try(open_pair + 1)
            for pair in trail:
                self.value[pair] = 0

    def _settle(self, ahead: list[tuple[int, int, str]], trail: list[int]) -> bool:
        """Set orders and all that follow; False where a rule is broken."""
        while ahead:
            pair, sign, why = ahead.pop()
            if self.value[pair] == sign:
                continue
            if self.value[pair] == -sign:
                self._broken(why or self.reason[pair])
                return False
            self.value[pair], self.reason[pair] = sign, why
            trail.append(pair)
            for rule in self.of[pair]:
                follows = self._follows(rule)
                if follows is None:
                    self._broken(rule.why)
                    return False
                ahead += follows
        return True

    def _follows(self, rule: LayerRule) -> list[tuple[int, int, str]] | None:
        """The order that a rule leaves, if it leaves one; None where it is broken."""
        known = [s * self.value[p] for p, s in rule.terms if self.value[p]]
        left = [(p, s) for p, s in rule.terms if not self.value[p]]
        if len(left) > 1 or (rule.cycle and known[0] != known[1]):
            return []
        needed = -known[0] if rule.cycle else int(np.prod(known))
        if not left:
            kept = known[2] == needed if rule.cycle else needed > 0
            return [] if kept else None
        pair, sign = left[0]
        return [(pair, sign * needed, rule.why)]

    def _broken(self, why: str) -> None:
        settled = sum(value != 0 for value in self.value)
        if settled > self.deepest:
            self.deepest, self.why = settled, why
