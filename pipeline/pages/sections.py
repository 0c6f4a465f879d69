"""The sections of the report: each comparison, each case alone, each figure."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from analysis.captions.markup import as_html
from pipeline.pages.jobs import States, natural
from pipeline.pages.links import MOST_SHOWN, anchor, links, named, relative, scan_files
from pipeline.pages.scan_scene import scan_over
from pipeline.pages.scene import MOST_COORDINATES, finish, finished_scene, scene_of
from pipeline.results.saved_figure import SMALL, caption_in
from pipeline.terminal.errors import InputError, one_line

READING = (OSError, ValueError, KeyError, IndexError, InputError, BadZipFile)
MOST_ALONE = 150  # cases without a scan that are drawn; the others are counted
PAGE_COORDINATES = 800_000  # of all scenes together: 2 MB in the page
DRAWN = Path(__file__).parents[1] / "figures"  # their modules say what they show
CASES = Path("conf/case")
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
        return "", "its simulation or its ingest is not in the plan"
    simulated, ingest = parts
    placed = states.get(str(compare.get("roles", {}).get("deviation")), {})
    try:
        scene = scene_of(simulated["directory"], most)
        if scene is None:
            return "", f"{simulated['directory']} holds no steps that can be drawn"
        scene["scan"] = scan_over(
            compare["directory"],
            simulated["directory"],
            ingest.get("config", {}),
            scan_files(states, ingest),
            placed.get("directory"),
        )
        return finish(scene, "target"), ""
    except READING as error:
        return "", f"{type(error).__name__}: {one_line(error)}"


def _parts(
    states: States, compare: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The simulation and the ingest that a comparison is made of."""
    roles = compare.get("roles", {})
    parts = [states.get(str(roles.get(role))) for role in ("simulated", "spheres")]
    simulated, ingest = parts
    if simulated is None or ingest is None or simulated["directory"] is None:
        return None
    return simulated, ingest


def alone(jobs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Finished simulations that neither a comparison nor the plot of a study shows."""
    compared = {
        str(job["roles"].get("simulated")) for job in jobs if job["step"] == "compare"
    }
    return [
        job
        for job in jobs
        if job["step"] == "simulate" and job["status"] == "finished"
        if not job.get("study") and job["key"] not in compared
    ]


def cases_alone(
    jobs: Sequence[Mapping[str, Any]], out: Path, most: int = MOST_COORDINATES
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
        except READING as error:
            scene, why = "", f"{type(error).__name__}: {one_line(error)}"
        else:
            why = "" if scene else "nothing of it moves in space"
        sections.append(
            {
                "name": job["name"],
                "key": job["key"],
                "anchor": f"case-{job['key']}",
                "caption": caption(CASES, job["name"]),
                "no_scene": why,
                "edits": job["edits"],
                "result": {k: _short(v) for k, v in job["result"].items()},
                "scene": scene,
                "evidence": links({"solver": job}, out),
            }
        )
    return sections


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def evidence(
    states: States, compare: Mapping[str, Any], out: Path
) -> list[dict[str, Any]]:
    """Links from a verdict to what it rests on, nearest first."""
    parts = _parts(states, compare)
    if parts is None:
        return []
    simulated, ingest = parts
    found = links({"solver": simulated, "scan": ingest, "comparison": compare}, out)
    files = scan_files(states, ingest)
    if files:
        made = str(ingest.get("roles", {}).get("scan") or ingest["key"])
        text = f"{len(files)} scan file{'s' if len(files) > 1 else ''} with SHA-256"
        found.append({"text": text, "href": f"#{anchor(made)}", "file": False})
    return found


def figures(
    jobs: Sequence[Mapping[str, Any]], out: Path, room: float
) -> list[dict[str, Any]]:
    """Every figure of the plan in the order of the papers, drawn or not.

    Parameters
    ----------
    room : bytes that are left for pictures; the others are linked
    """
    wanted = [job for job in jobs if job["step"] == "figure"]
    known = {job["key"]: job for job in jobs}
    shown = []
    for job in sorted(wanted, key=lambda job: _paper_order(job["name"])):
        picture = _picture(job, room)
        room -= len(picture.get("data", ""))
        shown.append(
            {
                "name": job["name"],
                "key": job["key"],
                "anchor": f"figure-{job['key']}",
                "href": f"#{anchor(job['key'])}",
                "edits": job["edits"],
                "caption": _figure_caption(job),
                "shows": _shown(job, known),
                "more": max(0, len(set(job["needs"]) & known.keys()) - MOST_SHOWN),
                "files": _figure_files(job, out),
                "data": "",
                "why": "",
                **picture,
            }
        )
    return shown


def _figure_caption(job: Mapping[str, Any]) -> str:
    """The caption beside a figure as HTML; of one not drawn, what its module says."""
    directory = job["directory"]
    text = caption_in(directory) if directory is not None else ""
    text = text or caption(DRAWN, job["name"].replace("-", "_"))
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
    return {"why": f"{path} is gone: remove {job['directory']} and make figures"}


def _shown(job: Mapping[str, Any], known: States) -> list[dict[str, str]]:
    """The first runs that a figure was drawn from."""
    keys = [key for key in dict.fromkeys(job["needs"]) if key in known]
    return [named(known, key) for key in keys[:MOST_SHOWN]]


def caption(folder: Path, name: str) -> str:
    """What the file of a case or of a figure says of it in its first line."""
    for path, mark in ((folder / f"{name}.yaml", "# "), (folder / f"{name}.py", '"""')):
        if path.is_file():
            with path.open(encoding="utf-8") as file:
                line = file.readline().strip()
            return line.removeprefix(mark).removesuffix('"""') if mark in line else ""
    return ""


def _figure_files(job: Mapping[str, Any], out: Path) -> list[dict[str, str]]:
    directory = job["directory"]
    if directory is None or not directory.is_dir():
        return []
    kept = (".pdf", ".png", ".svg", ".csv", ".gif", ".mp4", ".md", ".tex")
    files = [p for p in sorted(directory.iterdir()) if p.suffix in kept]
    files = [p for p in files if not p.name.endswith(SMALL)]
    return [{"name": p.name, "href": relative(p, out)} for p in files]
