"""Store the numbers of all runs, compare them: python -m tests.bench.same_numbers.

  store RESULTS FILE      the numbers of the runs of a results folder, by step and name
  compare OLD NEW         each a stored file or a results folder

What a code rearranges it must not change: make the results of the commit before and of
the one after on one machine, since bits differ between machines, and compare them.

  git clone . BEFORE && cd BEFORE && git checkout COMMIT && make figures
  python -m tests.bench.same_numbers store results before.json.gz
  python -m tests.bench.same_numbers compare before.json.gz results

Stored are results of runs, arrays, columns and documents, as values or digests. Left
out are pictures, logs, and what is timed (quantities.NOT_REPRODUCED). Texts count too,
but for keys of runs and for the modules and commands that they name. Two folders say by
how much arrays differ; stored files only that they do.

A run is found again by step, name and settings, whatever its key, modules and paths;
then by step and settings; then by step and name, which is said. `--renamed FILE` has
lines `old -> new` for step/name of runs and for quantities such as steps.csv:E; old may
be a pattern of the shell. Of runs of one step, name and settings the last is taken.

Exit status: 0 each old run has the same numbers; 1 some differ or are not there;
2 refused.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.same_numbers.difference import (
    Difference,
    changed_settings,
    differences,
)
from tests.bench.same_numbers.matching import (
    Matching,
    Renamed,
    full_names,
    matched,
    read_renamed,
)
from tests.bench.same_numbers.quantities import NumbersError
from tests.bench.same_numbers.runs import Run, read_folder, read_runs, store

SHOWN = 6  # differences of a run, and settings of runs, unless all are asked for


def compare(old: Path, new: Path, renamed: Renamed, *, everything: bool) -> int:
    """Print what differs; return the exit status."""
    most = None if everything else SHOWN
    before = read_runs(old)
    found = matched(before, read_runs(new), renamed)
    names = full_names([*before, *found.new])
    for run in found.old:
        print(f"only in old: {names[id(run)]}{_twin(run, found, names)}")
    for run in found.new:
        print(f"only in new: {names[id(run)]}")
    for line in _settings(found, names, most):
        print(line)
    differ = 0
    for a, b in sorted(found.pairs, key=lambda pair: names[id(pair[0])]):
        rows = list(differences(a, b, renamed))
        differ += bool(rows)
        for line in _table(names[id(a)], rows, most):
            print(line)
    same, missing = len(found.pairs) - differ, len(found.old)
    print(f"{missing} only in old, {len(found.new)} only in new")
    print(f"{len(before)} runs, {same} the same to the bit, {differ + missing} differ")
    return 1 if differ or missing else 0


def _twin(run: Run, found: Matching, names: dict[int, str]) -> str:
    """A run that is only in new and has the same numbers, if there is one."""
    twins = [other for other in found.new if other.quantities == run.quantities]
    return f" (the numbers of {names[id(twins[0])]})" if twins else ""


def _settings(
    found: Matching, names: dict[int, str], most: int | None
) -> Iterator[str]:
    """How the runs that were found by name are told otherwise.

    Changed values of settings; with `most` None, settings that came or went as well.
    """
    changed: dict[tuple[str, str], list[str]] = {}
    for a, b in found.pairs:
        for change in changed_settings(a, b):
            changed.setdefault(change, []).append(names[id(a)])
    runs = {name for told in changed.values() for name in told}
    if runs:
        yield f"found by name, though settings differ: {len(runs)} runs"
    for (setting, how), told in sorted(changed.items()):
        if most is None or " -> " in how:
            said = ", ".join(told[:most]) + _rest(len(told), most)
            yield f"  {setting:32} {how}: {said}"


def _table(name: str, rows: Sequence[Difference], most: int | None) -> Iterator[str]:
    """The quantities of one run that differ: old, new, relative difference."""
    if rows:
        yield f"differs: {name}"
    for row in rows[:most]:
        yield f"  {row.quantity:32} {row.old}  ->  {row.new}  {row.relative}".rstrip()
    if rest := _rest(len(rows), most):
        yield f" {rest}"


def _rest(count: int, most: int | None) -> str:
    return f" and {count - most} more" if most is not None and count > most else ""


def _store(results: Path, path: Path) -> int:
    runs = read_folder(results)
    store(runs, path)
    count = sum(len(run.quantities) for run in runs)
    print(f"{path}: {count} quantities of {len(runs)} runs")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.same_numbers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store", help="store the numbers of all runs")
    storing.add_argument("results", type=Path, help="a results folder")
    storing.add_argument("file", type=Path, help="such as numbers.json.gz")
    comparing = commands.add_parser("compare", help="compare two sets of numbers")
    comparing.add_argument("old", type=Path, help="a results folder or a stored file")
    comparing.add_argument("new", type=Path, help="a results folder or a stored file")
    comparing.add_argument("--renamed", type=Path, help="lines `old -> new`")
    comparing.add_argument("--all", action="store_true", help="every difference")
    given = parser.parse_args(argv)
    try:
        if given.command == "store":
            return _store(given.results, given.file)
        renamed = read_renamed(given.renamed) if given.renamed else Renamed()
        return compare(given.old, given.new, renamed, everything=given.all)
    except NumbersError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
