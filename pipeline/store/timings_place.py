"""Where the times are kept that a case measured: by machine."""

import re
from pathlib import Path

from pipeline.store.runs import RESULTS
from pipeline.terminal.machine import machine

KEPT = RESULTS / "timings"


def kept_path(name: str) -> Path:
    """Where the timings of a case are kept that were taken on this machine."""
    folder = re.sub(r"[^\w.+-]+", "_", machine()).strip("_.")
    return KEPT / folder / f"{name}.csv"
