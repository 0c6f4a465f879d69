"""Whether two results folders hold the same numbers: after a move, to the bit.

    git clone . BEFORE && cd BEFORE && git checkout COMMIT && make figures
    python -m tests.bench.same_numbers BEFORE/results results

Both are made on one machine: bits differ between machines. Runs are found by step and
name, whatever their keys. Compared are the numbers that a run resulted in, its arrays,
and the columns of its tables; a difference is told over the largest number before.

Exit status: 0 each run of the first folder is in the second with the same numbers;
1 some are not.
"""

import argparse
import fnmatch
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.runs.run_directory import named_keys

# What takes other times each time it runs.
TIMED = (
    "*/computing_time/steps.csv:star_robot*",
    "*/computing_time/steps.npz:ratios",
    "figure/huang-6/huang-6-times.csv:ratio",
    "figure/huang-6/huang-6-times.csv:most",
)


def numbers(run: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """What the run in a folder left, by file and array, column or result."""
    for path in sorted(run.rglob("*.npz")):
        with np.load(path) as arrays:
            yield from ((f"{path.relative_to(run)}:{n}", a) for n, a in arrays.items())
    for path in sorted(run.rglob("*.csv")):
        table = pd.read_csv(path).select_dtypes("number")
        for name, column in table.items():
            yield f"{path.relative_to(run)}:{name}", column.to_numpy()
    result = json.loads((run / "run.json").read_text()).get("result") or {}
    for name, value in result.items():
        if isinstance(value, int | float):
            yield f"result:{name}", np.array([value], dtype=float)


def difference(old: NDArray[Any], new: NDArray[Any] | None) -> str:
    """How much two arrays differ; empty where they are the same to the bit."""
    if new is None:
        return "is not there"
    if old.shape != new.shape:
        return f"has the shape {new.shape}, not {old.shape}"
    if old.dtype == new.dtype and old.tobytes() == new.tobytes():
        return ""
    with np.errstate(invalid="ignore"):
        apart = float(np.nanmax(np.abs(new - old), initial=0.0))
    largest = float(np.nanmax(np.abs(old), initial=0.0))
    return f"differs by {apart / largest:.1e}" if largest else f"differs by {apart:.1e}"


def compare(old: Path, new: Path) -> Iterator[str]:
    """A line for each number of each run of `old` that is another one in `new`."""
    for name in named_keys(old):
        if not (new / name / "run.json").is_file():
            yield f"{name} is not there"
            continue
        now = dict(numbers(new / name))
        for quantity, before in numbers(old / name):
            place = f"{name}/{quantity}"
            if any(fnmatch.fnmatchcase(place, timed) for timed in TIMED):
                continue
            if found := difference(before, now.get(quantity)):
                yield f"{place} {found}"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path, help="a results folder")
    parser.add_argument("new", type=Path, help="a results folder")
    given = parser.parse_args(words)
    runs = named_keys(given.old)
    if not runs:
        parser.error(f"{given.old} has no runs: give a results folder")
    lines = list(compare(given.old, given.new))
    print("\n".join([*lines, f"{len(runs)} runs, {len(lines)} numbers differ"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
