"""The figures that can be drawn: morphtrack figures.

One line each; morphtrack make draws those that conf/workflow.yaml wants, from runs of
its own; the others are drawn by morphtrack figure from runs that are there.
"""

from collections.abc import Iterable

from pipeline.commands.overview import in_columns
from pipeline.config.workflow_file import read_workflow
from pipeline.steps.figure_names import figure_names, first_line
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, command


def arguments() -> OneLineParser:
    parser = OneLineParser("figures", __doc__)
    parser.add_argument(
        "--faults",
        action="store_true",
        help="what an editor would send back of each that is drawn; status 1 if any",
    )
    return parser


def _tell_faults(names: Iterable[str]) -> int:
    """A line for each figure that was drawn: its faults, as its run records them."""
    any_found = False
    for name in names:
        folder = RESULTS / "figure" / name
        if not (folder / "run.json").is_file():
            print(f"{name}: not drawn: make figure-{name}")
            continue
        result = run_record(folder)["result"]
        count = result.get("faults")
        any_found |= bool(count)
        print(f"{name}: {_faults(count, result.get('first_fault', ''))}")
    return FAILED if any_found else DONE


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
        return _tell_faults(wanted)
    said = {name: first_line(name) for name in figure_names()}
    width = max(map(len, said))
    print("\n".join(in_columns({name: said[name] for name in wanted}, width)))
    others = {name: text for name, text in said.items() if name not in wanted}
    if others:
        print("\nnot in conf/workflow.yaml:")
        print("\n".join(in_columns(others, width)))
    return DONE
