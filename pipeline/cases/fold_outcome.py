"""What a run says of its folding: columns of steps.csv, creases, the verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.cases import record
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.origami.fold_and_load_phases import (
    Fold,
    Moments,
    Phase,
    SequenceVerdict,
    missing_folds,
    over_and_short,
    over_folds,
    verdict,
)
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.imperfections import Imperfections, sampled
from sim.origami.folding.outcome import (
    FoldReport,
    FoldVerdict,
    HeldBy,
    asked_until,
    fold_report,
    reached_folds,
    worst_crease,
    wrong_side,
)
from sim.origami.folding.sequential_test import Tally
from sim.origami.folding.sheet import Sheet
from sim.origami.mechanics import bending_strain, panel_strain
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.model.sheet_material import SheetMaterial

AT_REST = 1.0  # degrees from which a crease counts as folded in the given sheet
STRAIN_LIMIT = 0.02  # above it the panels of [ZF19] no longer behave linearly


@dataclass(eq=False)
class FoldOutcome:
    """Follows a folding; its verdict is that of the end of the last phase that folds.

    Parameters
    ----------
    tolerance : degrees within which a crease has reached what is asked
    """

    sheet: Sheet
    phases: list[Phase]
    tolerance: float
    last: OrigamiStep | None = None

    def see(self, step: OrigamiStep) -> None:
        """Keep the step where the sheet is folded there, or where it never is."""
        folding = [isinstance(phase, Fold) for phase in self.phases]
        if self.last is None or folding[step.phase] or not any(folding):
            self.last = step

    def row(self, step: OrigamiStep) -> record.Row:
        """Creases on the wrong side, and how far the farthest is from what is asked."""
        asked = asked_until(self.sheet.mesh, self.phases, step.phase)
        reached = reached_folds(self.sheet.mesh, step.x)
        away = np.abs(missing_folds(asked, reached))
        return {
            "wrong_way": int(wrong_side(asked, reached).sum()),
            "fold_missing_deg": float(np.degrees(away.max(initial=0.0))),
        }

    @cached_property
    def _report(self) -> FoldReport:
        assert self.last is not None  # a run has a first step at least
        tolerance = float(np.radians(self.tolerance))
        return fold_report(self.sheet, self.phases, self.last, tolerance)

    def _stress_free(self) -> record.Summary:
        """The summary of a sheet whose creases are folded before anything is asked."""
        mesh = self.sheet.mesh
        folds = np.degrees(np.abs(reached_folds(mesh, mesh.rest)))
        if not len(folds) or folds.max() < AT_REST:
            return {}
        crease = mesh.pattern.crease_name(mesh.pattern.creases[folds.argmax()])
        many = int((folds >= AT_REST).sum())
        text = f"{many} of {len(folds)} creases folded, most of all {crease}"
        return {"stress_free": f"{text} by {folds.max():.0f} degrees"}

    def _off(self) -> record.Summary:
        """How many creases are beyond the tolerance, and how far over or short."""
        report = self._report
        off = np.array([held is not HeldBy.NOTHING for held in report.held], dtype=bool)
        if not off.any():
            return {}
        over = np.degrees(over_folds(report.asked, report.reached)[off])
        text = (
            f"{off.sum()} of {len(off)} creases more than {self.tolerance:g} "
            f"degrees from their target: {over_and_short(over, ' degrees')}"
        )
        if report.verdict in (FoldVerdict.FOLDED, FoldVerdict.FAR):
            pattern, folds = self.sheet.mesh.pattern, (report.asked, report.reached)
            text += f"; {worst_crease(pattern, *folds, off)}; rigid panels cannot come "
            text += "closer"
        return {"fold_off": text}

    def summary(self) -> record.Summary:
        report = self._report
        done = report.verdict in (FoldVerdict.FOLDED, FoldVerdict.NOTHING)
        away = np.abs(missing_folds(report.asked, report.reached)).max(initial=0.0)
        found: record.Summary = {
            "stop": "all increments done" if done else "no increments left",
            "fold": report.verdict.value,
            **self._stress_free(),
            "wrong_way": report.wrong_way,
            "fold_missing_deg": float(np.degrees(away)),
            **self._off(),
        }
        return found | ({"fold_why": report.why} if report.why else {})

    def creases(self) -> Iterator[record.TableRow]:
        """A row a crease: asked, reached, side, and what holds it."""
        pattern, report = self.sheet.mesh.pattern, self._report
        wrong = wrong_side(report.asked, report.reached)
        missing = np.degrees(missing_folds(report.asked, report.reached))
        for c, edge in enumerate(pattern.creases):
            a, b = pattern.edges[edge].tolist()
            yield {
                "crease": int(edge),
                "a": a,
                "b": b,
                "asked_deg": float(np.degrees(report.asked[c])),
                "reached_deg": float(np.degrees(report.reached[c])),
                "missing_deg": float(missing[c]),
                "wrong_way": int(wrong[c]),
                "held_by": report.held[c].value,
            }


@dataclass(frozen=True, eq=False)
class StrainWarning:
    """Where linear elasticity ends.

    Parameters
    ----------
    limit : of every strain, where one is chosen; else panels have `STRAIN_LIMIT` and
        creases the elastic limit of their material, where it has one
    """

    sheet: Sheet
    material: SheetMaterial
    limit: float | None

    def of_panels(self, step: OrigamiStep) -> float:
        return panel_strain(self.sheet.mesh, self.material, step.x)

    def largest(self, step: OrigamiStep) -> float:
        """Of panels and creases, in their planes so far and in bending now."""
        return max(self._of_bars(step), self.of_panels(step))

    def _of_bars(self, step: OrigamiStep) -> float:
        bent = bending_strain(self.sheet.mesh, self.material, step.x)
        return max(step.strain, bent)

    def summary(self, step: OrigamiStep) -> record.Summary:
        """The strains, and a warning where one is above its limit."""
        panels, bars = self.of_panels(step), self._of_bars(step)
        of_panels = STRAIN_LIMIT if self.limit is None else self.limit
        of_all = self.material.elastic_limit if self.limit is None else self.limit
        done: record.Summary = {
            "largest_strain": max(bars, panels),
            "panel_strain": panels,
        }
        for what, strain, limit in (
            ("of a panel", panels, of_panels),
            ("of a crease", bars, np.inf if of_all is None else of_all),
        ):
            if strain > limit:
                done["warning"] = (
                    f"the strain {strain:.1%} {what} is above {limit:.1%}: linear "
                    "elasticity overestimates the forces"
                )
                break
        return done


def actuated(mesh: BarHingeMesh, phases: Sequence[Phase], x: Floats) -> record.Arrays:
    """Folds (c,), rad, where a phase turns creases."""
    turned = any(isinstance(phase, Moments) for phase in phases)
    return {"folds": reached_folds(mesh, x)} if turned else {}


def end_of(
    sheet: Sheet,
    phases: Sequence[Phase],
    x: Floats,
    where: Mapping[str, Any],
    imperfections: Imperfections | None,
) -> record.Summary:
    """The verdict, and the share of draws that lock with its interval.

    Parameters
    ----------
    x : (n, 3) m, the end of the sheet without imperfections
    where : the panels that lock, see `sim.origami.fold_and_load_phases.verdict`
    """
    ideal = verdict(sheet.mesh, x, **where)
    if imperfections is None:
        return {"verdict": ideal.value}
    tally = Tally(imperfections.stages)
    while tally.verdict is None:  # it hangs on a sheet that is left to fold
        other, off = sampled(imperfections, len(tally.ends), sheet, phases)
        tally = tally.with_end(_end(other, off, where))
    low, high = tally.interval(SequenceVerdict.LOCK)
    return {
        "verdict": tally.verdict.value,
        "verdict_as_drawn": ideal.value,
        "draws": len(tally.ends),
        "stage": tally.stage + 1,
        "lock_share": tally.count(SequenceVerdict.LOCK) / len(tally.ends),
        "lock_share_low": low,
        "lock_share_high": high,
    }


def _end(
    sheet: Sheet, phases: Sequence[Phase], where: Mapping[str, Any]
) -> SequenceVerdict | None:
    """How a folding ends; None where it finds no equilibrium."""
    try:
        *_, last = run(sheet, phases)
    except NotConvergedError:
        return None
    return verdict(sheet.mesh, last.x, **where)
