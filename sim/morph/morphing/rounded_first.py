"""A morph that goes by way of surfaces which are easier than its target.

Every facet and edge of a mesh may hold a minimum of its own, in which a descent ends
that a smooth surface would have led on. So the first descent is onto a surface through
the mesh without them, the second from there onto the mesh itself: continuation from a
smoothed objective (Moré and Wu, SIAM J. Optim. 7, 1997; Blake and Zisserman, Visual
Reconstruction, 1987). Where there is no such surface, or it is not reached, the second
begins where the first has come to. Other targets are gone to at once.

From where the first descent ends, small structures go onto the same surface made
smaller about the middle of their goals, and back. Half the squared distance to a
surface of curvature kappa bends downwards along it where a node is inside, and less
upwards than 1 where it is outside; with the surface, the share of that shrinks, and
what is left of it has fewer minima. The way is kept if it ends lower, a hop as those of
`sim.morph.morphing.hopping`. Among bodies and within ranges all this is left out: these
hold the nodes, and the way round is long.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.mobility.curved import DENSE
from sim.morph.morphing.hopping import LOWER, descended, rough_of
from sim.morph.morphing.morph import MorphStep, goals
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.structure.measures import characteristic_length, distance_error
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.pose import Moved
from sim.morph.targets.protocol import Target, rounded_of, smoothed
from sim.morph.targets.rescaled import Rescaled

ROUGH = 1e-5  # gradient at which a descent onto a rounded surface ends
ROUGH_WAY = 1e-3  # and onto a smaller one
MOST_STEPS = 40  # of either
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
    target = smoothed(target)
    if rounded is None:
        yield from _lowered(structure, target, options, most, start)
        return
    last: MorphStep | None = None
    rough = _rough(options, most // 2, ROUGH)
    with suppress(NotConvergedError):  # as far as it comes
        for step in _lowered(structure, rounded, rough, most // 2, start):
            if last is not None:
                yield last
            last = _towards(structure, target, options, step)
    made = 0
    if last is not None:
        made, start = last.s, last.state
    yield from morph_newton(structure, target, options, start, made)


def _lowered(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    most: int,
    start: Floats | None,
) -> Iterator[MorphStep]:
    """The steps onto a target and, where these end lower, by way of a smaller one.

    Parameters
    ----------
    most : steps of both
    """
    last: MorphStep | None = None
    for last in morph_newton(structure, target, options, start):
        if last.stop is None:
            yield last
    assert last is not None
    hop = _by_way_of_smaller(structure, target, options, last, most - last.s)
    yield last._replace(stop=None) if hop else last
    for i, step in enumerate(hop):
        yield step._replace(s=last.s + 1 + i)


def _by_way_of_smaller(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    end: MorphStep,
    left: int,
) -> list[MorphStep]:
    """At most `left` steps onto the smaller target and back, if these end lower."""
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
    way, rough = list[MorphStep](), _rough(options, left, ROUGH_WAY)
    with suppress(NotConvergedError):  # as far as it comes
        way.extend(morph_newton(structure, shrunk, rough, end.state))
    if len(way) < 2:
        return []
    for rough in (rough_of(options), options):
        most = min(rough.max_steps, left - len(way))
        if most < 1:
            return []
        aim, begun = replace(rough, max_steps=most), way[-1].state
        back = descended(structure, target, aim, begun, end.E - LOWER)
        if not back:
            return []
        way = [*way[:-1], *back]
    try:
        seen = [_towards(structure, target, options, step) for step in way[1:-1]]
    except NotConvergedError:  # nearest points of a cloud, far from it
        return []
    return seen + way[-1:]


def smaller(target: Target, centre: Floats) -> Target:
    """The target, smaller about a point (3,)."""
    x, y, z = centre.tolist()
    about = Rescaled(Moved(target, shift=(-x, -y, -z)), 1.0 / SMALLER)
    return Moved(about, shift=(x, y, z))


def _rough(options: NewtonOptions, most: int, tolerance: float) -> NewtonOptions:
    """Those of a descent onto another surface, as far as it comes in `most` steps."""
    return replace(
        options,
        tolerance=max(options.tolerance, tolerance),
        max_steps=min(most, MOST_STEPS),
        leave_saddles=False,
    )


def _towards(
    structure: Structure, target: Target, options: NewtonOptions, step: MorphStep
) -> MorphStep:
    """The same configuration with its goals on the target, and not the last."""
    g = goals(structure, target, step.r, options.followers)
    E = distance_error(step.r, g, characteristic_length(structure.r0))
    return step._replace(g=g, E=E, stop=None)
