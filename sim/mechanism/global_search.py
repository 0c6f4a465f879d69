"""The lowest end of a morph: several starts, basin hopping, target continuation.

f has many minima on the constraints, and a descent ends in the valley it begins in.
Multi-start (Rinnooy Kan and Timmer, Math. Programming 39, 1987) begins in several: the
first in the structure's own configuration, the others where a random walk along the
constraints has led, past no body and out of no range. From the end of each, hops go on
to lower minima. It finds no proof that nothing is lower; it says what was found.

Every step of every start is yielded as it is made, the hops as far as they lower E;
where the last start is not the one that ends lowest, the lowest end is yielded once
more, so that it is the last.

Basin hopping goes from one minimum to lower ones. A hop leaves a minimum by a long walk
along the constraints, past no body and out of no range, mostly of the nodes around one
of them, descends roughly, and stays where that is lower (monotonic basin hopping:
Leary, J. Global Optim. 18, 2000, after Wales and Doye, J. Phys. Chem. A 101, 1997). A
walk goes on in one direction, so that a part swings over to its other side, where many
small steps of a random walk come back.

Target continuation goes by way of surfaces which are easier than the target. Every
facet and edge of a mesh may hold a minimum of its own, in which a descent ends that a
smooth surface would have led on. So the first descent is onto a surface through the
mesh without them, the second from there onto the mesh itself: continuation from a
smoothed objective (Moré and Wu, SIAM J. Optim. 7, 1997; Blake and Zisserman, Visual
Reconstruction, 1987). Where there is no such surface, or it is not reached, the second
begins where the first has come to. Other targets are approached at once.

From where the first descent ends, small structures go onto the same surface made
smaller about the middle of their goals, and back. Half the squared distance to a
surface of curvature kappa bends downwards along it where a node is inside, and less
upwards than 1 where it is outside; with the surface, the share of that shrinks, and
what is left of it has fewer minima. The way is accepted if it ends lower, as a hop is.
Among bodies and within ranges all this is left out: these hold the nodes, and the way
round is long.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constrained_newton import DENSE
from sim.mechanism.constraint_projection import admissible
from sim.mechanism.mobility import in_own_unit, own_unit
from sim.mechanism.morph_objective import MorphProblem, NewtonOptions, nearest_free
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep, goals
from sim.mechanism.shape_measures import characteristic_length, distance_error
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals, Target, rounded_of, smoothed
from sim.mechanism.targets.transformed import Moved, Rescaled

WALKED = 6  # steps of a random walk, in one direction as far as the constraints let it
STRIDE = 0.15  # of them, root mean square over the nodes / L
HOPPING = 1  # a stream of random numbers apart from that of the walks
ALIKE = 1e-6  # difference in E and in S of one minimum


class MorphTask(NamedTuple):
    """A morph that is asked for."""

    structure: Structure
    target: Target
    options: NewtonOptions

    def rough(self, tolerance: float, most: int) -> "MorphTask":
        """The same as far as it comes in `most` steps, and no more exact than that."""
        options = replace(
            self.options,
            tolerance=max(self.options.tolerance, tolerance),
            max_steps=min(most, self.options.max_steps),
            leave_saddles=False,
        )
        return self._replace(options=options)


class Attempt(NamedTuple):
    """Where one start led.

    Attributes
    ----------
    start : 0 is the structure's own configuration
    minimum : number of the minimum in the order of E, the lowest is 0; -1: none
    E, S, gradient, steps : of its end, nan and 0 where there is none
    failed : why there is none, or empty
    """

    start: int
    minimum: int
    E: float
    S: float
    gradient: float
    steps: int
    failed: str


def lowest(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    starts: int,
    hops: int = 0,
) -> Iterator[MorphStep]:
    """Yield the steps from each start, and at last the lowest end.

    Of ends with the same E it is that of the first start.

    `s` counts them all, `start` says whose they are; `attempts_of` where each has led.

    Parameters
    ----------
    starts : morphs, each of which is determined by its number and `options.seed`
    hops : tried from the end of each, of which those that lower E are accepted

    Raises
    ------
    NotConvergedError
        that of the first start, where none converges.
    """
    best: MorphStep | None = None
    step, s, error = None, 0, None
    task = MorphTask(structure, target, options)
    for i, begun in enumerate(_configurations(task, starts)):
        try:
            for step in _from(task, begun, i, hops):
                step = step._replace(s=s, start=i)
                yield step
                s += 1
        except NotConvergedError as failed:
            error = error or failed
            continue
        if step is not None and (best is None or step.E < best.E - ALIKE):
            best = step
    if best is None and error is not None:
        raise error
    if best is not None and best is not step:
        yield best._replace(s=s)


def _from(
    task: MorphTask, begun: Floats | None, start: int, hops: int
) -> Iterator[MorphStep]:
    """The steps of one start: to a minimum, to lower ones, and the last once more."""
    found = morph_rounded_first(*task, begun)
    if hops == 0:
        yield from found
        return
    best: MorphStep | None = None
    for step in found:
        yield step._replace(stop=None)
        best = step
    assert best is not None
    rng = np.random.default_rng([task.options.seed, start, HOPPING])
    for step in hopped(task, best, hops, rng):
        yield step._replace(stop=None)
        best = step
    yield best


def attempts_of(seen: Iterable[MorphStep]) -> list[Attempt]:
    """Where each start has led, from the steps that `lowest` yielded."""
    ends, count = dict[int, MorphStep](), dict[int, int]()
    for step in seen:
        if step.start in ends and ends[step.start].stop is not None:
            break  # the lowest end once more
        ends[step.start] = step
        count[step.start] = count.get(step.start, -1) + 1
    return _numbered([_attempt(end, count[i]) for i, end in ends.items()])


def _attempt(end: MorphStep, steps: int) -> Attempt:
    if end.stop is not None:
        return Attempt(end.start, -1, end.E, end.S, end.gradient, steps, "")
    nan = float("nan")
    reason = f"no convergence in {steps} steps: the gradient is {end.gradient:.1e}"
    return Attempt(end.start, -1, nan, nan, nan, 0, reason)


def _configurations(task: MorphTask, starts: int) -> Iterator[Floats | None]:
    """The structure's own configuration, None, then others (n + k, 3)."""
    yield None
    if starts < 2:
        return
    unit, n = own_unit(task.structure), len(task.structure.r0)
    problem, z = MorphProblem.at(in_own_unit(task.structure), *task[1:])
    for i in range(1, starts):
        start = walked(problem, z, np.random.default_rng([task.options.seed, i]))
        yield np.concatenate([unit * start[:n], start[n:]])


