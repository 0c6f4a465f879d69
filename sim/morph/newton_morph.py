"""Morphing by constrained Newton steps with step control.

It finds what eqs. (11) and (12) of [dJ23] are after, also where those cycle (links in
tension) or stop early (|dE| is small on the way): it ends where the gradient along the
constraints vanishes, and every configuration that it yields satisfies the constraints.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsqr

from sim.arrays import Floats
from sim.morph.closing import closed
from sim.morph.curvature import NO_BLOCKS, Places, Terms, factorise_newton, places_of
from sim.morph.descent import (
    TURN,
    Contacts,
    Damping,
    Forces,
    Point,
    Way,
    bend,
    direction,
    forces,
    inner,
    turn,
    weights,
    with_contacts,
)
from sim.morph.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.measures import characteristic_length, distance_error, shape_factor
from sim.morph.morph import Followers, MorphStep, Stop, goals
from sim.morph.projection import admissible, satisfy_constraints
from sim.morph.pull import pull_curvature
from sim.morph.retraction import retract
from sim.morph.structure import Structure
from sim.morph.system import Linear, System, linearise, system_of
from sim.morph.targets.protocol import Target
from sim.morph.units import Rescaled, own_unit, rescaled
from sim.morph.volume import ROUGH, STIFFNESS, Obstacles
from sim.newton import NotConvergedError

SMALLEST = 1e-6  # share of a Newton step
ESCAPES = 3  # saddles left before the search is given up
KICK = 1e-4  # of L, displacement that leaves a saddle
NOISE = 1e-6  # gradient below which contacts are balanced apart
SLACK = 1e-5  # relative to the force of a contact
PATIENCE = 6  # steps with negative curvature before that


@dataclass(frozen=True)
class Newton:
    """When to stop.

    Attributes
    ----------
    tolerance : on the gradient of f along the constraints, root mean square / L
    residual : on the constraints of every step, dimensionless
    seed : of the displacement that leaves a saddle
    """

    tolerance: float = 1e-9
    max_steps: int = 1000
    residual: float = 1e-10
    followers: Followers = Followers.HOLD
    seed: int = 0

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance", "residual")
        refuse_unless_count(self, "max_steps")


@dataclass(frozen=True, eq=False)
class _Problem:
    structure: Structure
    target: Target
    options: Newton
    system: System
    places: Places
    L: float
    obstacles: Obstacles | None = None
    stiffness: float = 0.0  # kappa of these, over L^2

    @property
    def tolerance(self) -> float:
        """On the gradient: rough as long as kappa will fall."""
        if self.obstacles is None or self.stiffness == STIFFNESS[-1]:
            return self.options.tolerance
        return max(ROUGH * float(np.sqrt(self.stiffness)), self.options.tolerance)

    def harder(self) -> "_Problem | None":
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
        if self.obstacles is None:
            return size
        n = self.system.n
        return size * self.obstacles.share(point.z[:n], size * dz[:n])

    def is_free(self, z: Floats) -> bool:
        """Whether nothing overlaps at z and no range is left."""
        return self.obstacles is None or self.obstacles.energy(z, 1.0) < np.inf

    def passes(self, before: Floats, after: Floats) -> bool:
        """Whether bodies touch on the straight way between two states."""
        n = self.system.n
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


def morph_newton(
    structure: Structure, target: Target, options: Newton, start: Floats | None = None
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one.

    Parameters
    ----------
    start : (n + k, 3) state close to the constraints to begin at, else the structure's
    """
    unit, n = own_unit(structure), len(structure.r0)
    if unit == 1.0:
        yield from _morph(structure, target, options, start)
        return
    if start is not None:
        start = np.concatenate([start[:n] / unit, start[n:]])
    made = rescaled(structure, unit)
    try:
        for step in _morph(made, Rescaled(target, unit), options, start):
            yield step._replace(r=unit * step.r, g=unit * step.g)
    except NotConvergedError as error:
        best = np.array(error.best)
        best[:n] *= unit
        raise NotConvergedError(str(error), best=best) from None


