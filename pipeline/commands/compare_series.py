"""Compare a measured series with a run: morphtrack compare_series.

MEASURED is a CSV file of markers, with columns such as time_s, tip_x_mm and tip_y_mm,
or of quantity, at, value, u and part ("fit" or "held out"); each quantity is a column
of the run's steps.csv; lines that begin with # are remarks.  Says of each marker or
other quantity whether it agrees, by ASME V&V 20: --u, --u-simulated and --margin are in
the unit of the measured values.  Writes series-verdicts.csv, series.csv (errors by
quantity and part, beside a baseline), series-curve.csv (simulated beside measured) and
series.pdf and .png.

Example:
  morphtrack compare_series --measured tip.csv --simulated crawler --refined finer \
      --u 0.3 --margin 1 --out tip
"""

from pathlib import Path

from pipeline.steps.compare_series import SeriesComparison, run_step
from pipeline.store.named_runs import RUN_HELP, simulated_run
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command

TERMS = {
    "--u": "standard uncertainty of a measured value where its row states none",
    "--u-simulated": "of a simulated one: modulus, sections, discretisation",
    "--margin": "largest acceptable error, root mean square",
}


def arguments() -> OneLineParser:
    parser = OneLineParser("compare_series", __doc__)
    parser.add_argument("--measured", type=Path, required=True, help="CSV file")
    parser.add_argument(
        "--simulated", type=simulated_run, required=True, metavar="RUN", help=RUN_HELP
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    for name, of in TERMS.items():
        parser.add_argument(name, type=float, default=0.0, metavar="X", help=of)
    parser.add_argument(
        "--refined", type=simulated_run, metavar="RUN",
        help="the same with half the steps in space and time: what is discretised",
    )  # fmt: skip
    parser.add_argument("--along", default="time", help="column that `at` refers to")
    parser.add_argument("--synthetic", action="store_true", help="mark as computed")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the errors and the verdicts."""
    given = arguments().parse_args(argv)
    terms = given.u, given.u_simulated, given.margin
    config = SeriesComparison(given.along, given.synthetic, *terms)
    numbers = run_step(
        config, given.measured, given.simulated, given.out, given.refined
    )
    for name, value in numbers.items():
        said = name.removeprefix("verdict_")
        print(f"{said} {value:.6g}" if isinstance(value, float) else f"{said} {value}")
    return 0
