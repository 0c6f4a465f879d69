"""E of a scan and its deviation from the target: morphtrack deviation.

Finds the printed target among the scan's points, and from there the distance of every
scanned node to it. OUT receives target.json (pose, E with uncertainty), nodes.csv,
deviation.npz (points and their distance from the target's bars) and deviation.png.

Example:
  morphtrack deviation --spheres INGEST --simulated RUN --scale-mm 40
  --out DIR
"""

from dataclasses import fields
from pathlib import Path

from pipeline.formats.printed_scale import SCALE_HELP, scale_mm
from pipeline.steps.deviation import Deviation, run_step
from pipeline.steps.measured_options import said
from pipeline.store.named_runs import RUN_HELP, printable_run
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("deviation", __doc__)
    add = parser.add_argument
    add("--spheres", type=Path, required=True, help="directory of an ingest")
    add("--simulated", type=printable_run, required=True, metavar="RUN", help=RUN_HELP)
    add("--out", type=output_directory, required=True, help="directory for results")
    add("--scale-mm", type=float, help=SCALE_HELP)
    for field in fields(Deviation)[1:]:
        flag = "--" + field.name.replace("_", "-")
        text = said(field.name, field.default)
        add(flag, type=float, default=field.default, metavar="X", help=text)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Measure one scan against its target."""
    given = arguments().parse_args(argv)
    given.scale_mm = scale_mm(given.scale_mm, given.simulated)
    config = Deviation(**{f.name: getattr(given, f.name) for f in fields(Deviation)})
    numbers = run_step(config, given.spheres, given.simulated, given.out)
    for name, value in numbers.items():
        print(
            f"{name}: {value:.4g}" if isinstance(value, float) else f"{name}: {value}"
        )
    return 0
