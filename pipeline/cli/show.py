"""A run as pictures, pages and files, and the folders that a figure's rows show."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.figures.read_runs import Row
from pipeline.report.moving_shape import MovingShape, read_moving_shape
from pipeline.report.one_run import ffmpeg, write_film, write_pictures
from pipeline.runs.atomic_files import write_json
from pipeline.runs.checkpoints import read_arrays
from pipeline.runs.run_directory import RESULTS, finished, record_or_empty, run_record
from pipeline.runs.study_members import read_members
from pipeline.runs.summary import PAGE
from pipeline.terminal import InputError, shown_path
from pipeline.workflow.plan import Plan
from sim.origami.pattern.fold_format import CREATOR, folded_document

NO_FFMPEG = (
    "note: ffmpeg is missing, so a GIF is made (install the Debian package ffmpeg, or, "
    "under the GPL, .venv/bin/python -m pip install imageio-ffmpeg)"
)
SHOWING = (".html", ".png", ".svg", ".pdf")  # what a run of another step holds to see
STILL = (".png",)  # of them what runs no code


def seen(directory: Path) -> Path:
    """The file of a run to look at, made where it is not there yet."""
    own = directory.resolve().is_relative_to(RESULTS.resolve())
    if run_record(directory)["step"] == "simulate":
        write_pictures(directory, anew=not own)
        return directory / PAGE
    files = sorted(directory.iterdir(), key=lambda path: path.name)
    for suffix in SHOWING if own else STILL:
        for path in files:
            if path.suffix == suffix:
                return path
    raise InputError(f"{shown_path(directory)} has only numbers and no shape to show")


def write_vtk(directory: Path) -> Path:
    """Write the steps of a run into its folder vtk."""
    from pipeline.io.mesh_writers import write_vtk_series

    shape = shape_of(directory)
    steps = range(len(shape.r))
    return write_vtk_series(directory / "vtk", shape.r, shape.links, shape.faces, steps)


def shape_of(directory: Path) -> MovingShape:
    """The shape of a run that moves."""
    shape = read_moving_shape(directory)
    if shape is None:
        raise InputError(f"{shown_path(directory)} has no moving shape: choose another")
    return shape


def can_open() -> bool:
    """Whether a person sits here, before a screen."""
    screens = map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and (sys.platform == "darwin" or any(screens))


def film(directory: Path, *, gif: bool) -> Path:
    """Write the motion of a run as moving.mp4 or moving.gif into its folder."""
    if not (gif or ffmpeg()):
        print(NO_FFMPEG)
        gif = True
    return write_film(directory, shape_of(directory), ".gif" if gif else ".mp4")


def write_fold_file(run: Path, out: Path, every: int = 1) -> int:
    """Write every n-th increment and the last of a run; return how many frames."""
    if every < 1:
        raise InputError(f"every must be 1 or more, not {every}")
    arrays = read_arrays(run / "steps.npz") if (run / "steps.npz").is_file() else {}
    if not {"x", "rest", "triangles"} <= arrays.keys():
        raise InputError(f"{run} has no folded sheet: give a finished folding run")
    x = arrays["x"]
    chosen = np.unique([*range(0, len(x), every), len(x) - 1])
    document = folded_document(arrays["rest"], arrays["triangles"].tolist(), x[chosen])
    write_json(out, document | _outcome(run), compact=True)
    return len(chosen)


def _outcome(run: Path) -> dict[str, object]:
    """How each crease of the pattern ended, under names of our own, as FOLD asks."""
    path = run / "folds.csv"
    if not path.is_file():
        return {}
    creases = pd.read_csv(path, keep_default_na=False).to_dict("records")
    result = dict(record_or_empty(run).get("result") or {})
    names = ("fold", "fold_why", "wrong_way")
    results = {f"{CREATOR}:{name}": result[name] for name in names if name in result}
    return {f"{CREATOR}:creases": creases, **results}


def shown_rows(plan: Plan, figure: str) -> list[Row]:
    """The rows of a figure as conf/workflow.yaml names them, all made already."""
    labels = list(plan.labels(figure))
    rows: list[Row] = []
    for row in plan.rows(figure):
        step, name = row.shown
        if step == "study":
            rows += [
                Row(labels[len(rows) + i], run) for i, run in enumerate(_runs(name))
            ]
            continue
        folders = [_made(step, name, figure)]
        if row.comparison:
            folders += [_made(s, row.comparison, figure) for s in ("compare", "ingest")]
        rows.append(Row(row.label, *folders))
    return rows


def _made(step: str, name: str, figure: str) -> Path:
    folder = RESULTS / step / name
    if not (folder / "run.json").is_file():
        raise InputError(
            f"{figure} shows {folder}, which does not exist yet: run "
            f"`make figure-{figure}`"
        )
    return folder


def _runs(study: str) -> list[Path]:
    """The folders of all runs of a study."""
    keys = [member["key"] for member in read_members(study)["members"]]
    found = [finished(key) for key in keys]
    if None in found:
        key = keys[found.index(None)]
        raise InputError(
            f"run {key} of the study {study} is not finished: make study NAME={study}"
        )
    return [folder for folder in found if folder is not None]
