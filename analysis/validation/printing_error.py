"""Whether a verdict hangs on how well the printer is said to print."""

from dataclasses import replace

from analysis.validation.comparison import Acceptance, Verdict
from analysis.validation.uncertainty import UncertaintyOptions
from analysis.validation.verdicts import (
    Judged,
    LabelledScan,
    Simulation,
    judge_scan,
)

ONE_LINK = 2.0  # of what chance allows a length, from which the link is not as drawn
# Errors of printers that are tried, mm; a worse one is no printer of such parts.
TRIED_MM = (0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4)


def with_printing_error_told(
    judged: Judged,
    simulation: Simulation,
    scan: LabelledScan,
    uncertainty: UncertaintyOptions,
    acceptance: Acceptance,
) -> Judged:
    """The same; where it differs and a worse printer would agree, it says from when.

    Not where a rigid length is off by far more than chance: that link is not as drawn.

    Parameters
    ----------
    judged : what `judge_scan` made of the others
    """

    def verdict(sd_mm: float) -> Verdict:
        assumed = replace(uncertainty, printing_sd_mm=sd_mm)
        return judge_scan(simulation, scan, assumed, acceptance).comparison.verdict

    tried = [sd for sd in TRIED_MM if sd > uncertainty.printing_sd_mm]
    compared = judged.comparison
    length = compared.checks.length
    if compared.verdict is not Verdict.DIFFERS or not tried:
        return judged
    if length.error > ONE_LINK * length.limit:
        return judged
    if verdict(tried[-1]) is Verdict.DIFFERS:
        return judged
    enough = next((sd for sd in tried if verdict(sd) is Verdict.AGREES), None)
    if enough is None:
        return judged
    return judged.because(
        f"would agree from a printing error of {enough:g} mm on "
        f"(printing_sd_mm, {uncertainty.printing_sd_mm:g} here): measure yours with "
        "`morphtrack calibrate`"
    )
