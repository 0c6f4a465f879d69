"""One run to look at: picture.png and run.html, beside what it wrote.

Both are made after the run and are none of its results: its digests leave them out.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from pipeline.pages.page_parts import TEMPLATES, environment, plotly_script
from pipeline.pages.scene import finished_scene
from pipeline.results.chosen_numbers import chosen_columns
from pipeline.results.moving_shape import MovingShape, read_moving_shape
from pipeline.results.told_run import PAGE, PICTURE, length_unit, told
from pipeline.store.files import replacing, write_text
from pipeline.store.leaves import flat
from pipeline.store.runs import run_record

if TYPE_CHECKING:
    from analysis.figures.run_picture import Drawing

DOTS_AN_INCH = 200


def write_picture(directory: Path) -> Path:
    """Draw the shape at the end of a run and its numbers by step."""
    from analysis.figures.run_picture import run_picture

    record, shape = run_record(directory), read_moving_shape(directory)
    drawing = None
    if shape is not None:
        whole = drawn(shape, len(shape.r) - 1)
        drawing = replace(whole, unit=length_unit(record))
    title = f"{record['step']} {record['name']}: {told(record)[0]}"
    size = 0.0 if drawing is None else float(np.ptp(drawing.box, axis=0).max())
    figure = run_picture(drawing, chosen_columns(directory, size), title)
    path = directory / PICTURE
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=DOTS_AN_INCH)
    return path


def drawn(shape: MovingShape, step: int) -> "Drawing":
    """What of a shape is drawn at a step."""
    from analysis.figures.run_picture import Drawing

    seen = shape.r[np.isfinite(shape.r).all(axis=-1)].reshape(-1, 3)
    if shape.on_planes:
        seen = np.concatenate([seen, shape.fixed.reshape(-1, 3)])
    box = np.array([seen.min(axis=0), seen.max(axis=0)])
    return Drawing(
        shape.r[0],
        shape.r[step],
        shape.links,
        shape.faces,
        shape.fixed,
        box,
        shape.flat,
        shape.missing,
        folds=shape.folds,
        inner=shape.inner,
        axes=shape.axes,
        creases=shape.creases,
    )


def write_page(directory: Path) -> Path:
    """Write the report's view of one run: one file that needs no network."""
    record = run_record(directory)
    scene = finished_scene(directory)
    config = record["identity"]["config"]
    files = sorted(p.name for p in directory.iterdir() if p.is_file())
    page = (
        environment()
        .get_template("run.html")
        .render(
            name=f"{record['step']} {record['name']}",
            told="; ".join(told(record)),
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            scene=scene,
            result=list(dict(record["result"]).items()),
            settings=[(name, str(value)) for name, value in flat(config)],
            found=[{"name": name, "href": quote(name)} for name in files],
            library=plotly_script() if scene else "",
            scripts=[(TEMPLATES / "report.js").read_text(encoding="utf-8")],
        )
    )
    path = directory / PAGE
    write_text(path, page)
    return path


def write_pictures(directory: Path, *, anew: bool = False) -> None:
    """Both, where they are not there yet, or anew."""
    if anew or not (directory / PICTURE).is_file():
        write_picture(directory)
    if anew or not (directory / PAGE).is_file():
        write_page(directory)
