"""Fill a LaTeX article from finished results: morphtrack paper.

results/paper/paper.tex includes results/numbers.tex, the table of comparisons, and two
figures with their captions. Write in a copy of it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.captions.markup import latex_text
from pipeline.pages.jobs import collect_jobs
from pipeline.pages.latex import letters
from pipeline.pages.page_parts import TEMPLATES
from pipeline.pages.report import collect_comparisons
from pipeline.pages.result_tables import collect_series, write_result_tables
from pipeline.store.files import write_text
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command

FIGURES = ("chain", "dejong-3")


def write_paper(comparisons: Sequence[Mapping[str, Any]], results: Path) -> Path:
    """Fill the template with the comparisons that are no controls."""
    told = [c for c in comparisons if c["expect"] != "differs"]
    if not told:
        raise InputError("no comparison has finished: make demo")
    for figure in FIGURES:
        if not (results / "figure" / figure / "caption.tex").is_file():
            raise InputError(f"the figure {figure} is not drawn: make figure-{figure}")
    filling = Environment(
        "<%", "%>", "<<", ">>", trim_blocks=True,
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined,
    )  # fmt: skip
    text = filling.get_template("paper.tex").render(
        comparisons=[(latex_text(c["name"]), letters(c["name"])) for c in told],
        figures=FIGURES,
        synthetic=any(c["synthetic"] for c in told),
    )
    write_text(results / "paper" / "paper.tex", text)
    return results / "paper" / "paper.tex"


def arguments() -> OneLineParser:
    parser = OneLineParser("paper", __doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write the numbers and the article."""
    results = arguments().parse_args(argv).results
    jobs = collect_jobs(results)
    comparisons = collect_comparisons(jobs)
    write_result_tables(comparisons, results, collect_series(jobs))
    print(f"paper: {write_paper(comparisons, results)}")
    return 0
