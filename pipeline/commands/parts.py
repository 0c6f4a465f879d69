"""Parts to print from a morphing case: morphtrack parts case=<case> --out DIR.

Or the name or folder of a finished run in place of the case. Writes an STL file for
each part, 3MF files with all of them laid out on the bed, parts.csv, assembled.stl,
and structure.json: the structure with the lengths that are printed.
"""

from pathlib import Path
from typing import Any

from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.formats.printed_scale import SCALE_HELP
from pipeline.steps.part_sizes import FILE
from pipeline.steps.parts import case_of_run, parts_for, parts_settings, run_step
from pipeline.store.named_runs import printable_run
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import command


def _case(words: list[str]) -> Any:
    """The case of a finished run's folder, or of Hydra overrides."""
    if len(words) == 1 and not words[0].lstrip("+").startswith("case"):
        return case_of_run(printable_run(words[0]))
    with Composer() as composer:
        return build(composer.compose("simulate", words)["case"], "case")


def arguments() -> OneLineParser:
    parser = OneLineParser("parts", __doc__)
    parser.add_argument("case", nargs="+", metavar="case=... or RUN")
    parser.add_argument("--out", type=output_directory, required=True)
    parser.add_argument("--parts", type=Path, default=FILE, help="file of conf/parts")
    parser.add_argument("--scale-mm", type=float, help=SCALE_HELP)
    parser.add_argument("--spacing-mm", type=float)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Make the parts once and say what they are."""
    given = arguments().parse_args(argv)
    settings = parts_settings(given.parts)
    case = _case(given.case)
    if given.spacing_mm is not None:
        settings["spacing_mm"] = given.spacing_mm
    parts = parts_for(case, settings, given.scale_mm)
    for name, value in run_step(parts, case, given.out).items():
        print(f"{name}: {value}")
    return 0
