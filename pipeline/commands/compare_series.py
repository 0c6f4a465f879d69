"""Compare a measured series with a run: morphtrack compare_series.

MEASURED is a CSV file with the columns quantity, at, value, u and part ("fit" or
"held out"); each quantity is a column of the run's steps.csv; lines that begin with #
are remarks.  Writes series.csv (errors by quantity and part, beside a baseline),
series-curve.csv (simulated beside measured) and series.pdf and .png.
"""

from pathlib import Path

from pipeline.steps.compare_series import SeriesComparison, run_step
from pipeline.store.named_runs import RUN_HELP, simulated_run
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("compare_series", __doc__)
    parser.add_argument("--measured", type=Path, required=True, help="CSV file")
    parser.add_argument(
        "--simulated", type=simulated_run, required=True, metavar="RUN", help=RUN_HELP
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    parser.add_argument("--along", default="time", help="column that `at` refers to")
    parser.add_argument("--synthetic", action="store_true", help="mark as computed")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the errors."""
    given = arguments().parse_args(argv)
    config = SeriesComparison(given.along, given.synthetic)
    numbers = run_step(config, given.measured, given.simulated, given.out)
    for name, value in numbers.items():
        print(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}")
    return 0