def walked(problem: MorphProblem, z: Floats, rng: np.random.Generator) -> Floats:
    """The state (n + k, 3) at the end of a walk along the constraints from z."""
    n = problem.system.n
    direction = rng.normal(size=(n, 3))
    for _ in range(WALKED):
        dz = admissible(problem.system, z, direction)
        size = float(np.sqrt(np.square(dz).sum() / n))
        if size > 0.0:
            z = nearest_free(problem, z, STRIDE * problem.L / size * dz)
    return z


def _numbered(attempts: list[Attempt]) -> list[Attempt]:
    """The same with the numbers of the minima."""
    found, numbered = list[Attempt](), dict[int, int]()
    ended = [attempt for attempt in attempts if not attempt.failed]
    same = min((attempt.E for attempt in ended), default=0.0) + ALIKE
    for attempt in sorted(ended, key=lambda attempt: max(attempt.E, same)):
        for number, other in enumerate(found):
            if max(abs(attempt.E - other.E), abs(attempt.S - other.S)) <= ALIKE:
                numbered[attempt.start] = number
                break
        else:
            numbered[attempt.start] = len(found)
            found.append(attempt)
    return [a._replace(minimum=numbered.get(a.start, -1)) for a in attempts]


STEPS = 8  # of a walk
STRIDES = (0.125, 0.25, 0.5)  # of one of them, farthest move of a node / L
WIDTHS = (0.15, 0.3, 0.6, np.inf)  # of the part that walks, / L
DESCENT_TOLERANCE = 1e-5  # gradient at which a descent ends, and most of its steps
DESCENT_STEPS = 60
FLAT = 0.01  # curvature of a valley that a descent may still go down
LOWER = 1e-6  # of E, by which a hop has to bring it down


def hopped(
    task: MorphTask, begun: MorphStep, hops: int, rng: np.random.Generator
) -> Iterator[MorphStep]:
    """Yield the steps to each minimum that is lower than all before it.

    Parameters
    ----------
    begun : the first of them, whose `state` is on the constraints
    """
    rough = task.rough(DESCENT_TOLERANCE, DESCENT_STEPS)
    unit = np.ones((len(begun.state), 1))
    unit[: len(begun.r)] = own_unit(task.structure)
    problem, _ = MorphProblem.at(in_own_unit(task.structure), *rough[1:])
    best = begun
    for _ in range(hops):
        away = unit * walked_away(problem, best.state / unit, rng)
        lower = descended(rough, away, best.E - LOWER)
        if lower:
            lower = descended(task, lower[-1].state, best.E)
        if lower:
            yield from lower
            best = lower[-1]


def walked_away(problem: MorphProblem, z: Floats, rng: np.random.Generator) -> Floats:
    """The state (n + k, 3) after a walk from z in a random direction."""
    n, L = problem.system.n, problem.L
    centre, stride, width = z[rng.integers(n)], rng.choice(STRIDES), rng.choice(WIDTHS)
    away = np.linalg.norm(z[:n] - centre, axis=1) / L
    direction = rng.normal(size=(n, 3)) * np.exp(-((away / width) ** 2))[:, None]
    for _ in range(STEPS):
        dz = admissible(problem.system, z, direction)
        farthest = float(np.abs(dz[:n]).max())
        if farthest > 0.0:
            z = nearest_free(problem, z, stride * L / farthest * dz)
    return z


