"""python -m pipeline COMMAND: the same as morphtrack COMMAND."""

import sys

from pipeline.commands.door import main

if __name__ == "__main__":
    sys.exit(main())
