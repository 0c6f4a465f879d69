"""A search for numbers within bounds, which shapes of a structure are to tell.

Steps are those of the spectral projected gradient (Birgin, Martinez, Raydan, SIAM J.
Optim. 10, 2000), which keep to the bounds, their lengths by Armijo's condition. What is
sought (lengths or places) gives F, its slope, and the shapes behind it,
from whose ends the next ones begin, so that each stays on its branch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sim.arrays import Floats
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.equations.descent import ARMIJO
from sim.morph.morphing.morph import MorphStep

FIRST = 0.02  # largest change in the first step
SHORTEST_STEP = 1e-6  # step length at which the line search ends


class DesignStop(Choice):
    """Why the search ended."""

    GRADIENT = "gradient"  # no change within the bounds lowers F to first order
    REACHED = "reached"  # F vanishes


class DesignStep(NamedTuple):
    """One set of lengths, or of places.

    Attributes
    ----------
    change : (g,) relative change of each group of links, or of what else varies
    F : power mean of E^2
    E : (T,) at the end of the morph to each target
    gradient : largest change that the gradient of F asks for within the bounds
    ends : the last step of each morph
    stop : why this step is the last, None if it is not
    """

    s: int
    change: Floats
    F: float
    E: Floats
    gradient: float
    ends: tuple[MorphStep, ...]
    stop: DesignStop | None


class Objective(NamedTuple):
    """F, its slope (g,) in the changes, the shape behind each E (T,)."""

    F: float
    slope: Floats
    E: Floats
    ends: tuple[MorphStep, ...]


class Sought(Protocol):
    """What is sought within bounds (g,)."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """(g,) the least and the most of each number."""

    def at(self, change: Floats, before: tuple[MorphStep, ...] | None) -> Objective:
        """F of the numbers (g,), from the ends of shapes of nearly the same ones."""


@dataclass(frozen=True)
class SearchOptions:
    """When to stop.

    Attributes
    ----------
    tolerance : on the gradient of F, whose variables are relative changes
    reached : F below which every target counts as reached
    """

    tolerance: float = 1e-6
    reached: float = 1e-14
    max_steps: int = 100

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance", "reached")
        refuse_unless_count(self, "max_steps")


def power_mean(E: Sequence[float] | Floats, q: float) -> tuple[float, Floats]:
    """F = (1/T sum_t E_t^2q)^(1/q), and its slope (T,) in each E_t^2."""
    squares = np.square(np.asarray(E, dtype=np.float64))
    unit = 2.0 ** np.frexp(squares.max())[1]  # no power vanishes
    F = float(unit * ((squares / unit) ** q).mean() ** (1.0 / q))
    return F, (squares / max(F, 1e-300)) ** (q - 1.0) / len(squares)


def search(
    sought: Sought, options: SearchOptions, change: Floats
) -> Iterator[DesignStep]:
    """Yield ever better numbers, `change` (g,) first."""
    least, most = sought.bounds
    here = sought.at(change, None)
    scale = FIRST / max(float(np.abs(here.slope).max()), 1e-300)
    for s in range(options.max_steps + 1):
        ahead = np.clip(change - here.slope, least, most) - change
        left = float(np.abs(ahead).max())
        stop = None
        if options.reached >= here.F:
            stop = DesignStop.REACHED
        elif left <= options.tolerance:
            stop = DesignStop.GRADIENT
        yield DesignStep(s, change, here.F, here.E, left, here.ends, stop)
        if stop is not None:
            return
        direction = np.clip(change - scale * here.slope, least, most) - change
        alpha, after = _line_search(sought, change, here, direction)
        change_of_slope = float((after.slope - here.slope) @ direction) * alpha
        moved = alpha * direction
        scale = float(np.clip(moved @ moved / max(change_of_slope, 1e-300), 1e-3, 1e3))
        change, here = change + moved, after
    raise NotConvergedError(
        f"F can still fall by a change of {left:.1e} after {options.max_steps} steps: "
        "raise max_steps or tolerance",
        best=change,
    )


def _line_search(
    sought: Sought, change: Floats, here: Objective, direction: Floats
) -> tuple[float, Objective]:
    """The longest step tried that meets Armijo's condition, and F there.

    Numbers whose shapes do not close count as a step that is too long.
    """
    alpha, slope = 1.0, float(here.slope @ direction)
    unclosed: NotConvergedError | None = None
    while alpha > SHORTEST_STEP:
        try:
            after = sought.at(change + alpha * direction, here.ends)
        except NotConvergedError as error:
            unclosed, alpha = error, 0.5 * alpha
            continue
        if here.F + ARMIJO * alpha * slope >= after.F:
            return alpha, after
        alpha *= 0.5
    if unclosed is not None:
        raise NotConvergedError(
            f"{sought.name} that lower F = {here.F:.3e} further do not close "
            f"({unclosed}): these are at the limit of closure; choose targets within "
            "it, or leave links out of the loop",
            best=change,
        )
    raise NotConvergedError(
        f"no change of {sought.name} lowers F = {here.F:.3e} although its gradient "
        "does not vanish: lower the tolerance of the morphs",
        best=change,
    )
