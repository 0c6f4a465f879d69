"""Which sphere of an ingest is which node of a run; another part's is refused."""

import numpy as np

from analysis.labels.assign import Labels, label_spheres
from analysis.labels.checks import Handedness, handedness, wrong_unit
from analysis.labels.evidence import LabelOptions
from analysis.labels.mechanism import Mechanism
from analysis.validation.uncertainty import UncertaintyOptions, length_sd_mm
from analysis.validation.verdicts import ENOUGH, listed
from pipeline.scans.spheres import SphereTable
from pipeline.terminal.errors import InputError


def label_scan(
    mechanism: Mechanism, table: SphereTable, uncertainty: UncertaintyOptions
) -> Labels:
    """Label the spheres; refuse a scan that cannot be this mechanism's."""
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
                f"{factor:g}: run the ingest again with the right --unit, or correct "
                "scale_mm"
            )
    if few and m < n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes, and only {len(labels.labelled)} "
            f"could be told (missing: {listed(labels.missing)}): scan again"
        )
    if handedness(mechanism, labels, table.centres_mm) is Handedness.MIRRORED:
        raise InputError(
            "the scan is a mirror image of the structure: check the order and signs of "
            "the axes in the scanner's export"
        )
    return labels
