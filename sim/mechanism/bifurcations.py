"""Where a mechanism can go from a singular configuration: bifurcations and saddles.

A bifurcation is a configuration at which branches cross. Their tangents are the
directions v for which every quadratic form of `sim.mechanism.mobility` vanishes. One
form with one positive and one negative eigenvalue is a simple bifurcation,

    q(v) = a^2 (v.e)^2 - b^2 (v.f)^2 = (a v.e - b v.f) (a v.e + b v.f),

two branches that cross; several forms may leave more than two. They are sought from
many seeded directions by Newton's method. Where the directions found are isolated, each
is followed both ways, by small steps along the tangent and eq. (12) of [dJ23] back to
the constraints; where they form a cone, its dimension and some of them are given.

A saddle is a stationary configuration of a morph that is no minimum. There the inertia
of K (`sim.mechanism.constrained_newton`) is the number of motions that lower f. They
are the eigenvectors of the curvature of f + y.c along the constraints with negative
eigenvalues; along each of them, and against it, a morph goes on to where it ends. One
such motion leads to the two branches of a simple bifurcation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import (
    Checked,
    Choice,
    Count,
    NotConvergedError,
    Positive,
    Whole,
    within,
)
from sim.mechanism.constrained_newton import modes_along
from sim.mechanism.constraint_forces import constraint_forces
from sim.mechanism.constraint_projection import closed, satisfy_constraints
from sim.mechanism.constraint_system import ConstraintSystem, linearise, system_of
from sim.mechanism.mobility import (
    LARGEST,
    LOST,
    Tangent,
    in_own_unit,
    own_unit,
    tangent,
)
from sim.mechanism.morph_objective import (
    FLAT,
    MorphProblem,
    NewtonOptions,
    dense_curvature,
    nearest_free,
    negative_directions,
)
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target
from sim.mechanism.targets.transformed import Rescaled

STARTS = 200  # directions from which tangents are sought
ALIKE = 1e-6  # 1 - |cosine| of two directions that are one


class CrossingKind(Choice):
    """What a configuration is."""

    RIGID = "rigid"  # nothing moves, to first order
    REGULAR = "regular"  # one smooth set of configurations
    ISOLATED = "isolated"  # first-order motions that lead nowhere
    BRANCHES = "branches"  # several smooth sets meet
    CONE = "cone"  # more than a list of directions can tell


@dataclass(frozen=True)
class BranchOptions(Checked):
    """How far branches are followed.

    Attributes
    ----------
    step : along the tangent, over L
    steps_each_way : from where branches meet
    residual : on the constraints of every configuration, dimensionless
    seed : of the directions from which tangents are sought
    """

    step: Annotated[Positive, within(0.0, 0.2, "between 0 and 0.2")] = 0.02
    steps_each_way: Count = 50
    residual: Positive = 1e-10
    seed: Whole = 0


@dataclass(frozen=True, eq=False)
class Crossing:
    """A configuration and the directions in which it can be left.

    Attributes
    ----------
    z : (n + k, 3)
    tangent : its motions to first order, and their forms
    directions : (b, n + k, 3) unit tangents of branches, or samples of a cone
    dimension : of the branches, or of the cone around its samples
    """

    kind: CrossingKind
    z: Floats
    tangent: Tangent
    directions: Floats
    dimension: int


class BranchStep(NamedTuple):
    """One configuration of a branch.

    Attributes
    ----------
    s : steps so far, of all branches
    branch : number of the branch, or of the sample; -1 where they meet
    way : 1 or -1, along its direction or against it; 0 where they meet
    i : steps from where they meet
    r : (n, 3)
    numbers : residual of the constraints, dimensionless; on a branch mobility,
        independent motions there without the rigid ones; of a morph E and gradient
    """

    s: int
    branch: int
    way: int
    i: int
    r: Floats
    numbers: Mapping[str, float]


def crossing(structure: Structure, options: BranchOptions) -> Crossing:
    """What the initial configuration is; lengths are in the structure's own unit."""
    made = in_own_unit(structure)
    system = system_of(made)
    z = closed(system, made, options.residual)
    found = tangent(system, z)
    d = len(found.motions)
    none = found.motions[:0]
    if d == 0:
        return Crossing(CrossingKind.RIGID, z, found, none, 0)
    if not len(found.forms):
        kind = CrossingKind.REGULAR
        if len(found.cokernel) and not _stays(system, made, z, found, options):
            kind = CrossingKind.CONE
        shown = none if kind is CrossingKind.REGULAR else found.motions
        return Crossing(kind, z, found, shown, d)
    simple = simple_directions(found.forms)
    if simple is not None:
        directions, dimension = simple, d - 1
    else:
        directions, dimension = cone_directions(found.forms, options.seed)
    kind = (
        CrossingKind.BRANCHES
        if simple is not None or dimension == 1
        else CrossingKind.CONE
    )
    if not len(directions):
        kind = CrossingKind.ISOLATED
    moved = np.einsum("bd,dij->bij", directions, found.motions)
    return Crossing(kind, z, found, _in_order(moved), dimension)