def _morph(
    structure: Structure, target: Target, options: Newton, start: Floats | None
) -> Iterator[MorphStep]:
    """The same in the unit of `structure`."""
    system = system_of(structure)
    L = characteristic_length(structure.r0)
    problem = _Problem(structure, target, options, system, places_of(system), L)
    if start is None:
        z = closed(system, structure, options.residual)
    else:
        z = satisfy_constraints(system, start, tolerance=options.residual)
    if len(structure.solids) or len(structure.ranges):
        obstacles = Obstacles.of(structure, z[: system.n])
        obstacles.check(z)
        problem = replace(problem, obstacles=obstacles, stiffness=STIFFNESS[0])
    point, damping, escapes = problem.point(z), Damping(), 0
    rng = np.random.default_rng(options.seed)
    for s in range(options.max_steps + 1):
        held = forces(point, problem.contacts(point))
        gradient = problem.gradient(point, held)
        while gradient <= problem.tolerance and (next_one := problem.harder()):
            problem, damping = next_one, Damping()
            held = forces(point, problem.contacts(point))
            gradient = problem.gradient(point, held)
        found = gradient <= problem.tolerance
        bent = damping.bent >= PATIENCE or (
            found and negative_directions(problem, point, held) > 0
        )
        saddle = bent and escapes < ESCAPES
        yield _record(problem, s, point, gradient, found and not saddle)
        if found and not saddle:
            return
        if saddle:
            escapes += 1
            point = problem.point(_kicked(problem, point.z, rng))
            damping = Damping()
        else:
            point, damping = _next_point(problem, point, held, damping)
    raise NotConvergedError(
        f"the gradient {gradient:.1e} along the constraints is above "
        f"{options.tolerance:.0e} after {options.max_steps} steps: raise max_steps, or "
        "move the target a little",
        best=point.z,
    )


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


def negative_directions(problem: _Problem, point: Point, held: Forces) -> int:
    """How many motions lower f from a stationary point: zero at a minimum."""
    contacts = problem.contacts(point)
    seen, rho = with_contacts(held, weights(held.linear), contacts)
    places = problem.places if contacts is None else contacts.places
    blocks = NO_BLOCKS if contacts is None else contacts.blocks
    terms = Terms(problem.curvature(point), seen.y, rho, 1e-6, blocks)
    factor = factorise_newton(seen.linear.system, places, seen.linear.B, point.z, terms)
    return factor.negative


def _kicked(problem: _Problem, z: Floats, rng: np.random.Generator) -> Floats:
    """A configuration a little beside z, no farther than bodies and ranges let it."""
    noise = rng.normal(size=(problem.system.n, 3)) * KICK * problem.L
    dz = admissible(problem.system, z, noise)
    for _ in range(20):
        there = satisfy_constraints(
            problem.system, z + dz, tolerance=problem.options.residual
        )
        if problem.is_free(there) and not problem.passes(z, there):
            return there
        dz *= 0.5
    return z


def _record(
    problem: _Problem, s: int, point: Point, gradient: float, last: bool
) -> MorphStep:
    n, L = problem.system.n, problem.L
    r = point.z[:n]
    return MorphStep(
        s=s,
        r=r,
        g=point.g,
        lam=point.z[n:, 0],
        E=distance_error(r, point.g, L),
        S=shape_factor(r, L),
        residual=point.linear.residual,
        gradient=gradient,
        stop=Stop.GRADIENT if last else None,
    )


def _next_point(
    problem: _Problem, point: Point, held: Forces, damping: Damping
) -> tuple[Point, Damping]:
    """The next configuration; the same with more damping if none is found."""
    L, W = problem.L, problem.curvature(point)
    contacts = problem.contacts(point)
    way, damping = direction(problem.places, point, W, held, L, damping, contacts)
    found = _search(problem, point, held, way)
    if found is not None:
        rotation = found[1] * turn(problem.system, way.dz)
        return found[0], _next_damping(damping, found[1], rotation, held.size / L)
    if damping.turn > 1e6:
        raise NotConvergedError(
            f"no step lowers E; the gradient {held.size / L:.1e} along the constraints "
            f"is above {problem.options.tolerance:.0e}: raise tolerance, or check the "
            "structure for a dead centre",
            best=point.z,
        )
    return point, replace(damping, turn=max(16.0 * damping.turn, 1e-2))


def _search(
    problem: _Problem, point: Point, held: Forces, way: Way
) -> tuple[Point, float] | None:
    """As far along the way as f falls: the configuration and the share of the way.

    f is compared after y.c is added to it, which makes up for what the residuals, small
    as they are, have let the nodes gain.
    """
    f = problem.objective(point) + inner(held.y, held.linear.c)
    slope = inner(held.gradient, way.dz)
    enough = problem.options.residual
    wanted = max(min(enough, 1e-4 * held.size / problem.L), 1e-14)
    size = problem.first_share(point, way.dz)
    while size > SMALLEST:
        z = bend(held, way, point.z + size * way.dz)
        back = retract(held.linear, held.normal, z, wanted, enough)
        if back is not None:
            there = problem.point(*back)
            value = problem.objective(there) + inner(held.y, there.linear.c)
            lower = value <= f + 1e-4 * size * slope + 1e-13 * abs(f)
            if lower and not problem.passes(point.z, there.z):
                return there, size
        size *= 0.5
    return None


def _next_damping(
    damping: Damping, size: float, rotation: float, gradient: float
) -> Damping:
    """Less damping after a full step that turned little, more after a short one."""
    stiff = damping.turn
    if size >= 1.0:
        stiff /= min(max(TURN / max(rotation, 1e-300), 4.0), 64.0)
    elif size < 0.5:
        stiff *= min(0.5 / size, 64.0)
    if gradient < 1e-3:
        stiff = min(stiff, gradient)
    return replace(damping, turn=stiff)
