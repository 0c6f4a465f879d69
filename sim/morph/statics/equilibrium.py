"""Static equilibrium of structures with elastic parts, loads and springs to a target.

Sought is a minimum of the potential energy Pi of `sim.morph.statics.potential` among
the configurations that satisfy the constraints; there the forces y of these balance the
rest,

    grad Pi + J^T y = 0,     c(z) = 0.

Steps are those of Newton's method with inertia correction and a line search by Armijo's
condition: `sim.morph.statics.newton_step`. A step along the tangent stretches what
turns, and elastic links many times stiffer than the others would allow only tiny steps;
so a second-order correction brings each step to the lengths that the linear step gave
these links, in the measure of the matrix of that step. Small structures go through
negative curvature by its size (`sim.morph.mobility.curved`), as morphs do.

Bodies that cannot pass and ranges are kept by the potential of
`sim.morph.obstacles.volume`, for ever smaller kappa; the last leaves a contact that
carries the largest force a gap of 1e-6 of the size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.equations.closing import closed
from sim.morph.equations.inertia_correction import links_of
from sim.morph.equations.projection import admissible, satisfy_constraints
from sim.morph.mobility.curved import DENSE
from sim.morph.statics.elastic import Deformed, angles_of
from sim.morph.statics.falling import falling_motion, told_motion
from sim.morph.statics.loaded import LoadedStructure, refuse_free_translation
from sim.morph.statics.newton_step import (
    expanded,
    free_step_length,
    newton_direction,
    through_negative_curvature,
    trial,
)
from sim.morph.statics.potential import LoadedConfiguration, PotentialEnergy
from sim.morph.structure.constraints import ConstraintKind

SHIFT = 1e-10  # of K, relative to the largest stiffness: motions that cost nothing
INERTIA_SHIFT = 1e-8  # of the stiffness, below which curvature counts as none, at most
ROUNDING = 1e-11  # the same of what rounding does to K
UNBALANCED = 100.0  # times unbalanced force / size: what these do to curvature
FAR = 1e4  # displacement, of the structure's size, that only free motions reach
PERTURBATION = 1e-4  # of the size, displacement that leaves a saddle
MOST_SADDLES = 5  # saddles left before the search ends with an error
PLAIN = 10  # steps before the size of negative curvature is used
KAPPAS = tuple(10.0**-k for k in range(2, 7))  # of the largest force x size
ROUGH = 1e-3  # unbalanced forces that are enough for all but the last of them
CONVEX_SHIFT = 1e-8  # the same where the curvature is not taken as it is


@dataclass(frozen=True)
class EquilibriumOptions:
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
    system = free.system
    z, angles = _first(free, options, start)
    problem, *harder = _stages(free, z, angles)
    point, shift, escapes = problem.point(z, angles), SHIFT, 0
    rng = np.random.default_rng(options.seed)
    for steps in range(options.max_steps + 1):
        while harder and problem.unbalanced(point) <= ROUGH:
            problem, shift = harder.pop(0), SHIFT
            point = problem.point(point.z, point.deformed.angle)
        found = problem.unbalanced(point) <= options.tolerance and not harder
        negative, neutral = _inertia(problem, point) if found else (0, 0)
        yield _equilibrium(problem, point, steps, negative, neutral)
        if found and negative == 0:
            return
        if found and escapes == MOST_SADDLES:
            raise NotConvergedError(
                f"{negative} motions still lower the energy after {escapes} saddles "
                f"were left, most of all {told_motion(falling_motion(problem, point))}"
                ": hold these there if they cannot move so, as `planar: z` holds all "
                "along z, or draw them beside this rest",
                best=point.z[: system.n],
            )
        if found:
            escapes += 1
            point, shift = _perturbed(problem, point, rng, options), SHIFT
            continue
        _refuse_rounding(problem, point, options)
        plain = steps < PLAIN
        point, shift = _next_point(problem, point, shift, options, plain=plain)
        _refuse_far(problem, point)
    raise NotConvergedError(
        f"forces of {problem.unbalanced(point):.1e} of the largest are unbalanced "
        f"after {options.max_steps} steps, above {options.tolerance:.0e}: raise "
        "max_steps, or take smaller loads",
        best=point.z[: system.n],
    )


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
    return _inertia(problem, problem.point(found.z, found.deformed.angle))


def _inertia(problem: PotentialEnergy, point: LoadedConfiguration) -> tuple[int, int]:
    """How many motions lower the energy, and how many leave it as it is.

    What bends softly beside its stiffest part may fall by curvatures far below
    `INERTIA_SHIFT`: without bodies and ranges, whose potential is stiff, all count that
    stand out from the unbalanced forces and from rounding.
    """
    rho, shift = problem.weights(point.linear), INERTIA_SHIFT
    if point.contacts is None:
        force = float(np.abs(point.left).max(initial=0.0))
        blurred = UNBALANCED * force / (problem.stiffness * problem.loaded.size)
        shift = min(max(blurred, ROUNDING), INERTIA_SHIFT)
    up = problem.factorise(point, rho, shift, convex=False).negative
    down = problem.factorise(point, rho, -shift, convex=False).negative
    return up, down - up


def _perturbed(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    rng: np.random.Generator,
    options: EquilibriumOptions,
) -> LoadedConfiguration:
    """A configuration a little beside a saddle."""
    n, size = problem.system.n, problem.loaded.size
    noise = rng.normal(size=(n, 3)) * PERTURBATION * size
    z = point.z + admissible(problem.system, point.z, noise)
    z = satisfy_constraints(problem.system, z, tolerance=options.residual)
    return problem.point(z, point.deformed.angle)


def _next_point(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    shift: float,
    options: EquilibriumOptions,
    *,
    plain: bool,
) -> tuple[LoadedConfiguration, float]:
    """A configuration of lower energy, and the shift of K for the next step.

    Parameters
    ----------
    plain : leave negative curvature out
    """
    rho = problem.weights(point.linear)
    factor = problem.factorise(point, rho, shift, convex=False)
    convex = factor.negative > 0
    if convex:
        factor = problem.factorise(point, rho, max(shift, CONVEX_SHIFT), convex=True)
    direction = newton_direction(problem, point, rho, factor)
    if convex and not plain and problem.system.unknowns <= DENSE:
        there = through_negative_curvature(problem, point, direction, options.residual)
        if there is not None:
            return there, SHIFT
    first = free_step_length(problem, point, direction.dz)
    for step_length in (first, 0.25 * first, 0.06 * first):
        there = trial(problem, point, direction, step_length, options.residual)
        if there is not None and convex and step_length == first:
            there = expanded(problem, point, direction, there, options.residual)
        if there is not None:
            return there, max(shift / 16.0 if step_length == first else shift, SHIFT)
    if shift > 1e3:
        raise NotConvergedError(
            f"no step lowers the energy, and forces of {problem.unbalanced(point):.1e} "
            f"of the largest are unbalanced, above {options.tolerance:.0e}: raise "
            "tolerance, or take smaller loads and stiffnesses that differ by less",
            best=point.z[: problem.system.n],
        )
    return point, max(8.0 * shift, CONVEX_SHIFT)


def _equilibrium(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    steps: int,
    negative: int,
    neutral: int,
) -> Equilibrium:
    system, n = problem.system, problem.system.n
    links = links_of(system)
    fixed = np.flatnonzero(system.table.kind == ConstraintKind.FIX)
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
        energy=problem.energy(point.z[:n], point.g, point.deformed),
        unbalanced=problem.unbalanced(point),
        residual=point.linear.residual,
        steps=steps,
        negative=negative,
        neutral=neutral,
        kappa=problem.kappa,
    )


def _refuse_rounding(
    problem: PotentialEnergy, point: LoadedConfiguration, options: EquilibriumOptions
) -> None:
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
            f"the loads drive node {node} away along ({direction}), {far:.1e} so far, "
            "and nothing resists: add a support or a spring, or balance the loads",
            best=point.z[:n],
        )
