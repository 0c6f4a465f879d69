"""Whether a verdict hangs on a scanner's scale that nobody stated."""

from dataclasses import replace

from analysis.validation.comparison import Acceptance
from analysis.validation.uncertainty import SCAN_SCALE, UncertaintyOptions
from analysis.validation.verdicts import (
    Judged,
    LabelledScan,
    Simulation,
    judge_scan,
)


def with_scanner_scale_told(
    judged: Judged,
    simulation: Simulation,
    scan: LabelledScan,
    uncertainty: UncertaintyOptions,
    acceptance: Acceptance,
) -> Judged:
    """The same; where the verdict or its remedy hangs on the scale, it says so.

    That is where a scanner of perfect scale gave another verdict, and where its scale
    is the uncertainty to be reduced first.

    Parameters
    ----------
    judged : what `judge_scan` made of the others, with an assumed scale
    """
    perfect = replace(uncertainty, scan_scale_sd=0.0)
    other = judge_scan(simulation, scan, perfect, acceptance).comparison.verdict
    compared = judged.comparison
    if other is compared.verdict and SCAN_SCALE not in compared.why:
        return judged
    return judged.because(
        "the scanner's scale is not stated, with "
        f"{100 * uncertainty.scan_scale_sd:g} % assumed the verdict is "
        f"{compared.verdict.value}, with none {other.value}: give scan_scale_sd"
    )
