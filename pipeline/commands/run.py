"""Make what a name of the plan stands for: morphtrack run STEP/NAME [KEY=VALUE ...].

Where its run is there already, nothing runs. A name that stands for a batch of a study
is many runs, one after the other. The Snakefile calls this, and so may a person.
"""

from pipeline.terminal.arguments import OneLineParser, add_overrides
from pipeline.terminal.errors import command
from pipeline.workflow.handing import handed_over


def arguments() -> OneLineParser:
    parser = OneLineParser("run", __doc__)
    parser.add_argument("name", help="such as compare/cylinder; morphtrack plan lists")
    add_overrides(parser, "comparisons.circle.scale_mm=50, of conf/workflow.yaml")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Make what the command line names."""
    given = arguments().parse_intermixed_args(argv)
    if not given.words:
        status = handed_over([given.name])
        if status is not None:
            return status
    from pipeline.workflow.fresh import plan_without_compiling  # what a job imports
    from pipeline.workflow.run import perform_name

    if given.words:
        plan_without_compiling(words=given.words)
    return perform_name(given.name)
