"""One equilibrium, at given rest angles and load, by the rules of a sheet."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.origami.folding.equilibrium import NewtonResult, full_newton
from sim.origami.folding.large import minimise_large
from sim.origami.folding.minimum import minimise
from sim.origami.folding.prediction import (
    MOST_POINTS,
    OF_LARGE,
    extrapolated_move,
    foretold_stresses,
    remembered,
)
from sim.origami.folding.problem import FoldingProblem
from sim.origami.folding.sheet import Sheet, SheetState

MOST_NEWTON = 29  # linear solves of an increment with full steps, as in [ZF19]
MOST_SEARCHES = 500  # linear solves of an increment that searches for a minimum

Advance = Callable[[SheetState, float], tuple[SheetState, NewtonResult]]


def equilibrate(
    sheet: Sheet,
    problem: FoldingProblem,
    state: SheetState,
    part: float,
    angles: Floats,
    load: Floats,
    tolerance: float,
    by_move: float = 0.0,
) -> tuple[SheetState, NewtonResult]:
    """Equilibrium at the given rest angles and load, by the sheet's rules."""
    near, x, most = state.near, state.x, sheet.max_iterations
    fronts, stresses, points = state.fronts, state.stresses, MOST_POINTS
    if fronts is not None:
        ahead, most = extrapolated_move(*state.past, part), most or MOST_SEARCHES
        first = foretold_stresses(stresses, state.past[0], part)
        out, fronts, last = minimise_large(
            problem, fronts, near, x, ahead, first, angles, load, tolerance, most
        )
        stresses = np.concatenate([stresses, last[None]])[-OF_LARGE:]
        points = OF_LARGE
    elif problem.safe:
        ahead, most = extrapolated_move(*state.past, part), most or MOST_SEARCHES
        out = minimise(problem, near, x, ahead, angles, load, tolerance, most)
    else:
        limit, most = by_move or tolerance, most or MOST_NEWTON
        out = full_newton(problem, near, x, angles, load, limit, most, by_move > 0)
    past = remembered(*state.past, part, out.x, points)
    reached = replace(
        state,
        x=out.x,
        angles=angles,
        near=out.near,
        factor=part,
        past=past,
        fronts=fronts,
        stresses=stresses,
    )
    return reached, out
