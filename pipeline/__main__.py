"""python -m pipeline COMMAND: the same as morphtrack COMMAND."""

import sys

from pipeline.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
