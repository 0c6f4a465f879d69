"""Markers in place of spheres: morphtrack markers FILE --sd-mm SD --out DIR.

Takes the mean places of markers that stand still in a CSV or C3D file and writes
what an ingest writes, so that morphtrack compare reads them as spheres: spheres.csv,
covariance.npz, and markers.csv, which says the name of each and in how many frames it
was lost: these count for the other markers alone.

Example:
  morphtrack markers still.c3d --sd-mm 0.2 --from-s 1 --to-s 2 --out found
"""

import math
from pathlib import Path

from pipeline.steps.still_markers import StillMarkers, run_step
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("markers", __doc__)
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="markers in time: .csv or .c3d")
    add("--sd-mm", type=float, required=True, help="of a place along each axis")
    add("--from-s", type=float, default=-math.inf, help="first time that counts")
    add("--to-s", type=float, default=math.inf, help="last time that counts")
    add("--radius-mm", type=float, default=1.0, help="of a marker, for pictures")
    add("--out", type=output_directory, required=True, help="directory for the results")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write the places of markers as those of spheres."""
    given = arguments().parse_args(argv)
    config = StillMarkers(given.sd_mm, given.from_s, given.to_s, given.radius_mm)
    numbers = run_step(config, given.file, given.out)
    gaps = numbers["frames_lost"]
    print(
        f"{numbers['markers']} markers over {numbers['frames']} frames, "
        f"{f'lost in some frames: {gaps}; ' if gaps else ''}scatter up to "
        f"{numbers['largest_scatter_mm']:.3g} mm: morphtrack compare --spheres "
        f"{given.out}"
    )
    return 0
