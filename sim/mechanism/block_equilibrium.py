"""Equilibria of hinged blocks, for fixed grips and for grips that move slowly.

The energy of the hinges and of clamps that give is minimised over the motions that no
grip prescribes. Newton's method (`sim.optimize`) goes downhill, so its end is the state
that the blocks would slide into; a saddle is left along its direction of negative
curvature.

Grips that move give force by displacement, snaps and hysteresis. A displacement is
followed in increments, each from the rest before it. The blocks stay in the minimum of
the energy they are in for as long as there is one, and slide into another when it is
lost (a snap; the energy that is lost in it is not in the forces). Back and forth over
the same way gives both branches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Checked, Count, NotConvergedError, Positive
from sim.linalg.sparse_ldl import Factor, SparsityPattern, analyse, factorise
from sim.mechanism.hinged_blocks import (
    HELD,
    LOWER,
    BlockAssembly,
    HingeArrays,
    add_hinges,
    hinge_arrays,
    slipped,
)
from sim.optimize.curvature import PositiveFactor, lowest_mode, positive_factor
from sim.optimize.newton import End, Step, Trial, halved, minimise

FIRST_SHIFT = 1e-6  # of the Hessian's largest diagonal entry
LARGEST_TURN = 0.2  # of a block in one step, rad
ROUNDING = 1e-14  # of the energy, below which a line search sees nothing
SHORTEST = 2.0**-30  # step length at which a line search gives up
TILT = 1e-3  # turn by which a saddle is left, rad


@dataclass(frozen=True)
class BlockOptions(Checked):
    """How exactly blocks come to rest.

    Attributes
    ----------
    tolerance : largest unbalanced force over the stretch stiffness times the ligament's
        length; moments are divided by the mean arm of the hinges as well
    max_iterations : Newton steps for one rest
    """

    tolerance: Positive = 1e-10
    max_iterations: Count = 200


@dataclass(frozen=True, eq=False)
class Point:
    """Energy and derivatives at q, for a given driving."""

    q: Floats
    energy: float
    gradient: Floats
    entries: Floats


class BlockProblem:
    """The minimisation over the motions that no grip prescribes; made once."""

    def __init__(self, assembly: BlockAssembly) -> None:
        self.assembly = assembly
        self.hinges: HingeArrays = hinge_arrays(assembly)
        if not (self.hinges.stretch > 0.0).any():
            raise ValueError("no hinge resists stretching: give a stretching stiffness")
        self.lever = float(np.linalg.norm(self.hinges.arms, axis=2).mean())
        self.unit = float((self.hinges.stretch * self.hinges.length).max())
        self.slots = np.array([grip.block for grip in assembly.grips], dtype=np.int64)
        self.springs = np.array(
            [[grip.stiffness, grip.stiffness, grip.turning] for grip in assembly.grips]
        ).reshape(-1, 3)

    @cached_property
    def free(self) -> Bools:
        """(b, 3) whether a motion is unknown."""
        free = np.ones((len(self.assembly), 3), dtype=bool)
        free[self.slots] = self.springs < HELD
        return free

    @cached_property
    def levers(self) -> Floats:
        """(b, 3) scale of the unknowns: the lever for lengths, 1 for turns."""
        return np.tile([self.lever, self.lever, 1.0], (len(self.assembly), 1))

    @cached_property
    def places(self) -> tuple[Ints, Ints, Bools]:
        """Rows and columns of all entries among the unknowns; which those are."""
        number = np.full(self.free.size, -1)
        number[self.free.ravel()] = np.arange(np.count_nonzero(self.free))
        own = 3 * self.hinges.blocks[:, :, None] + np.arange(3)
        dofs = number[own.reshape(-1, 6)]
        rows = np.concatenate([dofs[:, LOWER[0]].ravel(), number])
        cols = np.concatenate([dofs[:, LOWER[1]].ravel(), number])
        used = (rows >= 0) & (cols >= 0)
        return rows[used], cols[used], used

    @cached_property
    def on_diagonal(self) -> Bools:
        """Which of the entries among the unknowns are on the diagonal."""
        rows, cols, _ = self.places
        return np.equal(rows, cols)

    @cached_property
    def of_clamps(self) -> Ints:
        """Which of those are the clamps', one an unknown."""
        return np.flatnonzero(self.on_diagonal)[-self.pattern.n :]

    @cached_property
    def scales(self) -> tuple[Floats, Floats]:
        """By which entries of hinges (21,) and of clamps (b, 3) are scaled."""
        scale = np.tile([self.lever, self.lever, 1.0], 2)
        return scale[LOWER[0]] * scale[LOWER[1]], self.levers**2

    @cached_property
    def pattern(self) -> SparsityPattern:
        rows, cols, _ = self.places
        return analyse(int(np.count_nonzero(self.free)), rows, cols)

    def anchors(self, driving: float) -> Floats:
        """(g, 3) motions that the grips ask for."""
        motion = np.array([[*grip.motion, 0.0] for grip in self.assembly.grips])
        return driving * motion.reshape(-1, 3)

    def with_anchors(self, q: Floats, anchors: Floats) -> Floats:
        """q with what is held where its grip wants it."""
        q = q.copy()
        q[self.slots] = np.where(self.springs < HELD, q[self.slots], anchors)
        return q

    def point(self, q: Floats, anchors: Floats, slip: Floats) -> Point:
        """Energy, gradient (b, 3) and the entries of the scaled Hessian at q."""
        gradient = np.zeros_like(q)
        entries = np.empty((len(self.hinges.blocks), 21))
        energy = add_hinges(q, slip, self.hinges, gradient, entries)
        gives = np.where(self.springs < HELD, self.springs, 0.0)
        stretched = q[self.slots] - anchors
        gradient[self.slots] += gives * stretched
        energy += 0.5 * float(np.sum(gives * stretched**2))
        diagonal = np.zeros_like(q)
        diagonal[self.slots] = gives
        of_hinges, of_clamps = self.scales
        entries *= of_hinges
        values = np.concatenate([entries.ravel(), (diagonal * of_clamps).ravel()])
        return Point(q, energy, gradient, values[self.places[2]])

    def reactions(self, point: Point, anchors: Floats) -> Floats:
        """(g, 3) force and moment that each grip puts on its block."""
        given = self.springs < HELD
        stretched = point.q[self.slots] - anchors
        springs = np.where(given, self.springs, 0.0)
        return np.where(given, -springs * stretched, point.gradient[self.slots])

    def residual(self, point: Point) -> float:
        """Largest unbalanced force, as `BlockOptions.tolerance` counts it."""
        forces = (point.gradient * self.levers)[self.free] / self.lever
        return float(np.abs(forces).max(initial=0.0)) / self.unit

    def factor(self, point: Point, shift: float) -> Factor:
        """L D L^T of the scaled Hessian plus `shift`; ends at a negative pivot."""
        values = point.entries.copy()
        values[self.of_clamps] += shift
        return factorise(self.pattern, values, definite=True)

    def positive(self, point: Point) -> PositiveFactor:
        """The Hessian's factor, shifted until it is positive definite."""
        largest = float(np.abs(point.entries[self.on_diagonal]).max())
        return positive_factor(partial(self.factor, point), FIRST_SHIFT * largest)

    def expanded(self, unknowns: Floats) -> Floats:
        """(b, 3) motion of scaled unknowns (u,)."""
        motion = np.zeros(self.free.shape)
        motion[self.free] = unknowns
        return motion * self.levers


