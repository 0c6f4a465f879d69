"""Where packages keep what they keep in a home: beside the results if there is none."""

import os
from pathlib import Path

INSTEAD = Path(".snakemake") / "home"  # make clean removes it
KEPT_IN = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")


def keep_out_of_a_missing_home() -> None:
    """Where the home is not there, or cannot be written, name a folder in its place."""
    if not os.access(Path("~").expanduser(), os.W_OK):
        for name in KEPT_IN:
            os.environ.setdefault(name, str(INSTEAD.absolute()))
