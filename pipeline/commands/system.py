"""Say what this system lacks: morphtrack system.

make setup asks it after the packages were installed.
"""

from pipeline.scans.open3d_loader import open3d
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    return OneLineParser("system", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Load the one package that links libraries of the system."""
    arguments().parse_args(argv)
    open3d()
    return 0
