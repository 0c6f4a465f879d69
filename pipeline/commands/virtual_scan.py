"""Scan a simulated end state in a virtual lab: morphtrack virtual_scan RUN --out DIR.

The scan is synthetic. It stands in for a real scan until there is one: binary PLY
files, one a view, in mm, in a pose that nobody is told. Every file says that it is
synthetic.
"""

import shlex
from pathlib import Path

from pipeline.formats.printed_scale import SCALE_HELP, scale_mm, unit_of
from pipeline.steps.part_sizes import FILE
from pipeline.steps.virtual_scan import SETTINGS, run_step, scanner_settings
from pipeline.store.named_runs import RUN_HELP, printable_run
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import command
from sim.lab.scanner import VirtualLab


def arguments() -> OneLineParser:
    parser = OneLineParser("virtual_scan", __doc__)
    parser.add_argument("simulated", type=printable_run, metavar="RUN", help=RUN_HELP)
    parser.add_argument(
        "--out", type=output_directory, required=True, help="directory for views"
    )
    parser.add_argument("--config", type=Path, default=SETTINGS, help="the virtual lab")
    parser.add_argument("--parts", type=Path, default=FILE, help="the printed part")
    parser.add_argument("--scale-mm", type=float, help=SCALE_HELP)
    parser.add_argument("--seed", type=int, help="another draw of all that is random")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Scan the end state of a finished simulation."""
    options = arguments().parse_args(argv)
    settings = scanner_settings(options.config, options.parts)
    if unit_of(options.simulated):
        options.scale_mm = scale_mm(options.scale_mm, options.simulated)
    for name in ("scale_mm", "seed"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    config = VirtualLab.from_mapping(settings)
    for name, value in run_step(config, options.simulated, options.out).items():
        print(f"{name}: {value}")
    views = shlex.quote(str(options.out))
    print(
        f"next: morphtrack ingest {views}/*.ply "
        f"--sphere-radius-mm {config.ball_radius_mm:g} --unit mm --out spheres"
    )
    return 0
