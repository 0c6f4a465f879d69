"""Make what conf/workflow.yaml wants: morphtrack make [FIGURE] [KEY=VALUE ...].

Plan, run what is missing, bring it into MLflow, write the report; at the end, what came
out, and of runs that took the place of others every number that moved by more than its
uncertainty and every verdict that turned. `comparisons` in
place of a figure makes the comparisons and the figures that show them, and leaves
MLflow for later. Track and report run whatever failed before them. Exit status: 0 all
is there; 1 something ran and failed; 2 refused before anything ran.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pipeline.config.workflow_file import Compared, Workflow, read_workflow
from pipeline.results.moved import HEAD, moved, standing_keys
from pipeline.results.verdicts import ToldVerdict, read_verdicts
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import (
    OneLineParser,
    add_overrides,
    goal_and_overrides,
    profile_directory,
)
from pipeline.terminal.errors import command
from pipeline.terminal.words import aligned
from pipeline.workflow.order import COMPARISONS, goal_of
from pipeline.workflow.workflow import PROFILE, VERBOSE, Running, make

PAGE = Path("report") / "index.html"


def arguments() -> OneLineParser:
    parser = OneLineParser("make", __doc__)
    parser.add_argument(
        "figure", nargs="?", default="", help="only this one, and what it shows"
    )
    parser.add_argument("--profile", type=profile_directory, default=PROFILE)
    parser.add_argument("--cores", type=int, help="jobs side by side")
    parser.add_argument("--verbose", action="store_true", help=VERBOSE)
    parser.add_argument(
        "--retry-failed", action="store_true", help="try again what failed by itself"
    )
    add_overrides(parser, "comparisons.circle.scale_mm=50, of conf/workflow.yaml")
    return parser


def verdict_lines(
    verdicts: list[ToldVerdict], compared: Mapping[str, Compared], width: int
) -> list[str]:
    """A table of what each comparison came to, in words."""
    rows = [["comparison", "S simulated", "S scanned ± u", "verdict"]]
    for told in verdicts:
        scanned = f"{told.S_scanned:.4f} ± {told.S_scanned_u:.4f}"
        said = in_words(told, compared[told.name].expect)
        rows.append([told.name, f"{told.S_simulated:.4f}", scanned, said])
    return aligned(rows, width) if verdicts else []


def in_words(told: ToldVerdict, expect: str) -> str:
    """The verdict, whether it was to be expected, and whether the scan is real."""
    words = told.verdict
    if expect:
        same = told.verdict == expect
        words += ", as it should" if same else f", but should be: {expect}"
    return f"{words} (synthetic)" if told.synthetic else words


def summary(workflow: Workflow, figure: str, width: int) -> list[str]:
    """What is there now: verdicts, figures, the page; what failed; what is next."""
    verdicts = read_verdicts(workflow.comparisons, RESULTS)
    lines = [*verdict_lines(verdicts, workflow.comparisons, width)]
    drawn = [f for f in workflow.figures if (RESULTS / "figure" / f).is_dir()]
    lines.append("")
    lines.append(f"figures  {len(drawn)} of {len(workflow.figures)} in results/figure")
    lines.append(f"page     {RESULTS / PAGE}")
    lines.append(f"next     {_next(figure, len(drawn) < len(workflow.figures))}")
    return lines


def _next(figure: str, more: bool) -> str:
    if figure and more:
        return "make figures makes the rest and brings all runs into MLflow"
    return "make ui opens MLflow; morphtrack see CASE shows a run"


@command
def main(argv: list[str] | None = None) -> int:
    """Make the figures and everything that they are made of."""
    given = arguments().parse_intermixed_args(argv)
    figure, words = goal_and_overrides([given.figure, *given.words])
    only = figure == COMPARISONS
    how = Running(
        given.profile,
        given.cores,
        given.verbose,
        track=not only,
        retry_failed=given.retry_failed,
    )
    workflow = read_workflow(words=words, goal=goal_of(figure))
    before = standing_keys()
    status, failed = make(workflow, figure, how, words)
    width = shutil.get_terminal_size().columns
    rows = moved(before, standing_keys())
    if rows:
        print("\n".join([*aligned([HEAD, *rows], width), ""]))
    print("\n".join(summary(workflow, figure, width)))
    for name, why in failed:
        print(f"error: {name}: {why}", file=sys.stderr)
    return status
