"""Static equilibrium of structures with elastic parts, loads and springs to a target.

Sought is a minimum of the potential energy Pi of
`sim.mechanism.statics.potential_energy` among the configurations that satisfy the
constraints; there the forces y of these balance the rest,

    grad Pi + J^T y = 0,     c(z) = 0.

Steps are those of Newton's method with inertia correction and a line search by Armijo's
condition. A step along the tangent stretches what turns, and elastic links many times
stiffer than the others would allow only tiny steps; so a second-order correction brings
each step to the lengths that the linear step gave these links, in the measure of the
matrix of that step. Small structures go through negative curvature by its size
(`sim.mechanism.constrained_newton`), as morphs do.

Bodies that cannot pass, and ranges, have the potential of `sim.mechanism.obstacles`,
for ever smaller kappa; the last leaves a contact that carries the largest force a gap
of 1e-6 of the size.

The direction of a step is that of Nocedal and Wright (2006), ch. 18, by the matrix K of
`sim.mechanism.constraint_system`; its length is sought by Armijo's condition (sect.
3.1) on the merit function Pi + y.c; a second-order correction (sect. 18.3) brings its
end to the lengths and angles that the linear step gave the elastic parts.

Of a rest that is not stable, an error names the motion that lowers its energy most:
which nodes, and where to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import Checked, Count, NotConvergedError, Positive
from sim.linalg.sparse_ldl import Factor
from sim.mechanism.constrained_newton import (
    DENSE,
    MOST_ROTATION,
    NewtonDirection,
    NewtonMatrix,
    curvature_along,
    links_of,
    modes_along,
    newton_direction,
)
from sim.mechanism.constraint_forces import inner
from sim.mechanism.constraint_projection import (
    admissible,
    closed,
    retract,
    satisfy_constraints,
)
from sim.mechanism.constraint_system import linearise
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.statics.elastic_parts import Deformed, angles_of
from sim.mechanism.statics.loaded_structure import (
    LoadedStructure,
    refuse_free_translation,
)
from sim.mechanism.statics.potential_energy import LoadedConfiguration, PotentialEnergy
from sim.optimize.curvature import lowest_mode, positive_factor
from sim.optimize.newton import End, Iterate, Step, Trial, minimise

SHIFT = 1e-10  # of K, relative to the largest stiffness: motions that cost nothing
INERTIA_SHIFT = 1e-8  # of the stiffness, below which curvature counts as none, at most
ROUNDING = 1e-11  # the same of what rounding does to K
UNBALANCED = 100.0  # times unbalanced force / size: what these do to curvature
FAR = 1e4  # displacement, of the structure's size, that only free motions reach
PERTURBATION = 1e-4  # of the size, displacement that leaves a saddle
MOST_SADDLES = 5  # saddles left before the search ends with an error
PLAIN = 10  # directions before the size of negative curvature is used
KAPPAS = tuple(10.0**-k for k in range(2, 7))  # of the largest force x size
ROUGH = 1e-3  # unbalanced forces that are enough for all but the last of them
LENGTHS = 1.0, 0.25, 0.06  # of a step, before another is taken
CONVEX_SHIFT = 1e-8  # of K where the curvature is not taken as it is
SHORTEST = 1e-2  # share that turns links by little enough, else the shift grows
SHIFT_GROWTH = 64.0
MOST_SHIFT = 1e3  # of K, with the tension of links
LEFT = 1e-12  # residual of a step, of its largest displacement over the size


@dataclass(frozen=True)
class EquilibriumOptions(Checked):
    """When to stop.

    Attributes
    ----------
    tolerance : on the unbalanced forces, root mean square over the nodes, relative to
        the largest force on a node
    residual : on the constraints, dimensionless
    seed : of the displacement that leaves a saddle
    """

    tolerance: Positive = 1e-9
    residual: Positive = 1e-10
    max_steps: Count = 500
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration at rest, and the forces in it.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) points of the target that nodes hang on, the nodes without a spring
    deformed : lengths, tensions, angles and moments of the elastic parts
    y : (m,) forces of the constraints
    tension : (d,) of the rigid links, positive when they are stretched
    support : (n, 3) force of the supports (FIX rows) on each node
    pull : (n, 3) force of the springs to the target on each node
    energy : Pi
    unbalanced : forces left, relative to the largest on a node
    residual : of the constraints, dimensionless
    steps : Newton steps taken
    negative, neutral : motions that would lower the energy, and that cost none
    neutral_motion : the nodes that these move most
    kappa : of the potential of bodies and ranges, which is no part of the energy
    """

    z: Floats
    g: Floats
    deformed: Deformed
    y: Floats
    tension: Floats
    support: Floats
    pull: Floats
    energy: float
    unbalanced: float
    residual: float
    steps: int
    negative: int
    neutral: int
    neutral_motion: str = ""
    kappa: float = 0.0

    def r(self) -> Floats:
        """(n, 3) nodes."""
        return self.z[: len(self.g)]


