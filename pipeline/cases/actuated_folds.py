"""What is written of creases that are turned by moments: their folds."""

from collections.abc import Sequence

import numpy as np

from pipeline.cases.record import Arrays, Row
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.outcome import reached_folds
from sim.origami.loading.actuation import Moments
from sim.origami.loading.phases import Phase
from sim.origami.model.mesh import BarHingeMesh


def actuated_row(mesh: BarHingeMesh, phases: Sequence[Phase], step: OrigamiStep) -> Row:
    """Empty unless a phase turns creases."""
    if not any(isinstance(phase, Moments) for phase in phases):
        return {}
    largest = np.abs(reached_folds(mesh, step.x)).max()
    return {"largest_fold_deg": float(np.degrees(largest))}


def actuated_arrays(
    mesh: BarHingeMesh, phases: Sequence[Phase], step: OrigamiStep
) -> Arrays:
    """Folds (c,), rad, of the same."""
    if not any(isinstance(phase, Moments) for phase in phases):
        return {}
    return {"folds": reached_folds(mesh, step.x)}
