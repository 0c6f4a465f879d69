"""results/report/index.html: one page of everything, which needs no network."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.pages.links import records, told_runs
from pipeline.pages.measured_sets import TONES, coverages, measured_sets
from pipeline.pages.page_parts import TEMPLATES, environment, plotly_script
from pipeline.pages.sections import (
    MOST_ALONE,
    alone,
    cases_alone,
    compared_scene,
    coordinates_each,
    evidence,
    figures,
)
from pipeline.store.files import write_text

SCRIPTS = ("report.js", "report_sweeps.js", "report_tables.js")
MOST_BYTES = 19_700_000  # of the page
RECORD_BYTES = 7_300  # of what the page tells of a run
TITLE = "Shape morphing: simulations beside scans"


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
    own: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write OUT/index.html.

    Parameters
    ----------
    jobs : as of `collect_jobs`
    comparisons : as of `collect_comparisons`
    studies : as of `collect_studies`
    own : as of `collect_own`
    """
    single = alone(jobs)
    most = coordinates_each(len(comparisons) + len(single[:MOST_ALONE]) + len(own))
    shown = _compared(jobs, comparisons, out, most)
    cases, by_hand = cases_alone(single, out, most), cases_alone(own, out, most)
    scenes = [c["scene"] for c in [*shown, *cases, *by_hand]]
    told = records([*jobs, *own], out)
    library = plotly_script() if any([*scenes, *map(_sweep, studies)]) else ""
    sets = measured_sets(jobs, out)
    taken = len(library) + sum(map(len, scenes)) + RECORD_BYTES * len(told)
    template = environment().get_template("report.html")
    page = template.render(
        title=TITLE,
        style=_template("report.css"),
        jobs=jobs,
        failed=[j for j in jobs if j["status"] == "failed"],
        missing=[j for j in jobs if j["status"] == "missing"],
        finished=sum(job["status"] == "finished" for job in jobs),
        edited=[job for job in jobs if job["edits"]],
        told={job["key"] for job in told_runs([*jobs, *own])},
        comparisons=shown,
        sets=sets,
        covered=coverages([s["inside"] for s in sets]),
        alone=cases,
        not_drawn=[job["name"] for job in single[MOST_ALONE:]],
        own=by_hand,
        studies=studies,
        records=told,
        untold=len(jobs) + len(own) - len(told),
        scripts=[_template(name) for name in SCRIPTS],
        library=library,
        synthetic=any(c["synthetic"] for c in comparisons),
        figures=figures(jobs, out, MOST_BYTES - taken),
    )
    path = out / "index.html"
    write_text(path, page)
    return path


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _sweep(study: Mapping[str, Any]) -> str:
    return str(study.get("sweep") or "")


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