def at_rest(
    problem: BlockProblem,
    driving: float,
    start: Floats,
    slip: Floats,
    options: BlockOptions,
) -> Point:
    """The stable rest that the blocks slide into from `start`.

    Parameters
    ----------
    driving : displacement of the grips, in units of their motions
    start : (b, 3) motions
    slip : (h,) slips of the friction elements

    Raises
    ------
    NotConvergedError : if the tolerance is not met, or the blocks are not held
    """
    anchors = problem.anchors(driving)
    held = _HeldBlocks(problem, anchors, slip, options.tolerance)
    start = problem.with_anchors(start, anchors)
    for found in minimise(held, held.at(start), options.max_iterations):
        point = found.point
    if found.end is not End.MINIMUM:
        raise NotConvergedError(
            f"no equilibrium found at drive parameter {driving:.6g} in {found.steps} "
            f"steps (residual {problem.residual(point):.1e}): add grips, or take "
            "smaller increments",
            best=point.q,
        )
    return point


@dataclass(frozen=True, eq=False)
class _HeldBlocks:
    """What `minimise` asks of blocks whose grips and slips are given."""

    blocks: BlockProblem
    anchors: Floats
    slip: Floats
    tolerance: float

    def at(self, q: Floats) -> Point:
        return self.blocks.point(q, self.anchors, self.slip)

    def is_balanced(self, point: Point) -> bool:
        return self.blocks.residual(point) <= self.tolerance

    def negative(self, point: Point) -> int:
        return int(self.blocks.positive(point).shift > 0.0)  # or what nothing holds

    def steps(self, point: Point) -> Iterator[Step[Point]]:
        blocks = self.blocks
        down = -(point.gradient * blocks.levers)[blocks.free]
        step = blocks.expanded(blocks.positive(point).factor.solve(down))
        step *= min(1.0, LARGEST_TURN / float(np.abs(step / blocks.levers).max()))

        def trials(share: float) -> Iterator[Trial[Point]]:
            there = self.at(point.q + share * step)
            yield Trial(there, there.energy - point.energy)

        slope = float(np.sum(point.gradient * step))
        rounding = ROUNDING * (abs(point.energy) + blocks.unit * blocks.lever)
        yield Step(trials, slope, rounding, halved(1.0, SHORTEST))

    def escaped(self, point: Point) -> Point:
        """On the lower side of the direction of most negative curvature."""
        mode = lowest_mode(
            self.blocks.positive(point).factor.solve, self.blocks.pattern.n
        )
        step = self.blocks.expanded(TILT * mode / np.abs(mode).max())
        sides = [self.at(point.q + side * step) for side in (1.0, -1.0)]
        return min(sides, key=lambda side: side.energy)


