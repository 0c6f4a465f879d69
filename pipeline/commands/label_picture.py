"""A scan with its labels: morphtrack label_picture.

Draws the points, spheres and rejected candidates of an ingest, every sphere under the
node that a comparison found it to be. OUT receives labels.png and labels.html.
"""

from pathlib import Path

from pipeline.steps.label_picture import run_step
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("label_picture", __doc__)
    add = parser.add_argument
    add("--spheres", type=Path, required=True, help="directory of an ingest")
    add("--compared", type=Path, required=True, help="directory of its comparison")
    add("--out", type=output_directory, required=True, help="directory for results")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Draw one scan with its labels."""
    given = arguments().parse_args(argv)
    for name, value in run_step(given.spheres, given.compared, given.out).items():
        print(f"{name}: {value}")
    return 0
