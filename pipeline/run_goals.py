"""Where the nodes of a finished run should go, by the target of its case."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline.errors import InputError
from pipeline.files import read_json
from pipeline.hydra_command import build
from sim.arrays import Floats


def goals_of(simulated: Path, scale_mm: float) -> Callable[[Floats], Floats]:
    """Goals of all nodes (n, 3), mm, by their places; a follower is its own goal.

    Parameters
    ----------
    simulated : directory of a finished morph run
    scale_mm : mm of the print per unit of the case
    """
    try:
        config = read_json(simulated / "run.json")["config"]["case"]["target"]
        lead = read_json(simulated / "structure.json")["leading"]
    except (KeyError, TypeError) as error:
        raise InputError(f"{simulated}/run.json has no case.target: {error}") from error
    target = build(config, "case.target")
    leading = np.asarray(lead, dtype=np.int64)

    def goals(nodes: Floats) -> Floats:
        goal = nodes.copy()
        goal[leading] = scale_mm * target.closest(nodes[leading] / scale_mm)
        return goal

    return goals
