"""Fit parameters of a rod: python -m pipeline.fit_rod case=<case> [case.key=value ...].

Runs the case (such as beam_fit, limb_fit), as pipeline.simulate does, and prints what
the series tells of each parameter, and the errors beside those of two baselines.
"""

import sys

import pandas as pd

from pipeline.case_command import run_case
from pipeline.cases.rod_fit import RodFitCase
from pipeline.errors import DONE, command
from pipeline.runs import run_record


@command
def main(argv: list[str] | None = None) -> int:
    """Fit once and print the numbers."""
    directory = run_case("fit_rod", __doc__ or "", RodFitCase, argv)
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


if __name__ == "__main__":
    sys.exit(main())
