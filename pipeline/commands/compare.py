"""Compare a scan with a simulation: morphtrack compare.

Reads the spheres that morphtrack ingest found and the run directory of a
simulation, finds out which sphere is which node, and writes comparison.csv (one row: S,
E, node distances, verdict), budget.csv (u_val by source), nodes.csv, labels.csv, and
labels.png and labels.html: the scan with the node on every sphere.
"""

from argparse import Namespace
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from analysis.validation.uncertainty import UncertaintyOptions
from pipeline.formats.printed_scale import SCALE_HELP, scale_mm
from pipeline.results.verdicts import told_comparison
from pipeline.steps.compare import ComparisonSettings, MeasuredInputs, run_step
from pipeline.steps.measured_options import said
from pipeline.store.named_runs import RUN_HELP, printable_run
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("compare", __doc__)
    parser.add_argument(
        "--spheres", type=Path, required=True, help="folder of an ingest"
    )
    parser.add_argument(
        "--simulated", type=printable_run, required=True, metavar="RUN", help=RUN_HELP
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    for step in fields(MeasuredInputs):
        parser.add_argument(
            "--" + step.name.replace("_", "-"),
            dest=step.name,
            type=Path,
            help=f"folder that morphtrack {step.name} wrote",
        )
    for field in fields(ComparisonSettings):
        flag, own = "--" + field.name.replace("_", "-"), field.name == "scale_mm"
        parser.add_argument(
            flag, dest=field.name, metavar="X", type=float,
            help=SCALE_HELP if own else said(field.name, _default(field)),
        )  # fmt: skip
    return parser


def _default(of: Field[Any]) -> object:
    """What stands for an option that is not given, if that is something."""
    return of.default or getattr(UncertaintyOptions, of.name, None) or None


def stated(given: Namespace) -> dict[str, Any]:
    """The settings that were given."""
    own = {f.name: getattr(given, f.name) for f in fields(ComparisonSettings)}
    return {name: value for name, value in own.items() if value is not None}


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the verdict."""
    given = arguments().parse_args(argv)
    given.scale_mm = scale_mm(given.scale_mm, given.simulated)
    config = ComparisonSettings(**stated(given))
    measured = MeasuredInputs(given.input_uncertainty, given.deviation)
    run_step(config, given.spheres, given.simulated, given.out, measured)
    print(told_comparison(given.out))
    return 0
