"""A morph onto a target of facets, which goes onto a rounded one first.

Every facet and edge of a mesh may hold a minimum of its own, in which a descent ends
that a smooth surface would have led on. So the first descent is onto a surface through
the mesh without them, the second from there onto the mesh itself: continuation from a
smoothed objective (Moré and Wu, SIAM J. Optim. 7, 1997; Blake and Zisserman, Visual
Reconstruction, 1987). Where there is no such surface, or it is not reached, the second
begins where the first has come to. Other targets are gone to at once.
"""

from collections.abc import Iterator
from dataclasses import replace

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.morphing.morph import MorphStep, goals
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.structure.measures import characteristic_length, distance_error
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target, rounded_of

ROUGH = 1e-5  # gradient at which the first descent ends
MOST_STEPS = 40  # of it


def morph_rounded_first(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    start: Floats | None = None,
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one.

    Goals and E of all of them are those of the target; a gradient of the first descent
    is that of the rounded one.

    Parameters
    ----------
    start : (n + k, 3) state close to the constraints to begin at, else the structure's

    Raises
    ------
    NotConvergedError
        where the second descent does not end within `max_steps` of both.
    """
    made, last = 0, None
    for step in _onto_rounded(structure, target, options, start):
        if last is not None:
            yield last
        last = _towards(structure, target, options, step)
    if last is not None:
        made, start = last.s, last.state
    left = replace(options, max_steps=options.max_steps - made)
    for step in morph_newton(structure, target, left, start):
        yield step._replace(s=made + step.s)


def _onto_rounded(
    structure: Structure, target: Target, options: NewtonOptions, start: Floats | None
) -> Iterator[MorphStep]:
    """The steps of the first descent, as far as it comes; not the last ones allowed."""
    rounded = rounded_of(target)
    if rounded is None or options.max_steps < 2:
        return
    rough = replace(
        options,
        tolerance=max(options.tolerance, ROUGH),
        max_steps=min(options.max_steps // 2, MOST_STEPS),
        leave_saddles=False,
    )
    try:
        yield from morph_newton(structure, rounded, rough, start)
    except NotConvergedError:
        return


def _towards(
    structure: Structure, target: Target, options: NewtonOptions, step: MorphStep
) -> MorphStep:
    """The same configuration with its goals on the target, and not the last."""
    g = goals(structure, target, step.r, options.followers)
    E = distance_error(step.r, g, characteristic_length(structure.r0))
    return step._replace(g=g, E=E, stop=None)
