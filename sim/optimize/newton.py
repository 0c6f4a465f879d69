"""Newton's method that ends at minima: Armijo's condition and saddles.

    minimise       from a start to a minimum, each point lower than those before
    line_search    the first of ever shorter shares of a step that lowers enough

A step lowers a merit function phi, mostly the energy itself. The share s of a step is
taken if Armijo's condition holds (Nocedal and Wright, Numerical Optimization, 2006,
sect. 3.1),

    phi(s) - phi(0) <= ARMIJO s phi'(0) + rounding,

with a `memory` of several points against the highest of the last few values instead
(Grippo, Lampariello and Lucidi, SIAM J. Numer. Anal. 23, 1986). Where forces balance
and motions still lower the energy, a saddle is left.

A solver states by `Problem` what is its own: when forces balance, the inertia there,
the steps that it offers, and how it leaves a saddle. Constraints, contact and
second-order corrections belong to the trials of its steps. Points of any kind will do.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

P = TypeVar("P")

ARMIJO = 1e-4  # share of the promised decrease that a step must bring
PROLONGED = 4.0  # times as far as before, a step goes that is too short


class Trial(NamedTuple, Generic[P]):
    """A point that a step may lead to, and the change of phi since its start."""

    point: P
    change: float


@dataclass(frozen=True)
class Step(Generic[P]):
    """A direction, and where its shares lead.

    Attributes
    ----------
    trials : points for a share of the step, the best last; none where none is allowed
    slope : phi'(0) for the whole step, not positive
    rounding : of a change of phi
    shares : in the order in which they are tried
    farthest : share up to which the first one is prolonged as long as phi falls; 0: not
    """

    trials: Callable[[float], Iterable[Trial[P]]]
    slope: float
    rounding: float
    shares: Iterable[float]
    farthest: float = 0.0


class Problem(Protocol[P]):
    """What a solver knows of its energy."""

    def is_balanced(self, point: P, /) -> bool:
        """Whether no more than the tolerance of the forces is left."""

    def negative(self, point: P, /) -> int:
        """How many motions lower the energy of a balanced point."""

    def steps(self, point: P, /) -> Iterator[Step[P]]:
        """Steps from a point, in the order in which they are tried."""

    def escaped(self, point: P, /) -> P:
        """A point next to a saddle."""


class End(Enum):
    """Why a search ended."""

    MINIMUM = "minimum"  # forces balance, and no motion lowers the energy
    SADDLE = "saddle"  # as many saddles were left as may be
    NO_STEP = "no step"  # none of the steps lowers the energy
    MAX_STEPS = "max steps"


class Iterate(NamedTuple, Generic[P]):
    """A point on the way.

    Attributes
    ----------
    steps, saddles : made and left before
    balanced, negative : as in `Problem`; 0 motions where forces do not balance
    end : why it is the last, None if it is not
    """

    point: P
    steps: int
    saddles: int
    balanced: bool
    negative: int
    end: End | None


def minimise(
    problem: Problem[P],
    point: P,
    max_steps: int,
    *,
    most_saddles: int | None = None,
    memory: int = 1,
) -> Iterator[Iterate[P]]:
    """Yield the points from a start to the one with which the search ends.

    Parameters
    ----------
    most_saddles : left at most, any number unless given
    memory : of values of phi, among which a step must not lead to the highest
    """
    saddles, recent = 0, deque([0.0], maxlen=memory)
    for steps in range(max_steps + 1):
        balanced = problem.is_balanced(point)
        negative = problem.negative(point) if balanced else 0
        end = End.MAX_STEPS if steps == max_steps else None
        if balanced and negative == 0:
            end = End.MINIMUM
        elif balanced and saddles == most_saddles:
            end = End.SADDLE
        yield Iterate(point, steps, saddles, balanced, negative, end)
        if end is not None:
            return
        if balanced:
            saddles, recent = saddles + 1, deque([0.0], maxlen=memory)
            point = problem.escaped(point)
            continue
        slack = max(recent) - recent[-1]
        found = None
        for step in problem.steps(point):
            found = line_search(step, slack)
            if found is not None:
                break
        if found is None:
            yield Iterate(point, steps, saddles, balanced, negative, End.NO_STEP)
            return
        point = found.point
        recent.append(recent[-1] + found.change)


def line_search(step: Step[P], slack: float = 0.0) -> Trial[P] | None:
    """The first point along a step, ever shorter, at which phi is low enough.

    Parameters
    ----------
    slack : by how much phi may rise
    """
    for tried, share in enumerate(step.shares):
        found = _low_enough(step, share, slack)
        if found is not None:
            return found if tried else _prolonged(step, share, found)
    return None


def halved(first: float, shortest: float) -> list[float]:
    """Shares from the first to the shortest."""
    shares = []
    while first >= shortest:
        shares.append(first)
        first *= 0.5
    return shares


def _low_enough(step: Step[P], share: float, slack: float) -> Trial[P] | None:
    limit = slack + ARMIJO * share * step.slope + step.rounding
    for trial in step.trials(share):
        if trial.change <= limit:
            return trial
    return None


def _prolonged(step: Step[P], share: float, found: Trial[P]) -> Trial[P]:
    """Beyond the first share, as long as phi falls."""
    while (share := PROLONGED * share) <= step.farthest:
        beyond = _low_enough(step, share, 0.0)
        if beyond is None or beyond.change >= found.change:
            break
        found = beyond
    return found
