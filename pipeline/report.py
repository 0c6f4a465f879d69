"""Write results/report/index.html: python -m pipeline.report.

One page that needs no network: verdicts, budgets, figures, and every run with its
key. What failed or is missing is named with its reason.
"""

import base64
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.arguments import OneLineParser
from pipeline.errors import InputError, command
from pipeline.files import read_json, write_text
from pipeline.plan_file import needed_keys, read_batch, read_plan
from pipeline.report_sections import (
    cases_alone,
    compared_scene,
    evidence,
    plotly_script,
)
from pipeline.result_tables import write_result_tables
from pipeline.runs import RESULTS, Job, finished

TEMPLATES = Path(__file__).resolve().parent / "templates"
TITLE = "Shape morphing: simulations beside scans"
MOST_RUNS = 300  # listed; a study holds thousands
TONES = {"agrees": "good", "differs": "bad", "cannot tell": "unsure"}


def collect_jobs(results: Path = RESULTS) -> list[dict[str, Any]]:
    """Every run of the plan: finished, failed or missing, and why."""
    planned = [
        job
        for batch in read_plan(results)["batches"]
        for job in read_batch(batch, results)
    ]
    states = {job.key: _state(job, results) for job in planned}
    for job in planned:
        state = states[job.key]
        if state["status"] == "missing":
            state["reason"] = _why_missing(job, states)
    return list(states.values())


def _state(job: Job, results: Path) -> dict[str, Any]:
    directory = finished(job.key, results)
    status = "finished" if directory else "missing"
    if directory is None:
        attempts = sorted((results / "failed").glob(f"{job.key}.*"), key=_attempt)
        if attempts:
            directory, status = attempts[-1], "failed"
    record: dict[str, Any] = {}
    if directory is not None and (directory / "run.json").is_file():
        record = read_json(directory / "run.json")
    return {
        "key": job.key,
        "step": job.step,
        "name": job.name,
        "status": status,
        "reason": str(record.get("reason", "")),
        "directory": directory,
        "needs": needed_keys(job),
        "roles": dict(job.needs),
        "paths": list(job.paths),
        "config": dict(job.config),
        "synthetic": job.tags.get("synthetic") == "true",
        "expect": job.tags.get("expect", ""),
        "wall_s": record.get("wall_s"),
        "git_commit": str(record.get("git_commit", "")),
        "git_dirty": bool(record.get("git_dirty", False)),
        "result": record.get("result", {}),
    }


def _attempt(directory: Path) -> int:
    number = directory.name.rpartition(".")[2]
    return int(number) if number.isdigit() else 0


def _why_missing(job: Job, states: Mapping[str, Mapping[str, Any]]) -> str:
    """The first thing it waits for, or that it has not run."""
    for key in needed_keys(job):
        needed = states.get(key)
        if needed is None or needed["status"] != "finished":
            what = f"{needed['step']} {needed['name']}" if needed else f"run {key}"
            state = needed["status"] if needed else "missing"
            return f"it needs {what}, which is {state}"
    log = RESULTS / "log" / job.step / f"{job.key}.log"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    said = [line for line in lines if line.startswith("error: ")]
    return said[-1].removeprefix("error: ") if said else "it has not run: make figures"


def collect_comparisons(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Row and budget of every finished comparison."""
    rows = []
    for job in jobs:
        if job["step"] != "compare" or job["status"] != "finished":
            continue
        directory = job["directory"]
        first = pd.read_csv(directory / "comparison.csv").to_dict("records")[0]
        row = {str(column): value for column, value in first.items()}
        budget = pd.read_csv(directory / "budget.csv").to_dict("records")
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
    title: str = TITLE,
) -> Path:
    """Write OUT/index.html.

    Parameters
    ----------
    jobs : as of `collect_jobs`
    comparisons : as of `collect_comparisons`
    """
    known = {job["key"]: job for job in jobs}
    shown = [
        {
            **c,
            "anchor": f"comparison-{i}",
            "tone": TONES.get(str(c["verdict"]), "unsure"),
            **_view(known, known.get(c["key"], {})),
            "evidence": evidence(known, known.get(c["key"], {}), out),
        }
        for i, c in enumerate(comparisons)
    ]
    alone = cases_alone(jobs, out)
    scenes = [c["scene"] for c in [*shown, *alone] if c["scene"]]
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("report.html").render(
        title=title,
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        jobs=jobs,
        broken=[job for job in jobs if job["status"] != "finished"],
        comparisons=shown,
        alone=alone,
        most=MOST_RUNS,
        script=(TEMPLATES / "report.js").read_text(encoding="utf-8"),
        library=plotly_script() if scenes else "",
        synthetic=any(c["synthetic"] for c in comparisons),
        figures=[_figure(job, out) for job in jobs if _is_figure(job)],
    )
    path = out / "index.html"
    write_text(path, page)
    return path


def _view(
    known: Mapping[str, Mapping[str, Any]], compare: Mapping[str, Any]
) -> dict[str, str]:
    scene, reason = compared_scene(known, compare)
    return {"scene": scene, "no_scene": reason}


def _is_figure(job: Mapping[str, Any]) -> bool:
    return bool(job["step"] == "figure" and job["status"] == "finished")


def _figure(job: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """A figure's picture as a data address, and links to its files."""
    directory, name = job["directory"], job["name"]
    picture = directory / f"{name}.png"
    if not picture.is_file():
        raise InputError(
            f"{picture} does not exist: delete {directory} and make figures"
        )
    data = base64.b64encode(picture.read_bytes()).decode("ascii")
    files = [
        p for p in sorted(directory.iterdir()) if p.suffix in {".pdf", ".png", ".csv"}
    ]
    relative = os.path.relpath(directory.absolute(), out.absolute())
    return {
        "name": name,
        "key": job["key"],
        "shows": str(job["result"].get("shows", "")).split(),
        "data": f"data:image/png;base64,{data}",
        "files": [{"name": p.name, "href": f"{relative}/{p.name}"} for p in files],
    }


@command
def main(argv: list[str] | None = None) -> int:
    """Write the report on the plan that was made last."""
    parser = OneLineParser(prog="python -m pipeline.report", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    results = parser.parse_args(argv).results
    jobs = collect_jobs(results)
    comparisons = collect_comparisons(jobs)
    path = write_report(jobs, comparisons, results / "report")
    write_result_tables(comparisons, results)
    print(f"report: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
