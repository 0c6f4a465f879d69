"""Where a mechanism can go from a configuration at which its branches cross.

The tangents of its branches are the directions v for which every form of
`sim.morph.mobility.tangent` vanishes. One form with one positive and one negative
eigenvalue is a simple bifurcation,

    q(v) = a^2 (v.e)^2 - b^2 (v.f)^2 = (a v.e - b v.f) (a v.e + b v.f),

two branches that cross; several forms may leave more than two. They are sought from
many seeded directions by Newton's method. Where the directions found are isolated, each
is followed both ways, by small steps along the tangent and eq. (12) of [dJ23] back to
the constraints; where they form a cone, its dimension and some of them are told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.limits import is_count, refuse_unless_count, refuse_unless_positive
from sim.morph.equations.closing import closed
from sim.morph.equations.projection import satisfy_constraints
from sim.morph.equations.system import ConstraintSystem, linearise, system_of
from sim.morph.mobility.tangent import LOST, Tangent, tangent
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure

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
class BranchOptions:
    """How far branches are followed.

    Attributes
    ----------
    step : along the tangent, over L
    steps : each way
    residual : on the constraints of every configuration, dimensionless
    seed : of the directions from which tangents are sought
    """

    step: float = 0.02
    steps: int = 50
    residual: float = 1e-10
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "step", "residual")
        refuse_unless_count(self, "steps")
        if not is_count(self.seed, 0):
            raise ValueError(f"seed must be a whole number from 0 up, not {self.seed}")
        if not self.step <= 0.2:
            raise ValueError(f"step must be 0.2 of L at most, not {self.step}")


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
    lam : (k,)
    residual : of the constraints, dimensionless
    mobility : independent motions there, without the rigid ones
    """

    s: int
    branch: int
    way: int
    i: int
    r: Floats
    lam: Floats
    residual: float
    mobility: int


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
    unit: Floats = both / np.linalg.norm(both, axis=1, keepdims=True)
    return unit


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
    turned: Floats = (signs * flat)[order].reshape(directions.shape)
    return turned


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
    for _ in range(options.steps):
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
    n, left = system.n, len(tangent(system, z).motions)
    residual = linearise(system, z).residual
    return BranchStep(*at, unit * z[:n], z[n:, 0], residual, left)
