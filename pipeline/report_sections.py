"""The sections of the report: each comparison, each case alone, and their evidence."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pipeline.errors import InputError, one_line
from pipeline.report_scene import scan_over, scene_of

States = Mapping[str, Mapping[str, Any]]
LIBRARY = Path("package_data") / "plotly.min.js"
READING = (OSError, ValueError, KeyError, IndexError, InputError, BadZipFile)
MOST_ALONE = 24  # cases without a scan that are drawn; a study holds thousands
SHOWN = (  # numbers of steps.csv that follow the slider, by what a case records
    ("E", "S"),
    ("strain_energy", "contact_energy"),
    ("x_c", "y_c"),
)


def plotly_script() -> str:
    """plotly.js (MIT) as the plotly package carries it, to stand inside the page."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        raise InputError("the package plotly is missing: delete .venv and run make")
    text = (Path(found.origin).parent / LIBRARY).read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")


def as_script(value: Any) -> str:
    """JSON that may stand inside a script element; what is not finite is null."""
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _finish(scene: dict[str, Any], fixed_name: str) -> str:
    columns = scene["columns"]
    known = [names for names in SHOWN if all(name in columns for name in names)]
    rest = tuple(c for c in columns if c not in {"step", "time"})[:2]
    scene["shown"] = list(known[0] if known else rest)
    scene["fixed_name"] = fixed_name
    return as_script(scene)


def compared_scene(states: States, compare: Mapping[str, Any]) -> tuple[str, str]:
    """The moving shape of a comparison with the scan over it, and why it is not there.

    A file that was edited or lost costs its own view, never the page.
    """
    parts = _parts(states, compare)
    if parts is None:
        return "", "its simulation or its ingest is not in the plan"
    simulated, ingest = parts
    try:
        scene = scene_of(simulated["directory"])
        if scene is None:
            return "", f"{simulated['directory']} holds no steps that can be drawn"
        scene["scan"] = scan_over(
            compare["directory"],
            simulated["directory"],
            ingest.get("config", {}),
            scan_files(states, ingest),
        )
        return _finish(scene, "target"), ""
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


def scan_files(states: States, ingest: Mapping[str, Any]) -> list[Path]:
    """The files of points that an ingest read."""
    if ingest.get("paths"):
        return [Path(p) for p in ingest["paths"]]
    scan = states.get(str(ingest.get("roles", {}).get("scan")))
    if scan is None or scan["directory"] is None:
        return []
    return sorted(scan["directory"].glob("*.ply"))


def cases_alone(jobs: Sequence[Mapping[str, Any]], out: Path) -> list[dict[str, Any]]:
    """Finished simulations that no comparison shows, as sections of their own."""
    compared = {
        str(job["roles"].get("simulated")) for job in jobs if job["step"] == "compare"
    }
    sections: list[dict[str, Any]] = []
    for job in jobs:
        wanted = job["step"] == "simulate" and job["status"] == "finished"
        if not wanted or job["key"] in compared or len(sections) == MOST_ALONE:
            continue
        try:
            scene = scene_of(job["directory"])
        except READING:
            continue  # its run is listed all the same
        if scene is None:
            continue
        sections.append(
            {
                "name": job["name"],
                "key": job["key"],
                "result": {k: _short(v) for k, v in job["result"].items()},
                "scene": _finish(scene, "target or ground"),
                "evidence": _links({"run": job}, out),
            }
        )
    return sections


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def evidence(
    states: States, compare: Mapping[str, Any], out: Path
) -> list[dict[str, str]]:
    """Links from a verdict to the files that it rests on, nearest first."""
    parts = _parts(states, compare)
    if parts is None:
        return []
    simulated, ingest = parts
    links = _links(
        {"comparison": compare, "ingest": ingest, "simulation": simulated}, out
    )
    for path in scan_files(states, ingest):
        links.append({"text": f"scan {path.name}", "href": _relative(path, out)})
    return links


FILES = (  # of each step, what a reader looks for, and how it is called
    ("scan.html", "the scan in 3-D"),
    ("spheres.csv", "spheres"),
    ("labels.csv", "labels"),
    ("nodes.csv", "nodes"),
    ("steps.csv", "steps"),
    ("run.json", "configuration and record"),
)


def _links(parts: Mapping[str, Mapping[str, Any]], out: Path) -> list[dict[str, str]]:
    links = []
    for what, job in parts.items():
        directory = job.get("directory")
        for name, text in FILES:
            if directory is not None and (directory / name).is_file():
                href = _relative(directory / name, out)
                links.append({"text": f"{what}: {text}", "href": href})
    return links


def _relative(path: Path, out: Path) -> str:
    return Path(os.path.relpath(path.absolute(), out.absolute())).as_posix()
