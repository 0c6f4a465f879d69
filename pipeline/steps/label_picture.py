"""A scan drawn with the node on every sphere."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.scan_picture import scan_picture
from analysis.spheres.picks import Picks
from pipeline.scans.page import scan_page
from pipeline.scans.picks import read_picks
from pipeline.store.files import replacing, write_text
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

UNASSIGNED = "?"


def run_step(spheres: Path, compared: Path, out: Path) -> dict[str, int | bool]:
    """Draw the ingest in `spheres` with the labels in `compared`; write to `out`."""
    try:
        points = np.load(spheres / "points.npy").astype(np.float64)
        picks, synthetic = read_picks(spheres)
        labels = pd.read_csv(compared / "labels.csv")
        names = names_of(len(picks.spheres), labels)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{spheres} and {compared} are no ingest and its comparison ({error}): "
            "run morphtrack ingest and morphtrack compare first"
        ) from error
    labelled = sum(name != UNASSIGNED for name in names)
    title = f"{labelled} of {len(labels)} nodes among {len(names)} spheres"
    _write(out, points, picks, names, (title, synthetic))
    return {"labelled": labelled, "spheres": len(names), "synthetic": synthetic}


def names_of(spheres: int, labels: pd.DataFrame) -> list[str]:
    """The node that each of so many spheres is, or UNASSIGNED."""
    seen = labels.dropna(subset=["sphere"])
    node = dict(zip(seen["sphere"].astype(int), seen["node"].astype(int), strict=True))
    return [str(node.get(number, UNASSIGNED)) for number in range(spheres)]


def _write(
    out: Path, points: Floats, picks: Picks, names: list[str], said: tuple[str, bool]
) -> None:
    title, synthetic = said
    page = scan_page(points, picks, title, synthetic=synthetic, names=names)
    shown = f"synthetic scan: {title}" if synthetic else title
    figure = scan_picture(points, picks, shown, names=names)
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "labels.html", page)
    with replacing(out / "labels.png") as temporary:
        figure.savefig(temporary, format="png", dpi=200)
