"""The figures that can be drawn: morphtrack figures.

One line each; morphtrack make draws those that conf/workflow.yaml wants, from runs of
its own; the others are drawn by morphtrack figure from runs that are there.
"""

from pipeline.commands.overview import in_columns
from pipeline.config.workflow_file import read_workflow
from pipeline.steps.figure_names import figure_names, first_line
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command


def arguments() -> OneLineParser:
    return OneLineParser("figures", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Print the list, in two parts."""
    arguments().parse_args(argv)
    wanted = read_workflow().figures
    said = {name: first_line(name) for name in figure_names()}
    width = max(map(len, said))
    print("\n".join(in_columns({name: said[name] for name in wanted}, width)))
    others = {name: text for name, text in said.items() if name not in wanted}
    if others:
        print("\nnot in conf/workflow.yaml:")
        print("\n".join(in_columns(others, width)))
    return DONE
