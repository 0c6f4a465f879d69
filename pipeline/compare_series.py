"""Compare a measured series with a run: python -m pipeline.compare_series.

MEASURED is a CSV file with the columns quantity, at, value, u and part ("fit" or
"held out"); each quantity is a column of the run's steps.csv; lines that begin with #
are remarks.  Writes series.csv (errors by quantity and part, beside a baseline),
series-curve.csv (simulated beside measured) and series.pdf and .png.
"""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures.series import measured_series
from analysis.series import beside, compare_series
from pipeline.arguments import OneLineParser
from pipeline.errors import InputError, command
from pipeline.figure import save
from pipeline.files import read_json, write_text
from pipeline.provenance.sidecar import Origin
from pipeline.series_file import read_series


@dataclass(frozen=True)
class SeriesComparison:
    """What the measurements are given along, and whether they were computed.

    Parameters
    ----------
    along : column of steps.csv that `at` refers to, such as time or displacement
    """

    along: str = "time"
    synthetic: bool = False


def run_step(
    config: SeriesComparison, measured: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """Compare; write the table and the figure into `out`."""
    series = read_series(measured)
    steps = simulated / "steps.csv"
    if not steps.is_file():
        raise InputError(f"{steps} does not exist: run pipeline.simulate first")
    table = pd.read_csv(steps)
    record = simulated / "run.json"
    key = str(read_json(record).get("key", "")) if record.is_file() else ""
    try:
        errors = compare_series(series, table, config.along)
    except ValueError as error:
        raise InputError(str(error)) from error
    runs = [("simulated", key)]
    figure = measured_series(
        series, table, config.along, errors, runs, synthetic=config.synthetic
    )
    out.mkdir(parents=True, exist_ok=True)
    rows = [{**asdict(e), "synthetic": config.synthetic} for e in errors]
    _write(out / "series.csv", pd.DataFrame(rows))
    _write(out / "series-curve.csv", beside(series, table, config.along))
    save(figure, out / "series", Origin((key,) if key else ()))
    found = {f"rms_{e.quantity}_{e.part.replace(' ', '_')}": e.rms for e in errors}
    return {**found, "synthetic": config.synthetic}


def _write(path: Path, table: pd.DataFrame) -> None:
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the errors."""
    parser = OneLineParser(
        prog="python -m pipeline.compare_series", description=__doc__
    )
    parser.add_argument("--measured", type=Path, required=True, help="CSV file")
    parser.add_argument("--simulated", type=Path, required=True, help="folder of a run")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    parser.add_argument("--along", default="time", help="column that `at` refers to")
    parser.add_argument("--synthetic", action="store_true", help="mark as computed")
    given = parser.parse_args(argv)
    config = SeriesComparison(given.along, given.synthetic)
    numbers = run_step(config, given.measured, given.simulated, given.out)
    for name, value in numbers.items():
        print(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
