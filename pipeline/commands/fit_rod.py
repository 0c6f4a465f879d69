"""Fit parameters of a rod: morphtrack fit_rod case=<case> [case.key=value ...].

Runs the case (such as beam_fit, limb_fit, arm_fit), as morphtrack simulate does, and
prints what the series tells of each parameter, and the errors beside those of two
baselines.
"""

import pandas as pd

from pipeline.cases.series_fit import SeriesFit
from pipeline.commands.case_command import case_arguments, run_case
from pipeline.store.runs import run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command


def arguments() -> OneLineParser:
    return case_arguments("fit_rod", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Fit once and print the numbers."""
    directory = run_case(arguments(), SeriesFit, argv)
    parameters = pd.read_csv(directory / "parameters.csv")
    for row in parameters.itertuples():
        worth = f"+- {row.u:.2g}" if row.determined == "yes" else "not determined"
        print(f"{row.parameter:16} {row.value:.6g} {worth} (nominal {row.nominal:.6g})")
    result = run_record(directory)["result"]
    print(f"chi2             {result['chi2']:.4g}, degrees of freedom {result['dof']}")
    if result["u_enlarged"] > 1.0:
        print(
            f"u enlarged by    {result['u_enlarged']:.3g}: the residuals are larger "
            "than the stated u explain"
        )
    errors = pd.read_csv(directory / "errors.csv")
    for row in errors.itertuples():
        print(
            f"{row.quantity:16} {row.part} ({row.count}): rms {row.rms:.3g}, nominal "
            f"{row.rms_nominal:.3g}, mean {row.rms_mean:.3g}, u {row.u:.3g}"
        )
    if "held out" not in set(errors["part"]):
        print("warning: nothing is held out: what the fit predicts was not tested")
    print(directory)
    return DONE
