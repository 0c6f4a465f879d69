"""The sections of the report: comparisons, cases, measured sets, figures."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from analysis.alignment import RigidMotion
from analysis.figures.captions import as_html
from analysis.figures.dejong_2023 import scan_in_frame
from analysis.measured.prediction_verdicts import mean_coverage
from pipeline.config.config_files import CONF, first_remark
from pipeline.figures.figure_names import entry_of
from pipeline.io.length_units import unit_named
from pipeline.io.point_cloud import read_cloud
from pipeline.io.reader_interface import Choices
from pipeline.report.collected_runs import States, files_of, read_as, scan_files
from pipeline.report.moving_shape import in_space
from pipeline.report.scene import (
    MOST_COORDINATES,
    as_script,
    finished_scene,
    packed,
    packed_numbers,
    scene_of,
)
from pipeline.runs.atomic_files import read_json
from pipeline.runs.run_directory import run_record
from pipeline.runs.summary import summary_lines
from pipeline.steps.figure import SMALL, caption_in
from pipeline.terminal import InputError, by_reason, natural, one_line
from sim.core.arrays import Floats

MOST_POINTS = 6_000  # of a scan


def scan_over(
    comparison: Path,
    simulated: Path,
    ingest: Mapping[str, Any],
    scan: Sequence[Path],
    deviation: Path | None = None,
) -> dict[str, Any]:
    """Scanned nodes and a few points of the scan, in the simulation's frame and unit.

    Parameters
    ----------
    comparison, simulated : directories of finished runs
    ingest : configuration of the ingest (unit, decimal_comma, salvage)
    scan : files of the scan; those that cannot be read any more are left out
    deviation : directory of the run that placed the target in the scan
    """
    row = pd.read_csv(comparison / "comparison.csv").iloc[0]
    nodes = pd.read_csv(comparison / "nodes.csv")
    with np.load(simulated / "steps.npz", allow_pickle=False) as file:
        final = in_space(file["r"][-1])
    scale = float(row["scale_mm"])
    back, seen = scan_in_frame(nodes, scale, final)
    shown = np.isfinite(seen[:, 0])
    points = _points(back, ingest, scan) / scale
    return {
        "spheres": packed(seen[shown]),
        "node": np.flatnonzero(shown).tolist(),
        "distance_mm": nodes["distance_mm"][shown].tolist(),
        "u_mm": nodes["u_mm"][shown].tolist(),
        "points": packed(points) if len(points) else None,
        "deviation": _deviation(deviation, back, scale),
        "S": float(row["S_scanned"]),
        "S_u": float(row["S_scanned_u"]),
    }


def _deviation(
    directory: Path | None, back: RigidMotion, scale: float
) -> dict[str, Any] | None:
    """Points near the target with their distance from its surface, mm."""
    path = None if directory is None else directory / "deviation.npz"
    if path is None or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        points, gap = file["points_mm"], file["deviation_mm"]
    every = len(points) // MOST_POINTS + 1
    points, gap = points[::every].astype(np.float64), gap[::every].astype(np.float64)
    if len(points) == 0:
        return None
    return {
        "points": packed(back(points) / scale),
        "mm": packed_numbers(gap),
        "most_mm": float(np.percentile(np.abs(gap), 95.0)),
    }


def _points(
    back: RigidMotion, ingest: Mapping[str, Any], scan: Sequence[Path]
) -> Floats:
    """Evenly chosen points of all views, moved; none where no file can be read."""
    choices = Choices(
        bool(ingest.get("decimal_comma")), salvage=bool(ingest.get("salvage"))
    )
    views = []
    for path in scan:
        try:
            views.append(read_cloud(path, unit_named(ingest["unit"]), choices).points)
        except (OSError, ValueError, InputError):
            continue  # the report does not depend on data that has been moved away
    if not views:
        return np.empty((0, 3))
    points = np.concatenate(views)
    few: Floats = back(points[:: len(points) // MOST_POINTS + 1])
    return few


READING = (OSError, ValueError, KeyError, IndexError, InputError, BadZipFile)
MOST_ALONE = 150  # cases without a scan that are shown; the others are counted
PAGE_COORDINATES = 800_000  # of all scenes together: 2 MB in the page
CASES = CONF / "case"
FIGURE_FILES = (".pdf", ".png", ".svg", ".csv", ".gif", ".mp4", ".md", ".tex")
PAPERS = ("dejong", "zhu-filipov", "huang")


def coordinates_each(scenes: int) -> int:
    """How many coordinates each scene may send, so that the page stays small."""
    return min(MOST_COORDINATES, PAGE_COORDINATES // max(1, scenes))


def compared_scene(
    states: States, compare: Mapping[str, Any], most: int = MOST_COORDINATES
) -> tuple[str, str]:
    """The moving shape of a comparison with the scan over it, and why it is not there.

    A file that was edited or lost costs its own view, never the page.
    """
    parts = _parts(states, compare)
    if parts is None:
        return "", "its simulation or its ingest is missing"
    simulated, ingest = parts
    placed = read_as("deviation", compare, states) or {}
    try:
        scene = scene_of(simulated["directory"], most)
        if scene is None:
            return "", f"{simulated['directory']} has no steps to show"
        scene["scan"] = scan_over(
            compare["directory"],
            simulated["directory"],
            ingest.get("config", {}),
            scan_files(states, ingest),
            placed.get("directory"),
        )
        return as_script(scene), ""
    except READING as error:
        return "", f"{type(error).__name__}: {one_line(error)}"


def _parts(
    states: States, compare: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The simulation and the ingest that a comparison is made of."""
    simulated, ingest = (read_as(r, compare, states) for r in ("simulated", "spheres"))
    if simulated is None or ingest is None or simulated["directory"] is None:
        return None
    return simulated, ingest


