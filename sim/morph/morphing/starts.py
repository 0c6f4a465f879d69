"""One morph from several starts, of whose ends the lowest is kept.

f has many minima on the constraints, and a descent ends in the valley it begins in.
Multi-start (Rinnooy Kan and Timmer, Math. Programming 39, 1987) begins in several: the
first in the structure's own configuration, the others where a random walk along the
constraints has led, past no body and out of no range. From the end of each, hops go on
to lower minima. It finds no proof that nothing is lower; it says what was found.

Every step of every start is yielded as it is made, the hops as far as they lower E;
where the last start is not the one that ends lowest, the lowest end is yielded once
more, so that it is the last.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.projection import admissible
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.morphing.hopping import hopped
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.problem import MorphProblem, NewtonOptions, nearest_free
from sim.morph.morphing.rounded_first import morph_rounded_first
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

WALKED = 6  # steps of a random walk, in one direction as far as the constraints let it
STRIDE = 0.15  # of them, root mean square over the nodes / L
HOPPING = 1  # a stream of random numbers apart from that of the walks
ALIKE = 1e-6  # difference in E and in S of one minimum


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

    `s` counts them all, `start` says whose they are; `attempts_of` where each has led.

    Parameters
    ----------
    starts : morphs, each of which is determined by its number and `options.seed`
    hops : tried from the end of each, of which those that lower E are kept

    Raises
    ------
    NotConvergedError
        that of the first start, where none converges.
    """
    best: MorphStep | None = None
    step, s, error = None, 0, None
    for i, begun in enumerate(_configurations(structure, target, options, starts)):
        try:
            for step in _from(structure, target, options, begun, i, hops):
                step = step._replace(s=s, start=i)
                yield step
                s += 1
        except NotConvergedError as failed:
            error = error or failed
            continue
        if step is not None and (best is None or step.E < best.E):
            best = step
    if best is None and error is not None:
        raise error
    if best is not None and best is not step:
        yield best._replace(s=s)


def _from(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    begun: Floats | None,
    start: int,
    hops: int,
) -> Iterator[MorphStep]:
    """The steps of one start: to a minimum, to lower ones, and the last once more."""
    found = morph_rounded_first(structure, target, options, begun)
    if hops == 0:
        yield from found
        return
    best: MorphStep | None = None
    for step in found:
        yield step._replace(stop=None)
        best = step
    assert best is not None
    rng = np.random.default_rng([options.seed, start, HOPPING])
    for step in hopped(structure, target, options, best, hops, rng):
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
    said = f"not at rest after {steps} steps: the gradient is {end.gradient:.1e}"
    return Attempt(end.start, -1, nan, nan, nan, 0, said)


def _configurations(
    structure: Structure, target: Target, options: NewtonOptions, starts: int
) -> Iterator[Floats | None]:
    """The structure's own configuration, None, then others (n + k, 3)."""
    yield None
    if starts < 2:
        return
    unit, n = own_unit(structure), len(structure.r0)
    problem, z = MorphProblem.at(in_own_unit(structure), target, options)
    for i in range(1, starts):
        start = walked(problem, z, np.random.default_rng([options.seed, i]))
        yield np.concatenate([unit * start[:n], start[n:]])


def walked(problem: MorphProblem, z: Floats, rng: np.random.Generator) -> Floats:
    """The state (n + k, 3) at the end of a walk along the constraints from z."""
    n = problem.system.n
    wanted = rng.normal(size=(n, 3))
    for _ in range(WALKED):
        dz = admissible(problem.system, z, wanted)
        size = float(np.sqrt(np.square(dz).sum() / n))
        if size > 0.0:
            z = nearest_free(problem, z, STRIDE * problem.L / size * dz)
    return z


def _numbered(attempts: list[Attempt]) -> list[Attempt]:
    """The same with the numbers of the minima."""
    found, numbered = list[Attempt](), dict[int, int]()
    for attempt in sorted(attempts, key=lambda attempt: attempt.E):
        if attempt.failed:
            continue
        for number, other in enumerate(found):
            if max(abs(attempt.E - other.E), abs(attempt.S - other.S)) <= ALIKE:
                numbered[attempt.start] = number
                break
        else:
            numbered[attempt.start] = len(found)
            found.append(attempt)
    return [a._replace(minimum=numbered.get(a.start, -1)) for a in attempts]
