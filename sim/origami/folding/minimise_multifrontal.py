"""The minimum of a large sheet: that of `equilibrium.minimise` with other arithmetic.

The stiffness is factorised in fronts (`sim.origami.model.large_sheet_stiffness`), and
in its geometric part bars and hinges have stresses of their own, those that the last
linearisation foretold for x + p (mixed integration points: Magisano, Leonetti and
Garcea, CMAME 313, 2017),

    s <- e(x) + b . p,      t <- theta(x) - rest + g . p;

at the start of an increment they follow from the last equilibria, as positions do.
Where panels touch they are those at x: forces of contact change faster than any stress
foretells.

The stresses at x + p are those of stiff bars that a turn made longer, and would mislead
the next step. The equations solved are the same.

Loops run in Python: each of their kernels takes milliseconds.

A move may be longer than the sheet's panels (`moved_far`). What nodes have in common
brings nothing together. Let a linear map be the best fit of their moves,
v = A x + b + w. Parts that meet at time t of the move, at p and q of the start, have
(I + t A)(p - q) = t (w_q - w_p), so that

    |p - q| <= 2 t max |w| / (1 - t |A|),

and only pairs that close have to be looked at: a Miura sheet, whose far end moves by
many panels in an increment, is searched within a fraction of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from sim.contact.collisions import largest_step
from sim.contact.near_pairs import find_pairs
from sim.core.arrays import Floats
from sim.optimize.curvature import PositiveFactor, lowest_mode, positive_factor
from sim.optimize.newton import End, Step, Trial, halved, minimise
from sim.origami.folding.equilibrium import (
    FULL_STEPS,
    GENEROUS,
    MEMORY,
    MOST_SKINS,
    ROUNDING,
    SHORTEST,
    FoldingProblem,
    Increment,
    NearbyPairs,
    NewtonResult,
    farthest,
    near_at,
    norm,
    potential,
    spread,
)
from sim.origami.model.assembly import CONTACT
from sim.origami.model.large_sheet_stiffness import (
    LargeSystem,
    SheetFronts,
    Stresses,
    factorised,
    linearised,
)

SHIFT_GROWTH = 8.0
AWAY = 0.2  # of the skin: the step away from a saddle
NEARLY = 100.0  # tolerances from which the last factor is tried once more
CLOSE = 1e-2  # of the skin: a state this near has the signs of the pivots of another


@dataclass
class LargeSearch:
    """A large sheet on its way to a minimum.

    Attributes
    ----------
    x : (n, 3) m
    asked : rest angles and load
    stresses : of the geometric stiffness
    moved : farthest that a node went since the last factorisation, m
    last : linearisation
    """

    problem: FoldingProblem
    fronts: SheetFronts
    near: NearbyPairs
    x: Floats
    asked: Increment
    stresses: Stresses
    moved: float = np.inf
    last: LargeSystem = field(init=False)

    def potential(self) -> float:
        """Total potential, J."""
        return potential(
            self.problem, self.near, self.x, self.asked.angles, self.asked.load
        )

    def linearise(self) -> tuple[LargeSystem, Floats]:
        """The system here, and the unbalanced force (u,), N."""
        self.fronts, self.last = linearised(
            self.fronts, self.near.pairs, self.problem.ke, self.x, self.asked.angles,
            self.stresses,
        )  # fmt: skip
        return self.last, self.asked.load - self.last.force

    def with_own_stresses(self) -> None:
        """Let the geometric stiffness have the stresses at x: the tangent."""
        self.linearise()
        self.stresses = self.last.stresses

    def stresses_here(self) -> Floats:
        """(b + h,) strains, and turns in rad, of the last linearisation."""
        return np.concatenate(self.last.stresses)

    def predict_stresses(self, move: Floats) -> None:
        """Let the geometric stiffness have the stresses that a move leads to."""
        model, (strain, turn) = self.problem.model, self.last.stresses
        one, other = move[model.bar[:, 0]], move[model.bar[:, 1]]
        of_nodes = move[model.hinge].reshape(-1, 12)
        self.stresses = Stresses(
            strain + (self.last.of_strain * (other - one)).sum(axis=1),
            turn + np.einsum("hi,hi->h", self.last.of_turn, of_nodes),
        )

    def ensure_candidates(self, longest: float) -> bool:
        """Whether a move of `longest` (m) stays within the skin, renewed if need be."""
        skin = GENEROUS * self.problem.skin
        if longest > skin:
            return False
        if longest > self.near.skin - farthest(self.x, self.near.base):
            self.near = near_at(self.problem, self.x, skin)
        return True

    def advance(self, move: Floats) -> float:
        """Make a move (n, 3) up to what it meets; returns the part that was made."""
        before, start = self.x, self.x + move
        if self.ensure_candidates(farthest(start, before)):
            part = largest_step(self.near.pairs, before, move, 1.0)
            self.x = before + part * move
        else:
            self.x, part = moved_far(self.problem, before, move)
            self.near = near_at(self.problem, self.x, GENEROUS * self.problem.skin)
        self.moved += farthest(self.x, before)
        return part

    def positive_factor(self, system: LargeSystem) -> PositiveFactor:
        """L D L^T = K + mu I without negative pivots."""
        self.moved = 0.0
        made = partial(factorised, self.fronts, system)
        return positive_factor(made, 1e-9 * system.largest, SHIFT_GROWTH)

    def result(
        self, system: LargeSystem, residual: float, iterations: int, converged: bool
    ) -> NewtonResult:
        """Where the search is."""
        return NewtonResult(
            self.x, self.near, system.energies, residual, iterations, converged, 1.0
        )


def minimise_large(
    problem: FoldingProblem,
    fronts: SheetFronts,
    near: NearbyPairs,
    x: Floats,
    ahead: Floats,
    stresses: Floats,
    asked: Increment,
) -> tuple[NewtonResult, SheetFronts, Floats]:
    """As `equilibrium.minimise`; also the fronts, which may be more, and stresses.

    Parameters
    ----------
    stresses : (b + h,) with which the geometric stiffness begins
    """
    begun = Stresses(*np.split(stresses, [len(problem.model.bar)]))
    search = LargeSearch(problem, fronts, near, x, asked, begun)
    begin = search.potential()
    search.advance(ahead)
    plain, negative = _full_steps(search, min(FULL_STEPS, asked.most))
    at_rest, end = plain.converged, search.potential()
    if at_rest and negative == 0 and end <= begin + ROUNDING * abs(begin):
        return plain, search.fronts, search.stresses_here()
    if not (at_rest and negative > 0):
        search.x = x
        search.near = near_at(problem, x, GENEROUS * problem.skin)
    left, first = asked.most - plain.iterations, _Place(search)
    *_, last = minimise(_Descent(search), first, left, memory=MEMORY)
    system, r = last.point.linear
    total, done = plain.iterations + last.steps, last.end is End.MINIMUM
    result = search.result(system, norm(r), total, done)
    return result, search.fronts, search.stresses_here()


def _full_steps(search: LargeSearch, most: int) -> tuple[NewtonResult, int]:
    """Newton steps as long as nothing is touched; and the negative pivots at the end.

    The pivots are those of a state within `CLOSE` of the last.
    """
    positive, negative, fresh = None, 0, False
    tolerance = search.asked.tolerance
    for iteration in range(most + 1):
        system, r = search.linearise()
        residual = norm(r)
        done = residual <= tolerance
        known = negative == 0 and search.moved <= CLOSE * search.problem.skin
        if iteration == most or (done and known):
            break
        again = fresh and known and residual <= NEARLY * tolerance
        if positive is None or not again:
            positive = search.positive_factor(system)
            negative = positive.negative
        fresh = not again
        if done:
            break
        move = spread(search.problem.model, positive.factor.solve(r))
        part = search.advance(move)
        if part < 1.0 or system.energies[CONTACT] > 0.0:
            search.with_own_stresses()
        else:
            search.predict_stresses(move)
    return search.result(system, residual, iteration, done), negative


class _Place:
    """Where a search is, with its tangent once that is asked for."""

    def __init__(self, search: LargeSearch) -> None:
        self.search, self.x, self.near = search, search.x, search.near
        self.potential = search.potential()

    @cached_property
    def linear(self) -> tuple[LargeSystem, Floats]:
        """The system, and the unbalanced force (u,), N."""
        self.search.with_own_stresses()
        return self.search.linearise()

    @cached_property
    def positive(self) -> PositiveFactor:
        return self.search.positive_factor(self.linear[0])


@dataclass(frozen=True)
class _Descent:
    """What `sim.optimize.minimise` asks of a search; the last place is where it is."""

    search: LargeSearch

    def is_balanced(self, at: _Place) -> bool:
        return norm(at.linear[1]) <= self.search.asked.tolerance

    def negative(self, at: _Place) -> int:
        return at.positive.negative

    def escaped(self, at: _Place) -> _Place:
        """Along the lowest mode, to the side where the unbalanced force pulls."""
        search, r = self.search, at.linear[1]
        mode = lowest_mode(at.positive.factor.solve, len(r))
        way = AWAY * search.problem.skin * (1.0 if mode @ r >= 0.0 else -1.0)
        search.advance(spread(search.problem.model, way * mode))
        return _Place(search)

    def steps(self, at: _Place) -> Iterator[Step[_Place]]:
        search, start, r = self.search, at.x, at.linear[1]
        p = at.positive.factor.solve(r)
        part = search.advance(spread(search.problem.model, p))
        end = search.x

        def trials(share: float) -> Iterator[Trial[_Place]]:
            if share < 1.0:
                search.x = start + share * (end - start)
                search.near = _nearby(search)
            there = _Place(search)
            yield Trial(there, there.potential - at.potential)

        slope = part * min(-float(r @ p), 0.0)
        rounding = ROUNDING * abs(at.potential)
        yield Step(trials, slope, rounding, halved(1.0, SHORTEST))


def _nearby(search: LargeSearch) -> NearbyPairs:
    """The pairs near x, sought again where nodes have left the skin."""
    near = search.near
    if farthest(search.x, near.base) <= near.skin:
        return near
    return near_at(search.problem, search.x, GENEROUS * search.problem.skin)


LARGEST_MAP = 0.5  # |A| up to which a piece of a move is made at once


def moved_far(problem: FoldingProblem, x: Floats, move: Floats) -> tuple[Floats, float]:
    """Where a move (n, 3) ends, and the part of it that was made.

    It is made in pieces, at most as many as nodes may move skins, and stops at what it
    meets.
    """
    done = 0.0
    for _ in range(int(MOST_SKINS)):
        left = (1.0 - done) * move
        piece, within = _piece(problem, x, left)
        pairs = find_pairs(problem.surface, x, within)
        step = largest_step(pairs, x, left, piece)
        x = x + step * left
        done += step * (1.0 - done)
        if step < piece or piece == 1.0:
            break
    return x, done


def _piece(problem: FoldingProblem, x: Floats, move: Floats) -> tuple[float, float]:
    """How much of a move is made at once, and within which distance parts may meet."""
    places = np.column_stack([x, np.ones(len(x))])
    linear = np.linalg.lstsq(places, move, rcond=None)[0]
    w = float(np.sqrt(((move - places @ linear) ** 2).sum(axis=1).max()))
    size = float(np.linalg.norm(linear[:3], 2))
    piece = min(
        1.0,
        LARGEST_MAP / max(size, 1e-300),
        0.5 * problem.skin / max(w, 1e-300),
    )
    reach = problem.surface.thickness + 2.0 * piece * w
    return piece, reach / (1.0 - piece * size)
