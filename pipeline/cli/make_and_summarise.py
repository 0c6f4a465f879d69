"""What `morphtrack make` makes and prints, the report included."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.workflow_file import WORKFLOW, Compared, Workflow
from pipeline.report.collected_runs import collect_jobs, collect_own
from pipeline.report.index import collect_comparisons, collect_studies, write_report
from pipeline.report.manuscript import collect_series, write_paper, write_result_tables
from pipeline.runs.run_attempts import sweep_dead
from pipeline.runs.run_directory import RESULTS, named_keys
from pipeline.runs.summary import HEAD, is_synthetic, moved, read_verdicts
from pipeline.terminal import DONE, FAILED, aligned, no_such
from pipeline.workflow.plan import Plan, data_file
from pipeline.workflow.snakemake import run_snakemake


def collect(plan: Plan, results: Path) -> list[dict[str, Any]]:
    """The runs that conf/workflow.yaml asks for, and what it expects of each."""
    jobs = collect_jobs(plan.names(), plan.upstream, results)
    for job in jobs:
        if job["step"] == "compare":
            job["expect"] = plan.workflow.comparisons[job["name"]].expect
    return jobs


def report(results: Path, *, paper: bool = False) -> None:
    """Write pages, tables and macros of what conf/workflow.yaml asks for."""
    plan = Plan()
    jobs = collect(plan, results)
    comparisons = collect_comparisons(jobs)
    studies = collect_studies(results)
    own = collect_own(jobs, results)
    page = write_report(jobs, comparisons, results / "report", studies, own)
    write_result_tables(comparisons, results, collect_series(jobs))
    print(f"report: {page}")
    if paper:
        print(f"paper: {write_paper(comparisons, results)}")


PAGE = Path("report") / "index.html"
COMPARISONS = "comparisons"  # in place of the name of a figure


def _targets(figure: str, plan: Plan) -> list[str]:
    """What Snakemake is asked to make; an error where a scan is missing."""
    for name in plan.workflow.comparisons if figure in ("", COMPARISONS) else ():
        plan.scans(name)
    if figure == COMPARISONS:
        return ["demo"]
    if figure and figure not in plan.workflow.figures:
        raise no_such("conf/workflow.yaml has no figure", figure, plan.workflow.figures)
    return [data_file("figure", figure)] if figure else ["all"]


Row = Mapping[str, str]  # of comparison.csv


def verdict_lines(
    verdicts: Mapping[str, Row], compared: Mapping[str, Compared], width: int
) -> list[str]:
    """A table of what each comparison came to, in words."""
    rows = [["comparison", "S simulated", "S scanned ± u", "verdict"]]
    for name, row in verdicts.items():
        S, u = float(row["S_scanned"]), float(row["S_scanned_u"])
        verdict = in_words(row, compared[name].expect)
        simulated = f"{float(row['S_simulated']):.4f}"
        rows.append([name, simulated, f"{S:.4f} ± {u:.4f}", verdict])
    return aligned(rows, width) if verdicts else []


def in_words(row: Row, expect: str) -> str:
    """The verdict, whether it was to be expected, and whether the scan is real."""
    words = row["verdict"]
    if expect:
        same = words == expect
        words += ", as expected" if same else f", expected: {expect}"
    return f"{words} (synthetic)" if is_synthetic(row) else words


def summary(workflow: Workflow, figure: str, width: int) -> list[str]:
    """What is there now: verdicts, figures, the page; what failed; what is next."""
    verdicts = read_verdicts(workflow.comparisons, RESULTS)
    lines = [*verdict_lines(verdicts, workflow.comparisons, width)]
    made = [f for f in workflow.figures if (RESULTS / "figure" / f).is_dir()]
    lines.append("")
    lines.append(f"figures  {len(made)} of {len(workflow.figures)} in results/figure")
    lines.append(f"page     {RESULTS / PAGE}")
    lines.append(f"next     {_next(figure, len(made) < len(workflow.figures))}")
    return lines


def _next(figure: str, more: bool) -> str:
    if figure and more:
        return "run `make figures` for the rest, `make ui` to open MLflow"
    return "`make ui` opens MLflow, `morphtrack show CASE` shows a run"


def _is_current(page: Path) -> bool:
    """Whether the report is newer than all that it shows."""
    if not page.is_file():
        return False
    kinds = ("*/*/run.json", "study/*/*.csv", "log/*/*.log")
    shown = [WORKFLOW, *(path for kind in kinds for path in RESULTS.glob(kind))]
    own = [path.lstat().st_mtime for path in RESULTS.glob("own/*")]
    last = max(own + [path.stat().st_mtime for path in shown])
    return last < page.stat().st_mtime


def make(figure: str, words: Sequence[str], profile: Path, cores: int | None) -> int:
    """Make results, the report, and print what changed and what is there.

    Parameters
    ----------
    figure : only this one, or "comparisons"; "" makes everything
    words : overrides of conf/workflow.yaml
    """
    plan = Plan(words)
    targets, before = _targets(figure, plan), named_keys()
    status = run_snakemake(targets, profile=profile, cores=cores, words=words)
    sweep_dead(RESULTS)
    if not _is_current(RESULTS / PAGE):
        report(RESULTS)
    width = shutil.get_terminal_size().columns
    rows = moved(before, named_keys())
    if rows:
        print("\n".join([*aligned([HEAD, *rows], width), ""]))
    print("\n".join(summary(plan.workflow, figure, width)))
    if status:
        print("error: results are missing: correct the errors above", file=sys.stderr)
    return FAILED if status else DONE