def at_rest(
    loaded: LoadedStructure,
    options: EquilibriumOptions,
    start: Equilibrium | None = None,
) -> Equilibrium:
    """The equilibrium that descent from the start leads to.

    Parameters
    ----------
    start : an equilibrium of a structure with the same parts; the initial
        configuration unless given

    Raises
    ------
    NotConvergedError
        with the last configuration (n, 3) as `best`.
    """
    *_, last = approach(loaded, options, start)
    return last


def approach(
    loaded: LoadedStructure,
    options: EquilibriumOptions,
    start: Equilibrium | None = None,
) -> Iterator[Equilibrium]:
    """Yield the configurations on the way to rest, each on the constraints."""
    free = PotentialEnergy.of(loaded)
    z, angles = _first(free, options, start)
    stages, taken, tried = _stages(free, z, angles), 0, 0
    rng = np.random.default_rng(options.seed)
    for problem in stages:
        rough = problem is not stages[-1]
        search = _RestSearch(problem, options, rng, rough=rough)
        left = options.max_steps - taken
        first = _Configuration(problem, problem.point(z, angles), tried)
        for found in minimise(search, first, left, most_saddles=MOST_SADDLES):
            at = found.point
            z, angles, tried = at.point.z, at.point.deformed.angle, at.tried
            _refuse_far(problem, at.point)
            if rough and found.end is End.MINIMUM:
                break
            if found.end is not End.NO_STEP:
                yield _equilibrium(at, taken + found.steps, balanced=found.balanced)
            if not found.balanced:
                _refuse_rounding(at, options)
        taken += found.steps
        if found.end is not End.MINIMUM:
            raise _not_converged(found, options)


def _not_converged(
    found: Iterate["_Configuration"], options: EquilibriumOptions
) -> NotConvergedError:
    at = found.point
    unbalanced = at.problem.unbalanced(at.point)
    if found.end is End.SADDLE:
        message = (
            f"no stable equilibrium found: after {found.saddles} saddle points, "
            f"{found.negative} motions still lower the energy, most of all "
            f"{described(lowest_motion(at))}; fix these nodes in that direction "
            "(`planar: z` fixes all along z), or start closer to a stable equilibrium"
        )
    elif found.end is End.NO_STEP:
        message = (
            f"no step lowers the energy; the residual is {unbalanced:.1e} of the "
            f"largest force, above {options.tolerance:.0e}: raise tolerance, lower the "
            "loads, or choose stiffnesses that differ less"
        )
    else:
        message = (
            f"after {options.max_steps} steps the residual is {unbalanced:.1e} of the "
            f"largest force, above {options.tolerance:.0e}: raise max_steps, or lower "
            "the loads"
        )
    return NotConvergedError(message, best=at.point.z[: at.problem.system.n])


def _first(
    free: PotentialEnergy, options: EquilibriumOptions, start: Equilibrium | None
) -> tuple[Floats, Floats]:
    """Where to begin on the constraints: z, and the angles of the hinges."""
    loaded, system = free.loaded, free.system
    if start is not None:
        z = satisfy_constraints(system, start.z, tolerance=options.residual)
        return z, start.deformed.angle
    refuse_free_translation(loaded)
    z = closed(system, loaded.structure, options.residual)
    angles = angles_of(loaded.elastic.hinges, loaded.structure.r0)
    return z, angles_of(loaded.elastic.hinges, z[: system.n], angles)


