"""The figures that can be drawn: morphtrack figures.

One line each; morphtrack make draws those that conf/workflow.yaml wants, from runs of
its own; the others are drawn by morphtrack figure from runs that are there.
"""

from collections.abc import Iterable, Sequence

from analysis.figures.style import drawn_for
from pipeline.commands.figure import rows_drawn
from pipeline.commands.overview import in_columns
from pipeline.config.workflow_file import read_workflow
from pipeline.steps.figure import FigureConfig, looked_over
from pipeline.steps.figure_names import figure_names, first_line
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, InputError, command


def arguments() -> OneLineParser:
    parser = OneLineParser("figures", __doc__)
    parser.add_argument(
        "--faults",
        action="store_true",
        help="what an editor would send back of each that is drawn; status 1 if any",
    )
    parser.add_argument(
        "--width",
        nargs="+",
        default=[],
        help="with --faults: draw each again at these widths, 89, 120, 183 or slide, "
        "of the same runs, and keep nothing of it",
    )
    return parser


def _tell_faults(names: Iterable[str], widths: Sequence[str]) -> int:
    """What is found in each figure that was drawn: as its run records, or anew."""
    any_found = False
    for name in names:
        folder = RESULTS / "figure" / name
        if not (folder / "run.json").is_file():
            print(f"{name}: not drawn: make figure-{name}")
        elif widths:
            for width in widths:
                found = _found_at(name, width)
                any_found |= bool(found)
                print(f"{name} at {width}: {'; '.join(found) or 'no fault'}")
        else:
            result = run_record(folder)["result"]
            count = result.get("faults")
            any_found |= bool(count)
            print(f"{name}: {_faults(count, result.get('first_fault', ''))}")
    return FAILED if any_found else DONE


def _found_at(name: str, width: str) -> list[str]:
    """What the lints find in a figure and its caption, drawn for a width."""
    with drawn_for(FigureConfig(name, (), width).width):
        return looked_over(name, rows_drawn(name))[2]


def _faults(count: int | None, first: str) -> str:
    if count is None:
        return "drawn before figures were looked over: make figures"
    return f"{count} faults, the first: {first}" if count else "no fault"


@command
def main(argv: list[str] | None = None) -> int:
    """Print the list, in two parts."""
    given = arguments().parse_args(argv)
    wanted = read_workflow().figures
    if given.faults:
        return _tell_faults(wanted, given.width)
    if given.width:
        raise InputError("--width says how --faults draws: give --faults with it")
    said = {name: first_line(name) for name in figure_names()}
    width = max(map(len, said))
    print("\n".join(in_columns({name: said[name] for name in wanted}, width)))
    others = {name: text for name, text in said.items() if name not in wanted}
    if others:
        print("\nnot in conf/workflow.yaml:")
        print("\n".join(in_columns(others, width)))
    return DONE
