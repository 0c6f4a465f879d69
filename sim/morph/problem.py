"""What a Newton step of a morph lowers, and how its end is recognised."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsqr

from sim.arrays import Floats
from sim.morph.closing import closed
from sim.morph.curvature import (
    NO_BLOCKS,
    Places,
    Terms,
    assemble,
    dense,
    factorise_newton,
    places_of,
)
from sim.morph.descent import (
    TURN,
    Contacts,
    Forces,
    Point,
    inner,
    turn,
    weights,
    with_contacts,
)
from sim.morph.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.measures import characteristic_length
from sim.morph.morph import Followers, goals
from sim.morph.projection import admissible, satisfy_constraints
from sim.morph.pull import pull_curvature
from sim.morph.structure import Structure
from sim.morph.system import Linear, System, linearise, system_of
from sim.morph.targets.protocol import Target
from sim.morph.volume import ROUGH, STIFFNESS, Obstacles

NOISE = 1e-6  # gradient below which contacts are balanced apart
SLACK = 1e-5  # relative to the force of a contact
TIGHT = 1e-6  # room, over its reach, with which a morph does not begin
EASE = 1e-2  # room that is made then, and the most of L that nodes move at once for it
EASINGS = 20
FLAT = 1e-6  # curvature above which a motion does not count as one that lowers f


@dataclass(frozen=True)
class Newton:
    """When to stop.

    Attributes
    ----------
    tolerance : on the gradient of f along the constraints, root mean square / L
    residual : on the constraints of every step, dimensionless
    leave_saddles : go on from where f is stationary and not least
    longest : displacement of a node in one step, over L, to stay in one valley
    seed : of the displacement that leaves a saddle
    """

    tolerance: float = 1e-9
    max_steps: int = 1000
    residual: float = 1e-10
    followers: Followers = Followers.HOLD
    leave_saddles: bool = True
    longest: float = np.inf
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance", "residual")
        refuse_unless_count(self, "max_steps")


@dataclass(frozen=True, eq=False)
class Problem:
    """What a morph lowers, with the places of the entries of K."""

    structure: Structure
    target: Target
    options: Newton
    system: System
    places: Places
    L: float
    obstacles: Obstacles | None = None
    stiffness: float = 0.0  # kappa of these, over L^2

    @classmethod
    def at(
        cls,
        structure: Structure,
        target: Target,
        options: Newton,
        start: Floats | None = None,
    ) -> tuple["Problem", Floats]:
        """With the state (n + k, 3) on the constraints that is close to `start`.

        Raises
        ------
        ValueError
            where constraints contradict, bodies overlap there or a range is left.
        """
        system = system_of(structure)
        L = characteristic_length(structure.r0)
        problem = cls(structure, target, options, system, places_of(system), L)
        if start is None:
            z = closed(system, structure, options.residual)
        else:
            z = satisfy_constraints(system, start, tolerance=options.residual)
        if len(structure.solids) or len(structure.ranges):
            obstacles = Obstacles.of(structure)
            obstacles.check(z)
            problem = replace(problem, obstacles=obstacles, stiffness=STIFFNESS[0])
        return problem, z

    @property
    def tolerance(self) -> float:
        """On the gradient: rough as long as kappa will fall."""
        if self.obstacles is None or self.stiffness == STIFFNESS[-1]:
            return self.options.tolerance
        return max(ROUGH * float(np.sqrt(self.stiffness)), self.options.tolerance)

    def harder(self) -> "Problem | None":
        """The same with a smaller kappa, if there is one."""
        if self.obstacles is None or self.stiffness == STIFFNESS[-1]:
            return None
        return replace(self, stiffness=STIFFNESS[STIFFNESS.index(self.stiffness) + 1])

    def contacts(self, point: Point) -> Contacts | None:
        if self.obstacles is None:
            return None
        return self.obstacles.contacts(point.z, self.stiffness * self.L**2)

    def point(self, z: Floats, linear: Linear | None = None) -> Point:
        r = z[: self.system.n]
        g = goals(self.structure, self.target, r, self.options.followers)
        return Point(z, g, linearise(self.system, z) if linear is None else linear)

    def objective(self, point: Point) -> float:
        r = point.z[: self.system.n]
        f = 0.5 * inner(r - point.g, r - point.g)
        if self.obstacles is None:
            return f
        return f + self.obstacles.energy(point.z, self.stiffness * self.L**2)

    def gradient(self, point: Point, held: Forces) -> float:
        """Root mean square / L of the motion towards the goals that is allowed.

        Multipliers are eliminated from it: in `held` they count as lengths do.
        """
        left = held.gradient
        if self.system.k > 0:
            pull = point.g - point.z[: self.system.n]
            contacts = self.contacts(point)
            if contacts is not None:
                pull -= contacts.push()[: self.system.n]
            left = -admissible(self.system, point.z, pull)
        size = float(np.sqrt(inner(left, left) / self.system.n)) / self.L
        if self.obstacles is None or not self.tolerance < size < NOISE:
            return size
        pushes = self.obstacles.pushes(point.z, self.stiffness * self.L**2)
        return unbalanced(self.system, point.z, left, pushes) / self.L

    def first_share(self, point: Point, dz: Floats) -> float:
        """How much of a step is tried first."""
        size = min(1.0, TURN / max(turn(self.system, dz), 1e-300))
        farthest = max(float(np.abs(dz[: self.system.n]).max()), 1e-300)
        size = min(size, self.options.longest * self.L / farthest)
        if self.obstacles is None:
            return size
        n = self.system.n
        return size * self.obstacles.share(point.z[:n], size * dz[:n])

    def is_free(self, z: Floats) -> bool:
        """Whether nothing overlaps at z and no range is left."""
        return self.obstacles is None or self.obstacles.energy(z, 1.0) < np.inf

    def is_tight(self, z: Floats) -> bool:
        """Whether something is touched, to rounding."""
        return self.obstacles is not None and self.obstacles.smallest_gap(z) < TIGHT

    def passes(self, before: Floats, after: Floats) -> bool:
        """Whether a step is too long, or bodies touch on its straight way."""
        n = self.system.n
        moved = float(np.abs(after[:n] - before[:n]).max())
        if moved > 2.0 * self.options.longest * self.L:
            return True
        return self.obstacles is not None and not self.obstacles.allows(
            before[:n], after[:n]
        )

    def curvature(self, point: Point) -> Floats:
        """(n, 3, 3) I - dg/dr of nodes that lead, by differences of the target."""
        r, g = point.z[: self.system.n], point.g
        W = np.zeros((len(r), 3, 3))
        if self.options.followers is Followers.HOME:
            W += np.eye(3)
        lead = self.structure.leading
        W[lead] = pull_curvature(self.target, r[lead], g[lead], 1e-6 * self.L)
        return W


def eased(problem: Problem, z: Floats) -> Floats:
    """A configuration close to z whose contacts have room, as far as there is one.

    Where bodies touch exactly, or a bound is met, the curvature of their potential is
    beyond that of the constraints, and no digit of a step is left.
    """
    obstacles, n = problem.obstacles, problem.system.n
    for _ in range(EASINGS):
        if obstacles is None or obstacles.smallest_gap(z) >= EASE:
            return z
        push = obstacles.contacts(z, 1.0).push()[:n]
        size = EASE * problem.L / max(float(np.abs(push).max()), 1e-300)
        dz = admissible(problem.system, z, -size * push)
        there = _roomier(problem, obstacles, z, dz)
        if there is None:
            return z
        z = there
    return z


def _roomier(
    problem: Problem, obstacles: Obstacles, z: Floats, dz: Floats
) -> Floats | None:
    """The configuration that a share of dz comes to and that leaves more room."""
    room = obstacles.smallest_gap(z)
    for _ in range(EASINGS):
        there = satisfy_constraints(
            problem.system, z + dz, tolerance=problem.options.residual
        )
        if obstacles.smallest_gap(there) > room and not problem.passes(z, there):
            return there
        dz = 0.5 * dz
    return None


def unbalanced(system: System, z: Floats, left: Floats, pushes: csr_array) -> float:
    """Root mean square of what is left of a gradient if contacts push a little more.

    A stiff contact answers the last digit of a coordinate with a change of its force,
    which no step can mend. So each force may differ from kappa over the room that is
    left by the share SLACK, as best balances the gradient `left` (n + k, 3).
    """
    n = system.n

    def allowed(flat: Floats) -> Floats:
        moved: Floats = admissible(system, z, flat.reshape(n, 3))[:n].ravel()
        return moved

    operator = LinearOperator(
        (3 * n, pushes.shape[0]),
        matvec=lambda share: allowed(pushes.T @ share.ravel()),
        rmatvec=lambda flat: pushes @ allowed(flat),
        dtype=np.float64,
    )
    share = lsqr(operator, -left[:n].ravel(), atol=1e-12, btol=1e-12)[0]
    rest = left[:n].ravel() + operator @ np.clip(share, -SLACK, SLACK)
    return float(np.sqrt(inner(rest, rest) / n))


def negative_directions(problem: Problem, point: Point, held: Forces) -> int:
    """How many motions lower f from a stationary point: zero at a minimum."""
    contacts = problem.contacts(point)
    seen, rho = with_contacts(held, weights(held.linear), contacts)
    places = problem.places if contacts is None else contacts.places
    blocks = NO_BLOCKS if contacts is None else contacts.blocks
    terms = Terms(problem.curvature(point), seen.y, rho, FLAT, blocks)
    factor = factorise_newton(seen.linear.system, places, seen.linear.B, point.z, terms)
    return factor.negative


def dense_curvature(problem: Problem, point: Point, held: Forces) -> Floats:
    """(3n + 3k, 3n + 3k) of f and y.c, without the weights of the constraints."""
    contacts = problem.contacts(point)
    seen, rho = with_contacts(held, 0.0 * held.linear.c, contacts)
    places = problem.places if contacts is None else contacts.places
    blocks = NO_BLOCKS if contacts is None else contacts.blocks
    terms = Terms(problem.curvature(point), seen.y, rho, 0.0, blocks)
    system = seen.linear.system
    values = assemble(system.layout, places.blocks, seen.linear.B, point.z, terms)
    return dense(places, values)