def _stages(
    problem: PotentialEnergy, z: Floats, angles: Floats
) -> list[PotentialEnergy]:
    """The same with ever smaller kappa; itself where bodies and ranges are none."""
    obstacles = problem.obstacles
    if obstacles is None:
        return [problem]
    obstacles.check(z)
    force = problem.point(z, angles).scale or problem.stiffness * problem.loaded.size
    work = force * problem.loaded.size
    return [
        replace(problem, kappa=kappa * work, obstacles=obstacles.reaching(way))
        for kappa, way in zip(KAPPAS, np.linspace(0.0, 1.0, len(KAPPAS)), strict=True)
    ]


def inertia(loaded: LoadedStructure, found: Equilibrium) -> tuple[int, int]:
    """How many motions lower the energy of a rest, and how many leave it as it is.

    Parameters
    ----------
    found : of the same nodes, elastic parts and multipliers, perhaps held further
    """
    problem = replace(PotentialEnergy.of(loaded), kappa=found.kappa)
    at = _Configuration(problem, problem.point(found.z, found.deformed.angle))
    return at.inertia


@dataclass(frozen=True, eq=False)
class _Configuration:
    """A configuration on the way.

    Attributes
    ----------
    tried : directions before
    shift : of K, relative to the largest stiffness, for the step from here
    """

    problem: PotentialEnergy
    point: LoadedConfiguration
    tried: int = 0
    shift: float = SHIFT

    @cached_property
    def matrix(self) -> NewtonMatrix:
        return self.problem.newton_matrix(self.point)

    def factor(
        self, shift: float, *, convex: bool = False, damping: float = 0.0
    ) -> Factor:
        """Of K; `convex` without what can be negative."""
        return self.problem.factorise(self.matrix, self.point, shift, convex, damping)

    @cached_property
    def inertia(self) -> tuple[int, int]:
        """How many motions lower the energy, and how many leave it as it is.

        In K, weights of the constraints leave of a flat direction a little less than
        nothing, so small structures are counted without them.
        """
        shift = self._least
        if self.problem.system.unknowns <= DENSE:
            values = self._modes[0]
            up, down = (int(np.count_nonzero(values < a)) for a in (-shift, shift))
        else:
            up, down = (self.factor(way).negative for way in (shift, -shift))
        return up, down - up

    @cached_property
    def _least(self) -> float:
        """Curvature, over the stiffness, that counts as none.

        Parts that bend softly may fall by curvatures far below `INERTIA_SHIFT`: without
        bodies and ranges, whose potential is stiff, all count that stand out from the
        unbalanced forces and from rounding.
        """
        if self.point.contacts is not None:
            return INERTIA_SHIFT
        force = float(np.abs(self.point.left).max(initial=0.0))
        whole = self.problem.stiffness * self.problem.loaded.size
        return min(max(UNBALANCED * force / whole, ROUNDING), INERTIA_SHIFT)

    @cached_property
    def _modes(self) -> tuple[Floats, Floats]:
        """Curvatures along the constraints over the stiffness, and their motions."""
        problem, point = self.problem, self.point
        H = problem.dense_curvature(point)
        values, basis = modes_along(problem.system, point.z, H)
        return values / problem.stiffness, basis

    @cached_property
    def neutral_motion(self) -> str:
        """Which nodes motions move that leave the energy as it is."""
        if self.inertia[1] == 0:
            return ""
        if self.problem.system.unknowns > DENSE:
            return described(lowest_motion(self))
        values, basis = self._modes
        flat = np.linalg.norm(basis[np.abs(values) <= self._least], axis=0)
        return described(flat.reshape(-1, 3)[: self.problem.system.n])

    def direction(self, factor: Factor) -> NewtonDirection:
        """Newton's, by a factor of K."""
        point, left = self.point, self.point.left
        if self.problem.system.k:  # the gradient itself; its multipliers carry no force
            left = point.gradient + point.linear.transpose_times(point.y)
        enough = LEFT / self.problem.loaded.size
        return newton_direction(self.matrix, factor, left, enough)


