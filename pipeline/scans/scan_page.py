"""A scan to turn with the mouse: one HTML file that needs nothing from anywhere."""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from analysis.figures.scans import thinned
from analysis.spheres.detections import FittedSphere, Picks, Rejected
from sim.core.arrays import Floats

MOST_POINTS = 60_000
MOST_REJECTED = 500
TEMPLATES = Path(__file__).with_name("templates")


def scan_page(
    points: Floats,
    picks: Picks,
    title: str,
    *,
    synthetic: bool,
    names: Sequence[str] | None = None,
    lost: Mapping[str, Floats] | None = None,
) -> str:
    """The page of a scan: its points, its spheres, the candidates rejected.

    Parameters
    ----------
    points : (n, 3) mm
    names : of the node of each sphere, which has its number if not given
    lost : predicted places (3,), mm, of the nodes without a sphere, by name
    """
    shown = thinned(points, MOST_POINTS)
    nodes: Sequence[str | None] = names or [None] * len(picks.spheres)
    spheres = [_sphere(i, s, nodes[i]) for i, s in enumerate(picks.spheres)]
    rejected = [_rejected(candidate) for candidate in picks.apart[:MOST_REJECTED]]
    absent = [_absent(one, at, picks) for one, at in (lost or {}).items()]
    seen = {"spheres": spheres, "rejected": rejected, "lost": absent}
    data = _packed(shown) | seen
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("scan.html").render(
        title=title,
        synthetic=synthetic,
        shown=len(shown),
        many=len(points),
        **seen,
        data=json.dumps(data).replace("<", "\\u003c"),
        script=(TEMPLATES / "scan.js").read_text(encoding="utf-8"),
    )


def _packed(points: Floats) -> dict[str, Any]:
    """Points as 16-bit steps of a cube around all but the farthest of them."""
    low, high = np.percentile(points, [0.1, 99.9], axis=0)
    side = float(max((high - low).max(), 1e-6)) * 1.1
    middle = 0.5 * (low + high)
    low = middle - 0.5 * side
    steps = np.round((points - low) * (65535 / side))
    inside = ((steps >= 0) & (steps <= 65535)).all(axis=1)
    data = steps[inside].astype("<u2").tobytes()
    return {
        "points": base64.b64encode(data).decode("ascii"),
        "low": low.tolist(),
        "side": side,
        "middle": middle.tolist(),
    }


def _sphere(number: int, sphere: FittedSphere, node: str | None) -> dict[str, Any]:
    x, y, z = sphere.centre.tolist()
    who = f"sphere {number}" if node is None else f"node {node}, sphere {number}"
    sd = float(np.sqrt(np.trace(sphere.covariance) / 3.0))
    text = (
        f"{who}: ({x:.3f}, {y:.3f}, {z:.3f}) mm, sd {sd:.4f} mm; radius "
        f"{sphere.radius:g} mm, free fit {sphere.free_radius:.3f} +- "
        f"{sphere.free_radius_sd:.3f} mm; rms {sphere.rms:.3f} mm, {sphere.points} "
        f"points, {sphere.cap:.0%} visible"
    )
    return {
        "name": str(number) if node is None else node,
        "centre": [x, y, z],
        "radius": sphere.radius,
        "text": text,
    }


def _absent(name: str, at: Floats, picks: Picks) -> dict[str, Any]:
    where = ", ".join(f"{x:.3f}" for x in at)
    text = f"node {name}: no sphere; predicted at ({where}) mm"
    radius = picks.spheres[0].radius
    return {"name": name, "centre": at.tolist(), "radius": radius, "text": text}


def _rejected(candidate: Rejected) -> dict[str, Any]:
    x, y, z = candidate.centre.tolist()
    where = f"({x:.2f}, {y:.2f}, {z:.2f}) mm"
    text = f"rejected at {where}: {candidate.reason.value}: {candidate.told}"
    return {"centre": [x, y, z], "text": text}
