"""Draw a figure: python -m pipeline.figure NAME.

Writes NAME.pdf, NAME.png and the plotted numbers as CSV.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from analysis.alignment import fit_rigid_motion
from analysis.figures.dejong import (
    MorphedShape,
    ScannedShape,
    plotted_nodes,
    plotted_steps,
    shapes_beside_scans,
)
from analysis.figures.shapes import Wireframe
from analysis.figures.style import RC
from pipeline.errors import InputError, command
from pipeline.files import read_json, replacing
from pipeline.simulated_run import SimulatedRun, read_simulated
from sim.arrays import Floats

DRAWN_POINTS = 4_000
PNG_DPI = 250


@dataclass(frozen=True)
class FigureConfig:
    """Which figure, and what its rows are called.

    Parameters
    ----------
    figure : its name, such as dejong-3
    labels : one for each comparison
    """

    figure: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.figure not in FIGURES:
            raise ValueError(
                f"there is no figure {self.figure!r}: choose one of "
                f"{', '.join(FIGURES)}"
            )
        if len(set(self.labels)) != len(self.labels):
            twice = next(x for x in self.labels if self.labels.count(x) > 1)
            raise ValueError(
                f"two rows of {self.figure} are called {twice!r}: rename one"
            )


@dataclass(frozen=True)
class Row:
    """Directories of the runs behind one row of a figure."""

    label: str
    comparison: Path
    ingest: Path
    simulated: Path


def run_step(
    config: FigureConfig,
    comparisons: Sequence[Path],
    ingests: Sequence[Path],
    simulations: Sequence[Path],
    out: Path,
) -> dict[str, Any]:
    """Draw the figure from finished runs into `out`.

    Returns
    -------
    the files written and the keys shown
    """
    given = [len(config.labels), len(comparisons), len(ingests), len(simulations)]
    if len(set(given)) > 1:
        raise InputError(
            f"{config.figure} has {given[0]} rows, but {given[1]} comparisons, "
            f"{given[2]} ingests and {given[3]} simulations: give one of each a row"
        )
    rows = [
        Row(*row)
        for row in zip(config.labels, comparisons, ingests, simulations, strict=True)
    ]
    figure, tables, keys = FIGURES[config.figure](rows)
    out.mkdir(parents=True, exist_ok=True)
    save(figure, out / config.figure, keys)
    for name, table in tables.items():
        with replacing(out / f"{config.figure}-{name}.csv") as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
    return {"figure": config.figure, "rows": len(rows), "shows": " ".join(keys)}


def save(figure: Figure, stem: Path, keys: Sequence[str]) -> None:
    """Write STEM.pdf and STEM.png; the keys of the runs shown are in their metadata."""
    shown = " ".join(keys)
    made = {"Title": stem.name, "Creator": "morphtrack"}
    pdf = made | {"Keywords": shown, "CreationDate": None}
    png = made | {"Description": f"runs {shown}", "Software": "morphtrack"}
    for suffix, metadata in ((".pdf", pdf), (".png", png)):
        with rc_context(RC), replacing(stem.with_suffix(suffix)) as temporary:
            figure.savefig(
                temporary,
                format=suffix[1:],
                metadata=metadata,
                facecolor="white",
                dpi=PNG_DPI,
            )


Drawn = tuple[Figure, dict[str, pd.DataFrame], list[str]]


def _dejong_3(rows: Sequence[Row]) -> Drawn:
    shapes = [morphed_shape(row) for row in rows]
    keys = [key for shape in shapes for _, key in shape.runs if key]
    tables = {"steps": plotted_steps(shapes), "nodes": plotted_nodes(shapes)}
    return shapes_beside_scans(shapes), tables, keys


FIGURES: Mapping[str, Callable[[Sequence[Row]], Drawn]] = {"dejong-3": _dejong_3}


def morphed_shape(row: Row) -> MorphedShape:
    """Read what one row of Fig. 3 shows."""
    run = read_simulated(row.simulated)
    for column in ("E", "S"):
        if column not in run.table:
            raise InputError(f"{row.simulated}/steps.csv has no column {column}")
    runs = [
        (f"{row.label}: simulated", run.key),
        ("spheres", _key(row.ingest)),
        ("compared", _key(row.comparison)),
    ]
    return MorphedShape(
        row.label,
        run.r[0],
        run.r[-1],
        run.bodies,
        Wireframe(run.target_vertices, run.target_edges),
        run.table["E"].to_numpy(np.float64),
        run.table["S"].to_numpy(np.float64),
        _scanned_shape(row, run),
        tuple(runs),
    )


def _scanned_shape(row: Row, run: SimulatedRun) -> ScannedShape:
    """The scan, moved into the simulation's frame and unit by the comparison's pose."""
    compared = pd.read_csv(row.comparison / "comparison.csv").iloc[0]
    nodes = pd.read_csv(row.comparison / "nodes.csv")
    simulated = nodes[[f"simulated_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    scanned = nodes[[f"scanned_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    known = np.isfinite(simulated[:, 0])
    scale = float(compared["scale_mm"])
    back = fit_rigid_motion(simulated[known], scale * run.r[-1][known])
    return ScannedShape(
        back(scanned) / scale,
        back(_points(row.ingest)) / scale,
        float(compared["S_scanned"]),
        float(compared["S_scanned_u"]),
        float(compared["S_simulated"]),
        str(compared["basis"]) == "all nodes",
        float(compared["k"]),
        str(compared["verdict"]),
        float(compared["rms_mm"]),
        bool(compared["synthetic"]),
    )


def _points(ingest: Path) -> Floats:
    """A few points of the scan, mm, if the ingest kept any."""
    path = ingest / "points.npy"
    if not path.is_file():
        return np.empty((0, 3))
    points = np.load(path, mmap_mode="r", allow_pickle=False)
    few: Floats = np.asarray(points[:: len(points) // DRAWN_POINTS + 1], np.float64)
    return few


def _key(directory: Path) -> str:
    path = directory / "run.json"
    return str(read_json(path).get("key", "")) if path.is_file() else ""


def perform_figure(job: Any, needs: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """Draw the figure of a planned job."""
    config = FigureConfig(str(job.config["figure"]), tuple(job.config["labels"]))
    return run_step(
        config, needs["comparisons"], needs["spheres"], needs["simulated"], out
    )


@command
def main(argv: list[str] | None = None) -> int:
    """Draw one figure from the folders of finished runs."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.figure", description=__doc__
    )
    parser.add_argument("figure", help=f"one of {', '.join(FIGURES)}")
    parser.add_argument(
        "--row",
        nargs=4,
        action="append",
        required=True,
        metavar=("LABEL", "COMPARISON", "INGEST", "SIMULATED"),
        help="a name and three folders; once for each row of the figure",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    given = parser.parse_args(argv)
    config = FigureConfig(given.figure, tuple(row[0] for row in given.row))
    columns = [[Path(row[i]) for row in given.row] for i in (1, 2, 3)]
    run_step(config, columns[0], columns[1], columns[2], given.out)
    print(f"wrote {given.out / given.figure}.pdf, .png and its numbers as CSV")
    return 0


if __name__ == "__main__":
    sys.exit(main())