@dataclass(frozen=True)
class _RestSearch:
    """What `minimise` asks of a loaded structure.

    Attributes
    ----------
    rough : whether a smaller kappa follows, so that little needs to be balanced
    """

    problem: PotentialEnergy
    options: EquilibriumOptions
    rng: np.random.Generator
    rough: bool

    def is_balanced(self, at: _Configuration) -> bool:
        tolerance = ROUGH if self.rough else self.options.tolerance
        return self.problem.unbalanced(at.point) <= tolerance

    def negative(self, at: _Configuration) -> int:
        return 0 if self.rough else at.inertia[0]

    def escaped(self, at: _Configuration) -> _Configuration:
        """By a small random motion."""
        problem, point = self.problem, at.point
        noise = self.rng.normal(size=(problem.system.n, 3))
        noise *= PERTURBATION * problem.loaded.size
        z = point.z + admissible(problem.system, point.z, noise)
        z = satisfy_constraints(problem.system, z, tolerance=self.options.residual)
        there = problem.point(z, point.deformed.angle)
        return _Configuration(problem, there, at.tried + 1)

    def steps(self, at: _Configuration) -> Iterator[Step[_Configuration]]:
        """Newton's, ever more damped; negative curvature by its size, or left out.

        Where tension is still missing, a step would turn rigid links by far too much:
        it is damped, mostly by turns, rather than shortened.
        """
        shift, small = at.shift, self.problem.system.unknowns <= DENSE
        most = MOST_SHIFT * at.point.stiffness / self.problem.stiffness
        rigid = bool(links_of(self.problem.system).any())
        while True:
            plain, damping = at.tried < PLAIN or not small, shift - SHIFT
            factor = at.factor(shift, damping=damping)
            convex = factor.negative > 0
            if convex:
                more = max(shift, CONVEX_SHIFT)
                factor = at.factor(more, convex=True, damping=damping)
            direction = at.direction(factor)
            short = rigid and first_step_length(at, direction.dz) < SHORTEST
            if short and shift <= most:
                shift = max(SHIFT_GROWTH * shift, CONVEX_SHIFT)
                continue
            if convex and not plain:
                yield from self._through_negative_curvature(at, direction)
            yield self._step(at, direction, LENGTHS, (shift / 16.0, shift), convex)
            if shift > most:
                return
            at = replace(at, tried=at.tried + 1)
            shift = max(8.0 * shift, CONVEX_SHIFT)

    def _through_negative_curvature(
        self, at: _Configuration, measure: NewtonDirection
    ) -> Iterator[Step[_Configuration]]:
        """Steps that use the size of negative curvature, ever shorter.

        Parameters
        ----------
        measure : without such curvature, for the second-order correction
        """
        problem, point = self.problem, at.point
        H, unit = problem.dense_curvature(point), problem.loaded.size
        model = curvature_along(problem.system, point.z, H, problem.stiffness)
        for radius in RADII:
            longest = radius * unit * float(np.sqrt(problem.system.n))
            direction = replace(measure, dz=model.step(point.left, longest))
            yield self._step(
                at, direction, LENGTHS[:2], (SHIFT, SHIFT), radius == RADII[0]
            )

    def _step(
        self, at: _Configuration, direction: NewtonDirection, lengths: Sequence[float],
        shifts: tuple[float, float], prolonged: bool,
    ) -> Step[_Configuration]:  # fmt: skip
        """A step along the constraints.

        The merit function is Pi + y.c with the multipliers y of the start, so that what
        the residuals let the nodes gain does not count.

        Parameters
        ----------
        lengths : that are tried, of what is free
        shifts : of K after it, if it was not shortened, and if it was
        prolonged : whether it may go beyond its end
        """
        problem, point, dz = self.problem, at.point, direction.dz
        farthest = first_step_length(at, dz)
        first = min(1.0, farthest)
        first *= problem.longest_free_step(point.z, first * dz)
        merit = point.energy + inner(point.y, point.linear.c)

        def trials(share: float) -> Iterator[Trial[_Configuration]]:
            there = _moved(at, direction, share, self.options.residual)
            if there is not None:
                change = there.energy + inner(point.y, there.linear.c) - merit
                after = max(shifts[0] if share >= first else shifts[1], SHIFT)
                yield Trial(_Configuration(problem, there, at.tried + 1, after), change)

        rounding = 1e-13 * (abs(point.energy) + point.scale * problem.loaded.size)
        rounding += problem.system.rounding(point.y)
        return Step(
            trials, inner(point.left, dz), rounding, [a * first for a in lengths],
            farthest if prolonged else 0.0,
        )  # fmt: skip


