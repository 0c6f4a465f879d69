"""Write results/report/index.html: python -m pipeline.report.

One page that needs no network: verdicts, budgets, figures, studies, and every run with
its key, configuration and inputs. What failed, is missing or was edited is named with
its reason.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.arguments import OneLineParser
from pipeline.errors import command
from pipeline.files import write_text
from pipeline.page.jobs import collect_jobs
from pipeline.page.links import records
from pipeline.page.sections import (
    cases_alone,
    compared_scene,
    coordinates_each,
    evidence,
    figures,
    plotly_script,
)
from pipeline.page.sweeps import collect_studies
from pipeline.result_tables import collect_series, write_result_tables
from pipeline.runs import RESULTS

TEMPLATES = Path(__file__).resolve().parent / "page" / "templates"
SCRIPTS = ("report.js", "report_sweeps.js", "report_tables.js")
TITLE = "Shape morphing: simulations beside scans"
MOST_RUNS = 300  # told one by one; a study holds thousands
TONES = {"agrees": "good", "differs": "bad", "cannot tell": "unsure"}


def collect_comparisons(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Row and budget of every finished comparison."""
    rows = []
    for job in jobs:
        if job["step"] != "compare" or job["status"] != "finished":
            continue
        directory = job["directory"]
        try:
            first = pd.read_csv(directory / "comparison.csv").to_dict("records")[0]
            budget = pd.read_csv(directory / "budget.csv").to_dict("records")
        except (OSError, ValueError, IndexError):
            if not job["edits"]:
                raise
            continue  # told among the edited ones
        row = {str(column): value for column, value in first.items()}
        rows.append(
            row
            | {
                "name": job["name"],
                "key": job["key"],
                "expect": job["expect"],
                "budget": budget,
            }
        )
    return rows


def write_report(
    jobs: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
    out: Path,
    studies: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write OUT/index.html.

    Parameters
    ----------
    jobs : as of `collect_jobs`
    comparisons : as of `collect_comparisons`
    studies : as of `collect_studies`
    """
    most = coordinates_each(jobs)
    shown = _compared(jobs, comparisons, out, most)
    alone = cases_alone(jobs, out, most)
    drawn = [c["scene"] for c in [*shown, *alone]] + [s.get("sweep") for s in studies]
    own = [job for job in jobs if not job["study"]]
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("report.html").render(
        title=TITLE,
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        jobs=jobs,
        broken=[j for j in jobs if j["status"] != "finished"][:MOST_RUNS],
        edited=[job for job in jobs if job["edits"]],
        comparisons=shown,
        alone=alone,
        studies=studies,
        records=records([*own, *(j for j in jobs if j["study"])], out, MOST_RUNS),
        scripts=[(TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS],
        library=plotly_script() if any(drawn) else "",
        synthetic=any(c["synthetic"] for c in comparisons),
        figures=figures(jobs, out),
    )
    path = out / "index.html"
    write_text(path, page)
    return path


def _compared(
    jobs: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
    out: Path,
    most: int,
) -> list[dict[str, Any]]:
    """A section for each comparison."""
    known = {job["key"]: job for job in jobs}
    sections = []
    for i, row in enumerate(comparisons):
        job = known.get(row["key"], {})
        scene, reason = compared_scene(known, job, most)
        sections.append(
            {
                **row,
                "anchor": f"comparison-{i}",
                "tone": TONES.get(str(row["verdict"]), "unsure"),
                "scene": scene,
                "no_scene": reason,
                "evidence": evidence(known, job, out),
                "edits": job.get("edits", []),
            }
        )
    return sections


@command
def main(argv: list[str] | None = None) -> int:
    """Write the report on the plan that was made last."""
    parser = OneLineParser(prog="python -m pipeline.report", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    results = parser.parse_args(argv).results
    jobs = collect_jobs(results)
    comparisons = collect_comparisons(jobs)
    studies = collect_studies(results, results / "report")
    path = write_report(jobs, comparisons, results / "report", studies)
    write_result_tables(comparisons, results, collect_series(jobs))
    print(f"report: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
