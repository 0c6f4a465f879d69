"""What a Newton step of a morph lowers, and how its end is recognised."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsqr

from sim.core.arrays import Floats
from sim.core.options import Checked, Count, NotConvergedError, Positive
from sim.linalg.sparse_ldl import factorise
from sim.mechanism.constrained_newton import (
    DENSE,
    MOST_ROTATION,
    NewtonMatrix,
    largest_rotation,
    penalty_weights,
)
from sim.mechanism.constraint_forces import (
    ConstraintForces,
    MorphConfiguration,
    ObstacleTerms,
    inner,
)
from sim.mechanism.constraint_projection import admissible, closed, satisfy_constraints
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    HessianPattern,
    LinearConstraints,
    hessian_pattern_of,
    linearise,
    system_of,
)
from sim.mechanism.obstacles import (
    BARRIER_PARAMETERS,
    ROUGH,
    ROUGH_IN_VALLEYS,
    Obstacles,
)
from sim.mechanism.projection_morph import Followers, goals
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target, pull_curvature, smoothed

DENSE_AMONG_THIN = 600  # bodies, where each of them saves many
LARGE = 600  # unknowns above which steps are long
NOISE = 1e-6  # gradient below which contacts are balanced apart
SLACK = 1e-5  # relative to the force of a contact
TIGHT = 1e-6  # clearance, over its reach, with which no morph begins
CLEARANCE = 1e-2  # that is made then, and the most of L that nodes move at once
MOST_MOVES = 20  # for it
LONG_STEPS = 0.8, 16.0  # pace of large structures: the fewest steps of nine tried
FLAT = 1e-6  # curvature above which a motion does not count as one that lowers f


@dataclass(frozen=True)
class NewtonOptions(Checked):
    """When to stop.

    Attributes
    ----------
    tolerance : on the gradient of f along the constraints, root mean square / L
    residual : on the constraints of every step, dimensionless
    leave_saddles : go on from where f is stationary and not least
    longest : displacement of a node in one step, over L, to stay in one valley
    seed : of the displacement that leaves a saddle
    """

    tolerance: Positive = 1e-9
    max_steps: Count = 1000
    residual: Positive = 1e-10
    followers: Followers = Followers.HOLD
    leave_saddles: bool = True
    longest: float = np.inf
    seed: int = 0


@dataclass(frozen=True, eq=False)
class MorphProblem:
    """What a morph lowers, with the places of the entries of K."""

    structure: Structure
    target: Target
    options: NewtonOptions
    system: ConstraintSystem
    pattern: HessianPattern
    L: float
    obstacles: Obstacles | None = None
    barrier_parameter: float = 0.0  # kappa / L^2

    @classmethod
    def at(
        cls,
        structure: Structure,
        target: Target,
        options: NewtonOptions,
        start: Floats | None = None,
    ) -> tuple["MorphProblem", Floats]:
        """With the state (n + k, 3) on the constraints that is close to `start`.

        Raises
        ------
        ValueError
            where constraints contradict, bodies overlap there or a range is left.
        """
        system = system_of(structure)
        L = characteristic_length(structure.r0)
        pattern = hessian_pattern_of(system.topology)
        problem = cls(structure, smoothed(target), options, system, pattern, L)
        if start is None:
            z = closed(system, structure, options.residual)
        else:
            z = satisfy_constraints(system, start, tolerance=options.residual)
        if structure.is_limited:
            obstacles = Obstacles.of(structure)
            obstacles.check(z)
            problem = replace(problem, obstacles=obstacles)._with(BARRIER_PARAMETERS[0])
        return problem, z

    @property
    def tolerance(self) -> float:
        """On the gradient: rough as long as kappa will fall."""
        if self.is_last:
            return self.options.tolerance
        last = self.barrier_parameter == BARRIER_PARAMETERS[-1]
        rough = ROUGH_IN_VALLEYS if self.is_small and not last else ROUGH
        return max(
            rough * float(np.sqrt(self.barrier_parameter)), self.options.tolerance
        )

    @property
    def is_last(self) -> bool:
        """Whether neither barrier parameter nor reach will fall any more."""
        felt = self.obstacles
        least = self.barrier_parameter == BARRIER_PARAMETERS[-1]
        return felt is None or (least and felt.nearest is felt)

    @classmethod
    def at_end(
        cls, structure: Structure, target: Target, options: NewtonOptions, end: Floats
    ) -> tuple["MorphProblem", Floats]:
        """As `at` the end of a morph, with its last barrier parameter."""
        problem, z = cls.at(structure, target, options, end)
        while (following := problem.continued()) is not None:
            problem = following
        return problem, z

    def continued(self) -> "MorphProblem | None":
        """The same with the next smaller barrier parameter, if there is one.

        Each begins where the last has ended: continuation, as interior-point methods do
        (Nocedal and Wright, sect. 19.6).
        """
        if self.obstacles is None or self.is_last:
            return None
        if self.barrier_parameter == BARRIER_PARAMETERS[-1]:
            return replace(self, obstacles=self.obstacles.nearest)
        i = BARRIER_PARAMETERS.index(self.barrier_parameter)
        return self._with(BARRIER_PARAMETERS[i + 1])

    def _with(self, parameter: float) -> "MorphProblem":
        assert self.obstacles is not None
        last = len(BARRIER_PARAMETERS) - 1
        felt = self.obstacles.reaching(BARRIER_PARAMETERS.index(parameter) / last)
        return replace(self, obstacles=felt, barrier_parameter=parameter)

    def contacts(self, point: MorphConfiguration) -> ObstacleTerms | None:
        if self.obstacles is None:
            return None
        return self.obstacles.contacts(point.z, self.barrier_parameter * self.L**2)

    def point(
        self, z: Floats, linear: LinearConstraints | None = None
    ) -> MorphConfiguration:
        r = z[: self.system.n]
        g = goals(self.structure, self.target, r, self.options.followers)
        return MorphConfiguration(
            z, g, linearise(self.system, z) if linear is None else linear
        )

    def objective(self, point: MorphConfiguration) -> float:
        r = point.z[: self.system.n]
        f = 0.5 * inner(r - point.g, r - point.g)
        if self.obstacles is None:
            return f
        return f + self.obstacles.energy(point.z, self.barrier_parameter * self.L**2)

    def merit(self, point: MorphConfiguration, forces: ConstraintForces) -> float:
        """Objective + y.c with the y of `forces`, perhaps of another configuration."""
        return self.objective(point) + inner(forces.y, point.linear.c)

    def rounding(self, point: MorphConfiguration, forces: ConstraintForces) -> float:
        """What rounding may add to the merit, much where multipliers are large."""
        return 1e-13 * abs(self.objective(point)) + self.system.rounding(forces.y)

    def gradient(self, point: MorphConfiguration, forces: ConstraintForces) -> float:
        """Root mean square / L of the motion towards the goals that is allowed.

        Multipliers are eliminated from it: in `forces` they count as lengths do.
        """
        left = forces.gradient
        if self.system.k > 0:
            pull = point.g - point.z[: self.system.n]
            contacts = self.contacts(point)
            if contacts is not None:
                pull -= contacts.push()[: self.system.n]
            left = -admissible(self.system, point.z, pull)
        size = float(np.sqrt(inner(left, left) / self.system.n)) / self.L
        if self.obstacles is None or not self.tolerance < size < NOISE:
            return size
        contacts = self.contacts(point)
        assert contacts is not None
        return unbalanced(self.system, point.z, left, contacts.pushes()) / self.L

    def first_step_length(self, point: MorphConfiguration, dz: Floats) -> float:
        """How much of a step is tried first."""
        rotation = max(largest_rotation(self.system.layout, dz), 1e-300)
        size = min(1.0, self.pace[0] / rotation)
        farthest = max(float(np.abs(dz[: self.system.n]).max()), 1e-300)
        size = min(size, self.options.longest * self.L / farthest)
        if self.obstacles is None:
            return size
        n = self.system.n
        return size * self.obstacles.largest_step_length(point.z[:n], size * dz[:n])

    @property
    def is_small(self) -> bool:
        """Whether steps may be dense: few unknowns, more among thin bodies.

        Not at the last among these: f may be flat there, and the size of what is next
        to nothing leads far astray, where damping leads nowhere.
        """
        if not self.is_among_thin:
            return self.system.unknowns <= DENSE
        return self.system.unknowns <= DENSE_AMONG_THIN and not self.is_last

    @property
    def is_among_thin(self) -> bool:
        """Whether bodies feel each other from beyond their own reach."""
        return self.obstacles is not None and self.obstacles.reach > 0.0

    @property
    def pace(self) -> tuple[float, float]:
        """Largest rotation of a link in one step, rad, and by what the damping falls at
        least after a full one: more where many links share one bend."""
        large = self.obstacles is None and self.system.unknowns > LARGE
        return LONG_STEPS if large else (MOST_ROTATION, 4.0)

    def is_free(self, z: Floats) -> bool:
        """Whether nothing overlaps at z and no range is left."""
        return self.obstacles is None or self.obstacles.energy(z, 1.0) < np.inf

    def is_tight(self, z: Floats) -> bool:
        """Whether something is touched, to rounding."""
        return self.clearance(z) < TIGHT

    def clearance(self, z: Floats) -> float:
        """The smallest of a contact, over its reach; infinite where there are none."""
        felt = self.obstacles
        return np.inf if felt is None else felt.smallest_clearance(z)

    def passes_through(self, before: Floats, after: Floats) -> bool:
        """Whether a step is too long, or bodies touch on its straight way."""
        n = self.system.n
        moved = float(np.abs(after[:n] - before[:n]).max())
        if moved > 2.0 * self.options.longest * self.L:
            return True
        return self.obstacles is not None and not self.obstacles.allows(
            before[:n], after[:n]
        )

    def curvature(self, point: MorphConfiguration) -> Floats:
        """(n, 3, 3) I - dg/dr of nodes that lead, by differences of the target."""
        r, g = point.z[: self.system.n], point.g
        W = np.zeros((len(r), 3, 3))
        if self.options.followers is Followers.HOME:
            W += np.eye(3)
        lead = self.structure.leading
        W[lead] = pull_curvature(self.target, r[lead], g[lead], 1e-6 * self.L)
        return W


def nearest_free(
    problem: MorphProblem, z: Floats, dz: Floats, clearance: float | None = None
) -> Floats:
    """The configuration along dz, no farther from z than bodies and ranges let it.

    Parameters
    ----------
    clearance : of which it must have more, if that is asked for; over the reach
    """
    for _ in range(MOST_MOVES):
        with suppress(NotConvergedError):
            there = satisfy_constraints(
                problem.system, z + dz, tolerance=problem.options.residual
            )
            enough = clearance is None or problem.clearance(there) > clearance
            if (
                enough
                and problem.is_free(there)
                and not problem.passes_through(z, there)
            ):
                return there
        dz = 0.5 * dz
    return z


def moved_off_bounds(problem: MorphProblem, z: Floats) -> Floats:
    """A configuration close to z whose contacts have clearance, as far as there is one.

    Where bodies touch exactly, or a bound is met, the curvature of their potential is
    beyond that of the constraints, and no digit of a step is left.
    """
    obstacles, n = problem.obstacles, problem.system.n
    for _ in range(MOST_MOVES):
        if obstacles is None or problem.clearance(z) >= CLEARANCE:
            return z
        push = obstacles.contacts(z, 1.0).push()[:n]
        size = CLEARANCE * problem.L / max(float(np.abs(push).max()), 1e-300)
        dz = admissible(problem.system, z, -size * push)
        there = nearest_free(problem, z, dz, problem.clearance(z))
        if there is z:
            return z
        z = there
    return z


def unbalanced(
    system: ConstraintSystem, z: Floats, left: Floats, pushes: csr_array
) -> float:
    """Root mean square of what is left of a gradient if contacts push a little more.

    A stiff contact answers the last digit of a coordinate with a change of its force,
    which no step can mend. So each force may differ from kappa over the clearance by
    the share SLACK, as best balances the gradient `left` (n + k, 3).
    """
    n = system.n

    def allowed(flat: Floats) -> Floats:
        return np.asarray(admissible(system, z, flat.reshape(n, 3))[:n].ravel())

    operator = LinearOperator(
        (3 * n, pushes.shape[0]),
        matvec=lambda share: allowed(pushes.T @ share.ravel()),
        rmatvec=lambda flat: pushes @ allowed(flat),
        dtype=np.float64,
    )
    share = lsqr(operator, -left[:n].ravel(), atol=1e-12, btol=1e-12)[0]
    rest = left[:n].ravel() + operator @ np.clip(share, -SLACK, SLACK)
    return float(np.sqrt(inner(rest, rest) / n))


def negative_directions(
    problem: MorphProblem, point: MorphConfiguration, forces: ConstraintForces
) -> int:
    """How many motions lower f from a stationary point: zero at a minimum."""
    K = newton_matrix(problem, point, forces)
    return factorise(K.places.factor, K.entries(FLAT), drop=0.0).negative


def newton_matrix(
    problem: MorphProblem, point: MorphConfiguration, forces: ConstraintForces
) -> NewtonMatrix:
    """K of f and y.c."""
    linear, W = forces.linear, problem.curvature(point)
    rho, contacts = (
        penalty_weights(problem.system.layout, linear.B),
        problem.contacts(point),
    )
    return NewtonMatrix(problem.pattern, point.z, linear, W, forces.y, rho, contacts)


def dense_curvature(
    problem: MorphProblem, point: MorphConfiguration, forces: ConstraintForces
) -> Floats:
    """(3n + 3k, 3n + 3k) of f and y.c, without the weights of the constraints."""
    K = newton_matrix(problem, point, forces)
    return replace(K, rho=0.0 * K.rho).dense()