def _equilibrium(at: _Configuration, steps: int, *, balanced: bool) -> Equilibrium:
    problem, point = at.problem, at.point
    system, n = problem.system, problem.system.n
    links = links_of(system)
    fixed = np.flatnonzero(system.table.kind == ConstraintKind.FIX)
    support = np.zeros((n, 3))
    nodes = system.table.nodes[fixed]
    row = system.table.first_row[fixed]
    np.add.at(support, (nodes[:, 0], nodes[:, 1]), -point.y[row])
    negative, neutral = at.inertia if balanced else (0, 0)
    return Equilibrium(
        z=point.z,
        g=point.g,
        deformed=point.deformed,
        y=point.y,
        tension=2.0 * np.sqrt(system.scale[links]) * point.y[links],
        support=support,
        pull=problem.loaded.spring[:, None] * (point.g - point.z[:n]),
        energy=problem.energy(point.z[:n], point.g, point.deformed),
        unbalanced=problem.unbalanced(point),
        residual=point.linear.residual,
        steps=steps,
        negative=negative,
        neutral=neutral,
        neutral_motion=at.neutral_motion if neutral else "",
        kappa=problem.kappa,
    )


def _refuse_rounding(at: _Configuration, options: EquilibriumOptions) -> None:
    """End where nothing but the rounding of coordinates keeps forces unbalanced."""
    problem, point = at.problem, at.point
    eps = float(np.finfo(np.float64).eps)
    least = eps * problem.stiffness * problem.loaded.size
    unbalanced = problem.unbalanced(point)
    if unbalanced * point.scale < least and options.tolerance * point.scale < least:
        raise NotConvergedError(
            f"rounding limits the residual to {unbalanced:.1e} of the largest force, "
            f"above {options.tolerance:.0e}: raise tolerance or the loads, or make the "
            "stiffest parts rigid",
            best=point.z[: problem.system.n],
        )


def _refuse_far(problem: PotentialEnergy, point: LoadedConfiguration) -> None:
    """End where the loads drive something away for ever."""
    n = problem.system.n
    moved = point.z[:n] - problem.loaded.structure.r0
    node = int(np.argmax(np.abs(moved).max(axis=1)))
    far = float(np.linalg.norm(moved[node]))
    if far > FAR * problem.loaded.size:
        along = (moved[node] / far).round(3) + 0.0  # no -0
        direction = ", ".join(f"{a:.2g}" for a in along)
        raise NotConvergedError(
            f"nothing resists the loads on node {node} along ({direction}), so it "
            f"moved by {far:.1e}: add a support or a spring, or balance the loads",
            best=point.z[:n],
        )


CORRECTIONS = 3  # of second order, of a step
RADII = 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3  # of trust regions, root mean square / size


