"""results/report/index.html: one page of everything, which needs no network."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.report.collected_runs import (
    MOST_FILES,
    MOST_READERS,
    MOST_SHOWN,
    SHOWN_FILES,
    records,
    relative,
)
from pipeline.report.scene import TEMPLATES, as_script, environment, packed_plotly
from pipeline.report.sections import (
    MOST_ALONE,
    TONES,
    alone,
    cases_alone,
    compared_scene,
    coordinates_each,
    coverages,
    evidence,
    figures,
    measured_sets,
)
from pipeline.runs.atomic_files import write_text
from pipeline.runs.study_members import read_members
from pipeline.steps.figure import read_comparison
from pipeline.steps.study_table import responses, study_rows
from pipeline.terminal import InputError, one_line

SCRIPTS = ("report.js", "report_sweeps.js", "report_tables.js")
MOST_BYTES = 19_700_000  # of the page
RECORD_BYTES = 7_300  # of a record on the page
TITLE = "Shape morphing: simulations and scans"


def collect_comparisons(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Row and budget of every finished comparison."""
    rows = []
    for job in jobs:
        if job["step"] != "compare" or job["status"] != "finished":
            continue
        try:
            row, budget = read_comparison(job["directory"])
        except (OSError, ValueError, IndexError):
            if not job["edits"]:
                raise
            continue  # named among the edited ones
        of = {name: job[name] for name in ("name", "key", "expect")}
        rows.append(row | of | {"budget": budget})
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
    shown = _compared(jobs, comparisons, most)
    cases, by_hand = cases_alone(single, most), cases_alone(own, most)
    scenes = [c["scene"] for c in [*shown, *cases, *by_hand]]
    sweeps = [study.get("sweep") for study in studies]
    listed = records([*jobs, *own])
    library = packed_plotly() if any(scenes + sweeps) else ""
    sets = measured_sets(jobs)
    taken = len(library) + sum(map(len, scenes)) + RECORD_BYTES * len(listed)
    filling = environment(lambda path: relative(path, out))
    filling.globals |= {
        "told": {job["key"]: job for job in listed},
        "shown_files": SHOWN_FILES,
        "most": {"files": MOST_FILES, "readers": MOST_READERS, "shown": MOST_SHOWN},
    }
    page = filling.get_template("report.html").render(
        title=TITLE,
        style=_template("report.css"),
        jobs=jobs,
        failed=[j for j in jobs if j["status"] == "failed"],
        missing=[j for j in jobs if j["status"] == "missing"],
        finished=sum(job["status"] == "finished" for job in jobs),
        edited=[job for job in jobs if job["edits"]],
        comparisons=shown,
        sets=sets,
        covered=coverages([s["inside"] for s in sets]),
        alone=cases,
        not_drawn=[job["name"] for job in single[MOST_ALONE:]],
        own=by_hand,
        studies=studies,
        records=listed,
        untold=len(jobs) + len(own) - len(listed),
        scripts=[_template(name) for name in SCRIPTS],
        library=library,
        synthetic=any(c["synthetic"] for c in comparisons),
        figures=figures(jobs, MOST_BYTES - taken),
    )
    path = out / "index.html"
    write_text(path, page)
    return path


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _compared(
    jobs: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
    most: int,
) -> list[dict[str, Any]]:
    """A section for each comparison."""
    known = {job["key"]: job for job in jobs}
    sections = []
    for row in comparisons:
        job = known.get(row["key"], {})
        scene, reason = compared_scene(known, job, most)
        sections.append(
            {
                **row,
                "tone": TONES.get(str(row["verdict"]), "unsure"),
                "scene": scene,
                "no_scene": reason,
                "evidence": evidence(known, job),
                "edits": job.get("edits", []),
            }
        )
    return sections


MOST_ROWS = 10_000  # of one study that are sent
MOST_COLUMNS = 14
DIGITS = 6
STUDY_FILES = (".csv", ".pdf", ".png", ".svg")


def collect_studies(results: Path) -> list[dict[str, Any]]:
    """Every study under results/study; one that cannot be read says why."""
    found = []
    for path in sorted((results / "study").glob("*/members.json")):
        name = path.parent.name
        try:
            found.append(_study(name, results))
        except (InputError, KeyError, TypeError, ValueError) as error:
            found.append({"name": name, "trouble": one_line(error)})
    return found


def _study(name: str, results: Path) -> dict[str, Any]:
    study = read_members(name, results)
    table, _ = study_rows(study, results)
    factors = list(dict.fromkeys(k for m in study["members"] for k in m["point"]))
    counts = Counter(table["status"])
    done = table[table["status"] == "finished"]
    numbers = [c for c in done.select_dtypes("number").columns if c not in factors]
    shown = responses(study, table) or numbers[:1]
    directory = results / "study" / name
    files = [p for p in sorted(directory.iterdir()) if p.suffix in STUDY_FILES]
    return {
        "name": name,
        "case": str(study["case"]),
        "trouble": "",
        "wanted": len(table),
        "counts": [(state, int(counts[state])) for state in sorted(counts)],
        "half": len(table) - len(done),
        "reasons": _reasons(table),
        "sweep": as_script(_sweep(done, factors, shown)) if len(done) else "",
        "files": files,
    }


def _reasons(table: pd.DataFrame) -> list[tuple[str, int]]:
    """Why runs failed, the most common reasons first."""
    failed = table[table["status"] == "failed"]
    return [(str(r), int(n)) for r, n in failed["reason"].value_counts()[:5].items()]


def _sweep(
    done: pd.DataFrame, factors: Sequence[str], responses: Sequence[str]
) -> dict[str, Any]:
    """Columns for the axes of the plot, evenly chosen rows of them."""
    others = [c for c in done.select_dtypes("number").columns if c not in factors]
    names = list(dict.fromkeys([*factors, *responses, *others]))[:MOST_COLUMNS]
    few = done.iloc[:: -(-len(done) // MOST_ROWS)]
    return {
        "keys": few["key"].tolist(),
        "columns": {str(name): _column(few[name]) for name in names},
        "factors": [f for f in factors if f in names],
        "responses": list(responses),
    }


def _column(values: "pd.Series[Any]") -> list[Any]:
    if pd.api.types.is_numeric_dtype(values) and values.dtype != bool:
        return [None if pd.isna(v) else float(f"{v:.{DIGITS}g}") for v in values]
    return [v if isinstance(v, str) else json.dumps(v, default=str) for v in values]
