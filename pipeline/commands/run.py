"""Make what a name of the plan stands for: morphtrack run STEP/NAME [KEY=VALUE ...].

Where its run is there already, nothing runs. A name that stands for a batch of a study
is many runs, one after the other. The Snakefile calls this, and so may a person, for
whom the plan is made again where conf, code or files have changed.
"""

from pipeline.results.told_run import told
from pipeline.results.verdicts import VERDICTS, told_comparison
from pipeline.store.plan_file import read_document, sound_reference
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser, add_overrides
from pipeline.terminal.errors import DONE, command
from pipeline.workflow.handing import handed_over


def arguments() -> OneLineParser:
    parser = OneLineParser("run", __doc__)
    parser.add_argument("name", help="such as compare/cylinder; morphtrack plan lists")
    parser.add_argument(
        "--planned", action="store_true",
        help="as the plan on disk says, silently: for jobs of a workflow",
    )  # fmt: skip
    add_overrides(parser, "comparisons.circle.scale_mm=50, of conf/workflow.yaml")
    return parser


def say(name: str) -> None:
    """What came of a name that is one run."""
    if read_document(name)["batch"] or not (RESULTS / name).is_dir():
        return
    step, place = name.partition("/")[0], RESULTS / name
    if step == VERDICTS:
        print(told_comparison(place))
    elif step == "simulate":
        print("\n".join(told(run_record(place))))
    print(f"run      {place}")


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

    sound_reference(given.name)
    if not given.planned:
        plan_without_compiling(words=given.words)
    status = perform_name(given.name)
    if status == DONE and not given.planned:
        say(given.name)
    return status
