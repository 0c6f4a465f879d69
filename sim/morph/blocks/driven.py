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
) -> Iterator[BlockStep]:
    """Move the grips to each of `drivings` in turn, from the drawn state.

    Raises
    ------
    NotConvergedError : where even increments halved eight times come to no rest
    """
    options = options or BlockOptions()
    problem = BlockProblem(assembly)
    q = np.zeros((len(assembly), 3))
    slip = np.zeros(len(assembly.hinges))
    at = 0.0
    for driving in drivings:
        state, slip = _followed(problem, at, float(driving), q, slip, options)
        at, q = float(driving), state.q
        yield BlockStep(at, _force(assembly, state), state, slip)


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
