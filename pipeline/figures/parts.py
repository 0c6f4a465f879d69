"""Parts for the printer, on the bed and assembled."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.printed_parts import DrawnPart, PrintedParts, printed_parts
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.terminal.errors import InputError

CAPTION = """
{% set r = rows[0].result -%}
**Parts for the printer.** {{ letters | spanned }}: the {{ r.parts }} parts on {{ r.beds
}} beds (axes in mm), the mechanism assembled, and where its morph ends: bodies (blue),
links with clamps (orange) and the open target (grey, {{ r.target_fragments }}
fragments). The parts have {{ r.volume_cm3 | sig(2) }} cm$^3$ and {{
r.overlaps_at_the_end }} overlaps at the end.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the folder that morphtrack parts wrote."""
    here = only_row(rows, "the parts of a case").simulated
    if not (here / "meshes.npz").is_file():
        raise InputError(f"{here} has no meshes.npz: make it with morphtrack parts")
    key = key_of_run(here)
    shown = _read(rows[0].label, key, here)
    return DrawnFigure(
        printed_parts(shown), {"list": pd.read_csv(here / "parts.csv")}, [key]
    )


def _read(label: str, key: str, here: Path) -> PrintedParts:
    with np.load(here / "meshes.npz", allow_pickle=False) as file:
        arrays = dict(file)

    def shape(name: str, where: str, x: float = 0.0, y: float = 0.0) -> DrawnPart:
        vertices = arrays[f"{name}/{where}/vertices"].astype(np.float64)
        faces = arrays[f"{name}/{where}/faces"].astype(np.int64)
        return DrawnPart(
            name.partition("-")[0], vertices + np.array([x, y, 0.0]), faces
        )

    names = [str(name) for name in arrays["names"]]
    beds: list[list[DrawnPart]] = []
    for name, (bed, x, y) in zip(arrays["placed"], arrays["places"], strict=True):
        while len(beds) <= int(bed):
            beds.append([])
        beds[int(bed)].append(shape(str(name), "bed", float(x), float(y)))
    width, depth = (float(v) for v in arrays["bed_mm"])
    mechanism = [name for name in names if name != "target"]
    return PrintedParts(
        label,
        key,
        beds,
        [shape(name, "start") for name in mechanism],
        [shape(name, "end") for name in names],
        (width, depth),
    )
