"""Say what this system lacks, right after the packages were installed."""

import sys

from pipeline.errors import command
from pipeline.open3d_loader import open3d


@command
def main() -> int:
    """Load the one package that links libraries of the system."""
    open3d()
    return 0


if __name__ == "__main__":
    sys.exit(main())