def first_step_length(at: _Configuration, dz: Floats) -> float:
    """How much of a step turns no link and no hinge too far."""
    problem, point = at.problem, at.point
    n, elastic = problem.system.n, problem.loaded.elastic
    table = problem.system.table
    turning = elastic.links[elastic.rest_length > 0.0]  # others have no direction
    sides = elastic.panels.nodes[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    rigid = table.nodes[table.kind == ConstraintKind.DIST, :2]
    ends = np.concatenate([rigid, turning, sides])
    r = point.z[:n]
    length = np.linalg.norm(r[ends[:, 1]] - r[ends[:, 0]], axis=1)
    moved = np.linalg.norm(dz[ends[:, 1]] - dz[ends[:, 0]], axis=1)
    rotation = float((moved / np.maximum(length, 1e-300)).max(initial=0.0))
    turn = float(np.abs(problem.strains(point, dz)[1]).max(initial=0.0))
    rates = [rotation / MOST_ROTATION, turn / MOST_ROTATION]
    extent = max(problem.loaded.size, float(np.ptp(r, axis=0).max()))
    extent = max(extent, float(np.abs(r - problem.loaded.structure.r0).max()))
    rates.append(float(np.abs(dz[:n]).max()) / extent)
    return 1.0 / max(*rates, 1e-300)


def _moved(
    at: _Configuration, direction: NewtonDirection, share: float, residual: float
) -> LoadedConfiguration | None:
    """Where a share of a step ends on the constraints; None if there is no way back."""
    problem, point, linear = at.problem, at.point, None
    z = _second_order_correction(at, direction, share)
    if problem.system.m:
        sought = max(min(residual, 1e-4 * problem.unbalanced(point)), 1e-14)
        retracted = retract(point.linear, point.normal, z, sought, residual)
        if retracted is None:
            return None
        z, linear = retracted
    if not np.isfinite(z).all():
        return None
    if problem.longest_free_step(point.z, z - point.z) < 1.0:
        return None
    return problem.point(z, point.deformed.angle, linear)


def _second_order_correction(
    at: _Configuration, direction: NewtonDirection, share: float
) -> Floats:
    """(n + k, 3) the end of a step, with the lengths and angles of the linear step."""
    problem, point, dz = at.problem, at.point, share * direction.dz
    elastic = problem.loaded.elastic
    links, hinges, panels = problem.strains(point, dz)
    length, angle = point.deformed.length + links, point.deformed.angle + hinges
    strain = point.deformed.panels.strain + panels
    z = point.z + dz
    for _ in range(CORRECTIONS):
        d = z[elastic.links[:, 1]] - z[elastic.links[:, 0]]
        longer = np.linalg.norm(d, axis=1) - length
        turned = angles_of(elastic.hinges, z[: problem.system.n], angle) - angle
        there = linearise(problem.system, z)
        stretched = elastic.panels.strain(z[: problem.system.n]) - strain
        force = problem.strain_forces(point, longer, turned, stretched)
        force += point.linear.transpose_times(direction.rho * there.c)
        if np.abs(force).max() <= 0.01 * np.abs(point.left).max():
            break
        z = z - direction.factor.solve(force.ravel()).reshape(-1, 3)
    return z


FIRST_SHIFT = 1e-11  # of the stiffness
MOVING = 0.3  # of the largest motion of a node, from which one is named
ALONG = 0.99  # of the size of a motion that is named as along an axis
NAMED = 4  # nodes


def lowest_motion(at: _Configuration) -> Floats:
    """(n, 3) motion of the lowest curvature of the energy on the constraints."""
    factor = positive_factor(at.factor, FIRST_SHIFT).factor
    v = lowest_mode(factor.solve, at.point.z.size)
    return v.reshape(-1, 3)[: at.problem.system.n]


def described(v: Floats) -> str:
    """The nodes that move most, and the axis where there is one, as "nodes 1, 2 along
    z"."""
    size = np.linalg.norm(v, axis=1)
    moving = np.flatnonzero(size >= MOVING * size.max())
    named = moving[np.argsort(-size[moving], kind="stable")][:NAMED]
    more = " and others" if len(moving) > NAMED else ""
    nodes = ", ".join(str(node) for node in sorted(named.tolist()))
    axis = int(np.argmax(np.linalg.norm(v, axis=0)))
    along = np.linalg.norm(v[:, axis]) >= ALONG * np.linalg.norm(v)
    way = f" along {'xyz'[axis]}" if along else ""
    return f"node{'s' if len(named) > 1 else ''} {nodes}{more}{way}"