def alone(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Finished simulations that neither a comparison nor the plot of a study shows."""
    of = [job["roles"] for job in jobs if job["step"] == "compare"]
    compared = {key for roles in of for key in roles.get("simulated", ())}
    return [
        job
        for job in jobs
        if job["step"] == "simulate" and job["status"] == "finished"
        if not job.get("study") and job["key"] not in compared
    ]


def cases_alone(
    jobs: Sequence[Mapping[str, Any]], most: int = MOST_COORDINATES
) -> list[dict[str, Any]]:
    """Sections of their own for simulations; one without a shape has its numbers.

    Parameters
    ----------
    jobs : as of `alone`
    """
    sections: list[dict[str, Any]] = []
    for job in jobs[:MOST_ALONE]:
        try:
            scene = finished_scene(job["directory"], most)
            lines = summary_lines(run_record(job["directory"]))
        except READING as error:
            scene, why = "", f"{type(error).__name__}: {one_line(error)}"
            lines = []
        else:
            why = "" if scene else "it has no moving shape"
        sections.append(
            {
                "name": job["name"],
                "key": job["key"],
                "caption": first_remark(CASES / f"{job['name']}.yaml"),
                "no_scene": why,
                "edits": job["edits"],
                "lines": lines,
                "scene": scene,
                "evidence": {"solver": job},
            }
        )
    return sections


def evidence(states: States, compare: Mapping[str, Any]) -> dict[str, Any]:
    """The runs that a verdict rests on, nearest first, and its scan."""
    parts = _parts(states, compare)
    if parts is None:
        return {}
    simulated, ingest = parts
    found = {"solver": simulated, "scan": ingest, "comparison": compare}
    files = scan_files(states, ingest)
    text = f"{len(files)} scan file{'s' if len(files) > 1 else ''} with SHA-256"
    made = read_as("scan", ingest, states) or ingest
    return found | ({text: made} if files else {})


def figures(jobs: Sequence[Mapping[str, Any]], room: float) -> list[dict[str, Any]]:
    """Every figure that was tried, in the order of the papers.

    Parameters
    ----------
    room : bytes that are left for pictures; the others are linked
    """
    tried = [job for job in jobs if job["status"] != "missing"]
    figures = [job for job in tried if job["step"] == "figure"]
    known = {job["key"]: job for job in jobs}
    shown = []
    for job in sorted(figures, key=lambda job: _paper_order(job["name"])):
        picture = _picture(job, room)
        room -= len(picture.get("data", ""))
        shown.append(
            {
                "name": job["name"],
                "key": job["key"],
                "edits": job["edits"],
                "caption": _figure_caption(job),
                "shows": [k for k in dict.fromkeys(job["needs"]) if k in known],
                "files": [
                    path
                    for path in files_of(job["directory"])
                    if path.suffix in FIGURE_FILES and not path.name.endswith(SMALL)
                ],
                "data": "",
                "why": "",
                **picture,
            }
        )
    return shown


def _figure_caption(job: Mapping[str, Any]) -> str:
    """The caption of a figure as HTML; of one not made, what it would show."""
    own = job["directory"] and caption_in(job["directory"])
    text = own or entry_of(job["name"]).shows
    try:
        return as_html(text)
    except ValueError:  # edited by hand: it costs its form, never the page
        return escape(text)


def _paper_order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    known = [i for i, paper in enumerate(PAPERS) if name.startswith(paper)]
    return (known[0] if known else len(PAPERS), natural(name))


def _picture(job: Mapping[str, Any], room: float) -> dict[str, str]:
    """The picture as a data address; why there is none."""
    if job["status"] != "finished":
        return {"why": f"{job['status']}: {job['reason']}"}
    for suffix, kind in ((SMALL, "png"), (".png", "png"), (".svg", "svg+xml")):
        path = job["directory"] / f"{job['name']}{suffix}"
        if path.is_file() and path.stat().st_size * 4 / 3 < room:
            data = base64.b64encode(path.read_bytes()).decode("ascii")
            return {"data": f"data:image/{kind};base64,{data}"}
    if path.is_file():
        return {"why": "too large for this page: open its file"}
    remedy = f"remove {job['directory']} and run `make figures`"
    return {"why": f"{path} is missing: {remedy}"}


TONES = {"agrees": "good", "differs": "bad", "inconclusive": "unsure"}
FILES = ("measured.csv", "prediction.csv", "left_out.csv", "parameters.csv")


def measured_sets(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A section for each measured set that has been compared."""
    figures = {key: j for j in jobs if j["step"] == "figure" for key in j["needs"]}
    sections = []
    for job in jobs:
        if job["step"] != "measured" or job["status"] != "finished":
            continue
        verdict = read_json(job["directory"] / "verdict.json")
        figure = figures.get(job["key"])
        sections.append(
            {
                **verdict,
                "name": job["name"],
                "key": job["key"],
                "figure": f"#figure-{figure['key']}" if figure else "",
                "covered": coverages([verdict["inside"]]),
                "reasons": list(by_reason(verdict["refused"])),
                "verdicts": [
                    row | {"tone": TONES[row["verdict"]]} for row in verdict["verdicts"]
                ],
                "files": [f for n in FILES if (f := job["directory"] / n).is_file()],
                "edits": job["edits"],
            }
        )
    return sections


def coverages(sets: Sequence[Mapping[str, float]]) -> dict[str, Any] | None:
    """The mean of sets in which records were predicted without themselves, if any.

    Parameters
    ----------
    sets : of each, by record, the share of its rows inside their intervals
    """
    shares = [np.array(list(own.values())) for own in sets if own]
    return asdict(mean_coverage(shares)) if shares else None
