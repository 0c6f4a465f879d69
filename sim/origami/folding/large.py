"""The minimum of a large sheet: `sim.origami.folding.minimum` with other arithmetic.

The stiffness is factorised in fronts (`sim.origami.model.blocks`), and in its geometric
part bars and hinges have stresses of their own, those that the last linearisation
foretold for x + p (mixed integration points: Magisano, Leonetti and Garcea, CMAME 313,
2017),

    s <- e(x) + b . p,      t <- theta(x) - rest + g . p;

at the start of an increment they follow from the last equilibria, as positions do.
Where panels touch they are those at x: forces of contact change faster than any stress
foretells.

The stresses at x + p are those of stiff bars that a turn made longer, and would mislead
the next step. The equations solved are the same.

Loops run in Python: each of their kernels takes milliseconds.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.contact.safe_step import largest_step
from sim.linear.sparse import Factor
from sim.origami.folding.equilibrium import NewtonResult, norm, spread
from sim.origami.folding.far import moved_far
from sim.origami.folding.minimum import (
    ARMIJO,
    AWAY,
    CONTRACTION,
    FULL_STEPS,
    MEMORY,
    ROUNDING,
    SHORTEST,
)
from sim.origami.folding.problem import (
    GENEROUS,
    FoldingProblem,
    NearbyPairs,
    farthest,
    near_at,
    potential,
)
from sim.origami.model.assembly import CONTACT
from sim.origami.model.blocks import (
    LargeSystem,
    SheetFronts,
    Slopes,
    factorised,
    linearised,
    lowest_direction,
    slopes_at,
)

NEARLY = 100.0  # tolerances from which the last factor is tried once more
CLOSE = 1e-2  # of the skin: a state this near has the signs of the pivots of another
SINGULAR = 1e-14  # smallest pivot, of the stiffest entry, that counts as one


@dataclass
class LargeSearch:
    """A large sheet on its way to a minimum.

    Attributes
    ----------
    x : (n, 3) m
    angles, load : (h,) rest angles, rad; (u,) N
    stresses : of the geometric stiffness, and where the last linearisation wrote
    moved : farthest that a node went since the last factorisation, m
    """

    problem: FoldingProblem
    fronts: SheetFronts
    near: NearbyPairs
    x: Floats
    angles: Floats
    load: Floats
    stresses: Slopes
    moved: float = np.inf

    def potential(self, x: Floats | None = None) -> float:
        """Total potential, J, here or at x."""
        at = self.x if x is None else x
        return potential(self.problem, self.near, at, self.angles, self.load)

    def linearise(self) -> tuple[LargeSystem, Floats]:
        """The system here, and the unbalanced force (u,), N."""
        self.fronts, system = linearised(
            self.fronts,
            self.near.pairs,
            self.problem.ke,
            self.x,
            self.angles,
            self.stresses,
        )
        return system, self.load - system.force

    def with_own_stresses(self) -> None:
        """Let the geometric stiffness have the stresses at x: the tangent."""
        self.linearise()
        at = self.stresses
        self.stresses = slopes_at(self.problem.model, at.strain, at.turn)

    def stresses_here(self) -> Floats:
        """(b + h,) strains, and turns in rad, of the last linearisation."""
        return np.concatenate([self.stresses.strain, self.stresses.turn])

    def foretell(self, move: Floats) -> None:
        """Let the geometric stiffness have the stresses that a move leads to."""
        model, at = self.problem.model, self.stresses
        one, other = move[model.bar[:, 0]], move[model.bar[:, 1]]
        strain = at.strain + (at.of_strain * (other - one)).sum(axis=1)
        of_nodes = move[model.hinge].reshape(-1, 12)
        turn = at.turn + np.einsum("hi,hi->h", at.of_turn, of_nodes)
        self.stresses = slopes_at(model, strain, turn)

    def safe_part(self, move: Floats) -> float:
        """How much of a move that stays within the skin touches nothing."""
        return largest_step(self.near.pairs, self.x, move, 1.0)

    def look_around(self, longest: float) -> bool:
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
        if self.look_around(farthest(start, before)):
            part = self.safe_part(move)
            self.x = before + part * move
        else:
            self.x, part = moved_far(self.problem, before, move)
            self.near = near_at(self.problem, self.x, GENEROUS * self.problem.skin)
        self.moved += farthest(self.x, before)
        return part

    def corrected(self, system: LargeSystem) -> tuple[Factor, int]:
        """As in `minimum`: L D L^T = K + mu I, and the negative pivots of K itself."""
        factor = factorised(self.fronts, system, 0.0)
        negative, mu = factor.negative, 1e-9 * system.largest
        while factor.negative > 0 or _smallest(factor) < SINGULAR * system.largest:
            factor = factorised(self.fronts, system, mu)
            mu *= 8.0
        self.moved = 0.0
        return factor, negative

    def result(
        self, system: LargeSystem, residual: float, iterations: int, converged: bool
    ) -> NewtonResult:
        """Where the search is."""
        return NewtonResult(
            self.x, self.near, system.energies, residual, iterations, converged, 1.0
        )


def _smallest(factor: Factor) -> float:
    return float(np.abs(factor.pivot).min())


def minimise_large(
    problem: FoldingProblem,
    fronts: SheetFronts,
    near: NearbyPairs,
    x: Floats,
    ahead: Floats,
    stresses: Floats,
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
) -> tuple[NewtonResult, SheetFronts, Floats]:
    """As `minimum.minimise`; also the fronts, which may have become more, and stresses.

    Parameters
    ----------
    stresses : (b + h,) with which the geometric stiffness begins
    """
    room = slopes_at(problem.model, *np.split(stresses, [len(problem.model.bar)]))
    search = LargeSearch(problem, fronts, near, x, angles, load, room)
    begin = search.potential()
    search.advance(ahead)
    plain, negative = _full_steps(search, tolerance, min(FULL_STEPS, most))
    at_rest, end = plain.converged, search.potential()
    if at_rest and negative == 0 and end <= begin + ROUNDING * abs(begin):
        return plain, search.fronts, search.stresses_here()
    if not (at_rest and negative > 0):
        search.x = x
        search.near = near_at(problem, x, GENEROUS * problem.skin)
    left = most - plain.iterations
    searched = _line_search_descent(search, tolerance, left)
    total = plain.iterations + searched.iterations
    result = searched._replace(iterations=total)
    return result, search.fronts, search.stresses_here()


def _full_steps(
    search: LargeSearch, tolerance: float, most: int
) -> tuple[NewtonResult, int]:
    """Newton steps as long as nothing is touched; and the negative pivots at the end.

    The pivots are those of a state within `CLOSE` of the last.
    """
    factor, negative, fresh = None, 0, False
    for iteration in range(most + 1):
        system, r = search.linearise()
        residual = norm(r)
        done = residual <= tolerance
        known = negative == 0 and search.moved <= CLOSE * search.problem.skin
        if iteration == most or (done and known):
            break
        again = fresh and known and residual <= NEARLY * tolerance
        if factor is None or not again:
            factor, negative = search.corrected(system)
        fresh = not again
        if done:
            break
        move = spread(search.problem.model, factor.solve(r))
        part = search.advance(move)
        if part < 1.0 or system.energies[CONTACT] > 0.0:
            search.with_own_stresses()
        else:
            search.foretell(move)
    return search.result(system, residual, iteration, done), negative


def _line_search_descent(
    search: LargeSearch, tolerance: float, most: int
) -> NewtonResult:
    """Descend, each step no higher than the highest of the last few energies."""
    model, skin = search.problem.model, search.problem.skin
    recent = np.full(MEMORY, search.potential())
    for iteration in range(most + 1):
        search.with_own_stresses()
        system, r = search.linearise()
        residual = norm(r)
        if iteration == most:
            break
        factor, negative = search.corrected(system)
        p = factor.solve(r)
        if residual <= tolerance:
            if negative == 0:
                return search.result(system, residual, iteration, True)
            p = AWAY * skin * _negative_curvature(search, system, r)
            recent[:] = search.potential()
        limit, slope = recent.max(), min(-float(r @ p), 0.0)
        limit += ROUNDING * abs(limit)
        recent[iteration % MEMORY] = _backtracked(
            search, spread(model, p), limit, slope
        )
    return search.result(system, residual, most, False)


def _backtracked(
    search: LargeSearch, move: Floats, limit: float, slope: float
) -> float:
    """Make a move shortened until the potential is low enough; that potential."""
    start = search.x
    whole = search.advance(move)
    part, end = 1.0, search.x
    while True:
        value = search.potential()
        step = whole * part
        if value <= limit + ARMIJO * step * slope or step < SHORTEST:
            return value
        part *= CONTRACTION
        search.x = start + part * (end - start)
        search.near = _nearby(search)


def _nearby(search: LargeSearch) -> NearbyPairs:
    """The pairs near x, sought again where nodes have left the skin."""
    near = search.near
    if farthest(search.x, near.base) <= near.skin:
        return near
    return near_at(search.problem, search.x, GENEROUS * search.problem.skin)


def _negative_curvature(search: LargeSearch, system: LargeSystem, r: Floats) -> Floats:
    """(u,) direction of length 1 in which the energy falls at a saddle, along r."""
    z = lowest_direction(search.fronts, factorised(search.fronts, system, 0.0))
    z /= norm(z)
    return z if z @ r >= 0.0 else -z
