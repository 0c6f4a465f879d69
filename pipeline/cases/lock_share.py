"""The verdict on a folding sequence: of the sheet as drawn, or of many that are off."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.cases.record import Summary
from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.origami.folding.folding import run
from sim.origami.folding.imperfections import Imperfections, drawn
from sim.origami.folding.sheet import Sheet
from sim.origami.folding.tally import Tally
from sim.origami.loading.phases import Phase
from sim.origami.loading.sequences import SequenceVerdict, verdict


def end_of(
    sheet: Sheet,
    phases: Sequence[Phase],
    x: Floats,
    where: Mapping[str, Any],
    imperfections: Imperfections | None,
) -> Summary:
    """The verdict, and the share of draws that lock with its interval.

    Parameters
    ----------
    x : (n, 3) m, the end of the sheet as drawn
    where : the panels that lock, see `sim.origami.loading.sequences.verdict`
    """
    as_drawn = verdict(sheet.mesh, x, **where)
    if imperfections is None:
        return {"verdict": as_drawn.value}
    tally = tallied(sheet, phases, where, imperfections)
    assert tally.verdict is not None  # all draws are made
    low, high = tally.interval(SequenceVerdict.LOCK)
    return {
        "verdict": tally.verdict.value,
        "verdict_as_drawn": as_drawn.value,
        "draws": len(tally.ends),
        "stage": tally.stage + 1,
        "lock_share": tally.count(SequenceVerdict.LOCK) / len(tally.ends),
        "lock_share_low": low,
        "lock_share_high": high,
    }


def tallied(
    sheet: Sheet,
    phases: Sequence[Phase],
    where: Mapping[str, Any],
    imperfections: Imperfections,
) -> Tally:
    """Fold one sheet after the other until the verdict hangs on none that is left."""
    tally = Tally(imperfections.stages)
    while tally.verdict is None:
        other, off = drawn(imperfections, len(tally.ends), sheet, phases)
        tally = tally.with_end(_end(other, off, where))
    return tally


def _end(
    sheet: Sheet, phases: Sequence[Phase], where: Mapping[str, Any]
) -> SequenceVerdict | None:
    """How a folding ends; None where it finds no equilibrium."""
    try:
        *_, last = run(sheet, phases)
    except NotConvergedError:
        return None
    return verdict(sheet.mesh, last.x, **where)
