"""The studies that conf/study holds: morphtrack studies.

One line each, the first of its file.
"""

from pipeline.commands.overview import in_columns
from pipeline.config.listed import listed
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command


def arguments() -> OneLineParser:
    return OneLineParser("studies", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Print the list."""
    arguments().parse_args(argv)
    print("\n".join(in_columns(listed("study"))))
    return DONE
