"""How much memory a step may take."""

import math
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_bytes(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> float:
    """Memory that is free for this process; infinite where the system does not say."""
    return min(_of_machine(meminfo), _of_group(cgroup))


def _of_machine(meminfo: Path) -> float:
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * float(found[0][1]) if found else math.inf


def _of_group(cgroup: Path) -> float:
    """What a container may still take; page cache it can give back counts as free."""
    try:
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        used = float((cgroup / "memory.current").read_text(encoding="ascii"))
        stat = (cgroup / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return math.inf
    if limit == "max":
        return math.inf
    cache = dict(zip(stat[::2], stat[1::2], strict=False)).get("inactive_file", "0")
    return max(float(limit) - used + float(cache), 0.0)
