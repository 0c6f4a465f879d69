"""Where hinged blocks come to rest while their grips stand still.

The energy of the hinges and of clamps that give is minimised over the motions that no
grip prescribes. Newton's method with an inertia-corrected Hessian and a backtracking
line search on the energy (Nocedal and Wright, Numerical Optimization, 2006, sect. 3.4
and 3.1) goes downhill, so what it ends at is the state that the blocks would slide
into; a saddle is left along its direction of negative curvature.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.linear.sparse import Factor, SparsityPattern, analyse, factorise
from sim.morph.blocks.assembly import HELD, BlockAssembly
from sim.morph.blocks.hinge_energy import LOWER, HingeArrays, add_hinges, hinge_arrays

ARMIJO = 1e-4  # share of the promised decrease that a step must bring
FIRST_SHIFT = 1e-6  # of the Hessian's largest diagonal entry; then four times as much
LARGEST_TURN = 0.2  # of a block in one step, rad
ROUNDING = 1e-14  # of the energy, below which a line search sees nothing
SHORTEST = 2.0**-30  # step length at which a line search gives up
TILT = 1e-3  # turn by which a saddle is left, rad


@dataclass(frozen=True)
class BlockOptions:
    """How exactly blocks come to rest.

    Attributes
    ----------
    tolerance : largest unbalanced force over the stretch stiffness times the ligament's
        length; moments are divided by the mean arm of the hinges as well
    max_iterations : Newton steps for one rest
    """

    tolerance: float = 1e-10
    max_iterations: int = 200

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance")
        refuse_unless_count(self, "max_iterations")


@dataclass(frozen=True, eq=False)
class BlockState:
    """A stable rest.

    Attributes
    ----------
    q : (b, 3) motions x, y, theta of all blocks
    energy : stored in hinges and clamps
    reactions : (g, 3) force x, y and moment that each grip puts on its block
    residual : as `BlockOptions.tolerance`
    iterations : Newton steps
    left_saddle : whether it was left along a negative curvature on the way
    """

    q: Floats
    energy: float
    reactions: Floats
    residual: float
    iterations: int
    left_saddle: bool


@dataclass(frozen=True, eq=False)
class _Point:
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
            raise ValueError("no hinge resists stretching: give one a stiffness")
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
        kept = (rows >= 0) & (cols >= 0)
        return rows[kept], cols[kept], kept

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

    def point(self, q: Floats, anchors: Floats, slip: Floats) -> _Point:
        """Energy, gradient (b, 3) and the entries of the scaled Hessian at q."""
        gradient = np.zeros_like(q)
        entries = np.empty((len(self.hinges.blocks), 21))
        energy = add_hinges(q, slip, self.hinges, gradient, entries)
        gives = np.where(self.springs < HELD, self.springs, 0.0)
        pulled = q[self.slots] - anchors
        gradient[self.slots] += gives * pulled
        energy += 0.5 * float(np.sum(gives * pulled**2))
        diagonal = np.zeros_like(q)
        diagonal[self.slots] = gives
        scale = np.tile([self.lever, self.lever, 1.0], 2)
        entries *= (scale[LOWER[0]] * scale[LOWER[1]])[None]
        values = np.concatenate([entries.ravel(), (diagonal * self.levers**2).ravel()])
        return _Point(q, energy, gradient, values[self.places[2]])

    def reactions(self, point: _Point, anchors: Floats) -> Floats:
        """(g, 3) force and moment that each grip puts on its block."""
        given = self.springs < HELD
        pulled = point.q[self.slots] - anchors
        springs = np.where(given, self.springs, 0.0)
        return np.where(given, -springs * pulled, point.gradient[self.slots])

    def residual(self, point: _Point) -> float:
        """Largest unbalanced force, as `BlockOptions.tolerance` counts it."""
        forces = (point.gradient * self.levers)[self.free] / self.lever
        return float(np.abs(forces).max(initial=0.0)) / self.unit

    def factor(self, point: _Point, shift: float) -> Factor:
        """L D L^T of the scaled Hessian plus `shift` on its diagonal."""
        rows, cols, _ = self.places
        values = point.entries.copy()
        extra = np.flatnonzero(rows == cols)[-self.pattern.n :]  # those of the clamps
        values[extra] += shift
        return factorise(self.pattern, values)

    def convex(self, point: _Point) -> tuple[Factor, float]:
        """A factor of the Hessian, shifted until it is positive definite; the shift."""
        rows, cols, _ = self.places
        largest = float(np.abs(point.entries[rows == cols]).max())
        shift = 0.0
        factor = self.factor(point, shift)
        while factor.negative or len(factor.dropped):
            shift = max(FIRST_SHIFT * largest, 4.0 * shift)
            factor = self.factor(point, shift)
        return factor, shift

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
) -> BlockState:
    """The stable rest that the blocks slide into from `start`.

    Parameters
    ----------
    driving : how far the grips have gone, in units of their motions
    start : (b, 3) motions
    slip : (h,) slips of the rubbing elements

    Raises
    ------
    NotConvergedError : if the tolerance is not met, or the blocks are not held
    """
    anchors = problem.anchors(driving)
    point = problem.point(problem.with_anchors(start, anchors), anchors, slip)
    left_saddle = False
    for iteration in range(options.max_iterations):
        residual = problem.residual(point)
        factor, shift = problem.convex(point)
        if residual <= options.tolerance:
            if shift == 0.0:
                return BlockState(
                    point.q, point.energy, problem.reactions(point, anchors), residual,
                    iteration, left_saddle,
                )  # fmt: skip
            left_saddle = True
            point = _beside(problem, point, factor, anchors, slip)
            continue
        down = -(point.gradient * problem.levers)[problem.free]
        step = problem.expanded(factor.solve(down))
        step *= min(1.0, LARGEST_TURN / float(np.abs(step / problem.levers).max()))
        point = _downhill(problem, point, step, anchors, slip)
    raise NotConvergedError(
        f"blocks came to no rest at a driving of {driving:.6g} within"
        f" {options.max_iterations} steps (residual {problem.residual(point):.1e}):"
        " are they held, or do they need smaller increments?",
        best=point.q,
    )


def _downhill(
    problem: BlockProblem, point: _Point, step: Floats, anchors: Floats, slip: Floats
) -> _Point:
    """The first of halved steps that lowers the energy as Armijo asks.

    Where the decrease is lost in rounding, a smaller residual counts.
    """
    slope = float(np.sum(point.gradient * step))
    noise = ROUNDING * (abs(point.energy) + problem.unit * problem.lever)
    for length in _halved():
        trial = problem.point(point.q + length * step, anchors, slip)
        if trial.energy <= point.energy + ARMIJO * length * slope:
            return trial
        near = trial.energy <= point.energy + noise
        if near and problem.residual(trial) < problem.residual(point):
            return trial
    raise NotConvergedError(
        f"no step lowers the energy of the blocks: residual"
        f" {problem.residual(point):.1e} is what rounding leaves; ask for a larger"
        " tolerance",
        best=point.q,
    )


def _halved() -> Iterator[float]:
    length = 1.0
    while length >= SHORTEST:
        yield length
        length *= 0.5


def _beside(
    problem: BlockProblem, point: _Point, factor: Factor, anchors: Floats, slip: Floats
) -> _Point:
    """Beside a saddle, on the lower side of its direction of most negative curvature.

    `factor` is that of the Hessian shifted until positive definite, so inverse
    iteration finds its smallest eigenvector, which is the Hessian's lowest.
    """
    unknowns = np.random.default_rng(0).normal(size=problem.pattern.n)
    for _ in range(100):
        unknowns = factor.solve(unknowns)
        unknowns /= np.linalg.norm(unknowns)
    step = problem.expanded(TILT * unknowns / np.abs(unknowns).max())
    sides = [problem.point(point.q + s * step, anchors, slip) for s in (1.0, -1.0)]
    return min(sides, key=lambda side: side.energy)
