"""What is written of creases that are heated or turned: time, power, warmth, folds."""

from collections.abc import Sequence

import numpy as np

from pipeline.cases.record import Arrays, Row
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.outcome import reached_folds
from sim.origami.loading.actuation import Heat, Moments
from sim.origami.loading.phases import Phase
from sim.origami.model.mesh import BarHingeMesh


def actuated_row(mesh: BarHingeMesh, phases: Sequence[Phase], step: OrigamiStep) -> Row:
    """Empty unless a phase heats or turns creases."""
    if not any(isinstance(phase, Heat | Moments) for phase in phases):
        return {}
    found: Row = {}
    if any(isinstance(phase, Heat) for phase in phases):
        warmest = 0.0 if step.rise is None else float(step.rise.max())
        found = {
            "time": _time(phases, step),
            "power": _power(phases, step),
            "largest_rise": warmest,
        }
    largest = np.abs(reached_folds(mesh, step.x)).max()
    return found | {"largest_fold_deg": float(np.degrees(largest))}


def actuated_arrays(
    mesh: BarHingeMesh, phases: Sequence[Phase], step: OrigamiStep
) -> Arrays:
    """Folds (c,), rad, and rises of temperature (n,), K, of the same."""
    if not any(isinstance(phase, Heat | Moments) for phase in phases):
        return {}
    cold = np.zeros(len(step.x))
    rise: Arrays = {"rise": cold if step.rise is None else step.rise}
    heated = any(isinstance(phase, Heat) for phase in phases)
    folds: Arrays = {"folds": reached_folds(mesh, step.x)}
    return folds | (rise if heated else {})


def _time(phases: Sequence[Phase], step: OrigamiStep) -> float:
    """Seconds since the first phase began; what lasts takes no time."""
    spans = [getattr(phase, "duration", None) or 0.0 for phase in phases]
    return float(sum(spans[: step.phase]) + step.factor * spans[step.phase])


def _power(phases: Sequence[Phase], step: OrigamiStep) -> float:
    """W that all creases take; of steady states it grows with the load factor."""
    powers = [p.power for p in phases[: step.phase + 1] if isinstance(p, Heat)]
    phase = phases[step.phase]
    if not isinstance(phase, Heat) or phase.duration is not None:
        return powers[-1] if powers else 0.0
    before = powers[-2] if len(powers) > 1 else 0.0
    return (1.0 - step.factor) * before + step.factor * powers[-1]