MOST_HALVINGS = 8
LOST = 0.05  # of the largest force times the increment: work that a snap loses, or more


@dataclass(frozen=True, eq=False)
class BlockStep:
    """A rest on the way.

    Attributes
    ----------
    driving : of the grips, in units of their motions
    force : work of the grips for one unit of driving: sum of reactions times motions
    q : (b, 3) motions x, y, theta of all blocks
    slip : (h,) slips of the friction elements after it
    """

    driving: float
    force: float
    q: Floats
    slip: Floats


def driven(
    assembly: BlockAssembly,
    drivings: Sequence[float],
    options: BlockOptions | None = None,
    sharp: float = 0.0,
) -> Iterator[BlockStep]:
    """Move the grips to each of `drivings` in turn, from the initial state.

    Parameters
    ----------
    sharp : of driving, between the rests on both sides of a snap, which are given too;
        0 leaves a snap within its increment

    Raises
    ------
    NotConvergedError : where even increments halved eight times come to no rest
    """
    options = options or BlockOptions()
    problem = BlockProblem(assembly)
    still = np.zeros((len(assembly), 3))
    initial = before = BlockStep(0.0, 0.0, still, np.zeros(len(assembly.hinges)))
    largest = 0.0
    for driving in drivings:
        after = _advanced(problem, before, float(driving), options)
        largest = max(largest, abs(after.force))
        if sharp > 0.0 and before is not initial:
            yield from _snap(problem, before, after, options, sharp, largest)
        yield after
        before = after


def _advanced(
    problem: BlockProblem, before: BlockStep, to: float, options: BlockOptions,
    halvings: int = 0,
) -> BlockStep:  # fmt: skip
    """The rest at `to`; by two halves where one increment fails."""
    try:
        point = at_rest(problem, to, before.q, before.slip, options)
    except NotConvergedError:
        if halvings == MOST_HALVINGS or before.driving == to:
            raise
        half = 0.5 * (before.driving + to)
        middle = _advanced(problem, before, half, options, halvings + 1)
        return _advanced(problem, middle, to, options, halvings + 1)
    motions = np.array([grip.motion for grip in problem.assembly.grips]).reshape(-1, 2)
    reactions = problem.reactions(point, problem.anchors(to))
    force = float(np.sum(reactions[:, :2] * motions))
    return BlockStep(to, force, point.q, slipped(point.q, before.slip, problem.hinges))


def _snap(
    problem: BlockProblem, before: BlockStep, after: BlockStep,
    options: BlockOptions, sharp: float, largest: float,
) -> list[BlockStep]:  # fmt: skip
    """The rests on both sides of a snap between two rests, by halves; none without."""
    first = before
    far = abs(after.driving - before.driving)
    while abs(after.driving - before.driving) > sharp:
        share = abs(after.driving - before.driving) / far
        if _lost(problem, before, after) <= LOST * largest * far * share:
            break
        half = 0.5 * (before.driving + after.driving)
        found = _advanced(problem, before, half, options)
        if _lost(problem, before, found) > _lost(problem, found, after):
            after = found
        else:
            before = found
    return [] if before is first else [before, after]


def _lost(problem: BlockProblem, before: BlockStep, after: BlockStep) -> float:
    """Work of the grips that is neither stored nor dissipated."""
    work = 0.5 * (before.force + after.force) * (after.driving - before.driving)
    dissipated = problem.hinges.friction @ np.abs(after.slip - before.slip)
    stored = _stored(problem, after) - _stored(problem, before)
    return float(work - stored - dissipated)


def _stored(problem: BlockProblem, step: BlockStep) -> float:
    """Elastic energy: that of a rest counts what its increment dissipated as well."""
    anchors = problem.anchors(step.driving)
    return problem.point(step.q, anchors, step.slip).energy
