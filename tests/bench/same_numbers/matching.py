"""Which run of before is which run of now."""

import fnmatch
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.same_numbers.quantities import NumbersError
from tests.bench.same_numbers.runs import Run

ARROW = " -> "


@dataclass(frozen=True)
class Renamed:
    """Names that changed: patterns of runs (step/name) or quantities, and what to call
    them on both sides."""

    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        """What `name` is called here."""
        for pattern, called in self.names.items():
            if fnmatch.fnmatchcase(name, pattern):
                return called
        return name


def read_renamed(path: Path) -> Renamed:
    """Lines `old -> new`; empty ones and those that begin with # say nothing."""
    names = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NumbersError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        old, arrow, new = line.partition(ARROW)
        if not (old.strip() and arrow and new.strip()):
            raise NumbersError(f"{path}, line {number}: {line!r} is not old{ARROW}new")
        names[old.strip()] = new.strip()
    return Renamed(names)


@dataclass
class Matching:
    """Pairs of runs, and those that have none."""

    pairs: list[tuple[Run, Run]]
    old: list[Run]
    new: list[Run]

    def pair(self, found: Iterable[tuple[Run, Run]]) -> None:
        """Take these pairs out of those that have none."""
        found = list(found)
        self.pairs += found
        taken = {id(run) for pair in found for run in pair}
        self.old = [run for run in self.old if id(run) not in taken]
        self.new = [run for run in self.new if id(run) not in taken]


def matched(old: Sequence[Run], new: Sequence[Run], renamed: Renamed) -> Matching:
    """Pair by step, name and settings; then by less of these, where nothing is alike.

    Settings that are called otherwise are found by their values.
    """

    def label(run: Run) -> str:
        return renamed(run.label)

    def step(run: Run) -> str:
        return label(run).partition("/")[0]

    found = Matching([], list(old), list(new))
    found.pair(_alone(found, lambda run: (label(run), run.digest)))
    found.pair(_alone(found, lambda run: (step(run), run.digest)))
    found.pair(_alone(found, lambda run: (label(run), *sorted(run.settings.values()))))
    found.pair(_alone(found, label))
    return found


def _alone(left: Matching, mark: Callable[[Run], Hashable]) -> list[tuple[Run, Run]]:
    """Pairs with one mark that no other run has, on either side."""
    before, now = _by(left.old, mark), _by(left.new, mark)
    return [
        (runs[0], now[m][0])
        for m, runs in before.items()
        if len(runs) == 1 and len(now.get(m, [])) == 1
    ]


def _by(
    runs: Iterable[Run], mark: Callable[[Run], Hashable]
) -> dict[Hashable, list[Run]]:
    found: dict[Hashable, list[Run]] = {}
    for run in runs:
        found.setdefault(mark(run), []).append(run)
    return found


def _told_apart(like: Sequence[Run]) -> dict[int, dict[str, str]]:
    """The settings of each run that not all of them have."""
    pairs = Counter(pair for run in like for pair in run.settings.items())
    return {
        id(run): {k: v for k, v in run.settings.items() if pairs[k, v] < len(like)}
        for run in like
    }


def full_names(runs: Sequence[Run]) -> dict[int, str]:
    """A name for each run: its label, with the settings that tell it from its like."""
    names = {}
    for label, like in _by(runs, lambda run: run.label).items():
        for run, own in _told_apart(like).items():
            names[run] = " ".join([str(label), *(f"{k}={v}" for k, v in own.items())])
    return names
