"""Where the nodes of a finished run should go, by the target of its case."""

from collections.abc import Callable
from pathlib import Path

from pipeline.cases.morph import MorphCase
from pipeline.store.case_job import sound_case
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError
from sim.arrays import Floats


def goals_of(simulated: Path, scale_mm: float) -> Callable[[Floats], Floats]:
    """Goals of all nodes (n, 3), mm, by their places; a follower is its own goal.

    Parameters
    ----------
    simulated : directory of a finished morph run
    scale_mm : mm of the print per unit of the case
    """
    case = sound_case(run_record(simulated)["config"])
    if not isinstance(case, MorphCase):
        raise InputError(f"{simulated} is not the run of a morphing case")
    target, leading = case.shape, case.structure.leading

    def goals(nodes: Floats) -> Floats:
        goal = nodes.copy()
        goal[leading] = scale_mm * target.closest(nodes[leading] / scale_mm)
        return goal

    return goals