def simple_directions(forms: Floats) -> Floats | None:
    """(2, d) tangents of two branches that cross; None if it is not so simple."""
    if len(forms) != 1:
        return None
    values, vectors = np.linalg.eigh(forms[0])
    lost = LOST * np.abs(values).max()
    large = np.abs(values) > lost
    if large.sum() != 2 or not values[0] < -lost < lost < values[-1]:
        return None
    along = vectors[:, -1] / np.sqrt(values[-1])
    across = vectors[:, 0] / np.sqrt(-values[0])
    both = np.array([along + across, along - across])
    return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True))


def cone_directions(forms: Floats, seed: int) -> tuple[Floats, int]:
    """(b, d) directions in which all forms vanish, and the dimension around them.

    Of isolated directions all that were found are returned, of others a few.
    """
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    dimension = 0
    for v in rng.normal(size=(STARTS, forms.shape[1])):
        root = _root(forms, v / np.linalg.norm(v))
        if root is None:
            continue
        slope = np.linalg.svd(forms @ root, compute_uv=False)
        local = forms.shape[1] - int(np.count_nonzero(slope > 1e-4))
        dimension = max(dimension, local)
        if all(abs(abs(root @ other) - 1.0) > ALIKE for other in found):
            found.append(root)
    few = found if dimension == 1 else found[:6]
    return np.array(few).reshape(-1, forms.shape[1]), dimension


def _root(forms: Floats, v: Floats) -> Floats | None:
    """The direction close to v in which all forms vanish, if there is one."""
    for _ in range(100):
        value = np.einsum("qij,i,j->q", forms, v, v)
        if np.abs(value).max() <= 1e-13:
            return v
        slope = 2.0 * forms @ v
        slope -= np.outer(slope @ v, v)  # a longer v is no other direction
        v = v - np.linalg.pinv(slope, rcond=1e-9) @ value
        size = float(np.linalg.norm(v))
        if not 1e-6 < size < 1e6:
            return None
        v /= size
    return None


def _in_order(directions: Floats) -> Floats:
    """The same (b, ...), each with its largest component positive, in one order.

    They then do not hang on the basis of the motions, which rounding turns.
    """
    flat = directions.reshape(len(directions), int(np.prod(directions.shape[1:])))
    seen = np.round(flat, 6)
    largest = np.abs(seen).argmax(axis=1)[:, None]
    signs = np.sign(np.take_along_axis(flat, largest, axis=1))
    order = np.lexsort((signs * seen).T[::-1])
    return np.asarray((signs * flat)[order].reshape(directions.shape))


def _stays(
    system: ConstraintSystem,
    made: Structure,
    z: Floats,
    found: Tangent,
    options: BranchOptions,
) -> bool:
    """Whether as many motions are left close by, in each direction."""
    h = options.step * characteristic_length(made.r0)
    for v in found.motions:
        try:
            near = satisfy_constraints(system, z + h * v, tolerance=options.residual)
        except NotConvergedError:
            return False
        if len(tangent(system, near).motions) != len(found.motions):
            return False
    return True


def branches(
    structure: Structure, options: BranchOptions, found: Crossing
) -> Iterator[BranchStep]:
    """Yield where branches meet, and then each of them both ways.

    Parameters
    ----------
    found : by `crossing`, of the same structure
    """
    made, unit = in_own_unit(structure), own_unit(structure)
    system = system_of(made)
    h = options.step * characteristic_length(made.r0)
    s = 0
    yield _record(system, found.z, unit, (0, -1, 0, 0))
    for branch, v in enumerate(found.directions):
        for way in (1, -1):
            for i, z in enumerate(follow(system, found.z, way * v, h, options)):
                s += 1
                yield _record(system, z, unit, (s, branch, way, i + 1))


