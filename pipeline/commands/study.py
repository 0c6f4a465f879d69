"""Run a study: morphtrack study NAME [KEY=VALUE ...].

Plans every run that conf/study/NAME.yaml asks for, runs those that are not there, and
makes the study's table and plots. A run that does not converge is a row of the table.
"""

from pipeline.studies.file import read_study
from pipeline.terminal.arguments import OneLineParser, add_overrides, profile_directory
from pipeline.terminal.errors import command
from pipeline.workflow.study import run_study
from pipeline.workflow.workflow import PROFILE, VERBOSE


def arguments() -> OneLineParser:
    parser = OneLineParser("study", __doc__)
    parser.add_argument("name", help="a file in conf/study, without .yaml")
    add_overrides(parser, "samples=8, of conf/study/NAME.yaml")
    parser.add_argument(
        "--retry-failed", action="store_true", help="run again what failed by itself"
    )
    parser.add_argument("--cores", type=int, help="processes side by side")
    parser.add_argument("--profile", type=profile_directory, default=PROFILE)
    parser.add_argument("--verbose", action="store_true", help=VERBOSE)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Run the study that the command line names."""
    options = arguments().parse_intermixed_args(argv)
    return run_study(read_study(options.name, options.words), options)
