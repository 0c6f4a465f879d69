"""The spheres of a structure, and the ball bar beside it that gives the scale."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.labels.assign import Labels
from analysis.labels.mechanism import Mechanism
from analysis.validation.ball_bar import (
    ScaleByBar,
    bars_of,
    nearest_told,
    pairs_for_bar,
    with_stated,
)
from analysis.validation.uncertainty import (
    SCAN_SCALE,
    SCAN_SCALE_SD,
    UncertaintyOptions,
)
from pipeline.results.simulated_run import SimulatedRun
from pipeline.scans.labels import label_scan
from pipeline.scans.spheres import SphereTable
from pipeline.steps.scanner_certificate import stated_bar, stated_scale_sd


@dataclass(frozen=True)
class SeenBar:
    """The scale that a bar gives; None, and why, where none was found."""

    name: str = ""
    scale: ScaleByBar | None = None
    remark: str = ""
    stated: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """What comparison.csv says of it."""
        if self.scale is None:
            return {}
        return {"scan_scale": self.scale.factor, "scan_scale_u": self.scale.u}

    def also_learnt(self, learnt: Mapping[str, str]) -> dict[str, str]:
        """Where each source was learnt, where the bar gives the scale."""
        if self.scale is None:
            return dict(learnt)
        both = self.stated and self.scale.permitted
        by = f"{self.name}, {learnt[SCAN_SCALE]}" if both else self.name
        return {**learnt, SCAN_SCALE: by}


@dataclass(frozen=True, eq=False)
class StructureInScan:
    """The spheres of a structure, labelled, in the millimetres of the scan.

    Parameters
    ----------
    table : without the bar's spheres
    mechanism, scale_mm : of the run, as the scanner would tell its lengths
    """

    table: SphereTable
    mechanism: Mechanism
    labels: Labels
    uncertainty: UncertaintyOptions
    scale_mm: float
    bar: SeenBar


def structure_in(
    settings: Mapping[str, Any],
    known: UncertaintyOptions,
    table: SphereTable,
    run: SimulatedRun,
) -> StructureInScan:
    """Label the spheres of a scan, after a bar among them was found and taken out."""
    scale_mm = float(settings["scale_mm"])
    mechanism = Mechanism(scale_mm * run.r[-1], run.bodies)
    labels = label_scan(mechanism, table, known, scale_mm)
    bar = seen_bar(settings, known, table, labels)
    if bar.scale is not None:
        table = without_bar(table, bar.scale)
        known = replace(known, scan_scale_sd=bar.scale.u)
        scale_mm /= bar.scale.factor
        mechanism = Mechanism(scale_mm * run.r[-1], run.bodies)
        labels = label_scan(mechanism, table, known, scale_mm)
    return StructureInScan(table, mechanism, labels, known, scale_mm, bar)


def seen_bar(
    settings: Mapping[str, Any],
    uncertainty: UncertaintyOptions,
    table: SphereTable,
    labels: Labels,
) -> SeenBar:
    """The bar that the settings state, among the spheres that are no node's."""
    bar = stated_bar(settings)
    if bar is None:
        return SeenBar()
    name = f"ball bar {settings.get('ball_bar') or ''}".strip()
    loose = np.setdiff1d(np.arange(len(table.names)), labels.confirmed)
    sd = max(uncertainty.scan_scale_sd, SCAN_SCALE_SD)  # what is stated may be wrong
    form = uncertainty.scan_form_sd_mm
    whole = table.covariance_mm2
    pairs = [*pairs_for_bar(bar, table.centres_mm, whole, loose, sd, form)]
    found = bars_of(bar, pairs)
    if len(found) != 1:
        many = f"{len(found)} pairs" if found else "no two"
        return SeenBar(
            name,
            None,
            f"the {name} is not used: {many} of the {len(loose)} spheres that are no "
            f"node's are {bar.length_mm:g} mm apart{nearest_told(bar, pairs, sd)}",
        )
    stated = stated_scale_sd(settings)
    scale = with_stated(found[0], stated)
    remark = (
        f"lengths are {scale.factor:.6f} +- {scale.u:.6f} times as scanned, by the "
        f"{name} (spheres {' and '.join(table.names[i] for i in scale.spheres)})"
    )
    if not scale.permitted:
        remark += f", which contradicts the {100 * float(stated or 0):.2g} % stated"
    return SeenBar(name, scale, remark, stated is not None)


def without_bar(table: SphereTable, scale: ScaleByBar) -> SphereTable:
    """The spheres of the structure alone."""
    kept = np.setdiff1d(np.arange(len(table.names)), scale.spheres)
    axes = (3 * kept[:, None] + np.arange(3)).ravel()
    return replace(
        table,
        names=tuple(table.names[i] for i in kept),
        centres_mm=table.centres_mm[kept],
        covariances_mm2=table.covariances_mm2[kept],
        covariance_mm2=table.covariance_mm2[np.ix_(axes, axes)],
    )
