"""Say what this system lacks: morphtrack system.

make setup asks it after the packages were installed, and where the folder was moved:
then the programs of the environment learn their new place.
"""

import sys
from pathlib import Path

from pipeline.scans.open3d_loader import open3d
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command
from pipeline.terminal.programs import name_this_place


def arguments() -> OneLineParser:
    return OneLineParser("system", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Load the one package that links libraries of the system."""
    arguments().parse_args(argv)
    name_this_place(Path(sys.prefix).resolve())
    open3d()
    return 0