def follow(
    system: ConstraintSystem, z: Floats, v: Floats, h: float, options: BranchOptions
) -> Iterator[Floats]:
    """Configurations along a branch, as far as steps of h go on in one direction.

    A step after which eq. (12) fails, or that turns by more than 60 degrees, is
    halved; what is yielded lies no farther than h from the last.
    """
    for _ in range(options.steps_each_way):
        size = h
        while True:
            try:
                there = satisfy_constraints(
                    system, z + size * v, tolerance=options.residual
                )
            except NotConvergedError:
                there = None
            if there is not None and _advances(there - z, v, size):
                break
            size *= 0.5
            if size < 1e-3 * h:
                return
        yield there
        ahead, z = there - z, there
        motions = tangent(system, z).motions
        flat = motions.reshape(len(motions), -1)
        v = (flat.T @ (flat @ ahead.ravel())).reshape(z.shape)
        length = float(np.linalg.norm(v))
        if length < 0.5 * float(np.linalg.norm(ahead)):
            return
        v = v / length


def _advances(moved: Floats, v: Floats, size: float) -> bool:
    ahead = float((moved * v).sum())
    return ahead > 0.5 * float(np.linalg.norm(moved)) and ahead > 0.5 * size


def _record(
    system: ConstraintSystem, z: Floats, unit: float, at: tuple[int, int, int, int]
) -> BranchStep:
    left, residual = len(tangent(system, z).motions), linearise(system, z).residual
    numbers = {"residual": residual, "mobility": left}
    return BranchStep(*at, unit * z[: system.n], numbers)


AWAY = 1e-2  # of L, displacement to either side of a saddle
LONGEST = 5e-2  # of L, step of the morphs that go on from there
FOLLOWED = 4  # motions that are followed, the steepest first


@dataclass(frozen=True, eq=False)
class Saddle:
    """A stationary configuration.

    Attributes
    ----------
    end : the last step of the morph that found it
    negative : motions that lower f, by inertia
    curvature : (b,) negative eigenvalues, ascending, of those that are followed
    motions : (b, n + k, 3) unit eigenvectors
    """

    end: MorphStep
    negative: int
    curvature: Floats
    motions: Floats


def stationary(structure: Structure, target: Target, options: NewtonOptions) -> Saddle:
    """Where a morph first comes to rest, whether or not f is least there."""
    made, aim = _in_own_unit(structure, target)
    asked = replace(options, leave_saddles=False)
    *_, end = morph_newton(made, aim, asked)
    problem, z = MorphProblem.at_end(made, aim, asked, end.state)
    point = problem.point(z)
    forces = constraint_forces(point, problem.contacts(point))
    negative = negative_directions(problem, point, forces)
    empty = np.empty((0, *z.shape))
    if negative == 0:
        return Saddle(end, 0, np.empty(0), empty)
    if 3 * len(z) > LARGEST:
        raise ValueError(
            f"E decreases along {negative} motion{'s' * (negative > 1)} at the end of "
            f"the morph; at most {LARGEST} coordinates can be followed from there, but "
            f"this structure has {3 * len(z)}: use fewer nodes"
        )
    H = dense_curvature(problem, point, forces)
    values, basis = modes_along(problem.system, z, H)
    chosen = np.flatnonzero(values < -FLAT)[:FOLLOWED]
    motions = basis[chosen]
    largest = np.abs(motions).argmax(axis=1)[:, None]
    motions *= np.sign(np.take_along_axis(motions, largest, axis=1))
    return Saddle(end, negative, values[chosen], motions.reshape(-1, *z.shape))


def descents(
    structure: Structure, target: Target, options: NewtonOptions, saddle: Saddle
) -> Iterator[tuple[int, int, MorphStep]]:
    """Yield motion, way (1 or -1) and step of the morphs to both sides of a saddle."""
    made, aim = _in_own_unit(structure, target)
    unit, z = own_unit(structure), saddle.end.state
    problem, z = MorphProblem.at(made, aim, options, z)
    careful = replace(options, longest=LONGEST)
    for branch, motion in enumerate(saddle.motions):
        for sign in (1, -1):
            aside = AWAY * problem.L / float(np.abs(motion).max()) * sign * motion
            start = nearest_free(problem, z, aside)
            for step in morph_newton(made, aim, careful, start):
                yield branch, sign, step._replace(r=unit * step.r, g=unit * step.g)


def _in_own_unit(structure: Structure, target: Target) -> tuple[Structure, Target]:
    unit = own_unit(structure)
    if unit == 1.0:
        return structure, target
    return in_own_unit(structure), Rescaled(target, unit)
