"""Hinged blocks whose grips move slowly: force by displacement, snaps, hysteresis.

A displacement is followed in increments, each from the rest before it. The blocks
stay in the minimum of the energy they are in for as long as there is one, and slide
into another when it is gone (a snap; the energy that is lost in it is not in the
forces). Back and forth over the same way gives both branches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.blocks.assembly import BlockAssembly
from sim.morph.blocks.equilibrium import BlockOptions, BlockProblem, BlockState, at_rest
from sim.morph.blocks.hinge_energy import slipped

MOST_HALVINGS = 8
LOST = 0.05  # of the largest force times the increment: work that a snap loses, or more


@dataclass(frozen=True, eq=False)
class BlockStep:
    """A rest on the way.

    Attributes
    ----------
    driving : of the grips, in units of their motions
    force : work of the grips for one unit of driving: sum of reactions times motions
    state : the rest
    slip : (h,) slips of the rubbing elements after it
    """

    driving: float
    force: float
    state: BlockState
    slip: Floats


def driven(
    assembly: BlockAssembly,
    drivings: Sequence[float],
    options: BlockOptions | None = None,
    sharp: float = 0.0,
) -> Iterator[BlockStep]:
    """Move the grips to each of `drivings` in turn, from the drawn state.

    Parameters
    ----------
    sharp : of driving, between the rests on both sides of a snap, which are given too;
        0 leaves a snap within its increment

    Raises
    ------
    NotConvergedError : where even increments halved eight times come to no rest
    """
    options = options or BlockOptions()
    problem = BlockProblem(assembly)
    drawn = np.zeros((len(assembly), 3)), np.zeros(len(assembly.hinges))
    before, largest = None, 0.0
    for driving in drivings:
        at, q, slip = (
            (before.driving, before.state.q, before.slip) if before else (0.0, *drawn)
        )
        after = _step(problem, at, float(driving), q, slip, options)
        largest = max(largest, abs(after.force))
        if sharp > 0.0 and before is not None:
            yield from _snap(problem, before, after, options, sharp, largest)
        yield after
        before = after


def _step(
    problem: BlockProblem, at: float, to: float, q: Floats, slip: Floats,
    options: BlockOptions,
) -> BlockStep:  # fmt: skip
    state, slip = _followed(problem, at, to, q, slip, options)
    return BlockStep(to, _force(problem.assembly, state), state, slip)


def _snap(
    problem: BlockProblem, before: BlockStep, after: BlockStep,
    options: BlockOptions, sharp: float, largest: float,
) -> list[BlockStep]:  # fmt: skip
    """The rests on both sides of a snap between two rests, by halves; none without."""
    first = before
    far = abs(after.driving - before.driving)
    while abs(after.driving - before.driving) > sharp:
        gone = abs(after.driving - before.driving) / far
        if _lost(problem, before, after) <= LOST * largest * far * gone:
            break
        half = 0.5 * (before.driving + after.driving)
        found = _step(
            problem, before.driving, half, before.state.q, before.slip, options
        )
        if _lost(problem, before, found) > _lost(problem, found, after):
            after = found
        else:
            before = found
    return [] if before is first else [before, after]


def _lost(problem: BlockProblem, before: BlockStep, after: BlockStep) -> float:
    """Work of the grips that is neither stored nor rubbed away."""
    work = 0.5 * (before.force + after.force) * (after.driving - before.driving)
    rubbed = problem.hinges.friction @ np.abs(after.slip - before.slip)
    stored = _stored(problem, after) - _stored(problem, before)
    return float(work - stored - rubbed)


def _stored(problem: BlockProblem, step: BlockStep) -> float:
    """Elastic energy: that of a rest counts what its increment rubbed away as well."""
    anchors = problem.anchors(step.driving)
    return problem.point(step.state.q, anchors, step.slip).energy


def _followed(
    problem: BlockProblem, at: float, to: float, q: Floats, slip: Floats,
    options: BlockOptions, halvings: int = 0,
) -> tuple[BlockState, Floats]:  # fmt: skip
    """The rest at `to` and its slips; by two halves where one increment fails."""
    try:
        state = at_rest(problem, to, q, slip, options)
    except NotConvergedError:
        if halvings == MOST_HALVINGS or at == to:
            raise
        half = 0.5 * (at + to)
        state, slip = _followed(problem, at, half, q, slip, options, halvings + 1)
        return _followed(problem, half, to, state.q, slip, options, halvings + 1)
    return state, slipped(state.q, slip, problem.hinges)


def _force(assembly: BlockAssembly, state: BlockState) -> float:
    motions = np.array([grip.motion for grip in assembly.grips]).reshape(-1, 2)
    return float(np.sum(state.reactions[:, :2] * motions))
