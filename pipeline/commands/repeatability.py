"""What repeated scans show: morphtrack repeatability INGEST INGEST...

Compares ingests of the same spheres, scanned again and again. The scatter that their
stated errors do not explain is what `morphtrack ingest --repeatability-mm` is for:
a covariance from the noise of one scan cannot see a scanner's systematic error.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.spheres.repeatability import Repeat, repeatability
from pipeline.scans.spheres import read_spheres
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command

RADII = ["radius_mm", "free_radius_mm", "free_radius_sd_mm"]


def read_repeat(directory: Path) -> tuple[Repeat, float]:
    """The spheres of one ingest, and the radius they were fitted with."""
    table = read_spheres(directory)
    radii = pd.read_csv(directory / "spheres.csv")
    if any(column not in radii for column in RADII):
        raise InputError(
            f"{directory}/spheres.csv has no free radii: make it with morphtrack ingest"
        )
    variances = np.diagonal(table.covariances_mm2, axis1=1, axis2=2)
    free, sd = (radii[name].to_numpy(np.float64) for name in RADII[1:])
    return Repeat(table.centres_mm, variances, free, sd), float(radii[RADII[0]][0])


def arguments() -> OneLineParser:
    parser = OneLineParser("repeatability", __doc__)
    parser.add_argument("ingests", nargs="+", type=Path, metavar="INGEST")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print the scatter of repeated scans."""
    directories = arguments().parse_args(argv).ingests
    if len(directories) < 2:
        raise InputError("one ingest shows no scatter: give two or more of one object")
    read = [read_repeat(directory) for directory in directories]
    radius = read[0][1]
    found = repeatability([scan for scan, _ in read], reach_mm=0.5 * radius)
    print(f"scans: {len(read)}")
    print(f"spheres seen in one place: {found.groups}")
    print(f"radius beyond its stated errors: {found.radius_mm:.4g} mm")
    if found.centre_mm is not None:
        print(f"centre beyond its stated errors: {found.centre_mm:.4g} mm")
    print(f"state --repeatability-mm {found.advised_mm:.3g}")
    return 0
