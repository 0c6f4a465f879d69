"""The machine by name, and where the times are kept that were taken on it."""

import platform
import re
from pathlib import Path

from pipeline.store.runs import RESULTS

KEPT = RESULTS / "timings"
CPUINFO = Path("/proc/cpuinfo")


def machine() -> str:
    """What this machine calls its processor."""
    if CPUINFO.is_file():
        for line in CPUINFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def kept_path(name: str) -> Path:
    """Where the timings of a case are kept that were taken on this machine."""
    folder = re.sub(r"[^\w.+-]+", "_", machine()).strip("_.")
    return KEPT / folder / f"{name}.csv"
