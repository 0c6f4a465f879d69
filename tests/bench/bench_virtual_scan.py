"""Time the way from a simulated end state to labelled spheres, step by step.

Run by hand: python -m tests.bench.bench_virtual_scan [CASE]
Each step is a fresh process, as a workflow runs it; the first run of a machine also
compiles.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")
}


def timed(name: str, words: list[str]) -> None:
    """Run `morphtrack words` once and print its wall and CPU seconds and its size."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    line = [sys.executable, "-m", "pipeline", *words]
    done = subprocess.run(
        line, cwd=ROOT, env=os.environ | ONE_THREAD, check=True, capture_output=True
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stdout.decode().replace("\n", "; ")[:90]
    print(f"{name:14}{wall:8.1f} s wall{cpu:8.1f} s CPU   {said}")


def main(case: str) -> None:
    """Print one row a step, and the largest process."""
    with tempfile.TemporaryDirectory() as directory:
        run, scan, found, compared, away = (
            f"{directory}/{name}"
            for name in ("run", "scan", "found", "compared", "away")
        )
        timed(
            "simulate",
            ["simulate", f"case={case}", f"hydra.run.dir={run}"],
        )
        timed("virtual scan", ["virtual_scan", run, "--out", scan])
        views = sorted(map(str, Path(scan).glob("*.ply")))
        radius = ["--sphere-radius-mm", "6", "--unit", "mm"]
        timed("ingest", ["ingest", *views, *radius, "--out", found])
        both = ["--spheres", found, "--simulated", run, "--scale-mm", "40"]
        timed("compare", ["compare", *both, "--out", compared])
        timed("deviation", ["deviation", *both, "--out", away])
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process {largest:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "triangles_cylinder")
