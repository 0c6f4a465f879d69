"""Write results/report/index.html: morphtrack report.

One page that needs no network: verdicts, budgets, figures, studies, and every run with
its key, configuration and inputs. What failed, is missing or was edited is named with
its reason.
"""

from pathlib import Path

from pipeline.pages.jobs import collect_jobs, collect_own
from pipeline.pages.report import collect_comparisons, write_report
from pipeline.pages.result_tables import collect_series, write_result_tables
from pipeline.pages.sweeps import collect_studies
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("report", __doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write the report on the plan that was made last."""
    results = arguments().parse_args(argv).results
    jobs = collect_jobs(results)
    comparisons = collect_comparisons(jobs)
    studies = collect_studies(results, results / "report")
    own = collect_own(jobs, results)
    path = write_report(jobs, comparisons, results / "report", studies, own)
    write_result_tables(comparisons, results, collect_series(jobs))
    print(f"report: {path}")
    return 0
