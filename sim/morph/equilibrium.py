"""Static equilibrium of structures with elastic parts, loads and springs to a target.

Sought is a minimum of the potential energy Pi of `sim.morph.potential` among the
configurations that satisfy the constraints; there the forces y of these balance the
rest,

    grad Pi + J^T y = 0,     c(z) = 0.

A step along the tangent stretches what turns. Elastic links many times stiffer than
the others would allow only tiny steps; so each step is bent until they have the lengths
that the linear step gave them, in the measure of the matrix of that step.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.morph.closing import closed
from sim.morph.constraints import Kind
from sim.morph.descent import TURN, Way, inner
from sim.morph.elastic import Deformed, angles_of
from sim.morph.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.loaded import Loaded, refuse_free_translation
from sim.morph.potential import Point, Potential
from sim.morph.projection import admissible, satisfy_constraints
from sim.morph.retraction import retract
from sim.morph.system import linearise
from sim.newton import NotConvergedError
from sim.sparse import Factor

SHIFT = 1e-10  # of K, relative to the largest stiffness: motions that cost nothing
TELLING = 1e-8  # shift at which signs of pivots count
FAR = 1e4  # displacement, of the structure's size, that only free motions reach
KICK = 1e-4  # of the size, displacement that leaves a saddle
ESCAPES = 5  # saddles left before the search ends with an error
CONVEX = 1e-8  # the same where the curvature is not taken as it is
BENDS = 3  # times that a step is bent


@dataclass(frozen=True)
class Balance:
    """When to stop.

    Attributes
    ----------
    tolerance : on the unbalanced forces, root mean square over the nodes, relative to
        the largest force on a node
    residual : on the constraints, dimensionless
    seed : of the displacement that leaves a saddle
    """

    tolerance: float = 1e-9
    residual: float = 1e-10
    max_steps: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance", "residual")
        refuse_unless_count(self, "max_steps")


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration at rest, and the forces in it.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) points of the target that nodes hang on, the nodes without a spring
    deformed : lengths, tensions, angles and moments of the elastic parts
    y : (m,) forces of the constraints
    tension : (d,) of the rigid links, positive when they are pulled
    support : (n, 3) force of the supports (FIX rows) on each node
    pull : (n, 3) force of the springs to the target on each node
    energy : Pi
    unbalanced : forces left, relative to the largest on a node
    residual : of the constraints, dimensionless
    steps : Newton steps taken
    negative, neutral : motions that would lower the energy, and that cost none
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

    def r(self) -> Floats:
        """(n, 3) nodes."""
        return self.z[: len(self.g)]


def at_rest(
    loaded: Loaded, options: Balance, start: Equilibrium | None = None
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
    loaded: Loaded, options: Balance, start: Equilibrium | None = None
) -> Iterator[Equilibrium]:
    """Yield the configurations on the way to rest, each on the constraints."""
    problem = Potential.of(loaded)
    system, r0 = problem.system, loaded.structure.r0
    if start is None:
        refuse_free_translation(loaded)
        z = closed(system, loaded.structure, options.residual)
        angles = angles_of(loaded.elastic.hinges, r0)
        angles = angles_of(loaded.elastic.hinges, z[: system.n], angles)
    else:
        z = satisfy_constraints(system, start.z, tolerance=options.residual)
        angles = start.deformed.angle
    point, shift, escapes = problem.point(z, angles), SHIFT, 0
    rng = np.random.default_rng(options.seed)
    for steps in range(options.max_steps + 1):
        found = problem.unbalanced(point) <= options.tolerance
        negative, neutral = _inertia(problem, point) if found else (0, 0)
        yield _equilibrium(problem, point, steps, negative, neutral)
        if found and negative == 0:
            return
        if found and escapes == ESCAPES:
            raise NotConvergedError(
                f"{negative} motions still lower the energy after {escapes} saddles "
                "were left: begin elsewhere, or give another seed",
                best=point.z[: system.n],
            )
        if found:
            escapes += 1
            point, shift = _kicked(problem, point, rng, options), SHIFT
            continue
        _refuse_rounding(problem, point, options)
        point, shift = _next_point(problem, point, shift, options)
        _refuse_far(problem, point)
    raise NotConvergedError(
        f"forces of {problem.unbalanced(point):.1e} of the largest are unbalanced "
        f"after {options.max_steps} steps, above {options.tolerance:.0e}: raise "
        "max_steps, or take smaller loads",
        best=point.z[: system.n],
    )


def inertia(loaded: Loaded, found: Equilibrium) -> tuple[int, int]:
    """How many motions lower the energy of a rest, and how many leave it as it is.

    Parameters
    ----------
    found : of the same nodes, elastic parts and multipliers, perhaps held further
    """
    problem = Potential.of(loaded)
    return _inertia(problem, problem.point(found.z, found.deformed.angle))


def _inertia(problem: Potential, point: Point) -> tuple[int, int]:
    """How many motions lower the energy, and how many leave it as it is."""
    rho = problem.weights(point.linear)
    up = problem.factorise(point, rho, TELLING, convex=False).negative
    down = problem.factorise(point, rho, -TELLING, convex=False).negative
    return up, down - up


def _kicked(
    problem: Potential, point: Point, rng: np.random.Generator, options: Balance
) -> Point:
    """A configuration a little beside a saddle."""
    n, size = problem.system.n, problem.loaded.size
    noise = rng.normal(size=(n, 3)) * KICK * size
    z = point.z + admissible(problem.system, point.z, noise)
    z = satisfy_constraints(problem.system, z, tolerance=options.residual)
    return problem.point(z, point.deformed.angle)


def _next_point(
    problem: Potential, point: Point, shift: float, options: Balance
) -> tuple[Point, float]:
    """A configuration of lower energy, and the shift of K for the next step."""
    rho = problem.weights(point.linear)
    factor = problem.factorise(point, rho, shift, convex=False)
    bent = factor.negative > 0
    if bent:
        factor = problem.factorise(point, rho, max(shift, CONVEX), convex=True)
    way = Way(_direction(problem, point, rho, factor), factor, rho)
    first = min(1.0, _first_share(problem, point, way.dz))
    for size in (first, 0.25 * first, 0.06 * first):
        there = _trial(problem, point, way, size, options)
        if there is not None and bent and size == first:
            there = _further(problem, point, way, there, options)
        if there is not None:
            return there, max(shift / 16.0 if size == first else shift, SHIFT)
    if shift > 1e3:
        raise NotConvergedError(
            f"no step lowers the energy, and forces of {problem.unbalanced(point):.1e} "
            f"of the largest are unbalanced, above {options.tolerance:.0e}: raise "
            "tolerance, or take smaller loads and stiffnesses that differ by less",
            best=point.z[: problem.system.n],
        )
    return point, max(8.0 * shift, CONVEX)


def _further(
    problem: Potential, point: Point, way: Way, there: Point, options: Balance
) -> Point:
    """Beyond a full step, where curvature was left out, as long as the energy falls."""
    size, farthest = 1.0, _first_share(problem, point, way.dz)
    while (size := 4.0 * size) <= farthest:
        beyond = _trial(problem, point, way, size, options)
        if beyond is None or beyond.energy >= there.energy:
            break
        there = beyond
    return there


def _direction(problem: Potential, point: Point, rho: Floats, factor: Factor) -> Floats:
    """K dz = -(what is left of the gradient), J dz = -c by repetition."""
    linear = point.linear
    dz, force = (
        np.zeros_like(point.z),
        point.left + linear.transpose_times(rho * linear.c),
    )
    if problem.system.k:  # the gradient itself; its multipliers carry no force
        force = point.gradient + linear.transpose_times(point.y + rho * linear.c)
    for _ in range(4):
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        gap = linear.c + linear.times(dz)
        force = linear.transpose_times(rho * gap)
    return dz


def _first_share(problem: Potential, point: Point, dz: Floats) -> float:
    """How much of a step turns no link and no hinge too far."""
    n, elastic = problem.system.n, problem.loaded.elastic
    table = problem.system.table
    turning = elastic.links[
        elastic.rest_length > 0.0
    ]  # others are springs of no length
    ends = np.concatenate([table.nodes[table.kind == Kind.DIST, :2], turning])
    r = point.z[:n]
    length = np.linalg.norm(r[ends[:, 1]] - r[ends[:, 0]], axis=1)
    moved = np.linalg.norm(dz[ends[:, 1]] - dz[ends[:, 0]], axis=1)
    rates = [float((moved / np.maximum(length, 1e-300)).max(initial=0.0)) / TURN]
    turns = problem.strains(point, dz)[1]
    rates.append(float(np.abs(turns).max(initial=0.0)) / TURN)
    extent = max(problem.loaded.size, float(np.ptp(r, axis=0).max()))
    extent = max(extent, float(np.abs(r - problem.loaded.structure.r0).max()))
    rates.append(float(np.abs(dz[:n]).max()) / extent)
    return 1.0 / max(*rates, 1e-300)


def _trial(
    problem: Potential, point: Point, way: Way, size: float, options: Balance
) -> Point | None:
    """The configuration after a share of the step, if the energy falls enough."""
    n, elastic, dz = problem.system.n, problem.loaded.elastic, way.dz
    links, hinges = problem.strains(point, size * dz)
    length, angle = point.deformed.length + links, point.deformed.angle + hinges
    z = point.z + size * dz
    for _ in range(BENDS):
        d = z[elastic.links[:, 1]] - z[elastic.links[:, 0]]
        longer = np.linalg.norm(d, axis=1) - length
        turned = angles_of(elastic.hinges, z[:n], angle) - angle
        there = linearise(problem.system, z)
        force = problem.strain_forces(point, longer, turned)
        force += point.linear.transpose_times(way.rho * there.c)
        if np.abs(force).max() <= 0.01 * np.abs(point.left).max():
            break
        z = z - way.factor.solve(force.ravel()).reshape(-1, 3)
    linear = None
    if problem.system.m:
        enough = options.residual
        wanted = max(min(enough, 1e-4 * problem.unbalanced(point)), 1e-14)
        back = retract(point.linear, point.normal, z, wanted, enough)
        if back is None:
            return None
        z, linear = back
    if not np.isfinite(z).all():
        return None
    there_point = problem.point(z, point.deformed.angle, linear)
    before = point.energy + inner(point.y, point.linear.c)
    after = there_point.energy + inner(point.y, there_point.linear.c)
    slope = inner(point.left, dz) * size
    rounding = 1e-13 * (abs(point.energy) + point.scale * problem.loaded.size)
    return there_point if after <= before + 1e-4 * slope + rounding else None


def _equilibrium(
    problem: Potential, point: Point, steps: int, negative: int, neutral: int
) -> Equilibrium:
    system, n = problem.system, problem.system.n
    links = np.repeat(system.table.kind == Kind.DIST, problem.rows)
    fixed = np.flatnonzero(system.table.kind == Kind.FIX)
    support = np.zeros((n, 3))
    nodes = system.table.nodes[fixed]
    row = system.table.first_row[fixed]
    np.add.at(support, (nodes[:, 0], nodes[:, 1]), -point.y[row])
    return Equilibrium(
        z=point.z,
        g=point.g,
        deformed=point.deformed,
        y=point.y,
        tension=2.0 * np.sqrt(system.scale[links]) * point.y[links],
        support=support,
        pull=problem.loaded.spring[:, None] * (point.g - point.z[:n]),
        energy=point.energy,
        unbalanced=problem.unbalanced(point),
        residual=point.linear.residual,
        steps=steps,
        negative=negative,
        neutral=neutral,
    )


def _refuse_rounding(problem: Potential, point: Point, options: Balance) -> None:
    """End where nothing but the rounding of coordinates keeps forces unbalanced."""
    eps = float(np.finfo(np.float64).eps)
    least = eps * problem.stiffness * problem.loaded.size
    unbalanced = problem.unbalanced(point)
    if unbalanced * point.scale < least and options.tolerance * point.scale < least:
        raise NotConvergedError(
            f"rounding of the nodes leaves forces of {unbalanced:.1e} of the largest "
            f"unbalanced, above {options.tolerance:.0e}: raise tolerance or the loads, "
            "or make the stiffest parts rigid",
            best=point.z[: problem.system.n],
        )


def _refuse_far(problem: Potential, point: Point) -> None:
    """End where the loads drive something away for ever."""
    n = problem.system.n
    moved = point.z[:n] - problem.loaded.structure.r0
    node = int(np.argmax(np.abs(moved).max(axis=1)))
    far = float(np.linalg.norm(moved[node]))
    if far > FAR * problem.loaded.size:
        way = ", ".join(f"{a:.2g}" for a in moved[node] / far)
        raise NotConvergedError(
            f"the loads drive node {node} away along ({way}), {far:.1e} so far, and "
            "nothing resists: add a support or a spring, or balance the loads",
            best=point.z[:n],
        )
