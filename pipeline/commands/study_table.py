"""The table and the plots of a study: morphtrack study_table NAME.

results/study/NAME/table.csv and table.parquet hold a row a run: the values it took,
how it ended, what it found; costs.csv its seconds; effects.pdf and .png the means.
"""

from pipeline.steps.study_table import write_study
from pipeline.studies.members import read_members, study_directory
from pipeline.studies.table import shortfalls
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import RunFailedError, command


def arguments() -> OneLineParser:
    parser = OneLineParser("study_table", __doc__)
    parser.add_argument("name", help="a study that was planned before")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write the tables and plots and say what they hold."""
    name = arguments().parse_args(argv).name
    table = write_study(name)
    counts = ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items())
    print(f"{study_directory(name)}/table.csv: {counts}")
    for line in shortfalls(read_members(name), table):
        print(f"note: {line}")
    if not (table["status"] == "finished").any():
        remedy = f"morphtrack study {name} runs what is missing"
        if not (table["status"] == "missing").any():
            again = f"morphtrack study {name} --retry-failed"
            remedy = f"change its values, or do again what failed by {again}"
        raise RunFailedError(f"no run of the study {name} has finished: {remedy}")
    return 0
