"""Which sphere of an ingest is which node of a run; another part's is refused."""

import numpy as np

from analysis.labels.assign import Labels, Refusal, label_spheres
from analysis.labels.checks import (
    Handedness,
    handedness,
    wrong_scale,
    wrong_unit,
)
from analysis.labels.evidence import LabelOptions
from analysis.labels.mechanism import Mechanism
from analysis.validation.mirror_image import MIRROR
from analysis.validation.uncertainty import UncertaintyOptions, length_sd_mm
from analysis.validation.verdicts import ENOUGH, listed
from pipeline.scans.spheres import SphereTable
from pipeline.terminal.errors import InputError

SAME_SCALE = 0.002  # that a scanner and a printer may be off, which is no other size


def label_scan(
    mechanism: Mechanism,
    table: SphereTable,
    uncertainty: UncertaintyOptions,
    scale_mm: float = 1.0,
) -> Labels:
    """Label the spheres; refuse a scan that cannot be this mechanism's.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case, with which `mechanism` was made
    """
    m, n = len(table.names), mechanism.n
    if m < ENOUGH * n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes: scan from more sides until at "
            f"least {int(np.ceil(ENOUGH * n))} are found, or check the structure"
        )
    sd = float(length_sd_mm(uncertainty, mechanism.lengths_mm).mean())
    options = LabelOptions(length_sd_mm=max(sd, 0.03))
    labels = label_spheres(mechanism, table.centres_mm, table.covariances_mm2, options)
    few = len(labels.labelled) < ENOUGH * n
    if few:
        factor = wrong_unit(mechanism, table.centres_mm, table.covariances_mm2, options)
        if factor is not None and factor != 1:
            raise InputError(
                f"the spheres fit the structure when the scan is multiplied by "
                f"{factor:g}: is the `unit` of the structure's file right, or "
                f"--scale-mm {scale_mm / factor:g} in place of {scale_mm:g}, or the "
                "--unit of the ingest other?"
            )
        _check_scale(mechanism, table, options, scale_mm)
        _check_mirror(mechanism, table, options, len(labels.labelled))
    if few and m < n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes, and only {len(labels.labelled)} "
            f"could be told (missing: {listed(labels.missing)}): "
            f"{_why_few(mechanism, labels)}; nodes cannot be named by hand: see that "
            "every ball is scanned"
        )
    if handedness(mechanism, labels, table.centres_mm) is Handedness.MIRRORED:
        raise InputError(
            "the scan is a mirror image of the structure: check the order and signs of "
            "the axes in the scanner's export"
        )
    return labels


def _why_few(mechanism: Mechanism, labels: Labels) -> str:
    """Why spheres that are there are no nodes: too few lengths, or several ways."""
    n, kept = mechanism.n, len(mechanism.lengths_mm)
    told = [reason is Refusal.AMBIGUOUS for reason in labels.reason]
    if any(told):
        return f"{listed(np.flatnonzero(told))} fit several spheres equally well"
    return (
        f"links and bodies keep {kept} of the {n * (n - 1) // 2} distances between "
        "nodes, and without those of a missing ball no labelling stands out"
    )


def _check_scale(
    mechanism: Mechanism, table: SphereTable, options: LabelOptions, scale_mm: float
) -> None:
    """Refuse a scan whose spheres fit the structure in another size."""
    scale = wrong_scale(mechanism, table.centres_mm, table.covariances_mm2, options)
    if scale is not None and abs(scale - 1.0) > SAME_SCALE:
        raise InputError(
            f"links come out {scale:.3f} times as long as simulated: --scale-mm "
            f"{scale * scale_mm:.4g} in place of {scale_mm:g}?"
        )


def _check_mirror(
    mechanism: Mechanism, table: SphereTable, options: LabelOptions, known: int
) -> None:
    """Refuse a scan of which the mirror image fits, and it does not."""
    turned = MIRROR @ table.covariances_mm2 @ MIRROR
    labels = label_spheres(mechanism, table.centres_mm @ MIRROR, turned, options)
    if len(labels.labelled) >= max(ENOUGH * mechanism.n, known + 1):
        raise InputError(
            f"as a mirror image the scan fits, {len(labels.labelled)} of {mechanism.n} "
            f"nodes in place of {known}: check the order and signs of the axes in the "
            "scanner's export"
        )
