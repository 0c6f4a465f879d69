"""A scan drawn with the node on every sphere."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.scan_picture import scan_picture
from pipeline.scans.page import scan_page
from pipeline.scans.picks import read_picks
from pipeline.store.files import replacing, write_text
from pipeline.terminal.errors import InputError

UNASSIGNED = "?"


def draw_labels(spheres: Path, compared: Path) -> None:
    """Draw the ingest in `spheres` with the labels in `compared`, into the latter."""
    try:
        points = np.load(spheres / "points.npy").astype(np.float64)
        picks, synthetic = read_picks(spheres)
        labels = pd.read_csv(compared / "labels.csv")
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{spheres} is no ingest ({error}): run morphtrack ingest first"
        ) from error
    names = _names_of(len(picks.spheres), labels)
    labelled = sum(name != UNASSIGNED for name in names)
    title = f"{labelled} of {len(labels)} nodes among {len(names)} spheres"
    page = scan_page(points, picks, title, synthetic=synthetic, names=names)
    shown = f"synthetic scan: {title}" if synthetic else title
    figure = scan_picture(points, picks, shown, names=names)
    write_text(compared / "labels.html", page)
    with replacing(compared / "labels.png") as temporary:
        figure.savefig(temporary, format="png", dpi=200)


def _names_of(spheres: int, labels: pd.DataFrame) -> list[str]:
    """The node that each of so many spheres is, or UNASSIGNED."""
    seen = labels.dropna(subset=["sphere"])
    node = dict(zip(seen["sphere"].astype(int), seen["node"].astype(int), strict=True))
    return [str(node.get(number, UNASSIGNED)) for number in range(spheres)]