def descended(task: MorphTask, begun: Floats, bound: float) -> list[MorphStep]:
    """The steps of a descent; none where it fails or does not come below `bound`.

    f falls by |gradient|^2 / 2 kappa in a valley of curvature kappa, and E^2 with it; a
    descent whose E is too large for that with kappa = FLAT is given up, but among
    bodies, whose potential has to fall first.
    """
    steps: list[MorphStep] = []
    try:
        for step in morph_newton(*task, begun):
            steps.append(step)
            to_fall = step.E**2 - step.gradient**2 / FLAT
            if to_fall > bound**2 and not task.structure.is_limited:
                return []
    except NotConvergedError:
        return []
    return steps if bound > steps[-1].E else []


ROUNDED_TOLERANCE = 1e-5  # gradient at which a descent onto a rounded surface ends
SMALLER_TOLERANCE = 1e-3  # and onto a smaller one
CONTINUATION_STEPS = 40  # of either
SMALLER = 0.7  # size of the smaller target


def morph_rounded_first(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    start: Floats | None = None,
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one.

    Goals and E of all of them are those of the target, of a cloud those of its smooth
    surface; a gradient of a descent onto another surface is that of it.

    Parameters
    ----------
    start : (n + k, 3) state close to the constraints to begin at, else the structure's

    Raises
    ------
    NotConvergedError
        where the descent onto the target does not end within `max_steps`.
    """
    most = options.max_steps
    rounded = None if structure.is_limited or most < 2 else rounded_of(target)
    task = MorphTask(structure, smoothed(target), options)
    if rounded is None:
        yield from _lowered(task, most, start)
        return
    last: MorphStep | None = None
    rough = task.rough(ROUNDED_TOLERANCE, min(most // 2, CONTINUATION_STEPS))
    with suppress(NotConvergedError):  # as far as it comes
        for step in _lowered(rough._replace(target=rounded), most // 2, start):
            if last is not None:
                yield last
            last = _towards(task, step)
    made = 0
    if last is not None:
        made, start = last.s, last.state
    yield from morph_newton(*task, start, made)


def _lowered(task: MorphTask, most: int, start: Floats | None) -> Iterator[MorphStep]:
    """The steps onto a target and, where these end lower, by way of a smaller one.

    Parameters
    ----------
    most : steps of both
    """
    last: MorphStep | None = None
    for last in morph_newton(*task, start):
        if last.stop is None:
            yield last
    assert last is not None
    hop = _by_way_of_smaller(task, last, most - last.s)
    yield last._replace(stop=None) if hop else last
    for i, step in enumerate(hop):
        yield step._replace(s=last.s + 1 + i)


def _by_way_of_smaller(task: MorphTask, end: MorphStep, left: int) -> list[MorphStep]:
    """At most `left` steps onto the smaller target and back, if these end lower."""
    structure, target = task.structure, task.target
    unmoved = target.target if isinstance(target, Moved) else target
    if (
        left < 1
        or end.E <= LOWER
        or end.state.size > DENSE
        or structure.is_limited
        or isinstance(unmoved, Goals)
    ):
        return []
    shrunk = smaller(target, end.g[structure.leading].mean(axis=0))
    rough = task.rough(SMALLER_TOLERANCE, min(left, CONTINUATION_STEPS))
    way = list[MorphStep]()
    with suppress(NotConvergedError):  # as far as it comes
        way.extend(morph_newton(*rough._replace(target=shrunk), end.state))
    if len(way) < 2:
        return []
    for back_task in (task.rough(DESCENT_TOLERANCE, DESCENT_STEPS), task):
        most = min(back_task.options.max_steps, left - len(way))
        if most < 1:
            return []
        aim = back_task._replace(options=replace(back_task.options, max_steps=most))
        back = descended(aim, way[-1].state, end.E - LOWER)
        if not back:
            return []
        way = [*way[:-1], *back]
    try:
        seen = [_towards(task, step) for step in way[1:-1]]
    except NotConvergedError:  # nearest points of a cloud, far from it
        return []
    return seen + way[-1:]


def smaller(target: Target, centre: Floats) -> Target:
    """The target, smaller about a point (3,)."""
    x, y, z = centre.tolist()
    about = Rescaled(Moved(target, shift=(-x, -y, -z)), 1.0 / SMALLER)
    return Moved(about, shift=(x, y, z))


def _towards(task: MorphTask, step: MorphStep) -> MorphStep:
    """The same configuration with its goals on the target, and not the last."""
    g = goals(task.structure, task.target, step.r, task.options.followers)
    E = distance_error(step.r, g, characteristic_length(task.structure.r0))
    return step._replace(g=g, E=E, stop=None)
