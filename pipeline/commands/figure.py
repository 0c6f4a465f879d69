"""Draw a figure: morphtrack figure NAME [--width 89] [--out DIR] [--row ...].

Without rows, what make figures drew is drawn again, of the same runs.
Writes NAME.pdf, NAME.png, the plotted numbers as CSV, the caption as caption.md and
caption.tex, and for each of them the keys of the runs behind it as .trace.json.
"""

from collections.abc import Sequence
from pathlib import Path

from pipeline.results.saved_figure import CAPTION_FILE
from pipeline.results.shown import Row
from pipeline.steps.figure import FigureConfig, rows_of, run_step
from pipeline.steps.figure_names import figure_names, module_of
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command


def _rows(given: Sequence[Sequence[str]]) -> list[Row]:
    for words in given:
        if len(words) not in (2, 4):
            raise InputError(
                f"--row {' '.join(words)} has {len(words)} words: "
                "give LABEL SIMULATED, or LABEL SIMULATED COMPARISON INGEST"
            )
    return [Row(label, *map(Path, folders)) for label, *folders in given]


def rows_drawn(figure: str) -> list[Row]:
    """The rows of the figure in results/figure."""
    module_of(figure)
    folder = RESULTS / "figure" / figure
    if not (folder / "run.json").is_file():
        raise InputError(
            f"{figure} is not drawn yet: make figure-{figure} makes what it shows, or "
            "give its runs by --row"
        )
    record = run_record(folder)
    needs = {
        role: [RESULTS / "runs" / key for key in keys]
        for role, keys in record["needs"].items()
    }
    return rows_of(record["config"]["labels"], needs)


def _check_alone(figure: str, out: Path) -> None:
    """Refuse a folder whose caption is that of another figure."""
    if (out / CAPTION_FILE).exists() and not (out / f"{figure}.pdf").exists():
        raise InputError(
            f"{out} holds another figure, whose caption would be lost: give {figure} "
            f"a folder of its own, such as --out {out / figure}"
        )


def arguments() -> OneLineParser:
    parser = OneLineParser("figure", __doc__)
    parser.add_argument("figure", help=f"one of {', '.join(figure_names())}")
    parser.add_argument(
        "--row",
        nargs="+",
        action="append",
        default=[],
        metavar="LABEL SIMULATED",
        help="a name, the folder of a simulation and, where the figure shows scans, "
        "those of the comparison and of the ingest; once for each row",
    )
    parser.add_argument(
        "--width", default="183", help="mm: 89, 120 or 183; or slide (183)"
    )
    parser.add_argument(
        "--no-identity", action="store_true", help="no line that names the runs"
    )
    parser.add_argument("--svg", action="store_true", help="write NAME.svg as well")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder to write into, one a figure (results/drawn/NAME-WIDTH)",
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Draw one figure from the folders of finished runs."""
    given = arguments().parse_args(argv)
    rows = _rows(given.row) or rows_drawn(given.figure)
    out = given.out or RESULTS / "drawn" / f"{given.figure}-{given.width}"
    _check_alone(given.figure, out)
    config = FigureConfig(
        given.figure,
        tuple(row.label for row in rows),
        given.width,
        not given.no_identity,
        given.svg,
    )
    run_step(config, rows, out)
    print(f"wrote {out / given.figure}.pdf, .png and its numbers as CSV")
    return 0
