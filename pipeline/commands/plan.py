"""What conf/workflow.yaml wants, by name: morphtrack plan [NAME] [KEY=VALUE ...].

NAME is a figure, or one of the plan's own names, such as compare/cylinder.

A line a name: done, gone (its run was removed), wanted, or kept: then what it is made
of is made again, and it runs only if that comes out other than it was. Below what would
be made stands why, against the run that had the name last, and beside it how long that
one took. `--if FILE` says what would run if a module, a case or a file from outside
changed, without changing it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.store.plan_file import (
    STEP_AND_NAME,
    Document,
    closure,
    read_document,
    read_documents,
)
from pipeline.store.standing import DONE, standings
from pipeline.terminal.arguments import OneLineParser, add_overrides, goal_and_overrides
from pipeline.terminal.errors import command
from pipeline.terminal.words import duration
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.order import asked, goal_of
from pipeline.workflow.watch import last_walls
from pipeline.workflow.what_if import consequences
from pipeline.workflow.why import KEPT, Reasoned, Why, is_made_of_failed

MOST = 6  # reasons, or names waited for, that are written out


def lines(told: Mapping[str, Reasoned]) -> Iterator[str]:
    """A line a name with its reasons; then how many there are of each state."""
    for name, one in told.items():
        runs = f"  {len(one.runs)} runs" if len(one.runs) > 1 else ""
        failed = sum(map(is_made_of_failed, one.runs)) if one.state == DONE else 0
        said = f", {failed} failed" if failed else ""
        yield f"{one.state:6}  {name}{runs}{said}{_took(one)}"
        yield from (f"        {reason}" for reason in _reasons(one))
    counts = Counter(one.state for one in told.values())
    yield ", ".join(f"{count} {state}" for state, count in counts.items())
    yield from _costs([*told.values()])


def _took(one: Reasoned) -> str:
    return "" if one.wall_s is None else f"  {duration(one.wall_s)} last time"


def _reasons(one: Reasoned) -> Iterator[str]:
    if one.state == DONE:
        return
    if one.state == KEPT and one.waits_for:
        yield f"upstream: {_some(one.waits_for)} made again first"
    if one.state == KEPT and not one.waits_for:
        yield "its run is there, and only its receipt is written"
    for reason, count in one.counted.most_common(MOST):
        yield reason if len(one.runs) == 1 else f"{count} runs: {reason}"
    if len(one.counted) > MOST:
        yield f"and {len(one.counted) - MOST} more reasons"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _costs(told: Sequence[Reasoned]) -> Iterator[str]:
    """What the runs that would be made took last time, and those that may be."""
    for kept, words in ((False, "what runs"), (True, "what may run")):
        walls = [w for one in told if (one.state == KEPT) is kept for w in one.walls]
        unknown = sum(wall is None for wall in walls)
        beside = f", and {unknown} of unknown time" if unknown else ""
        if walls and unknown == len(walls):
            yield f"{words}: {unknown} runs, and nobody knows how long they take"
        elif walls:
            seconds = duration(sum(wall or 0.0 for wall in walls))
            yield f"{words} took {seconds} last time ({len(walls)} runs{beside})"


def arguments() -> OneLineParser:
    parser = OneLineParser("plan", __doc__)
    parser.add_argument(
        "name", nargs="?", default="", help="a figure, or STEP/NAME: only what it needs"
    )
    parser.add_argument(
        "--if", dest="changed", type=Path, metavar="FILE", help="as if FILE had changed"
    )
    add_overrides(parser, "comparisons.circle.scale_mm=50, of conf/workflow.yaml")
    return parser


def what_if(found: Mapping[str, Document], file: Path) -> Iterator[str]:
    """A line for each name that would run, or may, with what it took last time."""
    told = consequences(found, standings(found), file)
    walls = last_walls()
    for state, names in (("runs", told.runs), ("may", told.may_run)):
        for name in names:
            took = f"  {duration(walls[name])} last time" if name in walls else ""
            yield f"{state:6}  {name}{took}"
    yield f"{len(told.runs)} would run if {file} changed, {len(told.may_run)} may"


@command
def main(argv: list[str] | None = None) -> int:
    """Bring the plan up to date and say how its names stand."""
    given = arguments().parse_intermixed_args(argv)
    name, words = goal_and_overrides([given.name, *given.words])
    of_plan = STEP_AND_NAME.fullmatch(name)
    plan = plan_without_compiling(words=words, goal="" if of_plan else goal_of(name))
    if of_plan:
        read_document(name)  # refuses one that the plan does not have
    names = closure(plan, [name] if of_plan else asked(plan, name))
    if given.changed:
        found = read_documents(plan)
        print("\n".join(what_if({n: found[n] for n in names}, given.changed)))
        return 0
    why = Why(read_documents(plan))
    print("\n".join(lines({name: why.of(name) for name in names})))
    return 0
